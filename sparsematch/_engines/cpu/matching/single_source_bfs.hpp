// Single-source breadth-first search: one free row after the other, each augmented as soon as a
// free column is met.
//
// Azad, Buluc, Pothen (IPDPS 2015), Algorithm 1; Setubal (1996). Paper's visited[y]: visited;
// parent of a column: parent.
// Invariant: a tree without an augmenting path can never have one again (Papadimitriou, Steiglitz),
// so its columns stay visited; a tree with one is forgotten.
// With several workers each searches by itself, on mates that the others may change meanwhile. A
// path is flipped with the matching locked, if it still holds. A tree that failed holds if nobody
// has flipped a path meanwhile, which a count tells, or if its mates are the same still. Where one
// has changed, the search is repeated. What they share is hardly ever written.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "core/append_unseen.hpp"
#include "core/csr.hpp"
#include "core/free_rows.hpp"
#include "core/options.hpp"
#include "core/published_lists.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

template <bool Threads, class Index>
class SingleSourceBfs {
    // One worker's search. Row queue[k + 1] is the mate of column trail[k]; parent[k] is the place
    // in the queue of the row through which that column was reached.
    struct Lane {
        Lane(const Csr<Index>& a, RunContext& run, int rank)
            : rank(rank), counter(run, rank), visited(a.n_cols), parent(a.n_cols),
              queue(a.n_cols + std::size_t{1}), trail(a.n_cols + std::size_t{1}) {}
        const int rank;
        WorkCounter counter;
        Bitmap visited;
        Buffer<Index> parent, queue, trail;
        Index n_trail = 0;
        Index leaf = -1;  // the place in the trail of the free column at the end of the path
        bool started = false;
        std::int64_t searched = 0, buried_edges = 0;  // not yet in the account
    };
    // So many searches, or so many edges of those that fail, are accounted for together.
    static constexpr std::int64_t searches_at_once = 64, edges_at_once = 1 << 12;
    // Where more are left, there are free columns nearby for all.
    static constexpr std::size_t few_roots = 1 << 10;

    // Only one worker at a time looks at all mates, and changes them: for less time than it takes
    // to fall asleep.
    template <bool Needed>
    class Turn {
      public:
        explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
            if constexpr (Needed)
                for (int tries = 1; busy_.load(std::memory_order_relaxed) ||
                                    busy_.exchange(true, std::memory_order_acquire);
                     ++tries)
                    if (tries % 256 == 0) std::this_thread::yield();
        }
        Turn(const Turn&) = delete;
        ~Turn() {
            if constexpr (Needed) busy_.store(false, std::memory_order_release);
        }

