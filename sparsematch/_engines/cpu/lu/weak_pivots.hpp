// Pivots that are small beside their column, zeros above all, in an elimination order: eliminating
// a neighbour changes one, so that it may be a pivot if it comes behind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sparsematch {

// How many columns' share is below `least`, none of whose neighbours in B + B^T comes before them.
// Column c of B has rows[column[c]...column[c + 1]]. Time: O(n + nnz).
template <class Index>
Index weak_first(const std::vector<Index>& order, const std::vector<double>& share, double least,
                 const Index* column, const Index* rows) {
    const auto m = static_cast<Index>(order.size());
    std::vector<Index> turn(order.size()), first(order.size(), m);
    for (Index t = 0; t < m; ++t) turn[order[t]] = t;
    for (Index c = 0; c < m; ++c)
        for (Index p = column[c]; p < column[c + 1]; ++p)
            if (const Index r = rows[p]; r != c)
                first[r] = std::min(first[r], turn[c]), first[c] = std::min(first[c], turn[r]);
    Index found = 0;
    for (Index c = 0; c < m; ++c) found += share[c] < least && first[c] > turn[c];
    return found;
}

}  // namespace sparsematch
