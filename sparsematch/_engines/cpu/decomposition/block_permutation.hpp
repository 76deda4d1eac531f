// From labels to permutations: counting sorts.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/csr.hpp"

namespace sparsematch {

// Stable counting sort: order lists 0..n-1 by ascending label, labels in [0, n_labels).
template <class Index>
void sort_by_label(const Index* label, Index n, Index n_labels, Index* order, Index* starts) {
    std::fill(starts, starts + n_labels + 1, Index{0});
    for (Index v = 0; v < n; ++v) ++starts[label[v] + 1];
    for (Index k = 0; k < n_labels; ++k) starts[k + 1] += starts[k];
    for (Index v = 0; v < n; ++v) order[starts[label[v]]++] = v;
    for (Index k = n_labels; k > 0; --k) starts[k] = starts[k - 1];
    starts[0] = 0;
}

// The permutations of the block form: rows by ascending group, in ascending order within one, and
// columns beside their mates, after the free ones, whose places are left as they are. Groups are
// those of Blocks::components with n blocks; starts has n + 4 places. row_perm may be group itself
// if all rows are in one.
template <class Index>
void block_permutation(const Index* group, const Index* row_mate, Index n_rows, Index n_cols,
                       Index n, Index* row_perm, Index* col_perm, Index* starts) {
    constexpr Index chunk = 64;
    // of rows, and whether all of them are in one group
    const auto each_chunk = [&](const auto& use) {
        for (Index begin = 0, end; begin < n_rows; begin = end) {
            end = std::min<Index>(n_rows - begin, chunk) + begin;
            Index other = 0;
            for (Index i = begin; i < end; ++i) other |= group[i] ^ group[begin];
            use(begin, end, other == 0);
        }
    };
    std::fill(starts, starts + n + 4, Index{0});
    each_chunk([&](Index begin, Index end, bool same) {
        if (same) starts[group[begin] + 1] += end - begin;
        else
            for (Index i = begin; i < end; ++i) ++starts[group[i] + 1];
    });
    for (Index g = 0; g < n + 3; ++g) starts[g + 1] += starts[g];
    const Index n_free = n_cols - starts[n + 2];
    each_chunk([&](Index begin, Index end, bool same) {
        if (const Index g = group[begin]; same) {
            const Index place = starts[g];
            starts[g] += end - begin;
            std::iota(row_perm + place, row_perm + place + (end - begin), begin);
            if (g < n + 2) std::copy(row_mate + begin, row_mate + end, col_perm + n_free + place);
            return;
        }
        Index places[chunk];  // asked for before the first of them is written
        for (Index i = begin; i < end; ++i) {
            const Index place = places[i - begin] = starts[group[i]]++;
            __builtin_prefetch(&row_perm[place], 1);
            __builtin_prefetch(&col_perm[n_free + place], 1);
        }
        for (Index i = begin; i < end; ++i) {
            if (group[i] < n + 2) col_perm[n_free + places[i - begin]] = row_mate[i];
            row_perm[places[i - begin]] = i;
        }
    });
    for (Index g = n + 3; g > 0; --g) starts[g] = starts[g - 1];
    starts[0] = 0;
}

}  // namespace sparsematch
