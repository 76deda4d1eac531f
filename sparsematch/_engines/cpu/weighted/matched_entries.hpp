// Where entries, and the pairs of a matching, are among the entries of a matrix.
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// The position of the entry of row i in column j, which must be there; rows need not be sorted.
// Time: O(degree).
template <class Index>
Index entry_at(const Csr<Index>& a, Index i, Index j) {
    const Index *begin = a.indices + a.indptr[i], *end = a.indices + a.indptr[i + 1];
    return static_cast<Index>(std::find(begin, end, j) - a.indices);
}

// The position of each row's matched entry; UNMATCHED for a row without one. Time: O(nnz).
template <class Index>
void matched_entries(const Csr<Index>& a, const Index* row_mate, Index* entry, RunContext& run) {
    run.team.loop(a.n_rows, 1 << 14, [&](int rank, Index first, Index last) {
        WorkCounter counter(run, rank);
        for (Index i = first; i < last && counter.add(1 + a.degree(i)); ++i) {
            const Index j = row_mate[i];
            entry[i] = j == UNMATCHED<Index> ? j : entry_at(a, i, j);
        }
    });
}

}  // namespace sparsematch
