// A matching in the numbers of a renumbered matrix, and back in those of the original.
#pragma once

#include "core/csr.hpp"
#include "core/thread_team.hpp"

namespace sparsematch {

// The inverse of unpermute_matching, into an empty matching. Time: O(n_cols).
template <class Index>
void permute_matching(Index n_cols, const Index* row_place, const Index* col_order,
                      const Index* col_mate, Matching<Index> to) {
    for (Index k = 0; k < n_cols; ++k)
        if (const Index i = col_mate[col_order[k]]; i != UNMATCHED<Index>)
            to.match(row_place[i], k);
}

// In the order of the new numbers: mates are near each other in these, so that only the writes are
// scattered. Of several threads each writes one side, and no cache line is shared. Time: O(n_rows +
// n_cols).
template <class Index>
void unpermute_matching(Index n_rows, Index n_cols, const Index* row_order, const Index* col_order,
                        const Index* new_row_mate, const Index* new_col_mate, Matching<Index> to,
                        ThreadTeam& team) {
    const auto unpermute = [](Index n, const Index* order, const Index* mate_order,
                              const Index* new_mate, Index* mate) {
        for (Index k = 0; k < n; ++k)
            mate[order[k]] =
                new_mate[k] == UNMATCHED<Index> ? UNMATCHED<Index> : mate_order[new_mate[k]];
    };
    team.both([&](int side, int) {
        if (side == 0) unpermute(n_rows, row_order, col_order, new_row_mate, to.row_mate);
        if (side == 1) unpermute(n_cols, col_order, row_order, new_col_mate, to.col_mate);
    });
}

}  // namespace sparsematch