      private:
        std::atomic<bool>& busy_;
    };

  public:
    SingleSourceBfs(const Csr<Index>& a, Matching<Index> m, RunContext& run)
        : a_(a), m_(m), run_(run), hidden_(a.n_cols),
          everywhere_(run.edge_limit() > 2 * static_cast<std::int64_t>(a.nnz())) {}

    // Reads: the matrix. Writes: both mates. Workspace, for each worker: three indices and a bit
    // per column, and one more index if there are several. Time: O(n nnz).
    void improve() {
        auto timer = run_.time("search");
        std::vector<Index> roots;
        run_.team.both([&](int part, int) {
            if (part == 0) roots = unsettled(free_rows(a_, m_));
            else hide_settled();
        });
        if (Threads && roots.size() <= few_roots) roots = interleaved(roots);
        const auto n = static_cast<std::int64_t>(roots.size());
        for (int rank = 0; rank < std::min<std::int64_t>(run_.team.size(), n); ++rank)
            lanes_.push_back(std::make_unique<Lane>(a_, run_, rank));
        if constexpr (Threads) buried_ = PublishedLists<Index>(lanes_.size(), a_.n_cols);
        std::atomic<std::int64_t> next{0};
        run_.team.each([&](int rank) {
            if (rank >= static_cast<int>(lanes_.size())) return;
            Lane& lane = *lanes_[rank];
            for (std::int64_t begin = next.load(), end; begin < n;) {
                // Ever fewer roots at a time: the last ones, for which few columns are left, take
                // as long as hundreds of the first.
                end = begin + std::clamp<std::int64_t>((n - begin) / 32, 1, 64);
                if (!next.compare_exchange_weak(begin, end)) continue;
                if (!std::exchange(lane.started, true)) lane.visited.copy(hidden_);
                for (; begin < end; ++begin) {
                    if (run_.stopped() || run_.exhausted()) break;
                    if (begin + 8 < n) prefetch(roots[begin + 8]);
                    search(lane, roots[begin], roots.size());
                }
                if (begin < end) break;
                begin = next.load();
            }
            [[maybe_unused]] const Turn<Threads> turn(busy_);
            account(lane, roots.size());
        });
    }

  private:
    // Without what the caller says no augmenting path needs.
    std::vector<Index> unsettled(std::vector<Index>&& roots) const {
        if (run_.settled) std::erase_if(roots, [&](Index i) { return run_.settled.row[i]; });
        return std::move(roots);
    }
    // The halves of a list in turns. Trees of neighbours meet the same free columns, so two that
    // grow at the same time should be far apart.
    static std::vector<Index> interleaved(const std::vector<Index>& list) {
        std::vector<Index> mixed(list.size());
        for (std::size_t k = 0, half = (list.size() + 1) / 2; k < list.size(); ++k)
            mixed[k] = list[k / 2 + k % 2 * half];
        return mixed;
    }
    void hide_settled() {
        if (run_.settled)
            hidden_.mark(a_.n_cols, [&](std::size_t j) { return run_.settled.col[j]; });
    }

    // Where most searches succeed, what k of n have cost tells early what all of them will. Among
    // near neighbours each costs about the same. Searches that go everywhere (for which a caller
    // allows several passes) cost the more, the fewer free columns are left: with r of them about 1
    // / r, which makes ln(n) of all n.
    double growth(std::size_t n, std::int64_t k) const {
        const auto all = static_cast<double>(n), done = static_cast<double>(k);
        return everywhere_ ? std::log(all + 1) / std::log((all + 1) / (all + 1 - done))
                           : all / done;
    }

    void search(Lane& lane, Index root, std::size_t n_roots) {
        for (;;) {
            if constexpr (Threads)
                if (lane.searched % 16 == 0)
                    buried_.consume(lane.rank, [&](const Index* cols, std::size_t n) {
                        for (std::size_t k = 0; k < n; ++k) lane.visited.set(cols[k]);
                    });
            const std::uint64_t flips = n_flips_.load(std::memory_order_acquire);
            const std::int64_t edges = grow(lane, root);
            if (edges < 0) return;
            if (lane.leaf < 0 && still_fails(lane, flips)) return bury(lane, edges, n_roots);
            const bool done = lane.leaf >= 0 && augment(lane, n_roots);
            for (Index k = 0; k < lane.n_trail; ++k) lane.visited.clear(lane.trail[k]);
            if (done) return;
        }
    }

    // Level by level to the first free column, if there is one. Returns the edges scanned; -1:
    // stopped.
    std::int64_t grow(Lane& lane, Index root) {
        std::int64_t edges = 0;
        lane.n_trail = 0;
        lane.leaf = -1;
        lane.queue[0] = root;
        // Up to these places in the queue, mates of columns, lists, and what tells where lists are
        // have been asked for.
        Index next = 0, soon = 0, later = 0;
        for (Index head = 0; head <= lane.n_trail && lane.leaf < 0; ++head) {
            for (; later < std::min(lane.n_trail, head + 16); ++later)
                __builtin_prefetch(&a_.indptr[lane.queue[later + 1]]);
            for (; soon < std::min(lane.n_trail, head + 8); ++soon) prefetch(lane.queue[soon + 1]);
            for (; next < std::min(lane.n_trail, head + 4); ++next)
                prefetch_mates(lane.queue[next + 1]);
            const Index i = lane.queue[head];
            if (!lane.counter.add(a_.degree(i))) return -1;
            edges += a_.degree(i);
            const Index known = lane.n_trail;
            lane.n_trail = append_unseen(a_.neighbours(i), lane.visited, lane.trail.data(), known);
            enter(lane, head, known);
        }
        return edges;
    }

    // Asks for both ends of the list of row i: most are shorter than two lines of the cache.
    [[gnu::always_inline]] void prefetch(Index i) const {
        __builtin_prefetch(&a_.indices[a_.indptr[i]]);
        __builtin_prefetch(&a_.indices[a_.indptr[i + 1] - 1]);
    }

    // Most columns of a long list have been seen.
    [[gnu::always_inline]] void prefetch_mates(Index i) const {
        if (a_.degree(i) > 16) return;
        for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p)
            __builtin_prefetch(&m_.col_mate[a_.indices[p]]);
    }

    // Puts the mates of the columns from place k of the trail on in the queue, until one has none:
    // those that follow are in no tree.
    void enter(Lane& lane, Index head, Index k) {
        for (; k < lane.n_trail; ++k) {
            const Index mate =
                peek(m_.col_mate[lane.trail[k]],
                     Threads ? std::memory_order_acquire : std::memory_order_relaxed);
            lane.parent[k] = head;
            lane.queue[k + 1] = mate;
            if (mate == UNMATCHED<Index>) return void(lane.leaf = k);
        }
    }

    // Flips the path that ends in the leaf. False: a mate on it has changed since.
    bool augment(Lane& lane, std::size_t n_roots) {
        [[maybe_unused]] const Turn<Threads> turn(busy_);
        if (Threads && !still_holds(lane)) return false;
        const std::uint64_t flips = n_flips_.load(std::memory_order_relaxed);
        // who sees a mate that is written below sees this, too
        n_flips_.store(flips + 1, std::memory_order_relaxed);
        for (Index place = lane.leaf, k = lane.parent[place];;
             place = k - 1, k = lane.parent[place]) {
            run_.stats.path_edges += 2;
            poke(m_.row_mate[lane.queue[k]], lane.trail[place]);
            poke(m_.col_mate[lane.trail[place]], lane.queue[k], std::memory_order_release);
            if (k == 0) break;
        }
        n_flips_.store(flips + 2, std::memory_order_release);
        --run_.stats.path_edges;
        ++run_.stats.augmentations;
        ++lane.searched;
        account(lane, n_roots);
        return true;
    }

    bool still_holds(const Lane& lane) const {
        if (m_.col_mate[lane.trail[lane.leaf]] != UNMATCHED<Index>) return false;
        for (Index k = lane.parent[lane.leaf]; k > 0; k = lane.parent[k - 1])
            if (m_.row_mate[lane.queue[k]] != lane.trail[k - 1]) return false;
        return true;
    }

    // Whether a tree without a free column is one of a matching that there was: of all the time
    // since `flips` were counted, if no path has been flipped, or of this moment. Once it is, it
    // stays one.
    bool still_fails(const Lane& lane, std::uint64_t flips) {
        if (!Threads || lane.n_trail == 0) return true;
        if (flips % 2 == 0 && n_flips_.load(std::memory_order_relaxed) == flips) return true;
        [[maybe_unused]] const Turn<Threads> turn(busy_);
        for (Index k = 0; k < lane.n_trail; ++k)
            if (m_.col_mate[lane.trail[k]] != lane.queue[k + 1]) return false;
        return true;
    }

    // Nobody needs to look at this tree again: its columns stay visited.
    void bury(Lane& lane, std::int64_t edges, std::size_t n_roots) {
        if constexpr (Threads) {
            buried_.add(lane.rank, lane.trail.data(), lane.n_trail);
            buried_.publish(lane.rank);
        }
        lane.buried_edges += edges;
        if (++lane.searched < searches_at_once && lane.buried_edges < edges_at_once) return;
        [[maybe_unused]] const Turn<Threads> turn(busy_);
        account(lane, n_roots);
    }

    // With the turn.
    void account(Lane& lane, std::size_t n_roots) {
        // No edge is scanned twice by searches that fail: only the others can use up an allowance.
        run_.extend_budget(std::exchange(lane.buried_edges, 0));
        const std::int64_t before = run_.stats.phases,
                           k = run_.stats.phases += std::exchange(lane.searched, 0);
        if (k / searches_at_once > before / searches_at_once && run_.stats.augmentations > k / 2)
            run_.stop_if_projected_over(growth(n_roots, k));
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    RunContext& run_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    // columns of trees that failed, where there are several workers
    PublishedLists<Index> buried_;
    Bitmap hidden_;                              // columns, by the caller
    alignas(64) std::atomic<bool> busy_{false};  // somebody has the turn
    // twice the paths that have been flipped, and one while one is
    alignas(64) std::atomic<std::uint64_t> n_flips_{0};
    const bool everywhere_;
};

template <class Index>
void single_source_bfs(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const NoOptions&,
                       RunContext& run) {
    if (run.team.size() > 1) SingleSourceBfs<true, Index>(a, m, run).improve();
    else SingleSourceBfs<false, Index>(a, m, run).improve();
}

}  // namespace sparsematch
