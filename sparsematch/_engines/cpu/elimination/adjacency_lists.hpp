// The graph that an elimination order is found for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sparsematch {

// Without its diagonal, edge {i, j} in both lists, no repeats: vertex i's list is the length[i]
// numbers at pool[begin[i]].
template <class Index> struct AdjacencyLists {
    std::vector<std::int64_t> begin;
    std::vector<Index> length, pool;

    Index n() const { return static_cast<Index>(length.size()); }
    std::span<const Index> operator[](Index i) const {
        return {pool.data() + begin[i], static_cast<std::size_t>(length[i])};
    }
};

// The length above which a list meets nearly all vertices, so that an order is found without it;
// entries; AMD's default (Amestoy, Davis, Duff, ACM TOMS 30, 2004); `dense_rows.py` has the same.
inline double dense_limit(std::size_t n) {
    return std::max(16.0, 10 * std::sqrt(static_cast<double>(n)));
}

}  // namespace sparsematch
