// Solving with a block triangular factorisation, many right-hand sides at a time: blocks from the
// last to the first, each followed by a multiplication with the columns above it; for the transpose
// from the first to the last.
//
// The right-hand sides are the columns of x: entry (c, s) is x[c * width + s], c counted by pivot.
// A block is solved as it was scaled, what stands above it is not scaled. The caller solves with
// blocks that are left to an external solver.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "lu/gilbert_peierls.hpp"

namespace sparsematch {

// The matrix, its transpose or its conjugate transpose, by the letters of BLAS.
enum class Side : char { plain = 'N', transposed = 'T', adjoint = 'H' };

template <class Value>
Value conjugate(Value v) {
    if constexpr (std::is_same_v<Value, double>) return v;
    else return std::conj(v);
}

// Solves in place with an external block, of whose rows x has the first: solve(k, x, width, side).
template <class Index, class Value>
using ExternalSolve = std::function<void(Index, Value*, std::int64_t, Side)>;

template <class Index, class Value>
class TriangularSolve {
  public:
    TriangularSolve(const BlockLU<Index, Value>& lu, const ExternalSolve<Index, Value>& external,
                    Value* x, std::int64_t width)
        : lu_(lu), external_(external), x_(x), width_(width) {}

    // False: the run was stopped. Time: O(entries of L, U and above, times width).
    bool run(Side side, RunContext& run) {
        WorkCounter counter(run);
        counter_ = &counter;
        for (Index t = 0, n = lu_.plan.n_blocks(); t < n; ++t) {
            const Index k = side == Side::plain ? n - 1 - t : t;
            if (side == Side::plain) {
                solve_block(k, side);
                subtract_upper(k);
            } else {
                side == Side::adjoint ? subtract_transposed<true>(k)
                                      : subtract_transposed<false>(k);
                solve_block(k, side);
            }
            if (run.stopped()) return false;
        }
        return true;
    }
    // With one block as it was scaled.
    void solve_scaled(Index k, bool adjoint) { adjoint ? solve_transposed<true>(k) : solve(k); }

  private:
    void solve_block(Index k, Side side) {
        const Index first = lu_.plan.starts[k];
        if (lu_.plan.external[k] > 0) return external_(k, x_ + first * width_, width_, side);
        const bool single = lu_.plan.size(k) == 1;
        const double *row = lu_.pivot_row_factor.data(), *col = lu_.equilibration.col_factor.data();
        if (!single) multiply(k, side == Side::plain ? row : col);
        if (side == Side::plain) solve(k);
        else if (side == Side::adjoint) solve_transposed<true>(k);
        else solve_transposed<false>(k);
        if (!single) multiply(k, side == Side::plain ? col : row);
    }

    template <class Weight>
    void subtract(Index to, Index from, Weight weight) {
        if (width_ == 1) return void(x_[to] -= weight * x_[from]);
        for (std::int64_t s = 0; s < width_; ++s)
            x_[to * width_ + s] -= weight * x_[from * width_ + s];
    }
    void divide(Index row, Value by) {
        for (std::int64_t s = 0; s < width_; ++s) x_[row * width_ + s] /= by;
    }
    void multiply(Index k, const double* factor) {
        for (Index c = lu_.plan.starts[k]; c < lu_.plan.starts[k + 1]; ++c)
            for (std::int64_t s = 0; s < width_; ++s) x_[c * width_ + s] *= factor[c];
    }
    // Counts the entries of a column. False: the run was stopped.
    bool count(std::int64_t entries) { return !counter_ || counter_->add((entries + 1) * width_); }
    bool count_l(Index c) { return count(lu_.l_end[c] - lu_.l_start[c]); }
    bool count_u(Index c) { return count(lu_.u_start[c + 1] - lu_.u_start[c]); }
    bool count_upper(Index c) {
        return count(lu_.plan.upper_start[c + 1] - lu_.plan.upper_start[c]);
    }

    void solve(Index k) {
        const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
        if (end - first > 1)
            for (Index c = first; c < end && count_l(c); ++c)
                for (auto p = lu_.l_start[c]; p < lu_.l_end[c]; ++p)
                    subtract(first + lu_.l_row[p], c, lu_.l[p]);
        for (Index c = end; c-- > first && count_u(c);) {
            divide(c, lu_.pivot[c]);
            for (auto p = lu_.u_start[c]; p < lu_.u_start[c + 1]; ++p)
                subtract(first + lu_.u_row[p], c, lu_.u[p]);
        }
    }
    void subtract_upper(Index k) {
        for (Index c = lu_.plan.starts[k]; c < lu_.plan.starts[k + 1] && count_upper(c); ++c)
            for (auto p = lu_.plan.upper_start[c]; p < lu_.plan.upper_start[c + 1]; ++p)
                subtract(lu_.upper_row[p], c, lu_.upper[p]);
    }

    template <bool Adjoint>
    static Value turned(Value v) {
        if constexpr (Adjoint) return conjugate(v);
        else return v;
    }
    template <bool Adjoint>
    void subtract_transposed(Index k) {
        for (Index c = lu_.plan.starts[k]; c < lu_.plan.starts[k + 1] && count_upper(c); ++c)
            for (auto p = lu_.plan.upper_start[c]; p < lu_.plan.upper_start[c + 1]; ++p)
                subtract(c, lu_.upper_row[p], turned<Adjoint>(lu_.upper[p]));
    }
    template <bool Adjoint>
    void solve_transposed(Index k) {
        const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
        for (Index c = first; c < end && count_u(c); ++c) {
            for (auto p = lu_.u_start[c]; p < lu_.u_start[c + 1]; ++p)
                subtract(c, first + lu_.u_row[p], turned<Adjoint>(lu_.u[p]));
            divide(c, turned<Adjoint>(lu_.pivot[c]));
        }
        for (Index c = end; c-- > first && count_l(c);)
            for (auto p = lu_.l_start[c]; p < lu_.l_end[c]; ++p)
                subtract(c, first + lu_.l_row[p], turned<Adjoint>(lu_.l[p]));
    }

    const BlockLU<Index, Value>& lu_;
    const ExternalSolve<Index, Value>& external_;
    Value* x_;
    std::int64_t width_;
    WorkCounter* counter_ = nullptr;  // of the run, if there is one
};

}  // namespace sparsematch
