// The static minimum degree start: rows in order of ascending degree, each takes its free column of smallest degree.
//
// Duff, Kaya, Ucar (ACM TOMS 38, 2011), section 3.3, in its static form: degrees are those of the matrix, never updated, so
// that two passes over the edges are all it costs.
// Invariant: the matching is valid throughout and maximal at the end.
#pragma once

#include <algorithm>
#include <vector>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// A column's key: its degree, capped so that one byte is enough, or `taken`. One look tells whether it is free and how good.
struct Key {
    static constexpr std::uint8_t cap = 254, taken = 255;
};

template <class Index>
Buffer<std::uint8_t> column_keys(const Csr<Index>& a, Matching<Index> m, Run& run) {
    // Each worker counts its share of the entries for itself: two that write to the same places hold each other up.
    std::vector<Buffer<std::uint8_t>> counts(run.team.size());
    run.team.each([&](int rank) {
        counts[rank] = Buffer<std::uint8_t>(a.n_cols, 0);
        const auto share = [&](int k) { return static_cast<Index>(static_cast<std::int64_t>(a.nnz()) / run.team.size() * k); };
        const Index end = rank + 1 == run.team.size() ? a.nnz() : share(rank + 1);
        for (Index p = share(rank); p < end; ++p) {
            std::uint8_t& d = counts[rank][a.indices[p]];
            d += d < Key::cap;
        }
    });
    for (int rank = 1; rank < run.team.size(); ++rank)
        for (Index j = 0; j < a.n_cols; ++j)
            counts[0][j] = static_cast<std::uint8_t>(std::min(counts[0][j] + counts[rank][j], int{Key::cap}));
    for (Index j = 0; j < a.n_cols; ++j)
        if (m.col_mate[j] != UNMATCHED<Index>) counts[0][j] = Key::taken;
    return std::move(counts[0]);
}

// Rows sorted by degree, ascending; stable.
template <class Index>
Buffer<Index> rows_by_degree(const Csr<Index>& a) {
    constexpr Index cap = 255;
    Index place[cap + 2] = {};
    for (Index i = 0; i < a.n_rows; ++i) ++place[std::min(a.degree(i), cap) + 1];
    for (Index d = 0; d <= cap; ++d) place[d + 1] += place[d];
    Buffer<Index> order(a.n_rows);
    for (Index i = 0; i < a.n_rows; ++i) order[place[std::min(a.degree(i), cap)]++] = i;
    return order;
}

// Takes the column if it is still free.
template <bool Threads>
bool take_key(std::uint8_t& key) {
    if constexpr (Threads) return std::atomic_ref(key).exchange(Key::taken, std::memory_order_acq_rel) != Key::taken;
    else return std::exchange(key, Key::taken) != Key::taken;
}

// Reads: the lists of free rows. Writes: both mates. Workspace: n_rows indices, a byte per column. Time: O(nnz).
template <bool Threads, class Index>
void min_degree_with(const Csr<Index>& a, Matching<Index> m, Run& run) {
    auto key = column_keys(a, m, run);
    const auto order = rows_by_degree(a);
    run.team.loop(a.n_rows, 1 << 12, [&](int rank, std::int64_t begin, std::int64_t end) {
        Meter meter(run, rank);
        for (auto k = begin; k < end; ++k) {
            if (k + 32 < end) __builtin_prefetch(&a.indptr[order[k + 32]]);
            if (k + 16 < end) __builtin_prefetch(&a.indices[a.indptr[order[k + 16]]]);
            const Index i = order[k], first = a.indptr[i], last = a.indptr[i + 1];
            if (m.row_mate[i] != UNMATCHED<Index>) continue;
            if (!meter.charge(last - first)) return;
            for (;;) {  // another thread may take the choice first: choose again
                Index best = UNMATCHED<Index>;
                std::uint8_t least = Key::taken;
                for (Index p = first; p < last; ++p) {
                    const std::uint8_t d = peek(key[a.indices[p]]);
                    best = d < least ? a.indices[p] : best;
                    least = std::min(d, least);
                }
                if (best == UNMATCHED<Index>) break;
                if (!take_key<Threads>(key[best])) continue;
                m.match(i, best);
                break;
            }
        }
    });
}

template <class Index>
void min_degree(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const Options&, Run& run) {
    if (run.team.size() > 1) min_degree_with<true>(a, m, run);
    else min_degree_with<false>(a, m, run);
}

}  // namespace sparsematch
