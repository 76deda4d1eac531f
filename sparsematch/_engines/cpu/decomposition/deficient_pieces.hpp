// The connected pieces of the vertical part, and their entries in an order of their own.
//
// One breadth-first search from all free rows at once gives each row the tree of the free row that
// reached it; trees that meet in a column are of one piece. That needs a union of free rows only,
// which are few beside all rows. Then the rows are renumbered: piece by piece, each in the order of
// that search, its free rows first. A column gets the number of its mate. So what a later search
// within a piece reads is near together, in whatever order the matrix came.
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "core/union_find.hpp"
#include "decomposition/block_permutation.hpp"

namespace sparsematch {

template <class Index> class DeficientPieces {
  public:
    // The matching must be maximum. Workspace: two indices per row, one per column.
    // Time: O(entries of the part), nearly.
    DeficientPieces(const Csr<Index>& a, Matching<Index> m, RunContext& run)
        : a_(a), m_(m), run_(run), order_(a.n_rows), piece_(a.n_rows),
          place_(a.n_cols, UNMATCHED<Index>) {
        for (Index i = 0; i < a.n_rows; ++i)
            if (m.row_mate[i] == UNMATCHED<Index>) {
                piece_[n_rows_] = n_rows_;
                order_[n_rows_++] = i;
            }
        n_free_ = n_rows_;
        UnionFind<Index> trees(n_free_);
        grow(trees);
        for (Index p = 0; p < n_rows_; ++p) piece_[p] = trees.find(piece_[p]);
    }

    // Writes the piece of each row and column of the part, UNMATCHED elsewhere; pieces are numbered
    // by their first rows. Returns how many there are.
    Index label(Index* row_piece, Index* col_piece) {
        std::fill_n(row_piece, a_.n_rows, UNMATCHED<Index>);
        for (Index p = 0; p < n_rows_; ++p) row_piece[order_[p]] = piece_[p];
        Buffer<Index> number(n_free_, UNMATCHED<Index>);
        Index n = 0;
        for (Index i = 0; i < a_.n_rows; ++i) {
            if (row_piece[i] == UNMATCHED<Index>) continue;
            Index& piece = number[row_piece[i]];
            if (piece == UNMATCHED<Index>) piece = n++;
            row_piece[i] = piece;
        }
        for (Index p = 0; p < n_rows_; ++p) piece_[p] = number[piece_[p]];
        for (Index j = 0; j < a_.n_cols; ++j)
            col_piece[j] = place_[j] == UNMATCHED<Index> ? UNMATCHED<Index> : piece_[place_[j]];
        return n;
    }

    // Renumbers the rows and columns of the part, and copies the entries of the pieces with
    // several free rows; in the others there is nothing to be chosen. To be called after `label`,
    // which gave the number of pieces. Workspace: some indices per row of the part, one per entry.
    void renumber(Index n_pieces) {
        start_ = Buffer<Index>(static_cast<std::size_t>(n_pieces) + 1);
        free_end_ = Buffer<Index>(n_pieces);
        row_ = Buffer<Index>(n_rows_);
        sort_by_label(piece_.data(), n_rows_, n_pieces, row_.data(), start_.data(), run_);
        for (Index r = 0; r < n_rows_; ++r) {
            const Index p = row_[r];
            if (p < n_free_) free_end_[piece_[p]] = r + 1;
            piece_[p] = r;
            row_[r] = order_[p];
        }
        for (Index j = 0; j < a_.n_cols; ++j)
            if (place_[j] != UNMATCHED<Index>) place_[j] = piece_[place_[j]];
        order_ = Buffer<Index>();
        piece_ = Buffer<Index>();
        copy_entries(n_pieces);
    }

    // Renumbered: piece k has the rows from begin(k) to end(k), free ones up to free_end(k).
    Csr<Index> entries() const { return {n_rows_, n_rows_, indptr_.data(), indices_.data()}; }
    Index begin(Index k) const { return start_[k]; }
    Index end(Index k) const { return start_[k + 1]; }
    Index free_end(Index k) const { return free_end_[k]; }
    // The matrix's row and column with these new numbers.
    Index row(Index r) const { return row_[r]; }
    Index col(Index c) const { return m_.row_mate[row_[c]]; }

  private:
    void grow(UnionFind<Index>& trees) {
        WorkCounter counter(run_);
        Index tail = n_rows_;
        for (Index p = 0; p < tail && counter.add(a_.degree(order_[p])); ++p) {
            PrefetchAhead<16>::lists(a_, order_.data(), p, tail);
            if (tail - p > 8) prefetch_columns(order_[p + 8]);
            const Index tree = piece_[p];
            for (const Index j : a_.neighbours(order_[p])) {
                if (place_[j] == UNMATCHED<Index>) {
                    place_[j] = tail;
                    piece_[tail] = tree;
                    order_[tail++] = m_.col_mate[j];
                } else if (piece_[place_[j]] != tree) {
                    trees.unite(piece_[place_[j]], tree);
                }
            }
        }
        n_rows_ = tail;
    }

    // What `grow` reads of the first columns of a row.
    SPARSEMATCH_INLINE void prefetch_columns(Index i) const {
        const Index begin = a_.indptr[i], end = std::min<Index>(a_.indptr[i + 1], begin + 4);
        for (Index p = begin; p < end; ++p) {
            SPARSEMATCH_PREFETCH(&place_[a_.indices[p]], 1);
            SPARSEMATCH_PREFETCH(&m_.col_mate[a_.indices[p]]);
        }
    }

    void copy_entries(Index n_pieces) {
        indptr_ = Buffer<Index>(static_cast<std::size_t>(n_rows_) + 1);
        indptr_[0] = 0;
        for (Index k = 0; k < n_pieces; ++k) {
            const bool choice = free_end_[k] - start_[k] > 1;
            for (Index r = start_[k]; r < start_[k + 1]; ++r)
                indptr_[r + 1] = indptr_[r] + (choice ? a_.degree(row_[r]) : 0);
        }
        indices_ = Buffer<Index>(indptr_[n_rows_]);
        for (Index r = 0; r < n_rows_; ++r) {
            PrefetchAhead<16>::lists(a_, row_.data(), r, n_rows_);
            std::copy_n(a_.indices + a_.indptr[row_[r]], indptr_[r + 1] - indptr_[r],
                        indices_.begin() + indptr_[r]);
        }
        for (Index& j : indices_) j = place_[j];
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    RunContext& run_;
    Index n_rows_ = 0, n_free_ = 0;  // of the part
    // The rows as they were reached, and the piece of each, at first a free row of it; where the
    // mate of each column is among them.
    Buffer<Index> order_, piece_, place_;
    Buffer<Index> start_, free_end_, row_, indptr_, indices_;
};

}  // namespace sparsematch
