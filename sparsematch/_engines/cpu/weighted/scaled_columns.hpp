// The columns of a square matrix, scaled, rows moved so that matched entries are on the diagonal.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/csr.hpp"

namespace sparsematch {

// What is read: the row of each column's pair, and factors; all are of the user's rows and columns.
template <class Index>
struct ScaledDiagonal {
    const Index* row_of;
    const double *row_scale, *col_scale;
};

// What is written: entries in the order of the columns, rows of a column in any order; row sums.
template <class Index, class Value>
struct ScaledColumns {
    Index* row;
    Value *value, *sum;
};

// The product, at most 1 in magnitude, though two of the three may be beyond the range of doubles.
template <class Value>
Value scale_entry(Value value, double row, double col) {
    const Value scaled = value * row * col;
    const double size = std::abs(scaled);
    if (size > 0 && size <= 2) return scaled;
    const Value other = value * col * row;
    const double other_size = std::abs(other);
    return other_size > 0 && other_size <= 2 ? other : value * (row * col);
}

// The matrix is square, its stored rows are the columns, and all rows are matched. Workspace: an
// index for each row. Time: O(n + nnz).
template <class Index, class Value>
void scale_columns(const Csr<Index>& a, const Value* value, const ScaledDiagonal<Index>& diagonal,
                   const ScaledColumns<Index, Value>& out) {
    Buffer<Index> place(a.n_rows);
    for (Index j = 0; j < a.n_rows; ++j) place[diagonal.row_of[j]] = j;
    std::fill_n(out.sum, a.n_rows, Value{});
    for (Index j = 0; j < a.n_rows; ++j) {
        const double factor = diagonal.col_scale[j];
        for (Index p = a.indptr[j]; p < a.indptr[j + 1]; ++p) {
            const Index i = a.indices[p], row = place[i];
            const Value scaled = scale_entry(value[p], diagonal.row_scale[i], factor);
            out.row[p] = row;
            out.value[p] = scaled;
            out.sum[row] += scaled;
        }
    }
}

}  // namespace sparsematch
