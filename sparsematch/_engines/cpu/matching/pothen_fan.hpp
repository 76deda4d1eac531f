// Pothen-Fan: in each phase a depth-first search from every free row, disjoint, with lookahead.
//
// Pothen, Fan: Computing the block triangular form of a sparse matrix (ACM TOMS 16, 1990); fairness
// after Duff, Kaya, Ucar (2011); threads after Azad et al. (IPDPS 2012): a column is claimed before
// it is entered, so searches are disjoint. Lookahead: each row keeps a pointer into its list, which
// only moves on, as matched columns stay so: all lookaheads of a run cost one pass over the edges.
// Invariant: a column is visited at most once a phase. A search that failed, without being blocked
// by a column that a successful or unfinished search has claimed, can never succeed, nor can any
// search through its columns: these stay visited, its root is given up: deficiency is cheap.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/portability.hpp"
#include "core/run_context.hpp"
#include "matching/search_tree.hpp"

namespace sparsematch {

struct PothenFanOptions {
    // Alternate the direction in which lists are scanned.
    bool fairness = true;
    // Search in the first phase for paths through one pair, in the second for paths through eight:
    // depth first alone passes by short paths, and wanders through meshes; but what fails is
    // searched again. A run with a budget searches for no others, and ends where most are longer.
    bool deepening = false;

