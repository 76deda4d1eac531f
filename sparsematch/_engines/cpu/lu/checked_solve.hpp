// Solutions by a factorisation, measured, and refined where they are not good enough, block by
// block (block_refinement.hpp); where numbers in between leave the range of doubles, or that does
// not suffice, by numbers with exponents of their own (wide_solve.hpp). Right-hand sides are
// processed by up to eight, side by side, padded with zeros where there are fewer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "lu/block_refinement.hpp"
#include "lu/equilibration.hpp"
#include "lu/triangular_solve.hpp"
#include "lu/wide_solve.hpp"

namespace sparsematch {

// Numbers of a solve, kept from one to the next.
template <class Value> struct SolveWorkspace {
    Buffer<Value> ordered, x, right, r, better;
    Buffer<RowTerms<Value>> terms;

    template <class T> static T* of(Buffer<T>& buffer, std::size_t n) {
        if (buffer.size() < n) buffer = Buffer<T>(n);
        return buffer.data();
    }
};

template <class Index, class Value> class CheckedSolve {
  public:
    // columns: the matrix, of which a are the values. Without `check`, errors are 0.
    CheckedSolve(const Csr<Index>& columns, const Value* a, const BlockLU<Index, Value>& lu,
                 const ExternalSolve<Index, Value>& external, Side side, bool check,
                 SolveWorkspace<Value>& workspace)
        : columns_(columns), a_(a), lu_(lu), external_(external), side_(side), check_(check),
          workspace_(workspace) {}

    // Solves in place, x of n x width. Writes the larger error of each right-hand side, 0 where it
    // is good enough, infinity where numbers in between are beyond the range. False: the run was
    // stopped. Time: O((n + nnz + entries of the factors) width).
    bool solve(Value* x, std::int64_t width, double* errors, RunContext& run) {
        for (std::int64_t first = 0; first < width;) {
            const std::int64_t left = width - first;
            const auto some = [&]<int W>(std::integral_constant<int, W>) {
                const Piece piece{x + first, errors + first, width, left < W ? left : W};
                first += piece.count;
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
    static bool is_acceptable(double error) { return error <= acceptable; }
    // Solves again what is not, unless it is beside whole rows: near the end of a Newton iteration
    // the terms of many are tiny. False: the run was stopped.
    bool solve_widely(const Value* b, std::int64_t width, Value* x, double* errors,
                      RunContext& run) {
        for (std::int64_t s = 0; s < width; ++s) {
            if (is_acceptable(errors[s])) continue;
            bool finite = true;
            for (std::int64_t i = 0; i < n(); ++i)
                finite &= std::isfinite(largest_part(b[i * width + s]));
            const bool in_range = errors[s] < infinity;
            errors[s] = std::numeric_limits<double>::quiet_NaN();
            if (!finite) continue;
            WideSolve<Index, Value> wide(columns_, a_, lu_, external_, side_, run);
            const bool good = in_range && wide.is_good(b + s, x + s, width);
            errors[s] = good ? 0 : wide.solve(b + s, x + s, width);
            if (run.stopped()) return false;
        }
        return true;
    }

  private:
    // Componentwise; up to it, what refinement of blocks leaves is left. Half of what is warned of:
    // the terms of a row outside its block are rounded, too, as its residual is.
    static constexpr double acceptable = 5e-13;
    static constexpr double negligible = 0x1p-200;  // share of the largest element

    // Some of the columns of x, of which there are `stride`.
    struct Piece {
        Value* x;
        double* errors;
        std::int64_t stride, count;
    };

    std::int64_t n() const { return columns_.n_rows; }

    template <int W> bool solve_some(const Piece& piece, RunContext& run) {
        std::fill_n(piece.errors, piece.count, 0.0);
        if (piece.stride == W) return apply<W>(piece.x, piece, run);
        Value* const x = workspace_.of(workspace_.x, static_cast<std::size_t>(n() * W));
        for (std::int64_t i = 0; i < n(); ++i) {
            std::copy_n(piece.x + i * piece.stride, piece.count, x + i * W);
            std::fill(x + i * W + piece.count, x + (i + 1) * W, Value(0));
        }
        if (!apply<W>(x, piece, run)) return false;
        for (std::int64_t i = 0; i < n(); ++i)
            std::copy_n(x + i * W, piece.count, piece.x + i * piece.stride);
        return true;
    }

    // Solves with the factors: from one order of the user's to the other, in place.
    template <int W> bool apply(Value* x, const Piece& piece, RunContext& run) {
        const auto [from, to] = lu_.ends(side_ == Side::plain);
        Value* const y = workspace_.of(workspace_.ordered, static_cast<std::size_t>(n() * W));
        std::uint64_t lost = 0, extreme = 0;  // by their top bits
        for (std::int64_t c = 0; c < n(); ++c)
            for (int s = 0; s < W; ++s) {
                const Value v = x[std::int64_t{from.place[c]} * W + s];
                const Value scaled = v * from.factor[c];
                lost |= zero_bit(largest_part(scaled)) & ~zero_bit(largest_part(v));
                y[c * W + s] = scaled;
            }
        if (!sweep<W>(y, piece, run)) return false;
        for (std::int64_t c = 0; c < n(); ++c)
            for (int s = 0; s < W; ++s) {
                extreme |= extreme_bit(largest_part(y[c * W + s]));
                x[std::int64_t{to.place[c]} * W + s] = y[c * W + s] * to.factor[c];
            }
        if (check_ && (lost >> 63 != 0 || !lu_.equilibration.is_middling_throughout ||
                       (extreme >> 63 != 0 && !are_middling<W>(y, to.factor))))
            std::fill_n(piece.errors, piece.count, infinity);
        return true;
    }
    template <int W> bool sweep(Value* y, const Piece& piece, RunContext& run) {
        TriangularSolve<Index, Value, W> sweeps(lu_, external_, y);
        if (!check_) return sweeps.run(side_, run);
        const auto total = static_cast<std::size_t>(n() * W);
        BlockRefinement<Index, Value, W> blocks(
            lu_, external_, side_, y, workspace_.of(workspace_.right, total),
            workspace_.of(workspace_.r, total), workspace_.of(workspace_.better, total),
            workspace_.of(workspace_.terms, W == 1 ? total : 0));
        if (!sweeps.run(side_, run, blocks)) return false;
        for (std::int64_t s = 0; s < piece.count; ++s)
            piece.errors[s] = blocks.error(static_cast<int>(s));
        return true;
    }
    // Whether no product that matters with the solution, as it is scaled, is beyond the range: its
    // elements are 0 or middling, or lost beside others of their block, in the user's units, too.
    template <int W> bool are_middling(const Value* y, const double* after) const {
        bool all = true;
        for (Index k = 0; all && k < lu_.plan.n_blocks(); ++k)
            for (int s = 0; s < W; ++s) {
                const auto size = [&](std::int64_t c) { return largest_part(y[c * W + s]); };
                const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
                double most = 0, users = 0;
                for (std::int64_t c = first; c < end; ++c)
                    most = std::max(most, size(c)), users = std::max(users, size(c) * after[c]);
                all &= extreme_bit(most) >> 63 == 0;
                for (std::int64_t c = first; c < end; ++c)
                    all &= (extreme_bit(size(c)) >> 63 == 0) |
                           (size(c) * after[c] <= negligible * users);
            }
        return all;
    }

    const Csr<Index>& columns_;
    const Value* a_;
    const BlockLU<Index, Value>& lu_;
    const ExternalSolve<Index, Value>& external_;
    const Side side_;
    const bool check_;
    SolveWorkspace<Value>& workspace_;
};

}  // namespace sparsematch
