// The diagonal as a perfect matching, where it has no zero.
#pragma once

#include <algorithm>

#include "core/csr.hpp"

namespace sparsematch {

// Matches every row to the column of its own number, if all these entries are stored: a maximum
// matching, whatever the shape. False, and nothing written, at the first that is not: O(nnz).
template <class Index> bool match_diagonal(const Csr<Index>& a, Matching<Index> m) {
    for (Index i = 0; i < a.n_rows; ++i)
        if (std::ranges::find(a.neighbours(i), i) == a.neighbours(i).end()) return false;
    for (Index i = 0; i < a.n_rows; ++i) m.match(i, i);
    return true;
}

}  // namespace sparsematch
