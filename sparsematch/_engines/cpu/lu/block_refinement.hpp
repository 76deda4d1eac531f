// Solutions with one diagonal block after the other, measured while they are in the cache, and
// refined before they are used in other blocks: what is refined is a block, not the matrix, and
// blocks of one row, whose residuals are some roundings of their own terms, cost nothing.
//
// The system of a block is B y = b', scaled, b' what the blocks before it leave of the right-hand
// side; or that of its transpose. Beside |B| |y| + |b'| a residual is no smaller than beside the
// terms of whole rows, so what is good here is good there.
//
// Oettli, Prager, Compatibility of approximate solution of linear equations with given error bounds
// for coefficients and right-hand sides (Numerische Mathematik 6, 1964): componentwise,
// max_i |b' - By|_i / (|B| |y| + |b'|)_i. Arioli, Demmel, Duff, Solving sparse linear systems with
// sparse backward error (SIAM J. Matrix Anal. Appl. 10, 1989): where the denominator of a row is
// tiny because y is so in all its columns, the row is measured by its norm and that of y, both in
// the user's units; here only if the block is the whole matrix, as terms that are tiny in a block
// need not be so beside those outside: wide_solve.hpp sees to that. Wilkinson, Rounding Errors in
// Algebraic Processes (1963); Skeel, Iterative refinement implies numerical stability for Gaussian
// elimination (Math. Comp. 35, 1980): one step in the same precision makes the componentwise error
// small unless growth or condition are extreme.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/csr.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {

struct SolutionError {
    // Up to which solutions are left as they are. A factorisation without growth reaches 1e-16
    // normwise; componentwise a hundred times that, so that only rows that have lost digits beside
    // their own terms are refined.
    static constexpr double good_componentwise = 1e-13, good_normwise = 1e-15;
    static constexpr int max_steps = 4;  // of refinement, each of which must halve the error

    double componentwise = 0;
    double normwise = 0;  // max |b - Ax| / max (|A| |x| + |b|)

    double larger() const { return std::max(componentwise, normwise); }
    // How often it exceeds what is good enough.
    double excess() const {
        return std::max(componentwise / good_componentwise, normwise / good_normwise);
    }
};

template <class Index, class Value, int W>
class BlockRefinement {
  public:
    static constexpr bool is_real = std::is_same_v<Value, double>;
    // Of sizes of complex numbers, which may be up to twice too large.
    static constexpr double share = is_real ? 1 : 0.5;

    // x: as of TriangularSolve; the others are of its size, to be overwritten.
    BlockRefinement(const BlockLU<Index, Value>& lu, const ExternalSolve<Index, Value>& external,
                    Side side, Value* x, Value* right, Value* r, Value* better)
        : lu_(lu), external_(external), side_(side), x_(x), right_(right), r_(r), better_(better),
          row_factor_(side == Side::plain ? lu.pivot_row_factor : lu.equilibration.col_factor),
          col_factor_(side == Side::plain ? lu.equilibration.col_factor : lu.pivot_row_factor) {}

    // Before and after a solve with block k.
    void keep_right(Index k) {
        std::copy(x_ + at(lu_.plan.starts[k]), x_ + at(lu_.plan.starts[k + 1]),
                  right_ + at(lu_.plan.starts[k]));
    }
    void refine(Index k) {
        if (is_good(k, x_)) return;
        const auto first = at(lu_.plan.starts[k]), end = at(lu_.plan.starts[k + 1]);
        SolutionError errors[W], now[W];
        double error = measure(k, x_, errors);
        for (int step = 0; step < SolutionError::max_steps && error > 1; ++step) {
            const double before = error;
            std::copy(r_ + first, r_ + end, better_ + first);
            TriangularSolve<Index, Value, W>(lu_, external_, better_).solve_block(k, side_);
            for (auto i = first; i < end; ++i) better_[i] += x_[i];
            const double after = measure(k, better_, now);
            if (!(after < before)) break;
            std::copy(better_ + first, better_ + end, x_ + first);
            std::copy(now, now + W, errors), error = after;
            if (!(after < before / 2)) break;
        }
        for (int s = 0; s < W; ++s)
            if (errors[s].excess() > 1) errors_[s] = std::max(errors_[s], errors[s].larger());
    }
    // The largest error of the s-th solution in a block; 0 where all are good.
    double error(int s) const { return errors_[s]; }

  private:
    static std::int64_t at(Index c) { return static_cast<std::int64_t>(c) * W; }

