// Solves with the triangular factor R of a QR factorisation, in place, and residuals.
//
// R by rows, the diagonal first in each, columns counted as rows. Dense matrices are by rows.
#pragma once

#include <cstdint>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "qr/dense_front.hpp"

namespace sparsematch {

// x = R^-1 x, or R^-H x. Time: O(entries of R) for each column of x.
template <class Index, class Value>
void solve_upper(const Csr<Index>& r, const Value* values, Value* x, std::int64_t width,
                 bool adjoint, RunContext& run) {
    WorkCounter counter(run);
    const auto each = [&](Index i, const auto& use) {
        for (auto p = r.indptr[i] + 1; p < r.indptr[i + 1]; ++p)
            for (std::int64_t k = 0; k < width; ++k) use(values[p], r.indices[p] * width + k, k);
        return counter.add(r.degree(i) * width);
    };
    for (Index done = 0; done < r.n_rows; ++done) {
        const Index i = adjoint ? done : r.n_rows - 1 - done;
        const Value pivot = values[r.indptr[i]];
        Value* xi = x + i * width;
        if (adjoint) {
            for (std::int64_t k = 0; k < width; ++k) xi[k] /= adjoint_of(pivot);
            if (!each(i, [&](Value v, auto j, auto k) { x[j] -= adjoint_of(v) * xi[k]; })) return;
        } else {
            if (!each(i, [&](Value v, auto j, auto k) { xi[k] -= v * x[j]; })) return;
            for (std::int64_t k = 0; k < width; ++k) xi[k] /= pivot;
        }
    }
}

// y -= A x, or A^T x (`side` T), or A^H x (H). Time: O(entries of A) for each column of x.
template <class Index, class Value>
void subtract_product(const Csr<Index>& a, const Value* values, const Value* x, Value* y,
                      std::int64_t width, char side, RunContext& run) {
    WorkCounter counter(run);
    for (Index i = 0; i < a.n_rows && counter.add(1 + a.degree(i) * width); ++i)
        for (auto p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
            const Index to = side == 'N' ? i : a.indices[p], from = i + a.indices[p] - to;
            const Value v = side == 'H' ? adjoint_of(values[p]) : values[p];
            for (std::int64_t k = 0; k < width; ++k) y[to * width + k] -= v * x[from * width + k];
        }
}

}  // namespace sparsematch
