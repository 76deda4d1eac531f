// How good solutions of a linear system are: residuals and backward errors.
//
// Oettli, Prager, Compatibility of approximate solution of linear equations with given error bounds
// for coefficients and right-hand sides (Numerische Mathematik 6, 1964): componentwise,
// max_i |b - Ax|_i / (|A| |x| + |b|)_i. Arioli, Demmel, Duff, Solving sparse linear systems with
// sparse backward error (SIAM J. Matrix Anal. Appl. 10, 1989): where the denominator of a row is
// tiny because x is so in all its columns, the row is measured by its norm and that of x.
// Both products are made in one pass over the matrix, right-hand sides side by side as in
// triangular_solve.hpp, and what is good enough is only compared: no quotients, no norms of rows.
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
    // Up to which solutions are left as they are. A factorisation without growth reaches 1e-16
    // normwise; componentwise, rows whose terms are far smaller than the others' lose more.
    static constexpr double good_componentwise = 1e-13, good_normwise = 1e-15;

    double componentwise = 0;  // at least the other, but for rows measured by their norm
    double normwise = 0;       // max |b - Ax| / max (|A| |x| + |b|)
    double size = 0;           // max (|A| |x| + |b|)

    double larger() const {
        return componentwise >= normwise || std::isnan(componentwise) ? componentwise : normwise;
    }
    // How often it exceeds what is good enough; infinite if it is no number.
    double excess() const {
        return std::isnan(larger())
                   ? std::numeric_limits<double>::infinity()
                   : std::max(componentwise / good_componentwise, normwise / good_normwise);
    }
};

template <class Index, class Value, int W>
class BackwardError {
  public:
    // columns: of a square matrix, of which a are the values. Sums: 2 W numbers for each of its
    // rows, to be overwritten.
    BackwardError(const Csr<Index>& columns, const Value* a, Side side, Buffer<Value>& sums)
        : columns_(columns), a_(a), side_(side), sums_(sums) {}

    // Writes: r, the residuals, and the error of each right-hand side, 0 where it is good enough.
    // Time: O((n + nnz) W).
    void measure(const Value* x, const Value* b, Value* r, SolutionError* errors,
                 WorkCounter& counter) {
        multiply<true>(x, counter);
        bool all_good = true;
        for (int s = 0; s < W; ++s) errors[s] = {};
        subtract(b, r, errors);
        for (int s = 0; s < W; ++s) all_good &= errors[s].componentwise == 0;
        if (all_good) return;
        if constexpr (!is_real) multiply<false>(x, counter);
        for (int s = 0; s < W; ++s)
            if (errors[s].componentwise != 0) measure_one(x, b, r, s, errors[s]);
    }

  private:
    static constexpr bool is_real = std::is_same_v<Value, double>;
    Value& product_at(std::int64_t i, int s) { return sums_[i * 2 * W + s]; }
    double size_at(std::int64_t i, int s) const { return std::real(sums_[i * 2 * W + W + s]); }

    // Quick: sizes of complex numbers are up to twice too large.
    template <bool Quick>
    void multiply(const Value* x, WorkCounter& counter) {
        std::fill_n(sums_.data(), static_cast<std::int64_t>(columns_.n_rows) * 2 * W, Value(0));
        if (side_ == Side::plain) multiply_plain<Quick>(x, counter);
        else if (side_ == Side::transposed) multiply_transposed<Quick, false>(x, counter);
        else multiply_transposed<Quick, true>(x, counter);
    }
    template <bool Quick>
    static double size_of(Value v) {
        return Quick ? magnitude(v) : std::abs(v);
    }
    // The absolute value of a product, of whose factors the second has this size.
    template <bool Quick>
    static double size_of_product(Value product, Value a, double size) {
        if constexpr (is_real) return std::abs(product);
        else return size_of<Quick>(a) * size;
    }

