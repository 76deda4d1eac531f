// The innermost loop of every breadth-first search here.
#pragma once

#include <functional>
#include <span>

#include "core/csr.hpp"

namespace sparsematch {

// Appends what(j) to a list of `size` for every neighbour j that is not in `seen`, which it joins.
// Returns the new size. The list has room for one more than it can come to hold, as every neighbour
// is written and stays if it is new (branch-free selection, decision 0005).
template <class Index, class Size, class What = std::identity>
SPARSEMATCH_INLINE inline Size append_unseen(std::span<const Index> neighbours, Bitmap& seen,
                                             Index* list, Size size, const What& what = {}) {
    for (const Index j : neighbours) {
        list[size] = what(j);
        size += seen.insert(j);
    }
    return size;
}

}  // namespace sparsematch
