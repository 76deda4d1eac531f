// In which order to eliminate the columns of a matrix B by orthogonal transformations of its rows,
// and the tree along which that goes: R of B = Q R is the Cholesky factor of B^H B.
//
// George, Heath, Solution of sparse linear least squares problems using Givens rotations (Linear
// Algebra Appl. 34, 1980): a minimum degree order of B^H B. Liu, The role of elimination trees in
// sparse factorization (SIAM J. Matrix Anal. Appl. 11, 1990), with the tree of B^H B found from the
// columns of B alone: Gilbert, Ng, Peyton (SIMAX 15, 1994).
// Invariant: a column comes after its children in the tree, which follow one another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "elimination/adjacency_lists.hpp"
#include "elimination/amd.hpp"
#include "elimination/elimination_tree.hpp"

namespace sparsematch {

template <class Index>
class ColumnOrder {
    static constexpr Index no_column = UNMATCHED<Index>;

  public:
    // Reads: the matrix by rows, no repeats; columns that are to come after all others. Time:
    // O(sum of squared row lengths), rows that count as dense left out, and the minimum degree
    // order. After a stop nothing is to be read.
    ColumnOrder(const Csr<Index>& rows, const bool* last, WorkCounter& counter)
        : rows_(rows), counter_(counter) {
        if (!gather_columns() || !gather_neighbours() || !eliminate()) return;
        std::stable_partition(order.begin(), order.end(), [&](Index j) { return !last[j]; });
        if (grow_tree()) EliminationTree<Index>().sort(parent, order);
    }

    std::vector<Index> order;   // columns in order of elimination
    std::vector<Index> parent;  // by position in that order; -1 of a root

  private:
    // A row of more entries would join nearly all columns: the order is found without it.
    double dense_row() const { return dense_limit(static_cast<std::size_t>(rows_.n_cols)); }

    bool gather_columns() {
        const auto n = static_cast<std::size_t>(rows_.n_cols);
        start_.assign(n + 1, 0), row_.resize(static_cast<std::size_t>(rows_.nnz()));
        for (std::int64_t p = 0; p < rows_.nnz(); ++p) ++start_[rows_.indices[p] + 1];
        for (std::size_t j = 0; j < n; ++j) start_[j + 1] += start_[j];
        std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
        for (Index i = 0; i < rows_.n_rows; ++i)
            for (const Index j : rows_.neighbours(i)) row_[next[j]++] = i;
        return counter_.add(rows_.nnz());
    }

    bool gather_neighbours() {
        const auto n = static_cast<std::size_t>(rows_.n_cols);
        graph_.begin.resize(n), graph_.length.resize(n);
        std::vector<Index> seen(n, no_column);
        for (Index j = 0; j < rows_.n_cols; ++j) {
            const std::size_t begin = graph_.pool.size();
            graph_.begin[j] = static_cast<std::int64_t>(begin);
            seen[j] = j;
            std::int64_t work = 1;
            for (auto p = start_[j]; p < start_[j + 1]; ++p) {
                const auto row = rows_.neighbours(row_[p]);
                if (static_cast<double>(row.size()) > dense_row()) continue;
                work += static_cast<std::int64_t>(row.size());
                for (const Index k : row)
                    if (seen[k] != j) seen[k] = j, graph_.pool.push_back(k);
            }
            graph_.length[j] = static_cast<Index>(graph_.pool.size() - begin);
            if (!counter_.add(work)) return false;
        }
        return true;
    }

    bool eliminate() {
        order.resize(static_cast<std::size_t>(rows_.n_cols));
        EliminationCost cost;
        return Amd<Index>().run(graph_, {}, order.data(), cost, counter_);
    }

    bool grow_tree() {
        const Index n = rows_.n_cols;
        parent.assign(static_cast<std::size_t>(n), no_column);
        std::vector<Index> ancestor(parent),
            last(static_cast<std::size_t>(rows_.n_rows), no_column);
        for (Index k = 0; k < n; ++k) {
            const Index column = order[k];
            for (auto p = start_[column]; p < start_[column + 1]; ++p) {
                for (Index j = last[row_[p]]; j != no_column && j < k;) {
                    const Index next = std::exchange(ancestor[j], k);
                    if (next == no_column) parent[j] = k;
                    j = next;
                }
                last[row_[p]] = k;
            }
            if (!counter_.add(1 + start_[column + 1] - start_[column])) return false;
        }
        return true;
    }

    const Csr<Index> rows_;
    WorkCounter& counter_;
    std::vector<std::int64_t> start_;
    std::vector<Index> row_;  // of each entry, by columns
    AdjacencyLists<Index> graph_;
};

}  // namespace sparsematch
