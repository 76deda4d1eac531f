// The static minimum degree start: rows in order of ascending degree, each takes its free column of smallest degree.
//
// Duff, Kaya, Ucar (ACM TOMS 38, 2011), section 3.3, in its static form: degrees are those of the matrix, never updated, so
// that two passes over the edges are all it costs.
// Invariant: the matching is valid throughout and maximal at the end.
#pragma once

#include <algorithm>
#include <limits>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// A column's key: its degree, capped so that one byte is enough, or `taken`. One look tells whether it is free and how good.
struct Key {
    static constexpr std::uint8_t cap = 254, taken = 255;
};

template <bool Threads, class Index>
Buffer<std::uint8_t> column_keys(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m, Run& run) {
    Buffer<std::uint8_t> key(a.n_cols);
    if (transposed) {
        for (Index j = 0; j < a.n_cols; ++j) key[j] = static_cast<std::uint8_t>(std::min<Index>(transposed->degree(j), Key::cap));
    } else {
        std::memset(key.data(), 0, key.size());
        run.team.loop(a.nnz(), 1 << 16, [&](int, std::int64_t begin, std::int64_t end) {
            for (auto p = begin; p < end; ++p) {
                std::uint8_t& d = key[a.indices[p]];
                if constexpr (Threads) {
                    const std::uint8_t seen = peek(d);  // a lost count is harmless: the order is a heuristic
                    poke(d, seen + (seen < Key::cap));
                } else {
                    d += d < Key::cap;
                }
            }
        });
    }
    for (Index j = 0; j < a.n_cols; ++j)
        if (m.col_mate[j] != UNMATCHED<Index>) key[j] = Key::taken;
    return key;
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
void min_degree_with(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m, Run& run) {
    auto key = column_keys<Threads>(a, transposed, m, run);
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
void min_degree(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m, const Options&, Run& run) {
    if (run.team.size() > 1) min_degree_with<true>(a, transposed, m, run);
    else min_degree_with<false>(a, transposed, m, run);
}

}  // namespace sparsematch
