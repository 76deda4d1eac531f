// Single-source breadth-first search: one free row after the other, each augmented as soon as a free column is met.
//
// Azad, Buluc, Pothen (IPDPS 2015), Algorithm 1; Setubal (1996). Paper's visited[y]: visited; parent of a column: parent.
// Invariant: a tree without an augmenting path can never have one again (Papadimitriou, Steiglitz), so its columns stay
// visited; a tree with one is forgotten.
// With several workers each searches by itself, on mates that the others may change meanwhile, and locks the matching only to
// see that its tree still holds: where a mate has changed, it searches again. What they share is hardly ever written.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "csr.hpp"
#include "free_rows.hpp"
#include "run.hpp"

namespace sparsematch {

template <bool Threads, class Index>
class SingleSourceBfs {
    // One worker's search. Row queue[k + 1] is the mate of column trail[k]; parent[k] is the place in the queue of the row
    // through which that column was reached.
    struct Lane {
        Lane(const Csr<Index>& a, Run& run, int rank)
            : meter(run, rank), visited(a.n_cols), parent(a.n_cols), queue(a.n_cols + std::size_t{1}),
              trail(a.n_cols + std::size_t{1}) {}
        Meter meter;
        Bitmap visited;
        Buffer<Index> parent, queue, trail;
        Index n_trail = 0, n_heard = 0;  // of the columns that have been buried
        std::int64_t searched = 0;       // not yet in the account
        Index leaf = -1;                 // the place in the trail of the free column at the end of the path
    };

