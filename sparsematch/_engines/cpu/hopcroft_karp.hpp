// Hopcroft-Karp: in each phase, a maximal set of shortest augmenting paths.
//
// Hopcroft, Karp: An n^5/2 algorithm for maximum matchings in bipartite graphs (SIAM J. Comput. 2, 1973).
// With `hkdw`, each phase ends with depth-first searches from the rows still free that ignore the levels: Duff, Wiberg:
// Remarks on implementations of O(n^1/2 tau) assignment algorithms (ACM TOMS 14, 1988).
// Names: level[i] is the distance of row i from the free rows, in rows, counted on from the phases before: a row whose level
// is older than the phase has not been reached, so that nothing is cleared between phases and a phase costs what it visits.
// Invariant: within a phase the pointer into a row's list only moves on, so that all its searches cost one pass over the
// edges they see. Phases: O(sqrt(n)).
#pragma once

#include <limits>
#include <vector>

#include "csr.hpp"
#include "free_rows.hpp"
#include "run.hpp"

namespace sparsematch {

template <class Index>
class HopcroftKarp {
  public:
    HopcroftKarp(const Csr<Index>& a, Matching<Index> m, const Options& options, Run& run)
        : a_(a), m_(m), options_(options), run_(run), meter_(run), level_(a.n_rows, 0), next_(a.n_rows), seen_(a.n_cols) {}

    // Reads: the matrix. Writes: both mates. Workspace: 8 bytes and two indices per row, a bit per column. Time: O(sqrt(n) nnz).
    void improve() {
        auto free = free_rows(a_, m_);
        for (std::size_t n = free.size(); n > 0 && !run_.stopped() && !run_.exhausted(); n = keep_free(free, n, m_)) {
            {
                auto timer = run_.time("layer");
                if (!layer(free, n)) return;
            }
            auto timer = run_.time("search");
            ++run_.stats.phases;
            for (std::size_t k = 0; k < n && !run_.stopped(); ++k) search<true>(free[k]);
            base_ = deepest_ + 1;
            if (!options_.hkdw) continue;
            for (std::size_t k = 0; k < n && !run_.stopped(); ++k)
                if (m_.row_mate[free[k]] == UNMATCHED<Index> && level_[free[k]] < base_) search<false>(free[k]);
            ++base_;
        }
    }

  private:
    // Breadth-first levels of the rows, down to the first that sees a free column. False if there is none.
    bool layer(const std::vector<Index>& free, std::size_t n_free) {
        queue_.assign(free.data(), free.data() + n_free);
        for (Index i : queue_) enter(i, base_);
        seen_.fill(false);
        deepest_ = std::numeric_limits<std::int64_t>::max();
        for (std::size_t head = 0; head < queue_.size() && level_[queue_[head]] < deepest_; ++head) {
            const Index i = queue_[head];
            if (head + 8 < queue_.size()) __builtin_prefetch(&a_.indices[a_.indptr[queue_[head + 8]]]);
            for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
                if (!seen_.claim<false>(a_.indices[p])) continue;
                const Index k = m_.col_mate[a_.indices[p]];
                if (k == UNMATCHED<Index>) {
                    deepest_ = level_[i] + 1;  // rows of this level may end a path, no deeper ones
                } else {
                    enter(k, level_[i] + 1);
                    queue_.push_back(k);
                }
            }
            if (!meter_.charge(a_.degree(i))) return false;
        }
        run_.stats.levels += level_[queue_.back()] - base_ + 1;
        return deepest_ != std::numeric_limits<std::int64_t>::max();
    }

    void enter(Index i, std::int64_t level) {
        level_[i] = level;
        next_[i] = a_.indptr[i];
    }

    // Depth-first from a free row: down the layers, or (HKDW) into any row not entered yet.
    template <bool Layered>
    void search(Index root) {
        path_.assign(1, root);
        if (!Layered) enter(root, base_);
        while (!path_.empty()) {
            const Index i = path_.back(), begin = next_[i];
            Index child = UNMATCHED<Index>;
            for (Index& p = next_[i]; p < a_.indptr[i + 1];) {
                const Index k = m_.col_mate[a_.indices[p++]];
                if (k == UNMATCHED<Index>) return augment();
                if (Layered ? level_[k] == level_[i] + 1 && level_[k] < deepest_ : level_[k] < base_) {
                    child = k;
                    break;
                }
            }
            if (!meter_.charge(next_[i] - begin)) return;
            if (child == UNMATCHED<Index>) {
                path_.pop_back();
                continue;
            }
            if (!Layered) enter(child, base_);
            path_.push_back(child);
        }
    }

    // Each row of the path stands on the entry its pointer has just passed.
    void augment() {
        ++run_.stats.augmentations;
        run_.stats.path_edges += 2 * static_cast<std::int64_t>(path_.size()) - 1;
        for (auto row = path_.rbegin(); row != path_.rend(); ++row) {
            m_.match(*row, a_.indices[next_[*row] - 1]);
            if (level_[*row] < deepest_) level_[*row] = 0;  // of no use to another search of the phase
        }
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    const Options& options_;
    Run& run_;
    Meter meter_;
    Buffer<std::int64_t> level_;
    Buffer<Index> next_;
    Bitmap seen_;  // columns looked at by the layering at hand
    std::vector<Index> queue_, path_;
    std::int64_t base_ = 1, deepest_ = 0;  // the level of free rows in this phase; the first level that is too deep
};

template <class Index>
void hopcroft_karp(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const Options& options, Run& run) {
    HopcroftKarp<Index>(a, m, options, run).improve();
}

}  // namespace sparsematch
