// Where the pairs of a matching are among the entries of a matrix.
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "core/thread_team.hpp"

namespace sparsematch {

// The position of each row's matched entry; UNMATCHED for a row without one. Time: O(nnz).
template <class Index>
void matched_entries(const Csr<Index>& a, const Index* row_mate, Index* entry, ThreadTeam& team) {
    team.loop(a.n_rows, 1 << 14, [&](int, Index first, Index last) {
        for (Index i = first; i < last; ++i) {
            entry[i] = UNMATCHED<Index>;
            if (row_mate[i] == UNMATCHED<Index>) continue;
            const Index *begin = a.indices + a.indptr[i], *end = a.indices + a.indptr[i + 1];
            entry[i] = static_cast<Index>(std::find(begin, end, row_mate[i]) - a.indices);
        }
    });
}

}  // namespace sparsematch
