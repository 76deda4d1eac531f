// The transpose of a pattern by counting sort; within a row of the result the indices ascend when there is one worker.
//
// Reads: the pattern. Writes: indptr (n_cols + 1) and indices (nnz) of the transpose. Time: O(nnz).
#pragma once

#include <algorithm>

#include "csr.hpp"
#include "team.hpp"

namespace sparsematch {

// Turns counts in place[1..n] into the first positions of each list.
template <class Index>
void prefix_sum(Index* place, Index n) {
    for (Index j = 0; j < n; ++j) place[j + 1] += place[j];
}

template <bool Threads, class Index>
Index take(Index& place) {
    if constexpr (Threads) return std::atomic_ref<Index>(place).fetch_add(1, std::memory_order_relaxed);
    else return place++;
}

template <bool Threads, class Index>
void transpose_with(Team& team, const Csr<Index>& a, Index* indptr, Index* indices) {
    constexpr std::int64_t grain = 1 << 14;
    std::fill_n(indptr, a.n_cols + 1, Index{0});
    team.loop(a.nnz(), 4 * grain, [&](int, std::int64_t begin, std::int64_t end) {
        for (auto p = begin; p < end; ++p) take<Threads>(indptr[a.indices[p] + 1]);
    });
    prefix_sum(indptr, a.n_cols);
    // indptr[j] serves as the cursor of list j, which leaves it one list ahead: shifted back at the end.
    team.loop(a.n_rows, grain, [&](int, std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<Index>(begin); i < end; ++i)
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) indices[take<Threads>(indptr[a.indices[p]])] = i;
    });
    for (Index j = a.n_cols; j > 0; --j) indptr[j] = indptr[j - 1];
    indptr[0] = 0;
}

template <class Index>
void transpose(Team& team, const Csr<Index>& a, Index* indptr, Index* indices) {
    if (team.size() > 1) transpose_with<true>(team, a, indptr, indices);
    else transpose_with<false>(team, a, indptr, indices);
}

}  // namespace sparsematch
