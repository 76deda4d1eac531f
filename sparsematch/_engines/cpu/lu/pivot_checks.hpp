// What one pass over the values of a matrix finds: its norms, and whether pivots will stay on the
// diagonal.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

// For comparisons: cheap, and between the absolute value and the root of two times it.
inline double magnitude(double v) { return std::abs(v); }
inline double magnitude(std::complex<double> v) { return std::abs(v.real()) + std::abs(v.imag()); }

// Without the recovery of infinities of std::complex, which takes a branch for each product.
inline double product(double a, double b) { return a * b; }
inline std::complex<double> product(std::complex<double> a, std::complex<double> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

struct ValueNorms {
    double largest = 0;  // absolute value
    double norm = 0;     // 1-norm; not finite if an entry is not
    bool has_zeros = false;
};

// indptr: where each of the n columns begins. Time: O(n + nnz).
template <class Index, class Value>
ValueNorms value_norms(const Index* indptr, Index n, const Value* values) {
    ValueNorms out;
    double total = 0, least = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < n; ++j) {
        double sum = 0, most = 0, here = std::numeric_limits<double>::infinity();
        for (Index p = indptr[j]; p < indptr[j + 1]; ++p) {
            const double v = std::abs(values[p]);
            sum += v, most = std::max(most, v), here = std::min(here, v);
        }
        out.largest = std::max(out.largest, most);
        out.norm = std::max(out.norm, sum);
        least = std::min(least, here);
        total += sum * 0;  // NaN as soon as an entry is not finite; a maximum ignores it
    }
    out.norm += total;
    out.has_zeros = least == 0;
    return out;
}

// A diagonal entry stays the pivot if, rows scaled, it is at least this share of the largest of its
// column.
inline constexpr double diagonal_preference = 0.01;
// Before elimination, rows as they are: one as large as this share is expected to stay.
inline constexpr double steady_share = 0.1;

// Whether nearly all entries on the diagonal stay pivots if they may be `share` of the largest of
// their column: all but one of 256, above which pivots that leave it spoil an order made for it. A
// place without an entry does not count: an order that leaves one there fills it. Time: O(n + nnz).
template <class Index, class Value>
bool steady_diagonal(const Index* indptr, const Index* rows, Index n, const Value* values,
                     double share) {
    std::int64_t small = 0;
    for (Index j = 0; j < n; ++j) {
        double most = 0, there = -1;
        for (Index p = indptr[j]; p < indptr[j + 1]; ++p) {
            const double v = magnitude(values[p]);
            most = std::max(most, v);
            there = rows[p] == j ? v : there;
        }
        small += there != -1 && !(there > 0 && there >= share * most);
    }
    return 256 * small <= static_cast<std::int64_t>(n);
}

// What is expected of the pivots of a block: that all stay on the diagonal; that, in a block of
// more than a few rows, more than one of `weak_of` hardly will; neither.
enum class PivotOutlook : char { unsure, steady, weak };
inline constexpr std::int64_t weak_of = 10;

// A pivot is weak if it is small beside the largest of its column in the block, rows scaled. a: the
// columns of a matrix in block form; place: where its rows are; cols: the m columns of the block
// that begins at row `first`. Time: O(m + nnz) of the block.
template <class Index, class Value>
PivotOutlook pivot_outlook(const Csr<Index>& a, const Value* values, const Index* place,
                           const Index* cols, Index first, Index m, Index few_rows) {
    std::vector<double> largest(static_cast<std::size_t>(m), 0);
    const auto each = [&](Index c, auto&& visit) {
        for (Index p = a.indptr[cols[c]]; p < a.indptr[cols[c] + 1]; ++p)
            if (const Index r = place[a.indices[p]] - first; r >= 0) visit(r, magnitude(values[p]));
    };
    for (Index c = 0; c < m; ++c)
        each(c, [&](Index r, double v) { largest[r] = std::max(largest[r], v); });
    for (double& most : largest) most = most > 0 ? 1 / most : 0;
    std::int64_t n_weak = 0;
    bool steady = true;
    for (Index c = 0; c < m; ++c) {
        double best = 0, diagonal = 0, most = 0, there = 0;
        each(c, [&](Index r, double v) {
            const double scaled = v * largest[r];
            best = std::max(best, scaled), most = std::max(most, v);
            if (r == c) diagonal = scaled, there = v;
        });
        n_weak += diagonal < diagonal_preference * best;
        steady &= there > 0 && there >= steady_share * most;
    }
    return n_weak * weak_of > m && m > few_rows ? PivotOutlook::weak
           : steady                             ? PivotOutlook::steady
                                                : PivotOutlook::unsure;
}

}  // namespace sparsematch
