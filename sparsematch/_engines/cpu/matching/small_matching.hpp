// A matching in one call, by what `auto` tries first: the diagonal, the first free columns, then
// augmenting paths, as far as an allowance goes; and what `auto` does with a small matrix, as its
// features would take as long to find.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/engine_table.hpp"
#include "matching/cheap.hpp"
#include "matching/diagonal.hpp"
#include "matching/pothen_fan.hpp"

namespace sparsematch {

// Entries that are scanned in the time in which a general search begins. G3_circuit scrambled: 13 s
// by these searches alone, 0.35 by the general one.
inline constexpr std::int64_t to_begin = 1 << 17;
// Writes both mates. False: they need not be a maximum matching, as the searches have ended when
// they had taken about as long as a general one does. Time: O(n_rows + n_cols + nnz).
template <class Index> bool match_small(const Csr<Index>& a, Matching<Index> m, RunContext& run) {
    std::fill_n(m.row_mate, a.n_rows, UNMATCHED<Index>);
    std::fill_n(m.col_mate, a.n_cols, UNMATCHED<Index>);
    if (match_diagonal(a, m)) return true;
    const Csr<Index>* const untransposed = nullptr;
    cheap(a, untransposed, m, {}, run);
    if (!any_free(m.row_mate, a.n_rows)) return true;
    RunContext limited(run, to_begin + a.n_rows + a.nnz());
    pothen_fan(a, untransposed, m, {}, limited);
    return !limited.exhausted() && !run.stopped();
}

// Of a matching that may be replaced or not; returns what each stage did. More may be matched where
// the last is exhausted, having scanned edge_limit entries, and where columns are fewer than rows:
// searches are to begin with these.
template <class Index>
std::vector<RunReport> small_stages(const Csr<Index>& a, Matching<Index> m, bool replaceable,
                                    std::int64_t edge_limit, RunContext& whole) {
    std::vector<RunReport> done;
    const auto stage = [&](const char* engine, const char* reason, std::int64_t limit,
                           const auto& improve) {
        RunContext run(whole, limit);
        done.push_back(reported(engine, reason, m.row_mate, a.n_rows, run, improve));
    };
    const Csr<Index>* const untransposed = nullptr;
    if (replaceable && a.n_rows == a.n_cols) {
        bool found = false;
        stage("diagonal", "the diagonal has no zero", 0, [&](RunContext& run) {
            found = match_diagonal(a, m);
            WorkCounter(run).add(a.nnz());
        });
        if (found) return done;
        done.pop_back();
    }
    stage("cheap", "one pass; often all there is to do", 0,
          [&](RunContext& run) { cheap(a, untransposed, m, {}, run); });
    if (a.n_rows <= a.n_cols && done.back().cardinality < a.n_rows)
        stage("pothen_fan", "a small matrix", edge_limit,
              [&](RunContext& run) { pothen_fan(a, untransposed, m, {}, run); });
    return done;
}

}  // namespace sparsematch
