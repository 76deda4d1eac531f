// Solutions by a factorisation, every one of them measured against the matrix, and refined where
// it is not good enough: solve with the residual, and keep the sum if it is better.
//
// Wilkinson, Rounding Errors in Algebraic Processes (1963); Skeel, Iterative refinement implies
// numerical stability for Gaussian elimination (Math. Comp. 35, 1980): one step in the same
// precision makes the componentwise backward error small unless growth or condition are extreme.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <tuple>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "lu/backward_error.hpp"
#include "lu/equilibration.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {

inline double scaled(double v, int exponent) { return std::ldexp(v, exponent); }
inline std::complex<double> scaled(std::complex<double> v, int exponent) {
    return {std::ldexp(v.real(), exponent), std::ldexp(v.imag(), exponent)};
}

// The blocks of several rows with a pivot below this share of the largest entry of the block.
// Time: O(n).
template <class Index, class Value>
std::vector<Index> blocks_with_small_pivots(const BlockLU<Index, Value>& lu, double share) {
    std::vector<Index> out;
    for (Index k = 0; k < lu.plan.n_blocks(); ++k) {
        if (lu.plan.external[k] > 0 || lu.plan.size(k) == 1) continue;
        double least = std::numeric_limits<double>::infinity();
        for (Index c = lu.plan.starts[k]; c < lu.plan.starts[k + 1]; ++c)
            least = std::min(least, magnitude(lu.pivot[c]));
        if (least < share * lu.equilibration.largest[k]) out.push_back(k);
    }
    return out;
}

template <class Index, class Value>
class CheckedSolve {
  public:
    // Backward errors up to which solutions are left as they are. A factorisation without growth
    // reaches 1e-16 normwise; componentwise, rows whose terms are far smaller than the others' lose
    // more.
    static constexpr double good_componentwise = 1e-13, good_normwise = 1e-15;
    static constexpr int max_steps = 4;  // of refinement, each of which must halve the error

    // columns: the matrix, of which a are the values and `largest` the largest absolute value.
    // Without `check` nothing is measured, and errors are 0.
    CheckedSolve(const Csr<Index>& columns, const Value* a, double largest,
                 const BlockLU<Index, Value>& lu, const ExternalSolve<Index, Value>& external,
                 Side side, bool check)
        : columns_(columns), a_(a), largest_(largest), lu_(lu), external_(external), side_(side),
          check_(check) {}

    // Reads b and writes x, n x width, and the larger error of each right-hand side. False: the run
    // was stopped. Time: O((n + nnz + entries of the factors) width); workspace: five
    // numbers for each row of `at_a_time` right-hand sides.
    bool solve(const Value* b, std::int64_t width, Value* x, double* errors, RunContext& run) {
        for (std::int64_t first = 0; first < width; first += at_a_time) {
            width_ = std::min(at_a_time, width - first);
            read_scaled(b + first, width);
            if (!solve_some(errors + first, run)) return false;
            write_unscaled(x + first, width, errors + first);
        }
        return true;
    }

  private:
    // Right-hand sides at a time: the entries of a row are in a few cache lines.
    static constexpr std::int64_t at_a_time = 16;
    // Exponents of the matrix and right-hand sides up to which no product that matters overflows.
    static constexpr int far = 300;

    std::int64_t n() const { return columns_.n_rows; }

    bool solve_some(double* errors, RunContext& run) {
        const auto total = static_cast<std::size_t>(n() * width_);
        x_.resize(total), y_.resize(total);
        if (!apply(b_, x_, run)) return false;
        std::fill(errors, errors + width_, 0.0);
        if (!check_) return true;
        r_.resize(total);
        BackwardError<Index, Value> backward(columns_, a_, side_, width_);
        error_.resize(width_);
        WorkCounter counter(run);
        backward.measure(x_.data(), b_.data(), r_.data(), error_.data(), counter);
        if (run.stopped()) return false;
        if (!refine(backward, run)) return false;
        for (std::int64_t s = 0; s < width_; ++s) errors[s] = error_[s].larger();
        return true;
    }

