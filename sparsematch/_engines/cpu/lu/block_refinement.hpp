// Solutions with one diagonal block after the other, measured while they are in the cache, and
// refined before they are used in other blocks; blocks of one row cost nothing.
//
// The system of a block is B y = b', scaled, b' what the blocks before leave; or its transpose's.
// What is good beside |B| |y| + |b'| is good beside the terms of whole rows.
//
// Oettli, Prager, Compatibility of approximate solution of linear equations with given error bounds
// for coefficients and right-hand sides (Numerische Mathematik 6, 1964): componentwise,
// max_i |b' - By|_i / (|B| |y| + |b'|)_i. Arioli, Demmel, Duff, Solving sparse linear systems with
// sparse backward error (SIAM J. Matrix Anal. Appl. 10, 1989): a row whose denominator is tiny, as
// y is so in all its columns, is measured by its norm and that of y, both in the user's units; here
// after one step, and only if the block is the whole matrix, as terms outside need not be tiny:
// wide_solve.hpp sees to that. Skeel, Iterative refinement implies numerical stability for Gaussian
// elimination (Math. Comp. 35, 1980): one step in the same precision makes the componentwise error
// small unless growth or condition are extreme.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

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

// What a row has with a solution, and the size of its terms.
template <class Value> struct RowTerms {
    Value sum;
    double size;
};

