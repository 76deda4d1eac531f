// Hopcroft-Karp: in each phase, a maximal set of disjoint shortest augmenting paths.
//
// Matching, free and augmenting path: see single_source_bfs.hpp. The level of a row is its distance
// from the free rows, in rows, along alternating paths. A phase writes the levels down to the first
// that sees a free column, then searches depth first from each free row, from one level to the
// next; docs/algorithms/hopcroft_karp.md says why phases are few.
//
// Hopcroft, Karp: An n^5/2 algorithm for maximum matchings in bipartite graphs (SIAM J. Comput. 2,
// 1973). The paper's layers of rows L_0, L_2, ... -> levels base_, base_ + 1, ...; the last layer
// i* -> deepest_. Levels are counted on from phase to phase: a row whose level is older than the
// phase has not been reached, so nothing is cleared and a phase costs what it visits. `hkdw`: Duff,
// Wiberg: Remarks on implementations of O(n^1/2 tau) assignment algorithms (ACM TOMS 14, 1988).
// Invariant: entries before a row's pointer lead to nothing new in this phase; the rows of a path
// found are taken out.
// Time: O(sqrt(n) nnz).
#pragma once

#include <limits>
#include <type_traits>
#include <vector>

#include "core/csr.hpp"
#include "core/free_rows.hpp"
#include "core/options.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

struct HopcroftKarpOptions {
    // Duff and Wiberg's second round of searches.
    bool hkdw = false;

    static constexpr auto fields() {
        return std::tuple{Option{"hkdw", &HopcroftKarpOptions::hkdw}};
    }
};

template <class Index> class HopcroftKarp {
    using Level = std::make_unsigned_t<Index>;
    static constexpr Level infinite = std::numeric_limits<Level>::max();
    struct Row {
        Level level;
        Index next, last;  // the part of its list that this phase has not searched
    };

  public:
    HopcroftKarp(const Csr<Index>& a, Matching<Index> m, const HopcroftKarpOptions& options,
                 RunContext& run)
        : a_(a), m_(m), options_(options), run_(run), counter_(run), row_(a.n_rows, Row{}),
          seen_(a.n_cols), cols_(a.n_cols + std::size_t{1}) {}

    // Reads: the matrix. Writes: both mates. Workspace: three indices per row, two indices and a
    // bit per column, the first of them as deep as the layers go. Time: O(sqrt(n) nnz).
    void improve() {
        auto free = free_rows(a_, m_, run_.team);
        for (std::size_t n = free.size(); n > 0 && !run_.stopped() && !run_.exhausted();
             n = keep_free(free, n, m_)) {
            if (!layer(free, n)) return;
            auto timer = run_.time("search");
            ++run_.stats.phases;
            for (std::size_t k = 0; k < n && !run_.stopped(); ++k) search<true>(free[k]);
            base_ = deepest_ + 1;
            if (!options_.hkdw) {
                const std::int64_t edges = run_.edges() + counter_.unflushed();
                if (projection_.exceeds_budget(run_, edges, run_.stats.augmentations))
                    return run_.give_up();
                continue;
            }
            for (std::size_t k = 0; k < n && !run_.stopped(); ++k)
                if (m_.row_mate[free[k]] == UNMATCHED<Index> && row_[free[k]].level < base_)
                    search<false>(free[k]);
            ++base_;
        }
    }

  private:
    // Breadth-first levels of the rows, down to the first that sees a free column, if any does.
    bool layer(const std::vector<Index>& free, std::size_t n_free) {
        auto timer = run_.time("layer");
        if (base_ > infinite / 2) {  // levels would overflow
            for (Row& row : row_) row.level = 0;
            base_ = 1;
        }
        queue_.assign(free.data(), free.data() + n_free);
        for (Index i : queue_) enter(i, base_);
        seen_.fill(false);
        for (deepest_ = base_ + 1; !queue_.empty(); ++deepest_) {
            ++run_.stats.levels;
            const Index n = list_columns();
            if (n < 0) return false;
            queue_.clear();
            if (enter_mates(n)) return true;
        }
        return false;
    }

    // Lists the unseen columns of the rows in the queue. Returns how many, or -1 to stop.
    Index list_columns() {
        Index n = 0;
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            if (queue_.size() - head > 8)
                SPARSEMATCH_PREFETCH(&a_.indices[row_[queue_[head + 8]].next]);
            const Row row = row_[queue_[head]];
            const std::span unsearched(a_.indices + row.next, a_.indices + row.last);
            n = append_unseen(unsearched, seen_, cols_.data(), n);
            if (!counter_.add(row.last - row.next)) return -1;
        }
        return n;
    }

    // The mates of the n columns are the next level. True if one column is free: the last level.
    bool enter_mates(Index n) {
        Index n_free = 0;
        for (Index k = 0; k < n; ++k) n_free += m_.col_mate[cols_[k]] == UNMATCHED<Index>;
        if (n_free > 0) return true;
        queue_.resize(n);
        for (Index k = 0; k < n; ++k) queue_[k] = m_.col_mate[cols_[k]];
        for (Index k = 0; k < n; ++k) {
            if (n - k > 16) SPARSEMATCH_PREFETCH(&row_[queue_[k + 16]], 1);
            if (n - k > 16) SPARSEMATCH_PREFETCH(&a_.indptr[queue_[k + 16]]);
            enter(queue_[k], deepest_);
        }
        return false;
    }

    void enter(Index i, Level level) { row_[i] = {level, a_.indptr[i], a_.indptr[i + 1]}; }

    // Depth-first from a free row: down the layers, or (HKDW) into any row not entered yet.
    template <bool Layered> void search(Index root) {
        path_.assign(1, root);
        if (!Layered) enter(root, base_);
        while (!path_.empty()) {
            Row& row = row_[path_.back()];
            const Index begin = row.next;
            Index child = UNMATCHED<Index>;
            while (row.next < row.last && child == UNMATCHED<Index>) {
                const Index k = m_.col_mate[a_.indices[row.next++]];
                if (k == UNMATCHED<Index>) return augment();
                if (Layered ? row_[k].level == row.level + 1 && row_[k].level < deepest_
                            : row_[k].level < base_)
                    child = k;
            }
            if (!counter_.add(row.next - begin)) return;
            if (child == UNMATCHED<Index>) {
                path_.pop_back();
                continue;
            }
            if (!Layered) enter(child, base_);
            path_.push_back(child);
        }
    }

    // Each row of the path is matched by the entry that its pointer has just passed.
    void augment() {
        ++run_.stats.augmentations;
        run_.stats.path_edges += 2 * static_cast<std::int64_t>(path_.size()) - 1;
        for (auto row = path_.rbegin(); row != path_.rend(); ++row) {
            m_.match(*row, a_.indices[row_[*row].next - 1]);
            // no other search of the phase enters it
            if (row_[*row].level < deepest_) row_[*row].level = 0;
        }
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    const HopcroftKarpOptions& options_;
    RunContext& run_;
    WorkCounter counter_;
    Buffer<Row> row_;
    Bitmap seen_;         // columns reached in this phase
    Buffer<Index> cols_;  // those reached first from this level
    std::vector<Index> queue_, path_;
    // the level of free rows in this phase; the first level that is too deep
    Level base_ = 1, deepest_ = 0;
    PhaseProjection projection_;
};

template <class Index>
void hopcroft_karp(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m,
                   const HopcroftKarpOptions& options, RunContext& run) {
    HopcroftKarp<Index>(a, m, options, run).improve();
}

}  // namespace sparsematch
