// Shortest augmenting paths from all free rows at once.
//
// A round grows a forest of shortest paths from the free rows, nearest vertices first, by
// Dijkstra's algorithm over reduced costs, beyond the first free column: up to a distance at which
// many trees have reached one. Then the duals of the forest move by what is missing to that
// distance. Every path in the forest has a reduced cost of 0 now, trees share no vertex, and each
// tree that has reached a free column augments along its path.
// Where costs have many ties this is a phase of Hopcroft and Karp's algorithm (SIAM J. Comput. 2,
// 1973), in reduced costs; rounds with one dual change for all trees are those of Gabow and Tarjan
// (Faster scaling algorithms for network problems, SIAM J. Comput. 18, 1989), without their
// rounding of costs. When to stop is a matter of the work for each tree that has reached a free
// column: once the work is twice what it was where that was least, or all trees have one. In a wide
// matrix free columns must keep the largest dual: the nearest free column ends the round.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "weighted/assignment_state.hpp"
#include "weighted/radix_heap.hpp"

namespace sparsematch {

template <class Index> class PathForest {
  public:
    explicit PathForest(AssignmentState<Index>& s) : s_(s), root_(s.a.n_rows), end_(s.a.n_rows) {}

    // Augments along at least one path. False: there is none, or the run was stopped. Time:
    // O(nnz + n_cols log(largest / least distance)).
    bool round() {
        const auto timer = s_.run.time("rounds");
        level_ = 0, bound_ = infinity, n_ends_ = 0, place_ = 0;
        for (const Index i : s_.free) {
            root_[i] = i, end_[i] = UNMATCHED<Index>;
            scan(i);
            if (!s_.scanned(i)) return false;
        }
        if (!grow() || n_ends_ == 0) return false;
        move_duals();
        std::size_t kept = 0;
        for (const Index i : s_.free) {
            if (end_[i] == UNMATCHED<Index>) s_.free[kept++] = i;
            else s_.augment(i, end_[i]);
        }
        s_.free.resize(kept);
        return true;
    }

  private:
    // Scans the rows that follow from the roots.
    bool grow() {
        const bool nearest_only = s_.wide() || s_.free.size() == 1;
        const std::int64_t start = s_.work - s_.pass() / 64;  // what a round costs anyhow
        double least = infinity;                              // work for a tree
        std::int64_t mark = 0;                                // work when it was least
        for (Index j; (j = next()) != UNMATCHED<Index>;) {
            const Index i = s_.col[j].mate, root = root_[s_.col[j].parent];
            if (i != UNMATCHED<Index>) {
                root_[i] = root;
                scan(i);
                if (!s_.scanned(i)) return false;
            } else if (end_[root] == UNMATCHED<Index>) {
                end_[root] = j;
                ++n_ends_;
                if (nearest_only) bound_ = level_;
                if (n_ends_ == s_.free.size()) break;
                const std::int64_t work = s_.work - start;
                if (work <= least * static_cast<double>(n_ends_))
                    least = static_cast<double>(work) / static_cast<double>(n_ends_), mark = work;
            }
            const bool drained = place_ == heap_.least().size();
            if (drained && n_ends_ > 0 && s_.work - start > 2 * mark) break;
        }
        return true;
    }

    void scan(Index i) {
        const double base = level_ - s_.u[i];
        for (Index p = s_.a.indptr[i]; p < s_.a.indptr[i + 1]; ++p) {
            const Index j = s_.a.indices[p];
            auto& col = s_.col[j];
            const double d = std::max(base + (s_.cost[p] - col.v), level_);  // rounding
            if (d >= col.distance || d > bound_) continue;
            if (col.distance == infinity) touched_.push_back(j);
            col.distance = d, col.parent = i;
            heap_.push(d, j);
            s_.work += d > level_ ? key_work : 0;
        }
    }

    // The nearest column that is not scanned yet, if any.
    Index next() {
        const auto& least = heap_.least();
        for (;;) {
            while (place_ < least.size()) {
                prefetch();
                const auto [d, j] = least[place_++];
                if (d <= s_.col[j].distance) return j;
            }
            place_ = 0;
            const auto is_current = [this](const auto& e) {
                return e.key <= s_.col[e.j].distance && e.key <= bound_;
            };
            if (!heap_.advance(is_current)) return UNMATCHED<Index>;
            level_ = least[0].key;
        }
    }

    // Rows that follow are known where many columns are equally near: first where they are, then
    // their entries, then what these name.
    void prefetch() const {
        const auto mate_ahead = [&](std::size_t k) {
            const std::size_t place = place_ + k;
            return place < heap_.least().size() ? s_.col[heap_.least()[place].j].mate
                                                : UNMATCHED<Index>;
        };
        s_.prefetch(mate_ahead(12), mate_ahead(8), mate_ahead(4));
    }

    void move_duals() {
        for (const Index j : touched_) {
            auto& col = s_.col[j];
            const double move = level_ - std::exchange(col.distance, infinity);
            if (move <= 0) continue;
            col.v -= move;
            if (col.mate != UNMATCHED<Index>) s_.u[col.mate] += move;
        }
        touched_.clear(), heap_.clear();
        for (const Index i : s_.free) s_.u[i] += level_;
    }

    // Work of a key in the heap, in entries scanned, as measured.
    static constexpr std::int64_t key_work = 4;

    AssignmentState<Index>& s_;
    Buffer<Index> root_, end_;  // of rows: the root of its tree; of roots: the free column reached
    std::vector<Index> touched_;
    RadixHeap<Index> heap_;
    std::size_t place_ = 0, n_ends_ = 0;
    double level_ = 0, bound_ = 0;
};

}  // namespace sparsematch
