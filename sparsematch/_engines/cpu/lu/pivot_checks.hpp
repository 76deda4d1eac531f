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
#include "lu/square_form.hpp"

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
        double sum = 0, most = 0;
        for (Index p = indptr[j]; p < indptr[j + 1]; ++p) {
            const double v = std::abs(values[p]);
            sum += v, most = std::max(most, v), least = std::min(least, v);
        }
        out.largest = std::max(out.largest, most);
        out.norm = std::max(out.norm, sum);
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
// Rows scaled: an external solver that hardly moves pivots bears few smaller ones.
inline constexpr double bearable_share = 0.001;

// Whether nearly all entries on the diagonal stay pivots if they may be `share` of the largest of
// their column: all but one of 64, above which pivots that leave it spoil an order made for it. A
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
    return 64 * small <= static_cast<std::int64_t>(n);
}

// What is expected of the pivots of a block. Steady: all stay on the diagonal. Few weak, weak: in a
// block of more than a few rows some hardly will, at most one of `few_weak_of` rows, or more. Poor:
// as many are too small even for a solver that hardly moves pivots. Unsure: none of these.
enum class PivotOutlook : char { unsure, steady, few_weak, weak, poor };
inline constexpr std::int64_t few_weak_of = 256;

// A pivot is weak if it is small beside the largest of its column in the block, rows scaled.
// Writes: pivots, of each block. Returns how many weak ones there are. a: the columns of a matrix
// in this block form. Time: O(n + nnz).
template <class Index, class Value>
std::int64_t weak_pivots(const Csr<Index>& a, const SquareForm<Index>& form, const Value* values,
                         Index few, PivotOutlook* pivots) {
    const auto n = static_cast<std::size_t>(a.n_rows);
    std::vector<Index> place(n);
    std::vector<double> largest(n, 0);
    for (Index k = 0; k < a.n_rows; ++k) place[form.row_perm[k]] = k;
    const auto each = [&](Index first, Index c, auto&& visit) {
        const Index j = form.col_perm[c];
        if (form.n_blocks() == 1)  // rows are in order
            for (Index p = a.indptr[j]; p < a.indptr[j + 1]; ++p)
                visit(a.indices[p], magnitude(values[p]));
        else
            for (Index p = a.indptr[j]; p < a.indptr[j + 1]; ++p)
                if (const Index r = place[a.indices[p]]; r >= first) visit(r, magnitude(values[p]));
    };
    std::int64_t n_weak = 0;
    for (Index k = 0; k < form.n_blocks(); ++k) {
        const Index first = form.starts[k], end = form.starts[k + 1];
        pivots[k] = PivotOutlook::steady;
        if (end - first == 1) continue;
        for (Index c = first; c < end; ++c)
            each(first, c, [&](Index r, double v) { largest[r] = std::max(largest[r], v); });
        for (Index r = first; r < end; ++r) largest[r] = largest[r] > 0 ? 1 / largest[r] : 0;
        std::int64_t n_weak_here = 0, n_poor = 0;
        for (Index c = first; c < end; ++c) {
            double best = 0, diagonal = 0, most = 0, there = 0;
            each(first, c, [&](Index r, double v) {
                const double scaled = v * largest[r];
                best = std::max(best, scaled), most = std::max(most, v);
                if (r == c) diagonal = scaled, there = v;
            });
            n_weak_here += diagonal < diagonal_preference * best;
            n_poor += diagonal < bearable_share * best;
            if (!(there > 0 && there >= steady_share * most)) pivots[k] = PivotOutlook::unsure;
        }
        n_weak += n_weak_here;
        if (n_weak_here > 0 && end - first > few)
            pivots[k] = n_weak_here * few_weak_of <= end - first ? PivotOutlook::few_weak
                        : n_poor * few_weak_of <= end - first    ? PivotOutlook::weak
                                                                 : PivotOutlook::poor;
    }
    return n_weak;
}

}  // namespace sparsematch