    // visit(entry, column) for row c of the block, or of its transpose.
    template <class Visit>
    void each(Index c, const Visit& visit) const {
        const Value* const inner = lu_.equilibration.inner.data();
        if (side_ == Side::plain) {
            for (auto q = lu_.row_start[c]; q < lu_.row_start[c + 1]; ++q)
                visit(inner[lu_.row_entry[q]], lu_.row_col[q]);
        } else {
            const bool conjugated = !is_real && side_ == Side::adjoint;
            for (auto p = lu_.plan.inner_start[c]; p < lu_.plan.inner_start[c + 1]; ++p)
                visit(conjugated ? conjugate(inner[p]) : inner[p], lu_.inner_place[p]);
        }
    }
    // visit(c, s, residual, size of the terms) for each row and right-hand side.
    template <class Visit>
    void residuals(Index k, const Value* y, const Visit& visit) const {
        for (Index c = lu_.plan.starts[k]; c < lu_.plan.starts[k + 1]; ++c) {
            Value sum[W] = {};
            double size[W] = {};
            each(c, [&](Value a, Index column) {
                const Value* const from = y + at(column);
                for (int s = 0; s < W; ++s) {
                    const Value term = product(a, from[s]);
                    sum[s] += term, size[s] += magnitude(term);
                }
            });
            const Value* const right = right_ + at(c);  // last: fewer digits are lost in long rows
            for (int s = 0; s < W; ++s)
                visit(c, s, right[s] - sum[s], size[s] + magnitude(right[s]));
        }
    }
    bool is_good(Index k, const Value* y) const {
        double largest_r[W] = {}, largest[W] = {};
        bool good = true;
        residuals(k, y, [&](Index c, int s, Value r, double size) {
            const double residual = magnitude(r), unit = unit_of(c);
            good &= residual <= SolutionError::good_componentwise * share * size;
            largest_r[s] = std::max(largest_r[s], residual * unit);
            largest[s] = std::max(largest[s], size * unit);
        });
        for (int s = 0; s < W; ++s)
            good &= largest_r[s] <= SolutionError::good_normwise * share * largest[s];
        return good;
    }
    // Of a row in the user's units; the inverse of a power of two.
    double unit_of(Index c) const {
        constexpr auto both = std::uint64_t{2046} << 52;  // exponents of a factor and its inverse
        const double factor = row_factor_[c];
        const auto unit = std::bit_cast<double>(both - std::bit_cast<std::uint64_t>(factor));
        SPARSEMATCH_ASSERT(unit * factor == 1);
        return unit;
    }
    // Of a row and the user's columns.
    double row_norm(Index c) const {
        double most = 0;
        each(c, [&](Value a, Index column) {
            most = std::max(most, magnitude(a) / col_factor_[column]);
        });
        return most;
    }
    // Writes: r, the residuals, and the error of each right-hand side. Returns the largest excess.
    double measure(Index k, const Value* y, SolutionError* errors) {
        double norm[W] = {}, largest_r[W] = {}, largest[W] = {}, most = 0;
        for (Index c = lu_.plan.starts[k]; c < lu_.plan.starts[k + 1]; ++c)
            for (int s = 0; s < W; ++s)
                norm[s] = std::max(norm[s], magnitude(y[at(c) + s]) * col_factor_[c]);
        const bool is_whole = lu_.plan.n_blocks() == 1;
        const double tiny =
            share * 1000.0 * lu_.plan.size(k) * std::numeric_limits<double>::epsilon();
        std::fill_n(errors, W, SolutionError());
        residuals(k, y, [&](Index c, int s, Value r, double size) {
            r_[at(c) + s] = r;
            const double residual = magnitude(r), unit = unit_of(c);
            largest_r[s] = std::max(largest_r[s], residual * unit);
            largest[s] = std::max(largest[s], size * unit);
            if (is_whole && !(residual <= SolutionError::good_componentwise * share * size)) {
                const double by_norm = row_norm(c) * norm[s];
                if (by_norm < infinity && size <= tiny * (by_norm + magnitude(right_[at(c) + s])))
                    size += by_norm;
            }
            if (!(residual <= errors[s].componentwise * size))
                errors[s].componentwise = residual / size;
        });
        for (int s = 0; s < W; ++s) {
            errors[s].normwise = largest[s] > 0 ? largest_r[s] / largest[s] : largest_r[s];
            errors[s].componentwise /= share, errors[s].normwise /= share;
            if (std::isnan(errors[s].componentwise) || std::isnan(errors[s].normwise))
                errors[s].componentwise = infinity;
            most = std::max(most, errors[s].excess());
        }
        return most;
    }

    const BlockLU<Index, Value>& lu_;
    const ExternalSolve<Index, Value>& external_;
    const Side side_;
    Value *const x_, *const right_, *const r_, *const better_;
    const std::vector<double>&row_factor_, &col_factor_;  // of what is solved with
    double errors_[W] = {};
};

}  // namespace sparsematch
