// Solves with the triangular factor R of a QR factorisation, or its conjugate transpose, in place.
//
// R by rows, the diagonal first in each, columns counted as rows. Several right-hand sides are the
// columns of x. Time: O(entries of R) for each.
#pragma once

#include <cstdint>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "qr/dense_front.hpp"

namespace sparsematch {

template <class Index, class Value>
struct UpperFactor {
    Csr<Index> rows;
    const Value* values;
};

// x = R^-1 x. False: stopped.
template <class Index, class Value>
bool solve_upper(const UpperFactor<Index, Value>& r, Value* x, std::int64_t width,
                 WorkCounter& counter) {
    for (Index i = r.rows.n_rows; i-- > 0;) {
        Value* xi = x + i * width;
        const auto begin = r.rows.indptr[i], end = r.rows.indptr[i + 1];
        for (auto p = begin + 1; p < end; ++p) {
            const Value* xj = x + r.rows.indices[p] * width;
            for (std::int64_t k = 0; k < width; ++k) xi[k] -= r.values[p] * xj[k];
        }
        for (std::int64_t k = 0; k < width; ++k) xi[k] /= r.values[begin];
        if (!counter.add((end - begin) * width)) return false;
    }
    return true;
}

// x = R^-H x. False: stopped.
template <class Index, class Value>
bool solve_upper_adjoint(const UpperFactor<Index, Value>& r, Value* x, std::int64_t width,
                         WorkCounter& counter) {
    for (Index i = 0; i < r.rows.n_rows; ++i) {
        Value* xi = x + i * width;
        const auto begin = r.rows.indptr[i], end = r.rows.indptr[i + 1];
        for (std::int64_t k = 0; k < width; ++k) xi[k] /= adjoint_of(r.values[begin]);
        for (auto p = begin + 1; p < end; ++p) {
            Value* xj = x + r.rows.indices[p] * width;
            for (std::int64_t k = 0; k < width; ++k) xj[k] -= adjoint_of(r.values[p]) * xi[k];
        }
        if (!counter.add((end - begin) * width)) return false;
    }
    return true;
}

}  // namespace sparsematch
