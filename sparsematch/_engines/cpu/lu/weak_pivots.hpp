// Pivots that are small beside their column, zeros above all, in an elimination order: eliminating
// a neighbour changes one, so that it may be a pivot if it comes behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sparsematch {

// The columns whose share is below `least`, none of whose neighbours in B + B^T comes before them:
// how many there are, each with the turn of its first neighbour. Column c of B has
// rows[column[c]...column[c + 1]]. Time: O(n + nnz).
template <class Index>
std::vector<std::pair<Index, Index>> weak_first(const std::vector<Index>& order,
                                                const std::vector<double>& share, double least,
                                                const Index* column, const Index* rows) {
    const auto m = static_cast<Index>(order.size());
    std::vector<Index> turn(order.size()), first(order.size(), m);
    for (Index t = 0; t < m; ++t) turn[order[t]] = t;
    for (Index c = 0; c < m; ++c)
        for (Index p = column[c]; p < column[c + 1]; ++p)
            if (const Index r = rows[p]; r != c)
                first[r] = std::min(first[r], turn[c]), first[c] = std::min(first[c], turn[r]);
    std::vector<std::pair<Index, Index>> out;
    for (Index c = 0; c < m; ++c)
        if (share[c] < least && first[c] > turn[c]) out.emplace_back(first[c], c);
    return out;
}

// Puts each of those found behind its first neighbour, which is none of them, as it comes behind
// one. Time: O(n), and a sort of those moved.
template <class Index>
void put_behind(std::vector<Index>& order, std::vector<std::pair<Index, Index>> moves) {
    std::sort(moves.begin(), moves.end());
    std::vector<bool> moving(order.size());
    for (const auto& [behind, c] : moves) moving[c] = true;
    const std::vector<Index> before(order);
    auto to = order.begin();
    auto next = moves.begin();
    for (std::size_t t = 0; t < before.size(); ++t) {
        if (moving[before[t]]) continue;
        *to++ = before[t];
        for (; next != moves.end() && next->first == static_cast<Index>(t); ++next)
            *to++ = next->second;
    }
}

}  // namespace sparsematch
