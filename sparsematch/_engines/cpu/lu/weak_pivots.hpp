// Pivots that are small beside their column, zeros above all, in an elimination order: to eliminate
// neighbours changes one, so that it may be a pivot if it comes behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sparsematch {

// A weak pivot that comes too early: its turn, and the one behind which it is filled; that of the
// last vertex and one if it never is.
template <class Index>
struct WeakPivot {
    Index turn, behind;
};

// The columns whose share is below `least` and that do not come behind an entry of their row and
// one of their column, by turns. Column c of B has rows[column[c]...column[c + 1]]. Time: O(n +
// nnz).
template <class Index>
std::vector<WeakPivot<Index>> weak_pivots(const std::vector<Index>& order,
                                          const std::vector<double>& share, double least,
                                          const Index* column, const Index* rows) {
    const auto m = static_cast<Index>(order.size());
    std::vector<Index> turn(order.size()), in_row(order.size(), m), in_column(in_row);
    for (Index t = 0; t < m; ++t) turn[order[t]] = t;
    for (Index c = 0; c < m; ++c)
        for (Index p = column[c]; p < column[c + 1]; ++p)
            if (const Index r = rows[p]; r != c)
                in_row[r] = std::min(in_row[r], turn[c]),
                in_column[c] = std::min(in_column[c], turn[r]);
    std::vector<WeakPivot<Index>> out;
    for (Index t = 0; t < m; ++t)
        if (const Index c = order[t], behind = std::max(in_row[c], in_column[c]);
            share[c] < least && behind > t)
            out.push_back({t, behind});
    return out;
}

// Puts each where it is filled, those that never are aside. Time: O(n log n).
template <class Index>
void put_behind(std::vector<Index>& order, const std::vector<WeakPivot<Index>>& weak) {
    const auto m = static_cast<Index>(order.size());
    std::vector<std::pair<Index, Index>> key(order.size());  // where it comes, and last turns first
    for (Index t = 0; t < m; ++t) key[t] = {t, m - t};
    for (auto pivot = weak.rbegin(); pivot != weak.rend(); ++pivot)  // what it waits for may wait
        if (pivot->behind < m) key[pivot->turn].first = key[pivot->behind].first;
    std::sort(key.begin(), key.end());
    const std::vector<Index> before(order);
    for (Index t = 0; t < m; ++t) order[t] = before[m - key[t].second];
}

}  // namespace sparsematch
