// An assignment begun where that of a matrix with similar costs ended.
//
// Column duals are those of the other matrix; row duals are the least that they leave. That is
// feasible whatever the costs are. Pairs with that least are kept, all other rows are free, and few
// if the costs have changed little: the steps of an assignment do the rest.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "weighted/assignment_state.hpp"

namespace sparsematch {

// Of a square matrix. Reads: mates of rows, of which none need be right, and finite duals of
// columns. Writes: duals, pairs and free rows. False if a wide matrix, more than half of the rows
// free, a row without entries, or duals so large that they would cost accuracy make another start
// better. Time: O(n_cols + nnz).
template <class Index>
bool resume(AssignmentState<Index>& s, const Index* row_mate, const double* v) {
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    const auto& a = s.a;
    if (s.wide() || a.n_rows == 0) return false;
    double largest = 0, most = 0;
    for (Index p = 0; p < a.nnz(); ++p) largest = std::max(largest, std::abs(s.cost[p]));
    for (Index j = 0; j < a.n_cols; ++j) most = std::max(most, std::abs(v[j]));
    bool good = most <= largest * a.n_rows;
    for (Index i = 0; i < a.n_rows && good; ++i) {
        double least = s.infinity, own = s.infinity, size = 0;  // size: of the terms of own
        const Index mate = row_mate[i];
        for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
            const double h = s.cost[p] - v[a.indices[p]];
            least = std::min(least, h);
            const bool is_own = a.indices[p] == mate;
            own = is_own ? h : own;
            size = is_own ? std::abs(s.cost[p]) : size;
        }
        if (own < s.infinity) size = std::max(size, std::abs(v[mate]));
        s.u[i] = least;
        if (own - least <= rounding * size && s.col[mate].mate == UNMATCHED<Index>)
            s.match(i, mate);
        else s.free.push_back(i);
        good = least < s.infinity && 2 * s.free.size() <= static_cast<std::size_t>(a.n_rows);
        if (!s.scanned(i)) return false;
    }
    for (Index j = 0; j < a.n_cols; ++j) s.col[j].v = v[j];
    return good;
}

}  // namespace sparsematch
