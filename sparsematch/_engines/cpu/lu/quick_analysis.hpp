// What a first factorisation wants to know of a matrix, in one go: a small matrix is factorised
// sooner than an interpreter makes the calls one by one. The steps are those of their own headers:
// diagonal or cheap matching, single-source searches for what is left, strong components, a look at
// the values.
//
// The matrix comes by columns: what the other headers call a row is a column here, and block lower
// triangular is block upper.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "decomposition/dulmage_mendelsohn.hpp"
#include "lu/pivot_checks.hpp"
#include "matching/cheap.hpp"
#include "matching/single_source_bfs.hpp"

namespace sparsematch {

// Whether these are compressed columns of a square matrix, every column ascending without repeats.
// Time: O(n + nnz).
template <class Index>
bool is_canonical(const Index* indptr, Index n, const Index* indices, std::size_t room) {
    if (indptr[0] != 0 || indptr[n] < 0 || static_cast<std::size_t>(indptr[n]) > room) return false;
    for (Index j = 0; j < n; ++j)  // before an index is read: no start lies beyond the end
        if (indptr[j + 1] < indptr[j]) return false;
    for (Index j = 0; j < n; ++j) {
        Index last = -1;
        bool rises = true;
        for (Index p = indptr[j]; p < indptr[j + 1]; ++p)
            rises &= indices[p] > last, last = indices[p];
        if (!rises || last >= n) return false;
    }
    return true;
}

// A block form without horizontal and vertical parts: the permuted matrix is A[row_perm][:,
// col_perm].
template <class Index>
struct SquareForm {
    std::vector<Index> row_perm, col_perm, starts;
    Index n_blocks() const { return static_cast<Index>(starts.size()) - 1; }
};

template <class Index>
class QuickAnalysis {
  public:
    QuickAnalysis(const Csr<Index>& columns, RunContext& run)
        : a_(columns), run_(run), mates_(2 * static_cast<std::size_t>(a_.n_rows), UNMATCHED<Index>),
          m_{mates_.data(), mates_.data() + a_.n_rows} {}

    // Up to `few` entries, searches go on until they are done. Up to `many`, they are given up
    // after ten looks at each entry; from there on, only the diagonal is tried.
    struct BoundedSpin {
        std::int64_t few, many;
    };

    // Pairs every column with a row. False where that cannot be done, or is left to others. Time:
    // O(nnz), or O(n nnz) of few entries.
    bool match(BoundedSpin patience) {
        if (take_diagonal(a_, m_)) return true;
        if (a_.nnz() > patience.many) return false;
        cheap<Index>(a_, nullptr, m_, Options{}, run_);
        if (is_perfect()) return true;
        if (a_.nnz() > patience.few) {
            RunContext brief(run_.team, nullptr, nullptr, 10 * static_cast<std::int64_t>(a_.nnz()),
                             false);
            single_source_bfs<Index>(a_, nullptr, m_, Options{}, brief);
        } else {
            single_source_bfs<Index>(a_, nullptr, m_, Options{}, run_);
        }
        return is_perfect();
    }
    // Takes a matching of the rows with the columns. False: not all are matched.
    bool take(const Index* row_mate) {
        for (Index i = 0; i < a_.n_cols; ++i)
            if (row_mate[i] != UNMATCHED<Index>) m_.match(row_mate[i], i);
        return is_perfect();
    }

    // The blocks, rows ascending within each. Time: O(n + nnz).
    SquareForm<Index> form() {
        const auto n = static_cast<std::size_t>(a_.n_rows);
        std::vector<Index> group(n), label(n);
        const Index n_blocks = block_labels<Index>(a_, nullptr, m_, group.data(), run_);
        if (run_.stopped()) return {};
        for (Index j = 0; j < a_.n_rows; ++j) label[m_.row_mate[j]] = n_blocks - group[j];
        SquareForm<Index> out{std::move(group), std::vector<Index>(n),
                              std::vector<Index>(n_blocks + std::size_t{1})};
        sort_by_label(label.data(), a_.n_rows, n_blocks, out.row_perm.data(), out.starts.data());
        for (std::size_t k = 0; k < n; ++k) out.col_perm[k] = m_.col_mate[out.row_perm[k]];
        return out;
    }

  private:
    bool is_perfect() const {
        return std::find(m_.row_mate, m_.row_mate + a_.n_rows, UNMATCHED<Index>) ==
               m_.row_mate + a_.n_rows;
    }

    const Csr<Index>& a_;
    RunContext& run_;
    Buffer<Index> mates_;
    const Matching<Index> m_;  // of columns, as its rows, with rows
};

}  // namespace sparsematch