    template <bool Quick>
    void multiply_plain(const Value* x, WorkCounter& counter) {
        Value* const sums = sums_.data();
        for (Index j = 0; j < columns_.n_rows && counter.add((1 + columns_.degree(j)) * W); ++j) {
            Value from[W];
            double size[W];
            for (int s = 0; s < W; ++s) {
                from[s] = x[static_cast<std::int64_t>(j) * W + s];
                if constexpr (!is_real) size[s] = size_of<Quick>(from[s]);
            }
            for (Index p = columns_.indptr[j], end = columns_.indptr[j + 1]; p < end; ++p) {
                Value* const to = sums + static_cast<std::int64_t>(columns_.indices[p]) * 2 * W;
                const Value a = a_[p];
                Value sum[2 * W];
                for (int s = 0; s < W; ++s) sum[s] = product(a, from[s]);
                for (int s = 0; s < W; ++s)
                    sum[W + s] = to[W + s] + size_of_product<Quick>(sum[s], a, size[s]);
                for (int s = 0; s < W; ++s) sum[s] += to[s];
                for (int s = 0; s < 2 * W; ++s) to[s] = sum[s];
            }
        }
    }
    template <bool Quick, bool Adjoint>
    void multiply_transposed(const Value* x, WorkCounter& counter) {
        for (Index j = 0; j < columns_.n_rows && counter.add((1 + columns_.degree(j)) * W); ++j) {
            Value sum[W] = {};
            double size[W] = {};
            for (Index p = columns_.indptr[j], end = columns_.indptr[j + 1]; p < end; ++p) {
                const Value* const from = x + static_cast<std::int64_t>(columns_.indices[p]) * W;
                const Value a = Adjoint ? conjugate(a_[p]) : a_[p];
                for (int s = 0; s < W; ++s) {
                    const Value term = product(a, from[s]);
                    sum[s] += term;
                    size[s] += size_of_product<Quick>(term, a, size_of<Quick>(from[s]));
                }
            }
            Value* const to = sums_.data() + static_cast<std::int64_t>(j) * 2 * W;
            for (int s = 0; s < W; ++s) to[s] = sum[s], to[W + s] = size[s];
        }
    }

    // b comes last: fewer digits are lost in long rows. Marks errors that are not good enough.
    void subtract(const Value* b, Value* r, SolutionError* errors) {
        constexpr double share = is_real ? 1 : 0.5;  // sizes may be twice too large
        double largest_r[W] = {}, largest[W] = {};
        bool good[W];
        std::fill_n(good, W, true);
        for (std::int64_t i = 0; i < columns_.n_rows; ++i)
            for (int s = 0; s < W; ++s) {
                const Value right = b[i * W + s];
                const Value left = r[i * W + s] = right - product_at(i, s);
                const double residual = magnitude(left), size = size_at(i, s) + magnitude(right);
                largest_r[s] = std::max(largest_r[s], residual);
                largest[s] = std::max(largest[s], size);
                good[s] &= residual <= SolutionError::good_componentwise * share * size;
            }
        for (int s = 0; s < W; ++s) {
            errors[s].size = largest[s];
            good[s] &= largest_r[s] <= SolutionError::good_normwise * share * largest[s];
            if (!good[s] || std::isinf(largest[s])) errors[s].componentwise = 1;
        }
    }

    void measure_one(const Value* x, const Value* b, const Value* r, int s, SolutionError& error) {
        compare(b, r, s, error);
        if (std::isinf(error.size))  // what overflows has no error that could be small
            error.componentwise = std::numeric_limits<double>::quiet_NaN();
        else if (!(error.componentwise <= SolutionError::good_componentwise))
            by_row_norms(x, b, r, s, error);
    }
    // A quotient of which one is NaN stays so.
    static void raise(double& most, double to) {
        if (!(to <= most) && !std::isnan(most)) most = to;
    }
    void compare(const Value* b, const Value* r, int s, SolutionError& error) const {
        error = {};
        double largest_r = 0;
        for (std::int64_t i = 0; i < columns_.n_rows; ++i) {
            const double residual = std::abs(r[i * W + s]),
                         size = size_at(i, s) + std::abs(b[i * W + s]);
            raise(largest_r, residual);
            error.size = std::max(error.size, size);
            raise(error.componentwise, residual / (size > 0 ? size : 1));
        }
        error.normwise = largest_r / (error.size > 0 ? error.size : 1);
    }
    void by_row_norms(const Value* x, const Value* b, const Value* r, int s, SolutionError& error) {
        if (row_norms_.empty()) find_row_norms();
        const std::int64_t n = columns_.n_rows;
        double norm = 0;
        for (std::int64_t i = 0; i < n; ++i) norm = std::max(norm, std::abs(x[i * W + s]));
        const double tiny = 1000 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
        error.componentwise = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double by_norm = row_norms_[i] * norm, right = std::abs(b[i * W + s]);
            double size = size_at(i, s) + right;
            if (size <= tiny * (by_norm + right)) size += by_norm;
            raise(error.componentwise, std::abs(r[i * W + s]) / (size > 0 ? size : 1));
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

    const Csr<Index>& columns_;
    const Value* a_;
    const Side side_;
    Buffer<Value>& sums_;
    std::vector<double> row_norms_;
};

}  // namespace sparsematch
