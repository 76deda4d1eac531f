// A matching of a square matrix in one call, by what `auto` tries first: the diagonal, the first
// free columns, then augmenting paths, as far as an allowance goes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "matching/cheap.hpp"
#include "matching/diagonal.hpp"
#include "matching/pothen_fan.hpp"

namespace sparsematch {

// Writes both mates. False: not all are matched, as there is no perfect matching, or as it was not
// found by scanning `most_scanned` entries. Time: O(nnz), and the searches.
template <class Index>
bool match_small(const Csr<Index>& a, Matching<Index> m, std::int64_t most_scanned,
                 RunContext& run) {
    if (match_diagonal(a, m)) return true;
    std::fill_n(m.row_mate, a.n_rows, UNMATCHED<Index>);
    std::fill_n(m.col_mate, a.n_cols, UNMATCHED<Index>);
    const Csr<Index>* const untransposed = nullptr;
    cheap(a, untransposed, m, {}, run);
    const auto n = static_cast<std::size_t>(a.n_rows);
    if (any_free(m.row_mate, n)) {
        const auto poll = [](void* outer) { return !static_cast<RunContext*>(outer)->flush(0, 0); };
        RunContext limited(run.team, {.edge_limit = most_scanned}, poll, &run);
        pothen_fan(a, untransposed, m, {}, limited);
    }
    return !any_free(m.row_mate, n);
}

}  // namespace sparsematch
