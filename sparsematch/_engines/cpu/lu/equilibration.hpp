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
#include "lu/symbolic.hpp"

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
        row_factor.assign(n, 0), col_factor.assign(n, 1);
        largest.assign(static_cast<std::size_t>(plan.n_blocks()), 0);
        for (Index k = 0; k < plan.n_blocks(); ++k) {
            const Index first = plan.starts[k], end = plan.starts[k + 1];
            if (end - first == 1 || plan.external[k] > 0) {
                std::fill(row_factor.begin() + first, row_factor.begin() + end, 1);
                continue;
            }
            scale(plan, k, a);
            if (!counter.add(2 * (plan.inner_start[end] - plan.inner_start[first]))) return false;
        }
        return true;
    }

  private:
    void scale(const BlockPlan<Index>& plan, Index k, const Value* a) {
        const Index first = plan.starts[k], end = plan.starts[k + 1];
        double* const row = row_factor.data() + first;
        for (auto p = plan.inner_start[first]; p < plan.inner_start[end]; ++p) {
            inner[p] = a[plan.inner_from[p]];
            double& most = row[plan.inner_row[p]];
            most = std::max(most, largest_part(inner[p]));
        }
        for (Index r = 0; r < end - first; ++r) row[r] = factor_for(row[r]);
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
};

}  // namespace sparsematch
