// Counting sorts of elements: by the owner of their key, and into lists.
#pragma once

#include "matching/over_ranks/owners.hpp"

namespace sparsematch::over_ranks {

// Writes the stable order of n vertices by owner, and how many each rank owns.
template <class Index>
void owner_order(const Owners<Index>& owners, const Index* keys, std::size_t n, std::int64_t* order,
                 std::int64_t* counts) {
    std::vector<std::int64_t> next(owners.size() + 1);
    for (std::size_t k = 0; k < n; ++k) ++next[owners(keys[k]) + 1];
    std::copy(next.begin() + 1, next.end(), counts);
    for (int r = 0; r < owners.size(); ++r) next[r + 1] += next[r];
    for (std::size_t k = 0; k < n; ++k)
        order[next[owners(keys[k])]++] = static_cast<std::int64_t>(k);
}

// Writes for each of n elements its place in the list of its key; `filled` is the end of each list
// so far.
template <class Index>
void places_in_lists(const Index* keys, std::size_t n, std::int64_t* filled, std::int64_t* places) {
    for (std::size_t k = 0; k < n; ++k) places[k] = filled[keys[k]]++;
}

}  // namespace sparsematch::over_ranks
