// Pothen-Fan: in each phase, a depth-first search from every free row, vertex-disjoint, with
// lookahead.
//
// Pothen, Fan: Computing the block triangular form of a sparse matrix (ACM TOMS 16, 1990); fairness
// after Duff, Kaya, Ucar (2011); threads after Azad et al. (IPDPS 2012): a column is claimed before
// it is entered, so the searches are disjoint. Lookahead: each row keeps a pointer into its list; a
// matched column stays matched, so the pointer only moves on, and all lookaheads of a run cost one
// pass over the edges.
// Invariant: a column is visited at most once a phase. A search that failed, without being blocked
// by a column that a successful or unfinished search has claimed, can never succeed, nor can any
// search through its columns: these stay visited, which makes deficient matrices cheap.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/csr.hpp"
#include "core/free_rows.hpp"
#include "core/options.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

struct PothenFanOptions {
    // Alternate the direction in which lists are scanned.
    bool fairness = true;

    static constexpr auto fields() {
        return std::tuple{Option{"fairness", &PothenFanOptions::fairness}};
    }
};

template <bool Threads, class Index>
class PothenFan {
    struct Frame {
        Index row, next, last;  // the part of the row's list that is still to be scanned
        Index via;              // the column this frame descended through
    };
    struct Lane {
        Lane(RunContext& run, int rank, std::size_t n_cols) : mine(n_cols), counter(run, rank) {}
        std::vector<Frame> path;
        std::vector<Index> trail;  // columns visited by this search
        Bitmap mine;               // the same as a set
        Index leaf = UNMATCHED<Index>;
        bool blocked = false;  // by a column that is unvisited again in the next phase
        std::int64_t found = 0, path_edges = 0;
        WorkCounter counter;
    };

  public:
    PothenFan(const Csr<Index>& a, Matching<Index> m, const PothenFanOptions& options,
              RunContext& run)
        : a_(a), m_(m), options_(options), run_(run), lookahead_(a.n_rows), visited_(a.n_cols),
          dead_(a.n_cols), open_(a.n_cols) {
        run.team.both([&](int part, int) {
            if (part == 0) free_ = free_rows(a, m);
            if (part == 1) {
                std::copy_n(a.indptr, a.n_rows, lookahead_.data());
                open_.mark_free(a.n_cols, m.col_mate);
            }
        });
    }

    // Reads: the matrix. Writes: both mates. Workspace: one index per row, bits per column, the
    // stack. Time: O(n nnz), mostly O(nnz).
    void improve() {
        std::vector<std::unique_ptr<Lane>> lanes;
        for (int rank = 0; rank < run_.team.size(); ++rank)
            lanes.push_back(std::make_unique<Lane>(run_, rank, a_.n_cols));
        for (std::size_t n = free_.size(); n > 0 && goes_on();) {
            const std::int64_t before = run_.stats.augmentations;
            visited_.copy(dead_);
            forward_ = !options_.fairness || run_.stats.phases % 2 == 0;
            auto timer = run_.time("search");
            // Few large pieces: consecutive rows are often neighbours, whose searches would block
            // each other. Towards the end few rows are left, and each of their searches is long.
            const auto grain =
                std::max<std::int64_t>(1, static_cast<std::int64_t>(n) / (8 * run_.team.size()));
            run_.team.loop(static_cast<std::int64_t>(n), grain,
                           [&](int rank, std::int64_t begin, std::int64_t end) {
                               for (auto k = begin; k < end && goes_on(); ++k)
                                   search(*lanes[rank], free_[k]);
                           });
            ++run_.stats.phases;
            for (auto& lane : lanes) {
                run_.stats.augmentations += std::exchange(lane->found, 0);
                run_.stats.path_edges += std::exchange(lane->path_edges, 0);
            }
            if (run_.stats.augmentations == before) break;
            n = keep_free(free_, n, m_);
        }
    }

  private:
    bool goes_on() const { return !run_.stopped() && !run_.exhausted(); }

    void search(Lane& lane, Index root) {
        lane.blocked = false;
        bool found = enter(lane, root, UNMATCHED<Index>);
        while (!found && !lane.path.empty() && !run_.stopped()) {
            const Index j = next_column(lane);
            if (j == UNMATCHED<Index>) lane.path.pop_back();
            else found = enter(lane, m_.col_mate[j], j);
        }
        const bool failed_for_good = !found && !lane.blocked && !run_.stopped();
        for (Index j : lane.trail) {
            lane.mine.clear(j);
            if (failed_for_good) dead_.claim<Threads>(j);
        }
        lane.trail.clear();
        if (found) augment(lane);
        lane.path.clear();
    }

    // Puts a row on the path, reached through column `via`. True if its lookahead meets a free
    // column: the path's end.
    bool enter(Lane& lane, Index i, Index via) {
        const Index last = a_.indptr[i + 1];
        lane.path.push_back({i, a_.indptr[i], last, via});
        Index& p = lookahead_[i];  // a row is entered by one search a phase
        const Index begin = p;
        while (p < last && !(open_.test(a_.indices[p]) && visited_.claim<Threads>(a_.indices[p])))
            ++p;
        lane.counter.add(p - begin);
        if (p == last) return false;
        lane.leaf = a_.indices[p];
        return true;
    }

    // The next unvisited column of the path's last row, claimed; UNMATCHED when there is none.
    Index next_column(Lane& lane) {
        Frame& frame = lane.path.back();
        const Index before = frame.last - frame.next;
        Index found = UNMATCHED<Index>;
        while (frame.next < frame.last && found == UNMATCHED<Index>) {
            const Index j = a_.indices[forward_ ? frame.next++ : --frame.last];
            if (visited_.claim<Threads>(j)) {
                found = j;
                lane.trail.push_back(j);
                lane.mine.set(j);
            } else if (!lane.blocked && !lane.mine.test(j) && !dead_.test(j)) {
                lane.blocked = true;
            }
        }
        lane.counter.add(before - (frame.last - frame.next));
        return found;
    }

    // Augments along the path. Safe: its columns were claimed by this search, and its rows are
    // reached only through them.
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
    std::vector<Index> free_;
    Buffer<Index> lookahead_;
    // columns: entered this phase; entered by searches that failed for good; free
    Bitmap visited_, dead_, open_;
    bool forward_ = true;
};

template <class Index>
void pothen_fan(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m,
                const PothenFanOptions& options, RunContext& run) {
    if (run.team.size() > 1) PothenFan<true, Index>(a, m, options, run).improve();
    else PothenFan<false, Index>(a, m, options, run).improve();
}

}  // namespace sparsematch
