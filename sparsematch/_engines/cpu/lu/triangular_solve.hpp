// Solving with a block triangular factorisation, many right-hand sides at a time: blocks from the
// last to the first, each followed by a multiplication with the columns above it; for the transpose
// from the first to the last.
//
// The right-hand sides are the columns of x: entry (c, s) is x[c * width + s], c counted by pivot.
// Blocks left to an external solver are skipped, the entries above them are not; the caller solves
// them in between.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "lu/gilbert_peierls.hpp"

namespace sparsematch {

enum class Side { plain, transposed, adjoint };

template <class Value>
Value conjugate(Value v) {
    if constexpr (std::is_same_v<Value, double>) return v;
    else return std::conj(v);
}

template <class Index, class Value>
class TriangularSolve {
  public:
    TriangularSolve(const BlockLU<Index, Value>& lu, Value* x, std::int64_t width)
        : lu_(lu), x_(x), width_(width) {}

    // Blocks first...last - 1. Time: O(entries of L, U and above, times width).
    void run(Index first, Index last, Side side) {
        if (side == Side::plain) {
            for (Index k = last; k-- > first;) {
                if (lu_.plan.external[k] == 0) solve(k);
                subtract_upper(k);
            }
        } else {
            for (Index k = first; k < last; ++k)
                side == Side::adjoint ? solve_transposed<true>(k) : solve_transposed<false>(k);
        }
    }

  private:
    template <class Weight>
    void subtract(Index to, Index from, Weight weight) {
        if (width_ == 1) return void(x_[to] -= weight * x_[from]);
        for (std::int64_t s = 0; s < width_; ++s)
            x_[to * width_ + s] -= weight * x_[from * width_ + s];
    }
    void divide(Index row, Value by) {
        for (std::int64_t s = 0; s < width_; ++s) x_[row * width_ + s] /= by;
    }

    void solve(Index k) {
        const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
        if (end - first > 1)
            for (Index c = first; c < end; ++c)
                for (auto p = lu_.l_start[c]; p < lu_.l_end[c]; ++p)
                    subtract(first + lu_.l_row[p], c, lu_.l[p]);
        for (Index c = end; c-- > first;) {
            divide(c, lu_.pivot[c]);
            for (auto p = lu_.u_start[c]; p < lu_.u_start[c + 1]; ++p)
                subtract(first + lu_.u_row[p], c, lu_.u[p]);
        }
    }
    void subtract_upper(Index k) {
        for (Index c = lu_.plan.starts[k]; c < lu_.plan.starts[k + 1]; ++c)
            for (auto p = lu_.plan.upper_start[c]; p < lu_.plan.upper_start[c + 1]; ++p)
                subtract(lu_.upper_row[p], c, lu_.upper[p]);
    }

    template <bool Adjoint>
    static Value turned(Value v) {
        if constexpr (Adjoint) return conjugate(v);
        else return v;
    }
    template <bool Adjoint>
    void solve_transposed(Index k) {
        const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
        for (Index c = first; c < end; ++c)
            for (auto p = lu_.plan.upper_start[c]; p < lu_.plan.upper_start[c + 1]; ++p)
                subtract(c, lu_.upper_row[p], turned<Adjoint>(lu_.upper[p]));
        if (lu_.plan.external[k] > 0) return;
        for (Index c = first; c < end; ++c) {
            for (auto p = lu_.u_start[c]; p < lu_.u_start[c + 1]; ++p)
                subtract(c, first + lu_.u_row[p], turned<Adjoint>(lu_.u[p]));
            divide(c, turned<Adjoint>(lu_.pivot[c]));
        }
        for (Index c = end; c-- > first;)
            for (auto p = lu_.l_start[c]; p < lu_.l_end[c]; ++p)
                subtract(c, first + lu_.l_row[p], turned<Adjoint>(lu_.l[p]));
    }

    const BlockLU<Index, Value>& lu_;
    Value* x_;
    std::int64_t width_;
};

}  // namespace sparsematch
