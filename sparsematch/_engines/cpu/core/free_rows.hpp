// The rows that a search can start from: unmatched, and not empty; the vertices without a mate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/thread_team.hpp"

namespace sparsematch {

// Mates that a worker reads at a time: a multiple of 64, some microseconds.
inline constexpr std::int64_t mates_at_a_time = 1 << 15;

// Those from first to last - 1.
template <class Index>
std::vector<Index> free_rows(const Csr<Index>& a, const Matching<Index>& m, Index first,
                             Index last) {
    constexpr Index stretch = 64;  // rows skipped at once where all are matched
    std::vector<Index> rows;
    for (Index begin = first, size; begin < last; begin += size) {
        size = std::min(last - begin, stretch);
        if (!any_free(m.row_mate + begin, size)) continue;
        std::size_t n = rows.size();
        rows.resize(n + size + 1);
        for (Index i = begin; i < begin + size; ++i) {
            rows[n] = i;  // branch-free selection (decision 0005)
            n += (m.row_mate[i] == UNMATCHED<Index>)&(a.degree(i) > 0);
        }
        rows.resize(n);
    }
    return rows;
}

template <class Index>
std::vector<Index> free_rows(const Csr<Index>& a, const Matching<Index>& m) {
    return free_rows(a, m, Index{0}, a.n_rows);
}
// By all workers of a team.
template <class Index>
std::vector<Index> free_rows(const Csr<Index>& a, const Matching<Index>& m, ThreadTeam& team) {
    if (team.size() == 1) return free_rows(a, m);
    std::vector<std::vector<Index>> found(a.n_rows / mates_at_a_time + 1);
    team.loop(a.n_rows, mates_at_a_time, [&](int, std::int64_t begin, std::int64_t end) {
        found[begin / mates_at_a_time] =
            free_rows(a, m, static_cast<Index>(begin), static_cast<Index>(end));
    });
    std::vector<Index> rows = std::move(found[0]);
    for (std::size_t k = 1; k < found.size(); ++k)
        rows.insert(rows.end(), found[k].begin(), found[k].end());
    return rows;
}

// Bit k says whether mate[k] is UNMATCHED, of n.
template <class Index>
void mark_free(Bitmap& free, Index n, const Index* mate, ThreadTeam& team) {
    if (team.size() == 1) return free.mark_free(n, mate);
    team.loop(n, mates_at_a_time, [&](int, std::int64_t begin, std::int64_t end) {
        for (; begin < end; begin += 64) {
            const auto size = static_cast<int>(std::min<std::int64_t>(64, end - begin));
            std::uint64_t bits = 0;
            if (any_free(mate + begin, size))
                for (int k = 0; k < size; ++k)
                    bits |= std::uint64_t{mate[begin + k] == UNMATCHED<Index>} << k;
            free.set_bits(begin, bits);
        }
    });
}

// Drops the rows that have been matched, keeping the order; returns how many are left of the first
// n.
template <class Index>
std::size_t keep_free(std::vector<Index>& rows, std::size_t n, const Matching<Index>& m) {
    return std::remove_if(rows.begin(), rows.begin() + n,
                          [&](Index i) { return m.row_mate[i] != UNMATCHED<Index>; }) -
           rows.begin();
}

}  // namespace sparsematch
