// What the solvers start from: a canonical square matrix, and its block form.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

// The columns of a square matrix given by rows, by counting. Reads: canonical rows, as above.
// Writes: where each column begins (n + 1), its rows, ascending, and which entry of the rows each
// is (nnz). Time: O(n + nnz).
template <class Index>
void order_by_columns(const Index* indptr, Index n, const Index* indices, Index* starts,
                      Index* rows, std::int64_t* places) {
    std::fill(starts, starts + n + 1, Index{0});
    for (Index p = 0; p < indptr[n]; ++p) ++starts[indices[p]];
    std::exclusive_scan(starts, starts + n + 1, starts, Index{0});
    for (Index i = 0; i < n; ++i)
        for (Index p = indptr[i]; p < indptr[i + 1]; ++p) {
            const Index q = starts[indices[p]]++;
            rows[q] = i, places[q] = p;
        }
    std::copy_backward(starts, starts + n, starts + n + 1);  // each has become the next one's
    starts[0] = 0;
}

}  // namespace sparsematch
