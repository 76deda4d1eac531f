// From labels to permutations.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "core/transpose.hpp"

namespace sparsematch {

inline constexpr std::int64_t labels_at_a_time = 1 << 16;

// Stable: order lists 0..n-1 by ascending label, labels in [0, n_labels). It is the transpose of a
// matrix with one entry in a row. Workspace: that of a transpose, and an index each.
template <class Index>
void sort_by_label(const Index* label, Index n, Index n_labels, Index* order, Index* starts,
                   RunContext& run) {
    Buffer<Index> one_each(static_cast<std::size_t>(n) + 1);
    run.team.loop(n + 1, labels_at_a_time,
                  [&](int, Index k, Index end) { std::iota(&one_each[k], &one_each[end], k); });
    transpose(Csr<Index>{n, n_labels, one_each.data(), label}, starts, order, run);
}

// The permutations of the block form: rows by ascending group, in ascending order within one, and
// columns beside their mates, after the free ones, whose places are left as they are. Groups are
// those of Blocks::components with n blocks; starts has n + 4 places. row_perm may be group itself
// if all rows are in one.
template <class Index>
void block_permutation(const Index* group, const Index* row_mate, Index n_rows, Index n_cols,
                       Index n, Index* row_perm, Index* col_perm, Index* starts, RunContext& run) {
    Index others = 0;
    for (Index i = 0; i < n_rows; ++i) others |= group[i] ^ group[0];
    if (n_rows > 0 && others == 0) {  // a common case, three times as fast as sorting
        const Index only = group[0];
        std::fill(starts, starts + only + 1, Index{0});
        std::fill(starts + only + 1, starts + n + 4, n_rows);
        std::iota(row_perm, row_perm + n_rows, Index{0});
        if (only < n + 2) std::copy(row_mate, row_mate + n_rows, col_perm + n_cols - n_rows);
        return;
    }
    sort_by_label(group, n_rows, n + 3, row_perm, starts, run);
    if (run.stopped()) return;
    const Index n_matched = starts[n + 2];
    Index* const cols = col_perm + n_cols - n_matched;
    run.team.loop(n_matched, labels_at_a_time, [&](int, Index begin, Index end) {
        for (Index k = begin; k < end; ++k) cols[k] = row_mate[row_perm[k]];
    });
}

}  // namespace sparsematch
