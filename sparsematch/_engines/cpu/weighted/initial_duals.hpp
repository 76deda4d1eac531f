// Duals to begin with, and a matching along the entries whose reduced cost is 0.
//
// Column duals are the least that a column's entries leave over the row duals at hand, row duals
// then the least that a row's entries leave over the columns'. Which row duals are at hand makes
// the start: zeros (columns first, as Carpaneto and Toth); each row's least cost (rows first, as in
// MC64); means of the costs, for matrices in bad units; or those of an auction.
// Carpaneto, Toth: Primal-dual algorithms for the assignment problem (Discrete Appl. Math. 18,
// 1987). Duff, Koster: On algorithms for permuting large entries to the diagonal of a sparse matrix
// (SIAM J. Matrix Anal. Appl. 22, 2001), section 4.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "weighted/assignment_state.hpp"
#include "weighted/entry_values.hpp"

namespace sparsematch {

// The least cost less u (0 if null) of each column, infinite if none: an array for each part of the
// rows, the least to be taken. Up to four workers have a part each, as a shared array would keep
// moving between their caches. Workspace: a double per column and part. Time: O(n_cols + nnz).
template <class Index>
std::vector<Buffer<double>> column_minima(const Csr<Index>& a, const double* cost, const double* u,
                                          RunContext& run) {
    constexpr int most = 4;  // workers
    const int n_parts = std::min(run.team.size(), most);
    std::vector<Buffer<double>> least(n_parts);
    run.team.loop(n_parts, 1, [&](int rank, int part, int end) {
        WorkCounter counter(run, rank);
        for (; part < end; ++part) {
            least[part] = Buffer<double>(a.n_cols, infinity);
            const Index first = first_row_of(a, part, n_parts),
                        last = first_row_of(a, part + 1, n_parts);
            const auto lower = [&v = least[part], &a](Index p, double h) {
                v[a.indices[p]] = std::min(v[a.indices[p]], h);
            };
            if (!u)
                for (Index p = a.indptr[first]; p < a.indptr[last]; ++p) lower(p, cost[p]);
            else
                for (Index i = first; i < last; ++i)
                    for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) lower(p, cost[p] - u[i]);
            counter.add(a.indptr[last] - a.indptr[first]);
        }
    });
    return least;
}

// Writes u, the least cost less v of each row, and `to`, the first column where it is found,
// inverted if there is another one. False: stopped, or a row is empty. Time: O(n_rows + nnz).
template <class Index> bool row_minima(AssignmentState<Index>& s, Index* to) {
    std::atomic<bool> complete{true};
    const auto& a = s.a;
    s.run.team.loop(a.n_rows, 1 << 13, [&](int rank, Index begin, Index end) {
        WorkCounter counter(s.run, rank);
        for (Index i = begin; i < end; ++i) {
            const auto [best, first, second] =
                s.offer(i, [&s](Index j) -> double& { return s.col[j].v; });
            s.u[i] = first;
            if (best == UNMATCHED<Index>) complete.store(false, std::memory_order_relaxed);
            else to[i] = first == second ? ~a.indices[best] : a.indices[best];
            if (!counter.add(a.degree(i))) return;
        }
    });
    return complete && !s.run.stopped();
}

// Whether the reduced cost of entry p of row i is 0, up to the rounding of its terms.
template <class Index> bool is_tight(const AssignmentState<Index>& s, Index i, Index p) {
    const double c = s.cost[p], v = s.col[s.a.indices[p]].v, u = s.u[i];
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    return c - v - u <= rounding * std::max({std::abs(c), std::abs(v), std::abs(u)});
}

// Takes apart the pairs whose reduced cost is not 0. Time: O(n_rows + nnz).
template <class Index> bool keep_tight(AssignmentState<Index>& s) {
    for (Index i = 0; i < s.a.n_rows; ++i) {
        const Index j = s.col_of[i];
        if (j == UNMATCHED<Index>) continue;
        if (!is_tight(s, i, entry_at(s.a, i, j))) s.col[j].mate = s.col_of[i] = UNMATCHED<Index>;
        if (!s.counter.add(s.a.degree(i))) return false;
    }
    return true;
}

// Matches what is free along entries of reduced cost 0, by ascending row, and lists the rows left.
// Time: O(n_rows), and O(degree) for rows with several such entries.
template <class Index> bool match_tight(AssignmentState<Index>& s, const Index* first) {
    constexpr Index ahead = 16;
    const auto is_free = [&](Index j) { return s.col[j].mate == UNMATCHED<Index>; };
    s.free.clear(), s.n_tied = 0;
    for (Index i = 0; i < s.a.n_rows; ++i) {
        const Index later = first[i + std::min<Index>(ahead, s.a.n_rows - 1 - i)];
        SPARSEMATCH_PREFETCH(&s.col[std::max(later, ~later)].mate, 1);
        if (s.col_of[i] != UNMATCHED<Index>) continue;
        const bool tied = first[i] < 0;
        s.n_tied += tied;
        Index to = tied ? ~first[i] : first[i];
        for (Index p = s.a.indptr[i]; tied && !is_free(to) && p < s.a.indptr[i + 1]; ++p) {
            const Index j = s.a.indices[p];
            if (s.cost[p] - s.col[j].v == s.u[i] && is_free(j)) to = j;
        }
        if (is_free(to)) s.match(i, to);
        else s.free.push_back(i);
        if (!s.counter.add(tied ? s.a.degree(i) : 1)) return false;
    }
    return true;
}

