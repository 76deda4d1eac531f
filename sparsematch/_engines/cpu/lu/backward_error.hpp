// How good solutions of a linear system are: residuals and backward errors.
//
// Oettli, Prager, Compatibility of approximate solution of linear equations with given error bounds
// for coefficients and right-hand sides (Numerische Mathematik 6, 1964): componentwise,
// max_i |b - Ax|_i / (|A| |x| + |b|)_i. Arioli, Demmel, Duff, Solving sparse linear systems with
// sparse backward error (SIAM J. Matrix Anal. Appl. 10, 1989): where the denominator of a row is
// tiny because x is so in all its columns, the row is measured by its norm and that of x.
// Both products are made in one pass over the matrix, right-hand sides side by side as in
// triangular_solve.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/csr.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {

// NaN or infinite if the solution is.
struct SolutionError {
    double componentwise = 0;  // at least the other, but for rows measured by their norm
    double normwise = 0;       // max |b - Ax| / max (|A| |x| + |b|)

    double larger() const {
        return componentwise >= normwise || std::isnan(componentwise) ? componentwise : normwise;
    }
};

template <class Index, class Value>
class BackwardError {
  public:
    // columns: of a square matrix, of which a are the values; `width` right-hand sides.
    BackwardError(const Csr<Index>& columns, const Value* a, Side side, std::int64_t width)
        : columns_(columns), a_(a), side_(side), width_(width),
          sizes_(static_cast<std::size_t>(columns.n_rows * width)) {}

    // Writes: r, the residuals, and the error of each right-hand side. Time: O((n + nnz) width);
    // workspace: a number for each of r.
    void measure(const Value* x, const Value* b, Value* r, SolutionError* errors,
                 WorkCounter& counter) {
        const auto total = static_cast<std::int64_t>(columns_.n_rows) * width_;
        for (std::int64_t k = 0; k < total; ++k) r[k] = Value(0), sizes_[k] = std::abs(b[k]);
        if (side_ == Side::plain) multiply<Side::plain>(x, r, counter);
        else if (side_ == Side::transposed) multiply<Side::transposed>(x, r, counter);
        else multiply<Side::adjoint>(x, r, counter);
        // b last: fewer digits are lost in long rows
        for (std::int64_t k = 0; k < total; ++k) r[k] = b[k] - r[k];
        for (std::int64_t s = 0; s < width_; ++s) {
            errors[s] = compare(r, s);
            if (!(errors[s].componentwise <= tiny_rows_limit)) by_row_norms(x, b, r, s, errors[s]);
        }
    }

  private:
    // Componentwise backward error above which rows with tiny denominators are measured otherwise.
    static constexpr double tiny_rows_limit = 1e-14;

    // A quotient of which one is NaN stays so.
    static void raise(double& most, double to) {
        if (!(to <= most) && !std::isnan(most)) most = to;
    }
    SolutionError compare(const Value* r, std::int64_t s) const {
        SolutionError error;
        double largest_r = 0, largest = 0;
        for (std::int64_t k = s; k < columns_.n_rows * width_; k += width_) {
            const double residual = std::abs(r[k]), size = sizes_[k];
            raise(largest_r, residual);
            largest = std::max(largest, size);
            raise(error.componentwise, residual / (size > 0 ? size : 1));
        }
        error.normwise = largest_r / (largest > 0 ? largest : 1);
        return error;
    }
    void by_row_norms(const Value* x, const Value* b, const Value* r, std::int64_t s,
                      SolutionError& error) {
        if (row_norms_.empty()) find_row_norms();
        const Index n = columns_.n_rows;
        double norm = 0;
        for (Index i = 0; i < n; ++i) norm = std::max(norm, std::abs(x[i * width_ + s]));
        const double tiny = 1000 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
        error.componentwise = 0;
        for (Index i = 0; i < n; ++i) {
            const std::int64_t k = i * width_ + s;
            const double by_norm = row_norms_[i] * norm;
            double size = sizes_[k];
            if (size <= tiny * (by_norm + std::abs(b[k]))) size += by_norm;
            raise(error.componentwise, std::abs(r[k]) / (size > 0 ? size : 1));
        }
    }
    // The largest entry of each row of what the solution is multiplied with.
    void find_row_norms() {
        row_norms_.assign(static_cast<std::size_t>(columns_.n_rows), 0);
        for (Index j = 0; j < columns_.n_rows; ++j)
            for (Index p = columns_.indptr[j]; p < columns_.indptr[j + 1]; ++p) {
                double& norm = row_norms_[side_ == Side::plain ? columns_.indices[p] : j];
                norm = std::max(norm, std::abs(a_[p]));
            }
    }

    template <Side side>
    void multiply(const Value* x, Value* r, WorkCounter& counter) {
        for (Index j = 0; j < columns_.n_rows && counter.add((1 + columns_.degree(j)) * width_);
             ++j)
            for (Index p = columns_.indptr[j]; p < columns_.indptr[j + 1]; ++p) {
                const Index i = columns_.indices[p];
                if constexpr (side == Side::plain) add(x, r, i, j, a_[p]);
                else if constexpr (side == Side::transposed) add(x, r, j, i, a_[p]);
                else add(x, r, j, i, conjugate(a_[p]));
            }
    }
    void add(const Value* from, Value* r, Index i, Index j, Value weight) {
        const double size = std::abs(weight);
        for (std::int64_t s = 0; s < width_; ++s) {
            const Value x = from[j * width_ + s];
            r[i * width_ + s] += weight * x;
            sizes_[i * width_ + s] += size * std::abs(x);
        }
    }

    const Csr<Index>& columns_;
    const Value* a_;
    const Side side_;
    const std::int64_t width_;
    Buffer<double> sizes_;
    std::vector<double> row_norms_;
};

}  // namespace sparsematch
