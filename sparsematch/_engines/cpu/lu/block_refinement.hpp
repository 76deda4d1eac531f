// Solutions with one diagonal block after the other, measured while they are in the cache, and
// refined before they are used above the block: what is refined is a block, not the matrix, and
// blocks of one row, whose residuals are some roundings of their own terms, cost nothing.
//
// The system of a block is B y = b', scaled, b' what the blocks after it leave of the right-hand
// side. Its errors are those of backward_error.hpp; its normwise one is of the user's rows. Beside
// |B| |y| + |b'| a residual is no smaller than beside the terms of whole rows, so what is good here
// is good there.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/csr.hpp"
#include "lu/backward_error.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {

template <class Index, class Value, int W>
class BlockRefinement {
  public:
    static constexpr int max_steps = 2;  // each of which must halve the error
    // Of sizes of complex numbers, which may be up to twice too large.
    static constexpr double share = std::is_same_v<Value, double> ? 1 : 0.5;

    // x: as of TriangularSolve; the others are of its size, to be overwritten.
    BlockRefinement(const BlockLU<Index, Value>& lu, Value* x, Value* right, Value* r,
                    Value* better, double* sizes)
        : lu_(lu), x_(x), right_(right), r_(r), better_(better), sizes_(sizes) {}

    // Before and after a solve with block k.
    void keep_right(Index k) {
        std::copy(x_ + lu_.plan.starts[k] * W, x_ + lu_.plan.starts[k + 1] * W,
                  right_ + lu_.plan.starts[k] * W);
    }
    void refine(Index k) {
        double error = measure(k, x_);
        for (int step = 0; step < max_steps && error > 1; ++step) {
            const double before = error;
            const auto first = static_cast<std::int64_t>(lu_.plan.starts[k]) * W,
                       end = static_cast<std::int64_t>(lu_.plan.starts[k + 1]) * W;
            std::copy(r_ + first, r_ + end, better_ + first);
            const ExternalSolve<Index, Value> none;
            TriangularSolve<Index, Value, W>(lu_, none, better_).solve_block(k, false);
            for (auto i = first; i < end; ++i) better_[i] += x_[i];
            error = measure(k, better_);
            if (!(error < before)) break;
            std::copy(better_ + first, better_ + end, x_ + first);
            if (!(error < before / 2)) break;
        }
        is_good_ &= error <= 1;
    }
    // Whether all solutions were good in the end.
    bool is_good() const { return is_good_; }

  private:
    // The largest error of the right-hand sides beside what is good enough; leaves r.
    double measure(Index k, const Value* y) {
        const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
        for (auto i = static_cast<std::int64_t>(first) * W; i < static_cast<std::int64_t>(end) * W;
             ++i)
            r_[i] = right_[i], sizes_[i] = magnitude(right_[i]);
        for (Index c = first; c < end; ++c) {
            Value from[W], left[W];
            for (int s = 0; s < W; ++s) from[s] = y[static_cast<std::int64_t>(c) * W + s];
            for (auto p = lu_.plan.inner_start[c]; p < lu_.plan.inner_start[c + 1]; ++p) {
                const auto to = static_cast<std::int64_t>(lu_.inner_place[p]);
                const Value a = lu_.equilibration.inner[p];
                Value* const r = r_ + to * W;
                double *const sizes = sizes_ + to * W, size[W];
                for (int s = 0; s < W; ++s) left[s] = product(a, from[s]);
                for (int s = 0; s < W; ++s) size[s] = sizes[s] + magnitude(left[s]);
                for (int s = 0; s < W; ++s) left[s] = r[s] - left[s];
                for (int s = 0; s < W; ++s) sizes[s] = size[s], r[s] = left[s];
            }
        }
        if (are_good(first, end)) return 0;
        double most = 0;
        for (int s = 0; s < W; ++s) {
            const double error = compare(first, end, y, s);
            if (!(error <= most)) most = error;
        }
        return std::isnan(most) ? std::numeric_limits<double>::infinity() : most;
    }
    bool are_good(Index first, Index end) const {
        double largest_r[W] = {}, largest[W] = {};
        bool good = true;
        for (Index c = first; c < end; ++c) {
            const double unit = unit_of(c);
            for (int s = 0; s < W; ++s) {
                const std::int64_t i = static_cast<std::int64_t>(c) * W + s;
                const double residual = magnitude(r_[i]), size = sizes_[i];
                good &= residual <= SolutionError::good_componentwise * share * size;
                largest_r[s] = std::max(largest_r[s], residual * unit);
                largest[s] = std::max(largest[s], size * unit);
            }
        }
        for (int s = 0; s < W; ++s)
            good &= largest_r[s] <= SolutionError::good_normwise * share * largest[s];
        return good;
    }
    // Of a row in the user's units; the inverse of a power of two.
    double unit_of(Index c) const {
        constexpr auto both = std::uint64_t{2046} << 52;  // exponents of a factor and its inverse
        const double factor = lu_.pivot_row_factor[c];
        const auto unit = std::bit_cast<double>(both - std::bit_cast<std::uint64_t>(factor));
        SPARSEMATCH_ASSERT(unit * factor == 1);
        return unit;
    }
    // Rows whose terms are tiny are measured by their norm, about 1, and that of y.
    double compare(Index first, Index end, const Value* y, int s) const {
        const double tiny = 1000.0 * (end - first) * std::numeric_limits<double>::epsilon();
        double norm = 0, componentwise = 0, largest_r = 0, largest = 0;
        for (Index c = first; c < end; ++c)
            norm = std::max(norm, magnitude(y[static_cast<std::int64_t>(c) * W + s]));
        for (Index c = first; c < end; ++c) {
            const std::int64_t i = static_cast<std::int64_t>(c) * W + s;
            const double residual = magnitude(r_[i]), unit = unit_of(c);
            largest_r = std::max(largest_r, residual * unit);
            largest = std::max(largest, sizes_[i] * unit);
            const double size =
                sizes_[i] > tiny * (norm + magnitude(right_[i])) ? sizes_[i] : sizes_[i] + norm;
            if (!(residual <= componentwise * size)) componentwise = residual / size;
        }
        const double normwise = largest > 0 ? largest_r / largest : largest_r;
        return std::max(componentwise / SolutionError::good_componentwise,
                        normwise / SolutionError::good_normwise) /
               share;
    }

    const BlockLU<Index, Value>& lu_;
    Value *const x_, *const right_, *const r_, *const better_;
    double* const sizes_;
    bool is_good_ = true;
};

}  // namespace sparsematch