    static constexpr auto fields() {
        return std::tuple{Option{"fairness", &PothenFanOptions::fairness},
                          Option{"deepening", &PothenFanOptions::deepening}};
    }
};

template <bool Threads, class Index> class PothenFan {
    struct Frame {
        Index row, next, last;  // the part of the row's list that is still to be scanned
        Index via;              // the column this frame descended through
    };
    struct alignas(64) Lane {
        Lane(RunContext& run, int rank, std::size_t n_cols) : mine(n_cols), counter(run, rank) {}
        std::vector<Frame> path;
        std::vector<Index> trail;  // columns visited by this search
        Bitmap mine;               // the same as a set
        std::vector<Index> blocked_roots;
        Index leaf = UNMATCHED<Index>;
        bool blocked = false;  // by a column that is unvisited again in the next phase
        bool going = true;     // neither stopped nor out of budget
        std::int64_t found = 0, path_edges = 0;
        WorkCounter counter;
    };

  public:
    PothenFan(const Csr<Index>& a, Matching<Index> m, const PothenFanOptions& options,
              RunContext& run)
        : a_(a), m_(m), options_(options), run_(run), roots_(search_roots(a, m, run)),
          lookahead_(a.n_rows), visited_(a.n_cols), dead_(a.n_cols), open_(a.n_cols) {
        run.team.loop(a.n_rows, 1 << 15, [&](int, std::int64_t begin, std::int64_t end) {
            std::copy(a.indptr + begin, a.indptr + end, lookahead_.data() + begin);
        });
        mark_free(open_, a.n_cols, m.col_mate, run.team);
        mark_finished_columns(dead_, a.n_cols, run);
    }

    // Reads: the matrix. Writes: both mates. Workspace: one index per row, bits per column, one of
    // them for each worker, the stack. Time: O(n nnz), mostly O(nnz).
    void improve() {
        std::vector<std::unique_ptr<Lane>> lanes(run_.team.size());
        run_.team.each(
            [&](int rank) { lanes[rank] = std::make_unique<Lane>(run_, rank, a_.n_cols); });
        for (depth_ = options_.deepening ? 1 : unlimited; !roots_.empty() && goes_on();) {
            const std::int64_t before = run_.stats.augmentations;
            visited_.copy(dead_);
            forward_ = !options_.fairness || run_.stats.phases % 2 == 0;
            search_all(lanes);
            end_phase(lanes);
            if (run_.stats.augmentations == before && depth_ == unlimited) break;
            if (depth_ == 8 && has_budget() && !roots_.empty()) return run_.give_up();
            depth_ = depth_ == 1 ? 8 : unlimited;
        }
    }

  private:
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    bool goes_on() const { return !run_.stopped() && !run_.exhausted(); }
    bool has_budget() const { return run_.edge_limit() > 0; }
    // Whether fewer than three in five of the searches from the first n of the roots, a sample,
    // have found a path through one pair. Where few have (groups, web graphs, columns that are too
    // few: 7% to 55%; circuits, meshes, KKT systems: 70% to 100%), others are too long.
    bool few_are_short(std::size_t n, std::int64_t found) const {
        constexpr std::size_t least = 64;
        const bool is_sample = n >= least && n <= roots_.size() / 2;
        return depth_ == 1 && has_budget() && is_sample &&
               5 * found < 3 * static_cast<std::int64_t>(n);
    }

    // Large pieces first: consecutive rows are often neighbours, whose searches would block each
    // other. Towards the end each search is long, as most columns have been visited.
    void search_all(std::vector<std::unique_ptr<Lane>>& lanes) {
        auto timer = run_.time("search");
        const auto n = static_cast<std::int64_t>(roots_.size());
        const std::int64_t pieces = 8 * run_.team.size();  // that what is left is cut into
        std::atomic<std::int64_t> next{0};
        run_.team.each([&](int rank) {
            for (std::int64_t begin = 0; begin < n && goes_on() && !run_.team.failed();) {
                begin = next.load(std::memory_order_relaxed);
                const std::int64_t size = std::max<std::int64_t>(1, (n - begin) / pieces);
                if (!next.compare_exchange_weak(begin, begin + size)) continue;
                const auto end = std::min(begin + size, n);
                for (auto k = begin; k < end && goes_on(); ++k) search(*lanes[rank], roots_[k]);
                if (few_are_short(end / run_.team.size(), lanes[rank]->found)) run_.give_up();
            }
        });
    }

    void end_phase(std::vector<std::unique_ptr<Lane>>& lanes) {
        ++run_.stats.phases;
        roots_.clear();
        std::int64_t edges = run_.edges();
        for (auto& lane : lanes) {
            run_.stats.augmentations += std::exchange(lane->found, 0);
            run_.stats.path_edges += std::exchange(lane->path_edges, 0);
            edges += lane->counter.unflushed();
            roots_.insert(roots_.end(), lane->blocked_roots.begin(), lane->blocked_roots.end());
            lane->blocked_roots.clear();
        }
        if (!roots_.empty() && projection_.exceeds_budget(run_, edges, run_.stats.augmentations))
            run_.give_up();
    }

    void search(Lane& lane, Index root) {
        lane.blocked = false;
        bool found = enter(lane, root, UNMATCHED<Index>);
        while (!found && !lane.path.empty() && lane.going) {
            if (lane.path.size() > depth_) {
                lane.path.pop_back();
                lane.blocked = true;
                continue;
            }
            const Index j = next_column(lane);
            if (j == UNMATCHED<Index>) lane.path.pop_back();
            else found = enter(lane, m_.col_mate[j], j);
        }
        const bool failed_for_good = !found && !lane.blocked && lane.going;
        for (Index j : lane.trail) {
            lane.mine.clear(j);
            if (failed_for_good) dead_.claim<Threads>(j);
        }
        lane.trail.clear();
        if (found) augment(lane);
        else if (lane.blocked) lane.blocked_roots.push_back(root);
        lane.path.clear();
    }

    // Puts a row on the path, reached through column `via`. True if its lookahead ends the path.
    bool enter(Lane& lane, Index i, Index via) {
        const Index first = a_.indptr[i], last = a_.indptr[i + 1];
        lane.path.push_back({i, first, last, via});
        // The search mostly goes on to one of these: 0.85 of the time (a million rows, scrambled).
        for (Index k = 0; k < std::min<Index>(last - first, 16); ++k)
            SPARSEMATCH_PREFETCH(&m_.col_mate[a_.indices[first + k]]);
        const Index begin = lookahead_[i];  // a row is entered by one search a phase
        Index p = begin;                    // a copy: no store for each entry
        while (p < last && !(open_.test(a_.indices[p]) && visited_.claim<Threads>(a_.indices[p])))
            ++p;
        lookahead_[i] = p;
        if (!lane.counter.add_within_budget(p - begin)) lane.going = false;
        if (p == last) return false;
        lane.leaf = a_.indices[p];
        return true;
    }

    // The next unvisited column of the path's last row, claimed; UNMATCHED when there is none.
    Index next_column(Lane& lane) {
        Frame& frame = lane.path.back();
        const Index before = frame.last - frame.next;
        // copies: what is written meanwhile cannot alias them
        Index first = frame.next, last = frame.last, found = UNMATCHED<Index>;
        bool blocked = lane.blocked;
        while (first < last) {
            const Index j = a_.indices[forward_ ? first++ : --last];
            if (visited_.claim<Threads>(j)) {
                found = j;
                lane.trail.push_back(j);
                lane.mine.set(j);
                break;
            }
            blocked = blocked || !(lane.mine.test(j) || dead_.test(j));
        }
        frame.next = first;
        frame.last = last;
        lane.blocked = blocked;
        if (!lane.counter.add_within_budget(before - (last - first))) lane.going = false;
        return found;
    }

    // Augments along the path. Safe: this search claimed its columns, which alone lead to its rows.
    void augment(Lane& lane) {
        Index j = lane.leaf;
        open_.release<Threads>(j);
        for (auto frame = lane.path.rbegin(); frame != lane.path.rend(); ++frame) {
            m_.match(frame->row, j);
            j = frame->via;
        }
        ++lane.found;
        lane.path_edges += 2 * static_cast<std::int64_t>(lane.path.size()) - 1;
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    const PothenFanOptions& options_;
    RunContext& run_;
    std::vector<Index> roots_;
    Buffer<Index> lookahead_;
    // columns: entered this phase; entered by searches that failed for good, or finished; free
    Bitmap visited_, dead_, open_;
    bool forward_ = true;
    std::size_t depth_ = unlimited;  // pairs on a path, at most
    PhaseProjection projection_;
};

template <class Index>
void pothen_fan(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m,
                const PothenFanOptions& options, RunContext& run) {
    if (run.team.size() > 1) PothenFan<true, Index>(a, m, options, run).improve();
    else PothenFan<false, Index>(a, m, options, run).improve();
}

}  // namespace sparsematch