    // Only one worker at a time looks at all mates, and changes them: for less time than it takes to fall asleep.
    template <bool Needed>
    class Turn {
      public:
        explicit Turn(std::atomic<bool>& busy) : busy_(busy) {
            if constexpr (Needed)
                for (int tries = 1; busy_.load(std::memory_order_relaxed) || busy_.exchange(true, std::memory_order_acquire);
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
    SingleSourceBfs(const Csr<Index>& a, Matching<Index> m, Run& run)
        : a_(a), m_(m), run_(run), dead_(a.n_cols), buried_(Threads ? a.n_cols : 0),
          everywhere_(run.edge_limit() > 2 * static_cast<std::int64_t>(a.nnz())) {}

    // Reads: the matrix. Writes: both mates. Workspace, for each worker: three indices and a bit per column.
    // Time: O(n nnz).
    void improve() {
        auto timer = run_.time("search");
        std::vector<Index> roots;
        run_.team.both([&](int part, int) {
            if (part == 0) roots = unsettled(free_rows(a_, m_));
            else hide_settled();
        });
        const auto n = static_cast<std::int64_t>(roots.size());
        std::atomic<std::int64_t> next{0};
        run_.team.each([&](int rank) {
            std::unique_ptr<Lane> lane;
            for (std::int64_t begin = next.load(), end; begin < n;) {
                // Ever fewer roots at a time: the last ones, for which few columns are left, take as long as hundreds of the first.
                end = begin + std::clamp<std::int64_t>((n - begin) / 32, 1, 64);
                if (!next.compare_exchange_weak(begin, end)) continue;
                if (!lane) lane = start_lane(rank);
                for (; begin < end; ++begin) {
                    if (run_.stopped() || run_.exhausted()) break;
                    if (begin + 8 < n) prefetch(roots[begin + 8]);
                    search(*lane, roots[begin], roots.size());
                }
                if (begin < end) break;
                begin = next.load();
            }
            [[maybe_unused]] const Turn<Threads> turn(busy_);
            if (lane) run_.stats.phases += lane->searched;
        });
    }

  private:
    // Without what the caller says no augmenting path needs.
    std::vector<Index> unsettled(std::vector<Index>&& roots) const {
        if (run_.settled) std::erase_if(roots, [&](Index i) { return run_.settled.row[i]; });
        return std::move(roots);
    }
    void hide_settled() {
        if (run_.settled) dead_.mark(a_.n_cols, [&](std::size_t j) { return run_.settled.col[j]; });
    }

    std::unique_ptr<Lane> start_lane(int rank) {
        auto lane = std::make_unique<Lane>(a_, run_, rank);
        [[maybe_unused]] const Turn<Threads> turn(busy_);
        lane->visited.copy(dead_);
        lane->n_heard = n_buried_.load(std::memory_order_relaxed);
        return lane;
    }

    // Where most searches succeed, what k of n have cost tells early what all of them will. Among near neighbours each costs
    // about the same. Searches that go everywhere (for which a caller allows several passes) cost the more, the fewer free
    // columns are left: with r of them about 1 / r, which makes ln(n) of all n.
    double growth(std::size_t n, std::int64_t k) const {
        const auto all = static_cast<double>(n), done = static_cast<double>(k);
        return everywhere_ ? std::log(all + 1) / std::log((all + 1) / (all + 1 - done)) : all / done;
    }

    void search(Lane& lane, Index root, std::size_t n_roots) {
        for (bool done = false; !done;) {
            if constexpr (Threads) hear(lane);
            const std::int64_t edges = grow(lane, root);
            if (edges < 0) return;
            const bool found = lane.leaf >= 0;
            if (lane.n_trail == 0) {
                done = true;
                ++lane.searched;
            } else {
                [[maybe_unused]] const Turn<Threads> turn(busy_);
                done = found ? augment(lane) : bury(lane, edges);
                const auto k = run_.stats.phases += std::exchange(lane.searched, 0) + done;
                if (done && k % 64 == 0 && run_.stats.augmentations > k / 2) run_.expect(growth(n_roots, k));
            }
            if (done && !found) return;
            for (Index k = 0; k < lane.n_trail; ++k) lane.visited.clear(lane.trail[k]);
        }
    }

    // Visits what others have buried. They tell by a list, in order: a set would be taken from cache to cache all the time.
    void hear(Lane& lane) const {
        for (const Index n = n_buried_.load(std::memory_order_acquire); lane.n_heard < n; ++lane.n_heard)
            lane.visited.set(buried_[lane.n_heard]);
    }

    // Level by level to the first free column, if there is one. Returns the edges scanned; -1: stopped.
    std::int64_t grow(Lane& lane, Index root) {
        std::int64_t edges = 0;
        lane.n_trail = 0;
        lane.leaf = -1;
        lane.queue[0] = root;
        // Up to these places in the queue, mates of columns, lists, and what tells where lists are have been asked for.
        Index next = 0, soon = 0, later = 0;
        for (Index head = 0; head <= lane.n_trail && lane.leaf < 0; ++head) {
            for (; later < std::min(lane.n_trail, head + 16); ++later) __builtin_prefetch(&a_.indptr[lane.queue[later + 1]]);
            for (; soon < std::min(lane.n_trail, head + 8); ++soon) prefetch(lane.queue[soon + 1]);
            for (; next < std::min(lane.n_trail, head + 4); ++next) prefetch_mates(lane.queue[next + 1]);
            const Index i = lane.queue[head];
            if (!lane.meter.charge(a_.degree(i))) return -1;
            edges += a_.degree(i);
            const Index known = lane.n_trail;
            lane.n_trail = append_unseen(i, lane.visited, lane.trail.data(), known);
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
        for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) __builtin_prefetch(&m_.col_mate[a_.indices[p]]);
    }

    // Appends the unseen columns of row i to a list of n, which has room for one more than there are; returns how many it then
    // holds. Each column is written, and stays if it is new: no branch to mispredict.
    Index append_unseen(Index i, Bitmap& visited, Index* list, Index n) const {
        const Index* const indices = a_.indices;
        for (Index p = a_.indptr[i], last = a_.indptr[i + 1]; p < last; ++p) {
            list[n] = indices[p];
            n += visited.insert(indices[p]);
        }
        return n;
    }

    // Puts the mates of the columns from place k of the trail on in the queue, until one has none: those that follow are in no
    // tree.
    void enter(Lane& lane, Index head, Index k) {
        for (; k < lane.n_trail; ++k) {
            const Index mate = peek(m_.col_mate[lane.trail[k]]);
            lane.parent[k] = head;
            lane.queue[k + 1] = mate;
            if (mate == UNMATCHED<Index>) return void(lane.leaf = k);
        }
    }

    // Flips the path that ends in the leaf. False: a mate on it has changed since.
    bool augment(const Lane& lane) {
        if (Threads && !still_holds(lane)) return false;
        for (Index place = lane.leaf, k = lane.parent[place];; place = k - 1, k = lane.parent[place]) {
            run_.stats.path_edges += 2;
            poke(m_.row_mate[lane.queue[k]], lane.trail[place]);
            poke(m_.col_mate[lane.trail[place]], lane.queue[k]);
            if (k == 0) break;
        }
        --run_.stats.path_edges;
        ++run_.stats.augmentations;
        return true;
    }

    bool still_holds(const Lane& lane) const {
        if (m_.col_mate[lane.trail[lane.leaf]] != UNMATCHED<Index>) return false;
        for (Index k = lane.parent[lane.leaf]; k > 0; k = lane.parent[k - 1])
            if (m_.row_mate[lane.queue[k]] != lane.trail[k - 1]) return false;
        return true;
    }

    // Nobody needs to look at this tree again. False: a mate in it has changed since.
    bool bury(const Lane& lane, std::int64_t edges) {
        if constexpr (Threads) {
            for (Index k = 0; k < lane.n_trail; ++k)
                if (m_.col_mate[lane.trail[k]] != lane.queue[k + 1]) return false;
            Index n = n_buried_.load(std::memory_order_relaxed);
            for (Index k = 0; k < lane.n_trail; ++k)
                if (dead_.template claim<false>(lane.trail[k])) buried_[n++] = lane.trail[k];
            n_buried_.store(n, std::memory_order_release);
        }
        run_.allow(edges);  // no edge is scanned twice by searches that fail: only the others can use up an allowance
        return true;
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    Run& run_;
    std::atomic<bool> busy_{false};  // somebody has the turn
    Bitmap dead_;                    // columns of trees that failed, and those that the caller has hidden
    Buffer<Index> buried_;           // the former, with several workers
    std::atomic<Index> n_buried_{0};
    const bool everywhere_;
};

template <class Index>
void single_source_bfs(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const Options&, Run& run) {
    if (run.team.size() > 1) SingleSourceBfs<true, Index>(a, m, run).improve();
    else SingleSourceBfs<false, Index>(a, m, run).improve();
}

}  // namespace sparsematch
