// Diagonal blocks scaled by powers of two, which rounds nothing: the largest entry of each row is
// between 1 and 2, then that of each column (LAPACK's geequb). So the sizes of entries can be
// compared, a small pivot is one beside 1, and entries near the ends of the range neither overflow
// nor vanish in a product.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/run_context.hpp"
#include "lu/block_plan.hpp"

namespace sparsematch {

// Finite wherever the value is.
inline double largest_part(double v) { return std::abs(v); }
inline double largest_part(std::complex<double> v) {
    return std::max(std::abs(v.real()), std::abs(v.imag()));
}

// The power of two that brings a size to 1...2; of a subnormal number as far as a factor can. Of
// most numbers, its exponent is the other one's, mirrored.
inline double factor_for(double size) {
    const auto exponent = std::bit_cast<std::uint64_t>(size) >> 52;
    if (exponent > 0 && exponent < 2046) return std::bit_cast<double>((2046 - exponent) << 52);
    return size > 0 ? std::ldexp(1.0, -std::max(std::ilogb(size), -1022)) : 1;
}

template <class Index, class Value>
struct Equilibration {
    std::vector<Value> inner;  // as the plan's inner_row: the entries of the scaled blocks
    // Of the rows and columns of the permuted matrix; 1 in blocks of one entry, and in those left
    // to an external solver.
    std::vector<double> row_factor, col_factor;
    std::vector<double> largest;  // entry of each scaled block

    // False: the run was stopped. Time: O(n + nnz).
    bool of(const BlockPlan<Index>& plan, const Value* a, WorkCounter& counter) {
        const auto n = static_cast<std::size_t>(plan.n);
        inner.resize(plan.inner_row.size());
        row_factor.assign(n, 1), col_factor.assign(n, 1);
        largest.assign(static_cast<std::size_t>(plan.n_blocks()), 0);
        top_.clear();
        return each_block(plan, counter, [&](Index k) { scale(plan, k, a); });
    }
    // Of other values, with the factors of before in blocks where they bring the largest entries of
    // rows and columns to 1/16...16: one pass in place of three. The same otherwise.
    bool again(const BlockPlan<Index>& plan, const Value* a, WorkCounter& counter) {
        if (top_.empty()) {
            top_.resize(static_cast<std::size_t>(plan.n));
            if (!each_block(plan, counter, [&](Index k) { find_tops(plan, k); })) return false;
        }
        return each_block(plan, counter, [&](Index k) {
            if (!rescale(plan, k, a)) scale(plan, k, a), find_tops(plan, k);
        });
    }

  private:
    static constexpr double most_drift = 16;
    static constexpr std::int64_t no_place = -1;

    template <class Visit>
    static bool each_block(const BlockPlan<Index>& plan, WorkCounter& counter, const Visit& visit) {
        for (Index k = 0; k < plan.n_blocks(); ++k) {
            if (plan.size(k) == 1 || plan.external[k] > 0) continue;
            visit(k);
            const auto begin = plan.inner_start[plan.starts[k]];
            if (!counter.add(2 * (plan.inner_start[plan.starts[k + 1]] - begin))) return false;
        }
        return true;
    }
    void scale(const BlockPlan<Index>& plan, Index k, const Value* a) {
        const Index first = plan.starts[k], end = plan.starts[k + 1];
        double* const row = row_factor.data() + first;
        std::fill(row, row + (end - first), 0);
        for (auto p = plan.inner_start[first]; p < plan.inner_start[end]; ++p) {
            inner[p] = a[plan.inner_from[p]];
            double& most = row[plan.inner_row[p]];
            most = std::max(most, largest_part(inner[p]));
        }
        for (Index r = 0; r < end - first; ++r) row[r] = factor_for(row[r]);
        largest[k] = 0;
        for (Index c = first; c < end; ++c) {
            double most = 0;
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p) {
                inner[p] *= row[plan.inner_row[p]];
                most = std::max(most, largest_part(inner[p]));
            }
            const double factor = col_factor[c] = factor_for(most);
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p) inner[p] *= factor;
            largest[k] = std::max(largest[k], most * factor);
        }
    }
    // Where the largest entry of each row of a block that was just scaled is; no_place of zeros.
    void find_tops(const BlockPlan<Index>& plan, Index k) {
        const Index first = plan.starts[k], end = plan.starts[k + 1];
        std::fill(top_.begin() + first, top_.begin() + end, no_place);
        for (Index c = first; c < end; ++c)
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p) {
                std::int64_t& top = top_[first + plan.inner_row[p]];
                top = largest_part(inner[p]) >= col_factor[c] ? p : top;  // without a branch
            }
    }
    bool rescale(const BlockPlan<Index>& plan, Index k, const Value* a) {
        const Index first = plan.starts[k], end = plan.starts[k + 1];
        const double* const row = row_factor.data() + first;
        double all = 0, least = 1;
        for (Index c = first; c < end; ++c) {
            const double factor = col_factor[c];
            double most = 0;
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p) {
                const Value v = a[plan.inner_from[p]] * row[plan.inner_row[p]] * factor;
                inner[p] = v;
                most = std::max(most, largest_part(v));
            }
            all = std::max(all, most), least = std::min(least, most);
        }
        for (Index r = first; r < end; ++r)
            least = std::min(least, top_[r] == no_place ? 0 : largest_part(inner[top_[r]]));
        largest[k] = all;
        return all <= most_drift && most_drift * least >= 1;
    }

    std::vector<std::int64_t> top_;
};

}  // namespace sparsematch
