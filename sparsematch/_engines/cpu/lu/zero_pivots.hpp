// Zeros on the diagonal of a symmetric matrix, in an elimination order: eliminating a neighbour of
// one fills it, so that it may be a pivot if it comes behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sparsematch {

// Whether a matrix of m columns, each ascending, is symmetric, at most half of its diagonal zero,
// and a zero there: as of a saddle point system that has an inverse. Writes: zeros. Time: O(m), a
// binary search for each entry up to the first without a mirror.
template <class Index>
bool symmetric_with_zeros(const Index* column, const Index* rows, Index m,
                          std::vector<Index>& zeros) {
    const auto has = [&](Index r, Index c) {
        return std::binary_search(rows + column[c], rows + column[c + 1], r);
    };
    zeros.clear();
    for (Index c = 0; c < m; ++c) {
        if (!has(c, c)) zeros.push_back(c);
        for (Index p = column[c]; p < column[c + 1]; ++p)
            if (!has(c, rows[p])) return false;
    }
    return !zeros.empty() && 2 * zeros.size() <= static_cast<std::size_t>(m);
}

// Puts each zero that has no neighbour before it behind the first of them: of equal degrees any may
// come first. Column c of the matrix has rows[column[c]...column[c + 1]]. Returns false where more
// than a sixteenth of the zeros would move, and the fill be another than was foreseen. Time: O(n +
// nnz), and a sort of those moved.
template <class Index>
bool fill_zeros(std::vector<Index>& order, const std::vector<Index>& zeros, const Index* column,
                const Index* rows) {
    const auto m = static_cast<Index>(order.size());
    std::vector<Index> turn(order.size()), moved_order;
    for (Index t = 0; t < m; ++t) turn[order[t]] = t;
    std::vector<std::pair<Index, Index>> moves;  // behind which turn, and what
    for (const Index c : zeros) {
        Index first = m;
        for (Index p = column[c]; p < column[c + 1]; ++p) first = std::min(first, turn[rows[p]]);
        if (first > turn[c]) moves.emplace_back(first, c);
    }
    if (moves.size() > zeros.size() / 16) return false;
    std::sort(moves.begin(), moves.end());
    for (const auto& [behind, c] : moves) turn[c] = m;
    auto next = moves.begin();
    for (Index t = 0; t < m; ++t) {
        if (turn[order[t]] == m) continue;
        moved_order.push_back(order[t]);
        for (; next != moves.end() && next->first == t; ++next) moved_order.push_back(next->second);
    }
    if (next != moves.end()) return false;  // it was to come behind another that moves
    order.swap(moved_order);
    return true;
}

}  // namespace sparsematch
