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

// Puts each of those found behind its first neighbour. False, and nothing moved: it was to come
// behind another that moves. Time: O(n), and a sort of those moved.
template <class Index>
bool put_behind(std::vector<Index>& order, std::vector<std::pair<Index, Index>> moves) {
    std::sort(moves.begin(), moves.end());
    std::vector<bool> moving(order.size());
    for (const auto& [behind, c] : moves) moving[c] = true;
    std::vector<Index> out;
    auto next = moves.begin();
    for (std::size_t t = 0; t < order.size(); ++t) {
        if (moving[order[t]]) continue;
        out.push_back(order[t]);
        for (; next != moves.end() && next->first == static_cast<Index>(t); ++next)
            out.push_back(next->second);
    }
    if (next != moves.end()) return false;
    order.swap(out);
    return true;
}

}  // namespace sparsematch
