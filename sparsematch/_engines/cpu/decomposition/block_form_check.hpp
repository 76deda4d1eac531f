// Whether blocks are those of the block triangular form: a certificate, by plain means.
//
// Dulmage, Mendelsohn: Coverings of bipartite graphs (1958). No entry is below the blocks, and
// pairs are entries within blocks. Then each row before the vertical part, and each column of that,
// covers entries, which are as many as there are pairs: the matching is maximum (Koenig 1931). And
// no block falls into smaller ones: in a graph of the pairs, with arcs within blocks alone, each
// block is one strong component. All free columns are one more vertex, which leads to all rows of
// the horizontal part: they are one component if each reaches a free column. All free rows are
// another one, to which each row of the vertical part leads: if alternating paths reach each.
#pragma once

#include <algorithm>
#include <vector>

#include "core/certificates.hpp"
#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "decomposition/plain_components.hpp"

namespace sparsematch {

template <class Index> class BlockFormCheck {
  public:
    // The block of each row and column, from 0 to n_blocks - 1.
    BlockFormCheck(const Csr<Index>& a, Matching<Index> m, const Index* row_block,
                   const Index* col_block, Index n_blocks)
        : a_(a), m_(m), row_block_(row_block), col_block_(col_block), n_blocks_(n_blocks),
          free_rows_(any_free(m.row_mate, a.n_rows)), free_cols_(any_free(m.col_mate, a.n_cols)) {}

    // Workspace: six indices for each row, one for each entry. Time: O(n_rows + n_cols + nnz).
    bool holds(RunContext& run) {
        if (free_rows_ && free_cols_ && n_blocks_ < 2) return false;
        if (check_matching(a_, m_, run).fault) return false;
        WorkCounter counter(run);
        return is_triangular(counter) && pairs_and_free_ones_fit() && are_components(counter);
    }

  private:
    bool is_triangular(WorkCounter& counter) const {
        bool all = true;
        for (Index i = 0; i < a_.n_rows && counter.add(1 + a_.degree(i)); ++i)
            for (const Index j : a_.neighbours(i)) all &= row_block_[i] <= col_block_[j];
        return all;
    }
    bool pairs_and_free_ones_fit() const {
        bool all = true;
        for (Index i = 0; i < a_.n_rows; ++i) {
            const Index j = m_.row_mate[i];
            all &= row_block_[i] == (j == UNMATCHED<Index> ? n_blocks_ - 1 : col_block_[j]);
        }
        for (Index j = 0; j < a_.n_cols; ++j)
            all &= m_.col_mate[j] != UNMATCHED<Index> || col_block_[j] == 0;
        return all;
    }

    bool are_components(WorkCounter& counter) {
        const auto poll = [&](std::int64_t steps) { return counter.add(steps); };
        const std::vector<Index> component = plain_components(graph(), poll);
        std::vector<Index> of_block(n_blocks_, UNMATCHED<Index>);
        bool all = true;
        const auto visit = [&](Index block, Index v) {
            if (of_block[block] == UNMATCHED<Index>) of_block[block] = component[v];
            all &= of_block[block] == component[v];
        };
        for (Index i = 0; i < a_.n_rows; ++i)
            if (m_.row_mate[i] != UNMATCHED<Index>) visit(row_block_[i], i);
        if (free_cols_) visit(0, free_cols());
        if (free_rows_) visit(n_blocks_ - 1, free_rows());
        return all && std::ranges::find(of_block, UNMATCHED<Index>) == of_block.end();
    }
    Index free_cols() const { return a_.n_rows; }
    Index free_rows() const { return a_.n_rows + 1; }

    // A vertex for each row, of which free ones have no arcs, and the two of all that are free.
    Digraph<Index> graph() const {
        Digraph<Index> graph;
        const auto add_arcs = [&](Index i) {
            for (const Index j : a_.neighbours(i))
                if (col_block_[j] == row_block_[i])
                    graph.heads.push_back(m_.col_mate[j] == UNMATCHED<Index> ? free_cols()
                                                                             : m_.col_mate[j]);
        };
        const auto is_free = [&](Index i) { return m_.row_mate[i] == UNMATCHED<Index>; };
        for (Index i = 0; i < a_.n_rows; ++i, graph.end_vertex()) {
            if (is_free(i)) continue;
            add_arcs(i);
            if (free_rows_ && row_block_[i] == n_blocks_ - 1) graph.heads.push_back(free_rows());
        }
        for (Index i = 0; i < a_.n_rows && free_cols_; ++i)
            if (!is_free(i) && row_block_[i] == 0) graph.heads.push_back(i);
        graph.end_vertex();
        for (Index i = 0; i < a_.n_rows && free_rows_; ++i)
            if (is_free(i)) add_arcs(i);
        graph.end_vertex();
        return graph;
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    const Index *row_block_, *col_block_;
    const Index n_blocks_;
    const bool free_rows_, free_cols_;
};

template <class Index>
bool is_block_form(const Csr<Index>& a, const Matching<Index>& m, const Index* row_block,
                   const Index* col_block, Index n_blocks, RunContext& run) {
    return BlockFormCheck<Index>(a, m, row_block, col_block, n_blocks).holds(run);
}

}  // namespace sparsematch
