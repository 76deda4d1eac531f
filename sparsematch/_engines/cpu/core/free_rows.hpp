// The rows that a search can start from: unmatched, and not empty; the vertices without a mate.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Mates that a worker reads at a time: a multiple of 64, some microseconds.
inline constexpr std::int64_t mates_at_a_time = 1 << 15;

// The rows, in order, by all workers of a team.
template <class Index>
std::vector<Index> free_rows(const Csr<Index>& a, const Matching<Index>& m, ThreadTeam& team) {
    std::vector<std::vector<Index>> found(a.n_rows / mates_at_a_time + 1);
    team.loop(a.n_rows, mates_at_a_time, [&](int, Index begin, Index end) {
        std::vector<Index> rows(end - begin);
        std::size_t n = 0;
        for (Index i = begin; i < end; n += m.row_mate[i++] == UNMATCHED<Index>) rows[n] = i;
        rows.resize(n);
        std::erase_if(rows, [&](Index i) { return a.degree(i) == 0; });
        found[begin / mates_at_a_time] = std::move(rows);
    });
    std::vector<Index> rows = std::move(found[0]);
    for (std::size_t k = 1; k < found.size(); ++k)
        rows.insert(rows.end(), found[k].begin(), found[k].end());
    return rows;
}

// Bit k says whether mate[k] is UNMATCHED, of n.
template <class Index> void mark_free(Bitmap& free, Index n, const Index* mate, ThreadTeam& team) {
    team.loop(n, mates_at_a_time, [&](int, std::int64_t begin, std::int64_t end) {
        free.mark(begin, end, [&](std::size_t k) { return mate[k] == UNMATCHED<Index>; });
    });
}

// Those of n vertices that are free, and not `done`, if that is known. Time: O(n).
template <class Index>
Index count_free(Index n, const Index* mate, const bool* done, RunContext& run) {
    std::atomic<Index> found{0};
    run.team.loop(n, mates_at_a_time, [&](int, Index k, Index end) {
        Index free = 0;
        if (!done) free = std::count(mate + k, mate + end, UNMATCHED<Index>);
        else
            for (; k < end; ++k) free += (mate[k] < 0) > done[k];
        found.fetch_add(free, std::memory_order_relaxed);
    });
    return found;
}

// Drops the rows that are matched, keeping the order; returns how many are left of the first n.
template <class Index>
std::size_t keep_free(std::vector<Index>& rows, std::size_t n, const Matching<Index>& m) {
    return std::remove_if(rows.begin(), rows.begin() + n,
                          [&](Index i) { return m.row_mate[i] != UNMATCHED<Index>; }) -
           rows.begin();
}

}  // namespace sparsematch
