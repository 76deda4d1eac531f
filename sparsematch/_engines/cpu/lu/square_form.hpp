// What the solvers start from: a canonical square matrix, and its block form.
#pragma once

#include <cstddef>
#include <vector>

namespace sparsematch {

// A block form without horizontal and vertical parts: the permuted matrix is A[row_perm][:,
// col_perm], block k is its rows and columns starts[k]...starts[k + 1] - 1.
template <class Index>
struct SquareForm {
    std::vector<Index> row_perm, col_perm, starts;
    Index n_blocks() const { return static_cast<Index>(starts.size()) - 1; }
};

// Whether these are compressed columns of a square matrix, every column ascending without repeats.
// Time: O(n + nnz).
template <class Index>
bool is_canonical(const Index* indptr, Index n, const Index* indices, std::size_t size) {
    if (indptr[0] != 0 || indptr[n] < 0 || static_cast<std::size_t>(indptr[n]) > size) return false;
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

}  // namespace sparsematch