template <class Index, class Value, int W> class BlockRefinement {
  public:
    static constexpr bool is_real = std::is_same_v<Value, double>;
    // Of sizes of complex numbers, which may be up to twice too large.
    static constexpr double share = is_real ? 1 : 0.5;

    // x: as of TriangularSolve; the others are of its size, to be overwritten.
    BlockRefinement(const BlockLU<Index, Value>& lu, const ExternalSolve<Index, Value>& external,
                    Side side, Value* x, Value* right, Value* r, Value* better,
                    RowTerms<Value>* terms)
        : lu_(lu), located_(lu.located()), external_(external), side_(side), x_(x), right_(right),
          r_(r), better_(better), terms_(terms),
          row_factor_(side == Side::plain ? lu.pivot_row_factor : lu.equilibration.col_factor),
          col_factor_(side == Side::plain ? lu.equilibration.col_factor : lu.pivot_row_factor) {}

    // Before and after a solve with block k.
    void keep_right(Index k) {
        std::copy(x_ + at(lu_.plan.starts[k]), x_ + at(lu_.plan.starts[k + 1]),
                  right_ + at(lu_.plan.starts[k]));
    }
    void refine(Index k) {
        const auto first = at(lu_.plan.starts[k]), end = at(lu_.plan.starts[k + 1]);
        SolutionError errors[W], now[W];
        double error = measure(k, x_, errors);
        const auto goes_on = [&](int step) { return error > 1 || (step == 0 && by_terms_ > 0); };
        for (int step = 0; step < SolutionError::max_steps && goes_on(step); ++step) {
            const double before = error, by_terms = by_terms_;
            std::copy(r_ + first, r_ + end, better_ + first);
            TriangularSolve<Index, Value, W>(lu_, external_, better_).solve_block(k, side_);
            for (auto i = first; i < end; ++i) better_[i] += x_[i];
            const double after = measure(k, better_, now);
            if (!(after < before || (after == before && by_terms_ < by_terms))) break;
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

    // visit(begin, end, entry) for row c of the block, or its transpose: entry(q): value, column.
    template <class Visit> void of_row(Index c, const Visit& visit) const {
        const Value* const inner = lu_.equilibration.inner.data();
        if (side_ == Side::plain)
            visit(located_.row_start[c], located_.row_start[c + 1], [&](std::int64_t q) {
                return std::pair(inner[located_.row_entry[q]], located_.row_col[q]);
            });
        else
            visit(lu_.plan.inner_start[c], lu_.plan.inner_start[c + 1], [&](std::int64_t q) {
                return std::pair(side_ == Side::adjoint ? conjugate(inner[q]) : inner[q],
                                 located_.place[q]);
            });
    }
    // The terms of all rows of block k for one right-hand side, entry by entry as they are stored:
    // loops over rows, or columns, of few entries each would be mispredicted at their ends.
    void scatter(Index k, const Value* y) const {
        const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
        std::fill(terms_ + first, terms_ + end, RowTerms<Value>{});
        const Value* const inner = lu_.equilibration.inner.data();
        const Index* const place = located_.place.data();
        const Index* const col = located_.col.data();
        const auto stop = lu_.plan.inner_start[end];
        for (auto q = lu_.plan.inner_start[first]; q < stop; ++q) {
            const Value term = product(inner[q], y[col[q]]);
            RowTerms<Value>& to = terms_[place[q]];
            to = {to.sum + term, to.size + magnitude(term)};
        }
    }
    // What row c has with y, and the size of its terms, in loops that compilers make vectors of.
    void multiply(Index c, const Value* y, Value* sum, double* size) const {
        constexpr int lanes = W == 1 ? 2 : 1, width = lanes * W;
        Value sums[width] = {};
        double sizes[width] = {};
        of_row(c, [&](std::int64_t q, std::int64_t end, const auto& entry) {
            const auto take = [&]<int n>(std::integral_constant<int, n>) {
                Value terms[n * W];
                for (int lane = 0; lane < n; ++lane) {
                    const auto [a, column] = entry(q++);
                    for (int s = 0; s < W; ++s) terms[lane * W + s] = product(a, y[at(column) + s]);
                }
                for (int s = 0; s < n * W; ++s) sums[s] += terms[s];
                for (int s = 0; s < n * W; ++s) sizes[s] += magnitude(terms[s]);
            };
            while (q + lanes <= end) take(std::integral_constant<int, lanes>());
            while (q < end) take(std::integral_constant<int, 1>());
        });
        for (int s = 0; s < W; ++s) sum[s] = sums[s], size[s] = sizes[s];
        for (int s = W; s < width; ++s) sum[0] += sums[s], size[0] += sizes[s];
    }
    // Of a row in the user's units; the inverse of a power of two.
    double unit_of(Index c) const {
        constexpr auto both = std::uint64_t{2046} << 52;  // exponents of a factor and its inverse
        const double factor = row_factor_[c];
        const auto unit = std::bit_cast<double>(both - std::bit_cast<std::uint64_t>(factor));
        SPARSEMATCH_ASSERT(unit * factor == 1);
        return unit;
    }
    // Of a row, and of a solution, in the user's columns.
    double row_norm(Index c) const {
        double most = 0;
        of_row(c, [&](std::int64_t q, std::int64_t end, const auto& entry) {
            for (; q < end; ++q) {
                const auto [a, column] = entry(q);
                most = std::max(most, magnitude(a) / col_factor_[column]);
            }
        });
        return most;
    }
    double norm(Index k, const Value* y) const {
        double most = 0;
        for (Index c = lu_.plan.starts[k]; c < lu_.plan.starts[k + 1]; ++c)
            most = std::max(most, magnitude(y[at(c)]) * col_factor_[c]);
        return most;
    }
    // Writes: r, the residuals, and the error of each right-hand side, as far as it is more than is
    // good enough. Returns the largest excess, at least 1.
    double measure(Index k, const Value* y, SolutionError* errors) {
        double largest_r[W] = {}, largest[W] = {}, worst[W], most = 1;
        std::fill_n(worst, W, SolutionError::good_componentwise * share);
        norms_are_known_ = false, by_terms_ = 0;
        const bool by_columns = W == 1 && side_ == Side::plain;
        if (by_columns) scatter(k, y);
        for (Index c = lu_.plan.starts[k]; c < lu_.plan.starts[k + 1]; ++c) {
            Value r[W];
            double size[W], residual[W];
            if (by_columns) r[0] = terms_[c].sum, size[0] = terms_[c].size;
            else multiply(c, y, r, size);
            const Value* const right = right_ + at(c);  // last: fewer digits are lost in long rows
            for (int s = 0; s < W; ++s) r[s] = right[s] - r[s];
            for (int s = 0; s < W; ++s) r_[at(c) + s] = r[s];
            for (int s = 0; s < W; ++s) residual[s] = magnitude(r[s]);
            for (int s = 0; s < W; ++s) size[s] += magnitude(right[s]);
            const double unit = unit_of(c);
            for (int s = 0; s < W; ++s) largest_r[s] = std::max(largest_r[s], residual[s] * unit);
            for (int s = 0; s < W; ++s) largest[s] = std::max(largest[s], size[s] * unit);
            bool good = true;
            for (int s = 0; s < W; ++s) good &= residual[s] <= worst[s] * size[s];
            if (!good) compare(k, c, y, residual, size, worst);
        }
        for (int s = 0; s < W; ++s) {
            errors[s].componentwise = worst[s] / share;
            errors[s].normwise = largest[s] > 0 ? largest_r[s] / largest[s] : largest_r[s];
            errors[s].normwise /= share;
            if (std::isnan(errors[s].normwise)) errors[s].componentwise = infinity;
            most = std::max(most, errors[s].excess());
        }
        return most;
    }
    // Raises the worst componentwise errors by those of a row; where it is tiny, by norms. Inlined,
    // it would take the registers of what is done for all rows.
    SPARSEMATCH_NOINLINE void compare(Index k, Index c, const Value* y, const double* residual,
                                      const double* size, double* worst) {
        const double tiny =
            share * 1000.0 * lu_.plan.size(k) * std::numeric_limits<double>::epsilon();
        if (!std::exchange(norms_are_known_, true))
            for (int s = 0; s < W; ++s) norms_[s] = norm(k, y + s);
        for (int s = 0; s < W; ++s) {
            if (residual[s] <= worst[s] * size[s]) continue;
            double beside = size[s];
            if (lu_.plan.n_blocks() == 1) {
                const double by_norm = row_norm(c) * norms_[s];
                if (by_norm < infinity &&
                    size[s] <= tiny * (by_norm + magnitude(right_[at(c) + s])))
                    beside += by_norm;
            }
            if (residual[s] <= worst[s] * beside) {
                by_terms_ = std::max(by_terms_, residual[s] / size[s]);
                continue;
            }
            worst[s] = residual[s] / beside;
            if (std::isnan(worst[s])) worst[s] = infinity;
        }
    }

    const BlockLU<Index, Value>& lu_;
    const Located<Index>& located_;
    const ExternalSolve<Index, Value>& external_;
    const Side side_;
    Value *const x_, *const right_, *const r_, *const better_;
    RowTerms<Value>* const terms_;
    const std::vector<double>&row_factor_, &col_factor_;  // of what is solved with
    double errors_[W] = {}, norms_[W] = {};               // of solutions, while these are measured
    bool norms_are_known_ = false;
    double by_terms_ = 0;  // the largest error, beside their terms, of rows that are good by norm
};

}  // namespace sparsematch
