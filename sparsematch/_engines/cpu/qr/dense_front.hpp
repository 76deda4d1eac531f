// The QR factorisation of one front: a dense matrix whose columns are zero below a staircase.
//
// Householder's reflections column by column; those of a panel are applied to the columns behind it
// at once: Schreiber, Van Loan, A storage-efficient WY representation for products of Householder
// transformations (SIAM J. Sci. Stat. Comput. 10, 1989), H_1 H_2 ... = I - V T V^H. A column of a
// pivot of which less is left than its tolerance is dead: it gets no reflection, and counts as
// dependent on those before it (Heath, Some extensions of an algorithm for sparse linear least
// squares problems, SIAM J. Sci. Stat. Comput. 3, 1982).
// Right-hand sides are updated apart, so that R does not depend on them, to the last bit.
// Invariant: rows before row_ are done; in column c, rows from stair[c] on are zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/run_context.hpp"
#include "elimination/blas.hpp"

namespace sparsematch {

inline double adjoint_of(double v) { return v; }
inline std::complex<double> adjoint_of(std::complex<double> v) { return std::conj(v); }

template <class Value> class DenseFront {
  public:
    // A zero matrix by columns; right-hand sides are its last columns.
    void reset(std::int64_t rows, std::int64_t columns, std::int64_t right) {
        n_rows = rows, n_columns = columns, n_all = columns + right;
        data_.assign(static_cast<std::size_t>(rows * n_all), Value(0));
        stair.assign(static_cast<std::size_t>(columns), 0);
    }
    Value& at(std::int64_t i, std::int64_t c) { return data_[i + c * n_rows]; }
    const Value& at(std::int64_t i, std::int64_t c) const { return data_[i + c * n_rows]; }

    // Reads: stair. Writes: row_of, for each column the row of R that begins there, or -1; rank,
    // the number of these rows, below which all is zero. False: the run was stopped.
    bool factorise(std::int64_t pivots, const double* tolerance, WorkCounter& counter) {
        row_ = 0, row_of.assign(static_cast<std::size_t>(n_columns), -1);
        for (std::int64_t begin = 0; begin < n_columns && row_ < n_rows;) {
            const bool blocked = (n_rows - row_) * (n_columns - begin) > large;
            const std::int64_t end = std::min(n_columns, begin + panel);
            const std::int64_t first = row_;
            reflections_.clear();
            for (std::int64_t c = begin; c < end && row_ < n_rows; ++c) {
                const double least = std::max(c < pivots ? tolerance[c] : 0, negligible);
                const std::int64_t work = eliminate(c, least, blocked ? end : n_all);
                if (!counter.add(1 + work / 8)) return false;
            }
            if (blocked && end < n_all && !apply_panel(first, end, counter)) return false;
            begin = end;
        }
        rank = row_;
        return true;
    }

    std::int64_t n_rows = 0, n_columns = 0, n_all = 0, rank = 0;
    std::vector<std::int64_t> stair, row_of;

  private:
    // Columns of a panel, and entries from which on panels pay.
    static constexpr std::int64_t panel = 32, large = 64 * 64;
    // A norm, beside columns of norm 1, of rounding errors of rounding errors: its square would
    // lose digits to underflow, and the reflection would not be unitary.
    static constexpr double negligible = 1e-140;

    struct Reflection {
        std::int64_t column, row, end;  // its vector: rows of a column, the first is 1
        Value tau;
    };

    // Eliminates column c below row_, in the columns up to `last`. Returns the work.
    std::int64_t eliminate(std::int64_t c, double least, std::int64_t last) {
        const std::int64_t g = row_, end = stair[c];
        if (end <= g) return 0;
        Value* x = &at(0, c);
        double below = 0;
        for (std::int64_t i = g + 1; i < end; ++i) below += std::norm(x[i]);
        const double norm = std::sqrt(std::norm(x[g]) + below);
        if (!(norm > least)) {
            std::fill(x + g, x + end, Value(0));
            return end - g;
        }
        row_of[c] = row_++;
        if (below == 0 && std::imag(x[g]) == 0) return end - g;
        const double beta = std::real(x[g]) > 0 ? -norm : norm;
        const Value tau = (beta - x[g]) / beta, scale = Value(1) / (x[g] - beta);
        for (std::int64_t i = g + 1; i < end; ++i) x[i] *= scale;
        x[g] = beta;
        reflections_.push_back({c, g, end, tau});
        for (std::int64_t k = c + 1; k < last; ++k) reflect(x, g, end, adjoint_of(tau), &at(0, k));
        if (last == n_all) std::fill(x + g + 1, x + end, Value(0));
        return (end - g) * (1 + 2 * (last - c));
    }

    static void reflect(const Value* v, std::int64_t g, std::int64_t end, Value tau, Value* y) {
        Value sum = y[g];
        for (std::int64_t i = g + 1; i < end; ++i) sum += adjoint_of(v[i]) * y[i];
        sum *= tau;
        y[g] -= sum;
        for (std::int64_t i = g + 1; i < end; ++i) y[i] -= v[i] * sum;
    }

    // Applies the panel's reflections to the columns behind it, C -= V T^H V^H C.
    bool apply_panel(std::int64_t first, std::int64_t begin, WorkCounter& counter) {
        const auto n = static_cast<std::int64_t>(reflections_.size());
        if (n == 0) return true;
        std::int64_t end = 0;
        for (const auto& r : reflections_) end = std::max(end, r.end);
        const std::int64_t m = end - first;
        form_v(first, m);
        form_t(m);
        const std::int64_t step = std::max<std::int64_t>(panel, slice / m);
        for (std::int64_t c = begin, width; c < n_all; c += width) {
            width = std::min(step, (c < n_columns ? n_columns : n_all) - c);
            w_.resize(static_cast<std::size_t>(n * width)), w2_.resize(w_.size());
            const Block v{v_.data(), m, n, m}, t{t_.data(), n, n, n}, w{w_.data(), n, width, n},
                w2{w2_.data(), n, width, n}, part{&at(first, c), m, width, n_rows};
            multiply("C", 1, v, part, 0, w);
            multiply("C", 1, t, w, 0, w2);
            multiply("N", -1, v, w2, 1, part);
            if (!counter.add(m * n * width / 8)) return false;
        }
        return true;
    }
    // Entries of C that are updated together: so often a run can be interrupted.
    static constexpr std::int64_t slice = std::int64_t{1} << 20;

    void form_v(std::int64_t first, std::int64_t m) {
        v_.assign(reflections_.size() * static_cast<std::size_t>(m), Value(0));
        for (std::size_t k = 0; k < reflections_.size(); ++k) {
            const auto& r = reflections_[k];
            Value* x = &at(0, r.column);
            Value* v = v_.data() + static_cast<std::int64_t>(k) * m + (r.row - first);
            *v = 1;
            std::copy(x + r.row + 1, x + r.end, v + 1);
            std::fill(x + r.row + 1, x + r.end, Value(0));
        }
    }
    void form_t(std::int64_t m) {
        const auto n = static_cast<std::int64_t>(reflections_.size());
        t_.assign(static_cast<std::size_t>(n * n), Value(0));
        std::vector<Value> dots(static_cast<std::size_t>(n));
        for (std::int64_t k = 0; k < n; ++k) {
            const Value* v = v_.data() + k * m;
            for (std::int64_t i = 0; i < k; ++i) {
                Value sum = 0;
                for (std::int64_t p = 0; p < m; ++p) sum += adjoint_of(v_[i * m + p]) * v[p];
                dots[i] = sum;
            }
            const Value tau = reflections_[k].tau;
            for (std::int64_t i = 0; i < k; ++i) {
                Value sum = 0;
                for (std::int64_t j = i; j < k; ++j) sum += t_[i + j * n] * dots[j];
                t_[i + k * n] = -tau * sum;
            }
            t_[k + k * n] = tau;
        }
    }
    struct Block {
        Value* data;
        std::int64_t n_rows, n_columns, stride;  // by columns
    };
    // c = alpha op(a) b + beta c
    void multiply(const char* op, Value alpha, const Block& a, const Block& b, Value beta,
                  const Block& c) const {
        const auto m = static_cast<int>(c.n_rows), n = static_cast<int>(c.n_columns),
                   k = static_cast<int>(b.n_rows);
        const auto lda = static_cast<int>(a.stride), ldb = static_cast<int>(b.stride),
                   ldc = static_cast<int>(c.stride);
        gemm_(op, "N", &m, &n, &k, &alpha, a.data, &lda, b.data, &ldb, &beta, c.data, &ldc);
    }

    const Gemm<Value> gemm_ = Blas<Value>::load().gemm;
    std::int64_t row_ = 0;
    std::vector<Value> data_, v_, t_, w_, w2_;
    std::vector<Reflection> reflections_;
};

}  // namespace sparsematch
