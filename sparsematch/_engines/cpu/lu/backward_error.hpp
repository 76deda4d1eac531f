// How good solutions of a linear system are: residuals, and componentwise backward errors,
// max_i |b - Ax|_i / (|A| |x| + |b|)_i.
//
// Oettli, Prager, Compatibility of approximate solution of linear equations with given error bounds
// for coefficients and right-hand sides (Numerische Mathematik 6, 1964).
// Both products are made in one pass over the matrix, right-hand sides side by side as in
// triangular_solve.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/csr.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {

template <class Index, class Value>
class BackwardError {
  public:
    // columns: of a square matrix, of which a are the values; x, b: `width` columns each.
    BackwardError(const Csr<Index>& columns, const Value* a, const Value* x, std::int64_t width)
        : columns_(columns), a_(a), x_(x), width_(width),
          sizes_(static_cast<std::size_t>(columns.n_rows * width)) {}

    // Writes: r, the residuals, and for each right-hand side its error, NaN where a quotient is.
    // Time: O((n + nnz) width); workspace: a number for each of r.
    void measure(const Value* b, Side side, Value* r, double* errors) {
        const auto total = static_cast<std::int64_t>(columns_.n_rows) * width_;
        for (std::int64_t k = 0; k < total; ++k) r[k] = Value(0), sizes_[k] = std::abs(b[k]);
        if (side == Side::plain) multiply<Side::plain>(r);
        else if (side == Side::transposed) multiply<Side::transposed>(r);
        else multiply<Side::adjoint>(r);
        std::fill(errors, errors + width_, 0.0);
        for (std::int64_t k = 0; k < total; k += width_)
            for (std::int64_t s = 0; s < width_; ++s) {
                r[k + s] = b[k + s] - r[k + s];  // last: fewer digits are lost in long rows
                const double size = sizes_[k + s] > 0 ? sizes_[k + s] : 1;
                const double error = std::abs(r[k + s]) / size;
                if (!(error <= errors[s]) && !std::isnan(errors[s])) errors[s] = error;
            }
    }

  private:
    template <Side side>
    void multiply(Value* r) {
        for (Index j = 0; j < columns_.n_rows; ++j)
            for (Index p = columns_.indptr[j]; p < columns_.indptr[j + 1]; ++p) {
                const Index i = columns_.indices[p];
                if constexpr (side == Side::plain) add(r, i, j, a_[p]);
                else if constexpr (side == Side::transposed) add(r, j, i, a_[p]);
                else add(r, j, i, conjugate(a_[p]));
            }
    }
    void add(Value* r, Index to, Index from, Value weight) {
        const double size = std::abs(weight);
        for (std::int64_t s = 0; s < width_; ++s) {
            const Value x = x_[from * width_ + s];
            r[to * width_ + s] += weight * x;
            sizes_[to * width_ + s] += size * std::abs(x);
        }
    }

    const Csr<Index>& columns_;
    const Value *a_, *x_;
    const std::int64_t width_;
    Buffer<double> sizes_;
};

}  // namespace sparsematch
