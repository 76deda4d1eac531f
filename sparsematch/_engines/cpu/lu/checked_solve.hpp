// Solutions by a factorisation, measured, and refined where they are not good enough: block by
// block first
// (block_refinement.hpp), then against the matrix: solve with the residual, and keep the sum if it
// is better.
//
// One call does it all: a gather into the order of the pivots, the sweeps, a scatter, and where the
// matrix is needed one pass over it for the residual and its bound (backward_error.hpp). Right-hand
// sides are processed by up to eight, side by side, padded with zeros where there are fewer.
// What a solution is measured by: normwise, as it leaves a stable factorisation; componentwise a
// hundred times that, so that only rows that have lost digits beside their own terms are refined.
//
// Wilkinson, Rounding Errors in Algebraic Processes (1963); Skeel, Iterative refinement implies
// numerical stability for Gaussian elimination (Math. Comp. 35, 1980): one step in the same
// precision makes the componentwise backward error small unless growth or condition are extreme.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "lu/backward_error.hpp"
#include "lu/block_refinement.hpp"
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

// Numbers of a solve, kept from one to the next.
template <class Value>
struct SolveRoom {
    Buffer<Value> ordered, sums, b, x, right, r, better, r_better;
    Buffer<double> sizes;

    template <class T>
    static T* of(Buffer<T>& buffer, std::size_t n) {
        if (buffer.size() < n) buffer = Buffer<T>(n);
        return buffer.data();
    }
};

// How solutions are checked: not at all; block by block (block_refinement.hpp); by their backward
// errors. The second needs the matrix as it is, not transposed, and no external blocks.
enum class Check : signed char { none, blocks, error };

template <class Index, class Value>
class CheckedSolve {
  public:
    static constexpr int max_steps = 4;  // of refinement, each of which must halve the error

    // columns: the matrix, of which a are the values and `largest` the largest absolute value.
    // Errors that are not measured are 0.
    CheckedSolve(const Csr<Index>& columns, const Value* a, double largest,
                 const BlockLU<Index, Value>& lu, const ExternalSolve<Index, Value>& external,
                 Side side, Check check, SolveRoom<Value>& room)
        : columns_(columns), a_(a), largest_(largest), lu_(lu), external_(external), side_(side),
          check_(check), room_(room) {}

    // Reads b and writes x, n x width, and the larger error of each right-hand side, 0 where it is
    // good enough. False: the run was stopped. Time: O((n + nnz + entries of the factors) width).
    bool solve(const Value* b, std::int64_t width, Value* x, double* errors, RunContext& run) {
        for (std::int64_t first = 0; first < width;) {
            const std::int64_t left = width - first;
            const auto some = [&]<int W>(std::integral_constant<int, W>) {
                const std::int64_t count = std::min<std::int64_t>(W, left);
                const Piece piece{b + first, x + first, errors + first, width, count};
                first += count;
                return solve_some<W>(piece, run);
            };
            const bool done = left == 1   ? some(std::integral_constant<int, 1>())
                              : left == 2 ? some(std::integral_constant<int, 2>())
                              : left <= 4 ? some(std::integral_constant<int, 4>())
                                          : some(std::integral_constant<int, 8>());
            if (!done) return false;
        }
        return true;
    }
    // After solve: whether no solution was refined but with blocks, and these were good then.
    bool went_well() const { return blocks_are_good_ && !was_refined_; }

  private:
    // Exponents of the matrix and right-hand sides up to which no product that matters overflows.
    static constexpr int far = 300;
    static constexpr double no_number = std::numeric_limits<double>::infinity();

    // Some of the columns of b and x, of which there are `stride`.
    struct Piece {
        const Value* b;
        Value* x;
        double* errors;
        std::int64_t stride, count;
    };

    std::int64_t n() const { return columns_.n_rows; }

