// The diagonal as a perfect matching, where it has no zero.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Matches every row to the column of its own number, if all these entries are stored: a maximum
// matching, whatever the shape. False, and nothing written, if one is not: O(nnz).
template <class Index>
bool match_diagonal(const Csr<Index>& a, Matching<Index> m, RunContext& run) {
    constexpr std::int64_t piece = 1 << 14;  // rows that a worker claims at a time
    std::atomic<bool> full{true};
    run.team.loop(a.n_rows, piece, [&](int rank, Index i, Index end) {
        WorkCounter counter(run, rank);
        for (; i < end && full.load(std::memory_order_relaxed); ++i)
            if (std::ranges::find(a.neighbours(i), i) == a.neighbours(i).end() ||
                !counter.add(a.degree(i)))
                full.store(false, std::memory_order_relaxed);
    });
    if (!full) return false;
    run.team.for_each(a.n_rows, piece, [&](Index i) { m.match(i, i); });
    return true;
}

}  // namespace sparsematch
