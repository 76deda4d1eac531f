// The factors of rows and columns that the duals of a largest product are the logarithms of.
//
// Olschowka, Neumaier: A new pivoting strategy for Gaussian elimination (Linear Algebra Appl. 240,
// 1996): with them matched entries are 1 in magnitude, and no entry is larger.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "weighted/entry_values.hpp"

namespace sparsematch {

// Factors of the user's rows and columns: if flipped (core/csr.hpp), the stored columns and rows.
struct ScaleFactors {
    const double *row_dual, *col_dual;
    double *row_scale, *col_scale;
    bool flipped;
};

// Writes the exponentials of the duals, and returns whether all are in the range of doubles, within
// which they are put. Pairs are scaled to 1 by correcting the rows' factors. place: where the
// matched entry of each stored row is, or UNMATCHED. Time: O(n_rows + n_cols).
template <class Index>
bool write_factors(const Csr<Index>& a, const double* value, const Index* place,
                   const ScaleFactors& f, RunContext& run) {
    constexpr double least = std::numeric_limits<double>::min(),
                     most = std::numeric_limits<double>::max();
    std::atomic<bool> in_range{true};
    const auto in_doubles = [&](double x) { return x >= least && x <= most; };
    const auto cut = [&](const double* dual, double* scale, Index n) {
        for (Index k = 0; k < n; ++k) {
            if (in_doubles(scale[k])) continue;
            if (scale[k] == 0) scale[k] = std::exp(dual[k]);  // that of a row without a pair
            if (in_doubles(scale[k])) continue;
            in_range = false;
            scale[k] = std::isnan(scale[k]) ? 1 : std::clamp(scale[k], least, most);
        }
    };
    const Index n_rows = f.flipped ? a.n_cols : a.n_rows, n_cols = f.flipped ? a.n_rows : a.n_cols;
    std::fill_n(f.row_scale, n_rows, 0.0);  // those of pairs follow from the columns'
    run.team.for_each(n_cols, 1 << 12, [&](Index k) { f.col_scale[k] = std::exp(f.col_dual[k]); });
    run.team.for_each(a.n_rows, 1 << 13, [&](Index i) {
        if (place[i] == UNMATCHED<Index>) return;
        const Index mate = a.indices[place[i]];
        const Index r = f.flipped ? mate : i, c = f.flipped ? i : mate;
        const double scaled = std::abs(value[place[i]]) * f.col_scale[c];
        if (scaled >= least && scaled <= most && f.col_scale[c] >= least)
            f.row_scale[r] = 1 / scaled;
    });
    cut(f.row_dual, f.row_scale, n_rows);
    cut(f.col_dual, f.col_scale, n_cols);
    return in_range;
}

// The sum of the values of the matched entries, by stored row, with Neumaier's correction (Z.
// Angew. Math. Mech. 54, 1974). Infinite where it overflows. Time: O(n_rows).
template <class Index> double sum_at(const double* value, const Index* place, Index n_rows) {
    double sum = 0, lost = 0;
    for (Index i = 0; i < n_rows; ++i) {
        if (place[i] == UNMATCHED<Index>) continue;
        const double x = value[place[i]], next = sum + x;
        lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    return std::isfinite(sum) ? sum + lost : sum;
}

// The same, where the places are not known. Time: O(n_rows + nnz).
template <class Index>
double matched_sum(const Csr<Index>& a, const double* value, const Index* mate, RunContext& run) {
    const auto timer = run.time("objective");
    Buffer<Index> place(a.n_rows);
    return matched_entries(a, mate, place.data(), run) ? sum_at(value, place.data(), a.n_rows) : 0;
}

}  // namespace sparsematch