    template <int W>
    bool solve_some(const Piece& piece, RunContext& run) {
        const auto total = static_cast<std::size_t>(n() * W);
        const bool direct = piece.stride == W;
        const Value* const b = direct ? piece.b : read<W>(piece);
        Value* const x = direct ? piece.x : room_.of(room_.x, total);
        std::fill_n(piece.errors, piece.count, 0.0);
        if (!solve_within_range<W>(b, x, piece, run)) return false;
        if (!direct)
            for (std::int64_t i = 0; i < n(); ++i)
                std::copy_n(x + i * W, piece.count, piece.x + i * piece.stride);
        return true;
    }
    template <int W>
    Value* read(const Piece& piece) {
        Value* const b = room_.of(room_.b, static_cast<std::size_t>(n() * W));
        for (std::int64_t i = 0; i < n(); ++i) {
            std::copy_n(piece.b + i * piece.stride, piece.count, b + i * W);
            std::fill(b + i * W + piece.count, b + (i + 1) * W, Value(0));
        }
        return b;
    }

    template <int W>
    bool solve_within_range(const Value* b, Value* x, const Piece& piece, RunContext& run) {
        SolutionError errors[W];
        if (exponent_of(largest_) <= far) {
            if (!apply<W>(b, x, run, check_ == Check::blocks)) return false;
            if (check_ == Check::none) return true;
            if (check_ != Check::error && blocks_are_good_ && are_within_range<W>(b) &&
                are_within_range<W>(x))
                return true;
            if (!refine<W>(b, x, errors, run)) return false;
            if (std::all_of(errors, errors + W, is_within_range)) return report(errors, piece);
        }
        return solve_rescaled<W>(b, x, piece, run);
    }
    static bool report(const SolutionError* errors, const Piece& piece) {
        for (std::int64_t s = 0; s < piece.count; ++s) piece.errors[s] = errors[s].larger();
        return true;
    }
    static int exponent_of(double size) { return size > 0 ? std::abs(std::ilogb(size)) : 0; }
    static bool is_within_range(const SolutionError& error) {
        return error.size == 0 || exponent_of(error.size) <= far || std::isnan(error.componentwise);
    }

    // The same of right-hand sides or solutions, by the sums of their absolute values.
    template <int W>
    bool are_within_range(const Value* v) const {
        constexpr int lanes = W < 4 ? 4 : W;  // enough to add several at a time
        double sums[lanes] = {};
        const std::int64_t total = n() * W, whole = total - total % lanes;
        for (std::int64_t k = 0; k < whole; k += lanes)
            for (int lane = 0; lane < lanes; ++lane) sums[lane] += largest_part(v[k + lane]);
        for (std::int64_t k = whole; k < total; ++k) sums[k - whole] += largest_part(v[k]);
        for (int s = 0; s < W; ++s) {
            double sum = 0;
            for (int lane = s; lane < lanes; lane += W) sum += sums[lane];
            if (!std::isfinite(sum) || exponent_of(sum) > far) return false;
        }
        return true;
    }

    // Measures the solutions, and refines them where they are poor.
    template <int W>
    bool refine(const Value* b, Value* x, SolutionError* errors, RunContext& run) {
        const auto total = static_cast<std::size_t>(n() * W);
        Value* const r = room_.of(room_.r, total);
        room_.of(room_.sums, 2 * total);
        BackwardError<Index, Value, W> backward(columns_, a_, side_, room_.sums);
        WorkCounter counter(run);
        backward.measure(x, b, r, errors, counter);
        bool open[W];
        std::fill_n(open, W, true);
        for (int step = 0; step < max_steps && !run.stopped(); ++step) {
            bool any = false;
            for (int s = 0; s < W; ++s) any |= open[s] &= errors[s].excess() > 1;
            if (!any) return true;
            was_refined_ = true;
            Value *const better = room_.of(room_.better, total), *const r_better = room_.of(
                                                                     room_.r_better, total);
            if (!apply<W>(r, better, run)) return false;
            for (std::size_t k = 0; k < total; ++k) better[k] += x[k];
            SolutionError now[W];
            backward.measure(better, b, r_better, now, counter);
            for (int s = 0; s < W; ++s) {
                const double before = errors[s].excess(), after = now[s].excess();
                if (open[s] && after < before) {
                    errors[s] = now[s];
                    for (std::size_t k = s; k < total; k += W) x[k] = better[k], r[k] = r_better[k];
                }
                open[s] &= after < before / 2;
            }
        }
        return !run.stopped();
    }

