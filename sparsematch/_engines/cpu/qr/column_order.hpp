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
#include "core/transpose.hpp"
#include "elimination/adjacency_lists.hpp"
#include "elimination/amd.hpp"
#include "elimination/elimination_tree.hpp"

namespace sparsematch {

template <class Index> class ColumnOrder {
    static constexpr Index no_column = UNMATCHED<Index>;

  public:
    // Reads: the matrix by rows, no repeats; columns that are to come after all others. Time:
    // O(sum of squared row lengths), rows that count as dense left out, and the minimum degree
    // order. After a stop nothing is to be read.
    ColumnOrder(const Csr<Index>& rows, const bool* last, WorkCounter& counter)
        : rows_(rows), counter_(counter) {
        if (!gather_columns() || !gather_neighbours()) return;
        order.resize(static_cast<std::size_t>(rows.n_cols));
        EliminationCost cost;
        if (!Amd<Index>().run(graph_, {}, order.data(), cost, counter)) return;
        std::stable_partition(order.begin(), order.end(), [&](Index j) { return !last[j]; });
        if (grow_tree()) EliminationTree<Index>().sort(parent, order);
    }

    std::vector<Index> order;   // columns in order of elimination
    std::vector<Index> parent;  // by position in that order; -1 of a root

  private:
    bool gather_columns() {
        start_.resize(static_cast<std::size_t>(rows_.n_cols) + 1);
        row_.resize(static_cast<std::size_t>(rows_.nnz()));
        transpose(rows_, start_.data(), row_.data(), counter_.run());
        columns_ = {rows_.n_cols, rows_.n_rows, start_.data(), row_.data()};
        return !counter_.stopped();
    }

    bool gather_neighbours() {
        const auto n = static_cast<std::size_t>(rows_.n_cols);
        graph_.begin.resize(n), graph_.length.resize(n);
        // A row of more entries would join nearly all columns: the order is found without it.
        const double dense_row = dense_limit(n);
        std::vector<Index> seen(n, no_column);
        for (Index j = 0; j < rows_.n_cols; ++j) {
            const std::size_t begin = graph_.pool.size();
            graph_.begin[j] = static_cast<std::int64_t>(begin);
            seen[j] = j;
            std::int64_t work = 1;
            for (const Index i : columns_.neighbours(j)) {
                const auto row = rows_.neighbours(i);
                if (static_cast<double>(row.size()) > dense_row) continue;
                work += static_cast<std::int64_t>(row.size());
                for (const Index k : row)
                    if (seen[k] != j) seen[k] = j, graph_.pool.push_back(k);
            }
            graph_.length[j] = static_cast<Index>(graph_.pool.size() - begin);
            if (!counter_.add(work)) return false;
        }
        return true;
    }

    bool grow_tree() {
        const Index n = rows_.n_cols;
        parent.assign(static_cast<std::size_t>(n), no_column);
        std::vector<Index> ancestor(parent),
            last(static_cast<std::size_t>(rows_.n_rows), no_column);
        for (Index k = 0; k < n; ++k) {
            for (const Index i : columns_.neighbours(order[k])) {
                for (Index j = last[i]; j != no_column && j < k;) {
                    const Index next = std::exchange(ancestor[j], k);
                    if (next == no_column) parent[j] = k;
                    j = next;
                }
                last[i] = k;
            }
            if (!counter_.add(1 + columns_.degree(order[k]))) return false;
        }
        return true;
    }

    const Csr<Index> rows_;
    WorkCounter& counter_;
    std::vector<Index> start_, row_;
    Csr<Index> columns_;  // the transpose, of these arrays
    AdjacencyLists<Index> graph_;
};

}  // namespace sparsematch