    // How often the error exceeds what is good enough; infinite if it is no number.
    static double excess(const SolutionError& error) {
        return std::isnan(error.larger()) ? no_number
                                          : std::max(error.componentwise / good_componentwise,
                                                     error.normwise / good_normwise);
    }
    bool refine(BackwardError<Index, Value>& backward, RunContext& run) {
        std::vector<char> open(width_, 1);
        for (int step = 0; step < max_steps; ++step) {
            bool any = false;
            for (std::int64_t s = 0; s < width_; ++s) any |= open[s] &= excess(error_[s]) > 1;
            if (!any) return true;
            better_.resize(x_.size()), r_better_.resize(x_.size()), error_better_.resize(width_);
            if (!apply(r_, better_, run)) return false;
            for (std::size_t k = 0; k < x_.size(); ++k) better_[k] += x_[k];
            WorkCounter counter(run);
            backward.measure(better_.data(), b_.data(), r_better_.data(), error_better_.data(),
                             counter);
            if (run.stopped()) return false;
            for (std::int64_t s = 0; s < width_; ++s) {
                const double before = excess(error_[s]), now = excess(error_better_[s]);
                if (open[s] && now < before) keep(s);
                open[s] &= now < before / 2;
            }
        }
        return true;
    }
    void keep(std::int64_t s) {
        error_[s] = error_better_[s];
        for (std::int64_t i = 0; i < n(); ++i)
            x_[i * width_ + s] = better_[i * width_ + s],
                            r_[i * width_ + s] = r_better_[i * width_ + s];
    }

    // Solves with the factors: from one order of the user's to the other.
    bool apply(const std::vector<Value>& from, std::vector<Value>& to, RunContext& run) {
        const auto& [row_perm, col_perm] = std::tie(lu_.plan.row_perm, lu_.plan.col_perm);
        const bool plain = side_ == Side::plain;
        const auto row = [&](std::int64_t c) { return row_perm[lu_.row_of[c]]; };
        for (std::int64_t c = 0; c < n(); ++c)
            std::copy_n(&from[(plain ? row(c) : col_perm[c]) * width_], width_, &y_[c * width_]);
        if (!TriangularSolve<Index, Value>(lu_, external_, y_.data(), width_).run(side_, run))
            return false;
        for (std::int64_t c = 0; c < n(); ++c)
            std::copy_n(&y_[c * width_], width_, &to[(plain ? col_perm[c] : row(c)) * width_]);
        return true;
    }

    // Where the matrix or a right-hand side is near an end of the range, it is multiplied with the
    // power of two that brings it half the way to the matrix: so both it and x are far from there.
    void read_scaled(const Value* b, std::int64_t stride) {
        b_.resize(static_cast<std::size_t>(n() * width_));
        for (std::int64_t i = 0; i < n(); ++i) std::copy_n(b + i * stride, width_, &b_[i * width_]);
        exponent_.assign(width_, 0);
        const int own = largest_ > 0 ? std::ilogb(largest_) : 0;
        for (std::int64_t s = 0; s < width_; ++s) {
            double most = 0;
            for (std::int64_t i = 0; i < n(); ++i)
                most = std::max(most, largest_part(b_[i * width_ + s]));
            if (!(most > 0) || !std::isfinite(most)) continue;
            if (const int e = std::ilogb(most); std::max(std::abs(own), std::abs(e)) > far)
                exponent_[s] = e - own / 2, rescale(b_, s, -exponent_[s]);
        }
    }
    // A solution beyond the range of doubles has an infinite error.
    void write_unscaled(Value* x, std::int64_t stride, double* errors) {
        for (std::int64_t s = 0; s < width_; ++s) {
            if (exponent_[s] == 0) continue;
            rescale(x_, s, exponent_[s]);
            double most = 0;
            for (std::int64_t i = 0; i < n(); ++i)
                most = std::max(most, largest_part(x_[i * width_ + s]));
            if (!std::isfinite(most)) errors[s] = no_number;
        }
        for (std::int64_t i = 0; i < n(); ++i) std::copy_n(&x_[i * width_], width_, x + i * stride);
    }
    void rescale(std::vector<Value>& v, std::int64_t s, int exponent) const {
        for (std::int64_t i = 0; i < n(); ++i)
            v[i * width_ + s] = scaled(v[i * width_ + s], exponent);
    }

    static constexpr double no_number = std::numeric_limits<double>::infinity();
    const Csr<Index>& columns_;
    const Value* a_;
    const double largest_;
    const BlockLU<Index, Value>& lu_;
    const ExternalSolve<Index, Value>& external_;
    const Side side_;
    const bool check_;
    std::int64_t width_ = 0;
    std::vector<Value> b_, x_, y_, r_, better_, r_better_;
    std::vector<SolutionError> error_, error_better_;
    std::vector<int> exponent_;
};

}  // namespace sparsematch