    // Solves with the factors: from one order of the user's to the other.
    template <int W>
    bool apply(const Value* from, Value* to, RunContext& run, bool refine_blocks = false) {
        const Index *const rows = lu_.user_row.data(), *const cols = lu_.plan.col_perm.data();
        const double *const row = lu_.pivot_row_factor.data(), *const col = lu_.equilibration
                                                                                .col_factor.data();
        const bool plain = side_ == Side::plain;
        const Index *const source = plain ? rows : cols, *const target = plain ? cols : rows;
        const double *const before = plain ? row : col, *const after = plain ? col : row;
        Value* const y = room_.of(room_.ordered, static_cast<std::size_t>(n() * W));
        for (std::int64_t c = 0; c < n(); ++c)
            for (int s = 0; s < W; ++s)
                y[c * W + s] = from[static_cast<std::int64_t>(source[c]) * W + s] * before[c];
        TriangularSolve<Index, Value, W> sweeps(lu_, external_, y);
        if (refine_blocks ? !sweep_refined<W>(sweeps, y, run) : !sweeps.run(side_, run))
            return false;
        for (std::int64_t c = 0; c < n(); ++c)
            for (int s = 0; s < W; ++s)
                to[static_cast<std::int64_t>(target[c]) * W + s] = y[c * W + s] * after[c];
        return true;
    }

    template <int W>
    bool sweep_refined(TriangularSolve<Index, Value, W>& sweeps, Value* y, RunContext& run) {
        const auto total = static_cast<std::size_t>(n() * W);
        BlockRefinement<Index, Value, W> blocks(
            lu_, y, room_.of(room_.right, total), room_.of(room_.r, total),
            room_.of(room_.better, total), room_.of(room_.sizes, total));
        if (!sweeps.run(blocks, run)) return false;
        blocks_are_good_ &= blocks.is_good();
        return true;
    }

    // Where the matrix or a right-hand side is near an end of the range, it is multiplied with the
    // power of two that brings it half the way to the matrix: so both it and x are far from there.
    // A solution beyond the range of doubles has an infinite error.
    template <int W>
    bool solve_rescaled(const Value* b, Value* x, const Piece& piece, RunContext& run) {
        const auto total = static_cast<std::size_t>(n() * W);
        Buffer<Value> right(total);
        std::copy_n(b, total, right.data());
        int exponent[W] = {};
        const int own = largest_ > 0 ? std::ilogb(largest_) : 0;
        for (int s = 0; s < W; ++s) {
            const double most = largest_of<W>(b, s);
            if (!(most > 0) || !std::isfinite(most)) continue;
            exponent[s] = std::ilogb(most) - own / 2;
            rescale<W>(right.data(), s, -exponent[s]);
        }
        SolutionError errors[W];
        if (!apply<W>(right.data(), x, run)) return false;
        if (check_ != Check::none && !refine<W>(right.data(), x, errors, run)) return false;
        report(errors, piece);
        for (std::int64_t s = 0; s < piece.count; ++s) {
            if (exponent[s] == 0) continue;
            rescale<W>(x, s, exponent[s]);
            if (!std::isfinite(largest_of<W>(x, s))) piece.errors[s] = no_number;
        }
        return true;
    }
    template <int W>
    double largest_of(const Value* v, std::int64_t s) const {
        double most = 0;
        for (std::int64_t i = 0; i < n(); ++i) most = std::max(most, largest_part(v[i * W + s]));
        return most;
    }
    template <int W>
    void rescale(Value* v, std::int64_t s, int exponent) const {
        for (std::int64_t i = 0; i < n(); ++i) v[i * W + s] = scaled(v[i * W + s], exponent);
    }

    const Csr<Index>& columns_;
    const Value* a_;
    const double largest_;
    const BlockLU<Index, Value>& lu_;
    const ExternalSolve<Index, Value>& external_;
    const Side side_;
    const Check check_;
    bool was_refined_ = false, blocks_are_good_ = true;
    SolveRoom<Value>& room_;
};

}  // namespace sparsematch
