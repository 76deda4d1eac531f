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

// x = R^-1 x.
template <class Index, class Value>
void solve_upper(const Csr<Index>& r, const Value* values, Value* x, std::int64_t width,
                 WorkCounter& counter) {
    for (Index i = r.n_rows; i-- > 0;) {
        Value* xi = x + i * width;
        const auto begin = r.indptr[i], end = r.indptr[i + 1];
        for (auto p = begin + 1; p < end; ++p) {
            const Value* xj = x + r.indices[p] * width;
            for (std::int64_t k = 0; k < width; ++k) xi[k] -= values[p] * xj[k];
        }
        for (std::int64_t k = 0; k < width; ++k) xi[k] /= values[begin];
        if (!counter.add((end - begin) * width)) return;
    }
}

// x = R^-H x.
template <class Index, class Value>
void solve_upper_adjoint(const Csr<Index>& r, const Value* values, Value* x, std::int64_t width,
                         WorkCounter& counter) {
    for (Index i = 0; i < r.n_rows; ++i) {
        Value* xi = x + i * width;
        const auto begin = r.indptr[i], end = r.indptr[i + 1];
        for (std::int64_t k = 0; k < width; ++k) xi[k] /= adjoint_of(values[begin]);
        for (auto p = begin + 1; p < end; ++p) {
            Value* xj = x + r.indices[p] * width;
            for (std::int64_t k = 0; k < width; ++k) xj[k] -= adjoint_of(values[p]) * xi[k];
        }
        if (!counter.add((end - begin) * width)) return;
    }
}

}  // namespace sparsematch
