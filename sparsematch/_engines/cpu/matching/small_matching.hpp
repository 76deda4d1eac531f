// A matching in one call, by what `auto` tries first: the diagonal, the first free columns, then
// augmenting paths, as far as an allowance goes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "matching/cheap.hpp"
#include "matching/diagonal.hpp"
#include "matching/pothen_fan.hpp"

namespace sparsematch {

// Writes both mates. False: they need not be a maximum matching, as the searches have ended after
// scanning each entry ten times on average. Time: O(n_rows + n_cols + nnz).
template <class Index>
bool match_small(const Csr<Index>& a, Matching<Index> m, RunContext& run) {
    std::fill_n(m.row_mate, a.n_rows, UNMATCHED<Index>);
    std::fill_n(m.col_mate, a.n_cols, UNMATCHED<Index>);
    if (match_diagonal(a, m)) return true;
    const Csr<Index>* const untransposed = nullptr;
    cheap(a, untransposed, m, {}, run);
    if (!any_free(m.row_mate, a.n_rows)) return true;
    RunContext limited(run, 10 * (std::int64_t{a.n_rows} + a.nnz()));
    pothen_fan(a, untransposed, m, {}, limited);
    return !limited.exhausted() && !run.stopped();
}

}  // namespace sparsematch
