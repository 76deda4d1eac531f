// From labels to permutations.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/certificates.hpp"
#include "core/csr.hpp"
#include "core/free_rows.hpp"
#include "core/run_context.hpp"
#include "core/transpose.hpp"

namespace sparsematch {

inline constexpr std::int64_t labels_at_a_time = 1 << 14;

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
// columns beside their mates, after the free ones. Groups are those of Blocks::components with n
// blocks; starts has n + 4 places. row_perm may be group itself if all rows are in one.
template <class Index>
void block_permutation(const Index* group, const Matching<Index>& m, Index n_rows, Index n_cols,
                       Index n, Index* row_perm, Index* col_perm, Index* starts, RunContext& run) {
    using Word = std::make_unsigned_t<Index>;
    const auto differs = [&](std::int64_t i) { return Word{0} - Word(group[i] ^ group[0]); };
    if (n_rows > 0 && !any_signed(n_rows, differs, run)) {  // common, and needs no sorting
        const Index only = group[0];
        std::fill(starts, starts + only + 1, Index{0});
        std::fill(starts + only + 1, starts + n + 4, n_rows);
        run.team.loop(n_rows, labels_at_a_time,
                      [&](int, Index i, Index end) { std::iota(&row_perm[i], &row_perm[end], i); });
    } else {
        sort_by_label(group, n_rows, n + 3, row_perm, starts, run);
    }
    if (run.stopped()) return;
    const Index n_matched = starts[n + 2], n_free = n_cols - n_matched;
    run.team.for_each(n_matched, labels_at_a_time,
                      [&](Index k) { col_perm[n_free + k] = m.row_mate[row_perm[k]]; });
    if (n_free == 0) return;
    Bitmap free(n_cols);
    mark_free(free, n_cols, m.col_mate, run.team);
    each(free, true, n_cols, [&](Index j) { *col_perm++ = j; });
}

}  // namespace sparsematch