// Fits the duals of columns to those of rows at hand (from_zero: zeros), then those of rows to
// these, and matches what has a reduced cost of 0; pairs that have it stay. Columns of a wide
// matrix keep a dual of 0: those that stay free must have the largest. False if a row has no entry,
// or the run was stopped. What many workers find is what one finds. Workspace: a double a column,
// an index a row. Time: O(n_rows + n_cols + nnz).
template <class Index> bool fit_duals(AssignmentState<Index>& s, bool from_zero = false) {
    if (!s.wide()) {
        const auto least = column_minima(s.a, s.cost, from_zero ? nullptr : s.u, s.run);
        if (s.run.stopped()) return false;
        s.run.team.for_each(s.a.n_cols, 1 << 13, [&](Index j) {
            double v = infinity;
            for (const auto& part : least) v = std::min(v, part[j]);
            s.col[j].v = v;
        });
    }
    s.work += 2 * s.pass();
    Buffer<Index> first(s.a.n_rows);
    return row_minima(s, first.data()) && (from_zero || keep_tight(s)) &&
           match_tight(s, first.data());
}

// The least cost of each row. Time: O(n_rows + nnz).
template <class Index> bool least_of_rows(AssignmentState<Index>& s) {
    for (Index i = 0; i < s.a.n_rows; ++i) {
        const double* c = s.cost + s.a.indptr[i];
        s.u[i] = *std::min_element(c, c + s.a.degree(i));
        if (!s.scanned(i)) return false;
    }
    return true;
}

// Row duals by which, and by column duals, the mean of the reduced costs of every row and column
// comes close to 0: a geometric scaling. Three passes, as more gain little. Workspace: two doubles
// and an index a column. Time: O(n_cols + nnz).
template <class Index> bool means_of_rows(AssignmentState<Index>& s) {
    const auto& a = s.a;
    Buffer<double> v(a.n_cols, 0.0), sum(a.n_cols, 0.0);
    Buffer<Index> degree(a.n_cols, 0);
    for (Index p = 0; p < a.nnz(); ++p) ++degree[a.indices[p]];
    for (int k = 0; k < 3; ++k) {
        for (Index i = 0; i < a.n_rows; ++i) {
            double mean = 0;
            const double share = 1.0 / std::max<Index>(a.degree(i), 1);
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p)
                mean += (s.cost[p] - v[a.indices[p]]) * share;
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p)
                sum[a.indices[p]] += s.cost[p] - mean;
            s.u[i] = mean;
            if (!s.scanned(i)) return false;
        }
        for (Index j = 0; j < a.n_cols; ++j)
            v[j] = std::exchange(sum[j], 0.0) / std::max<Index>(degree[j], 1);
    }
    return true;
}

// Begins where the assignment of a matrix with similar costs ended. Column duals are those of the
// other matrix; row duals the least that they leave, feasible whatever the costs. Pairs with that
// least are kept, other rows get a free column with it; few rows are free if costs changed little.
//
// Of a square matrix. Reads: mates of rows, of which none need be right or known, and finite duals
// of columns. Writes: duals, pairs and free rows. False if a wide matrix, more than half of the
// rows free, a row without entries, or duals so large that they would cost accuracy make another
// start better. Time: O(n_cols + nnz).
template <class Index>
bool resume(AssignmentState<Index>& s, const Index* row_mate, const double* v) {
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    const auto& a = s.a;
    if (s.wide() || a.n_rows == 0) return false;
    double largest = 0, most = 0;
    for (Index p = 0; p < a.nnz(); ++p) largest = std::max(largest, std::abs(s.cost[p]));
    for (Index j = 0; j < a.n_cols; ++j) most = std::max(most, std::abs(v[j]));
    bool good = most <= largest * a.n_rows;
    Index lost = 0;  // rows whose mate is given, but not the best
    for (Index i = 0; i < a.n_rows && good; ++i) {
        double least = infinity, own = infinity, size = 0;  // size: of the terms of own
        const Index mate = row_mate[i];
        for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
            const double h = s.cost[p] - v[a.indices[p]];
            least = std::min(least, h);
            const bool is_own = a.indices[p] == mate;
            own = is_own ? h : own;
            size = is_own ? std::abs(s.cost[p]) : size;
        }
        if (own < infinity) size = std::max(size, std::abs(v[mate]));
        s.u[i] = least;
        if (own - least <= rounding * size && s.col[mate].mate == UNMATCHED<Index>)
            s.match(i, mate);
        else s.free.push_back(i), lost += mate != UNMATCHED<Index>;
        good = least < infinity && 2 * lost <= a.n_rows;
        if (!s.scanned(i)) return false;
    }
    for (Index j = 0; j < a.n_cols; ++j) s.col[j].v = v[j];
    if (!good) return false;
    std::erase_if(s.free, [&](Index i) {
        for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
            const Index j = a.indices[p];
            if (s.col[j].mate != UNMATCHED<Index> || s.cost[p] - v[j] > s.u[i]) continue;
            s.match(i, j);
            return true;
        }
        return false;
    });
    return 2 * s.free.size() <= static_cast<std::size_t>(a.n_rows);
}

}  // namespace sparsematch
