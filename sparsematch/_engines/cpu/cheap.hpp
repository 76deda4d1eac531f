// The cheap start: every free row takes the first free column of its list.
//
// Duff, Kaya, Ucar: Design, implementation, and analysis of maximum transversal algorithms (ACM TOMS 38, 2011), section 3.1.
// With `random` each list is read from a hashed place on, which spreads the choices of neighbouring rows.
// Invariant: a column, once matched, stays matched, so that one look at each edge makes the matching maximal.
#pragma once

#include <algorithm>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// Gives column j to row i if it is free.
template <bool Threads, class Index>
bool take_column(Matching<Index> m, Index i, Index j) {
    if constexpr (Threads) {
        Index expected = UNMATCHED<Index>;
        return peek(m.col_mate[j]) == expected && std::atomic_ref(m.col_mate[j]).compare_exchange_strong(expected, i);
    } else {
        if (m.col_mate[j] != UNMATCHED<Index>) return false;
        m.col_mate[j] = i;
        return true;
    }
}

// Row i takes the first free column in p..last.
template <bool Threads, class Index>
bool take_first(const Csr<Index>& a, Matching<Index> m, Index i, Index p, Index last) {
    while (p < last && !take_column<Threads>(m, i, a.indices[p])) ++p;
    if (p < last) m.row_mate[i] = a.indices[p];
    return p < last;
}

// Reads: the lists of free rows. Writes: both mates. Time: O(nnz).
template <bool Threads, class Index>
void cheap_with(const Csr<Index>& a, Matching<Index> m, const Options& options, Run& run) {
    run.team.loop(a.n_rows, 1 << 13, [&](int rank, std::int64_t begin, std::int64_t end) {
        Meter meter(run, rank);
        for (auto i = static_cast<Index>(begin); i < end; ++i) {
            if (i % 1024 == 0 && !meter.charge(a.indptr[std::min<std::int64_t>(i + 1024, end)] - a.indptr[i])) return;
            if (m.row_mate[i] != UNMATCHED<Index>) continue;
            const Index first = a.indptr[i], last = a.indptr[i + 1];
            if (!options.random || first == last) {
                take_first<Threads>(a, m, i, first, last);
                continue;
            }
            const Index start = first + static_cast<Index>(hash(options.seed ^ i) % (last - first));
            if (!take_first<Threads>(a, m, i, start, last)) take_first<Threads>(a, m, i, first, start);
        }
    });
}

// Matches every row of a square matrix to the column of its own number, if all these entries are there. False, and nothing
// written, at the first that is not. Time: O(nnz) at most.
template <class Index>
bool take_diagonal(const Csr<Index>& a, Matching<Index> m) {
    for (Index i = 0; i < a.n_rows; ++i)
        if (std::find(a.indices + a.indptr[i], a.indices + a.indptr[i + 1], i) == a.indices + a.indptr[i + 1]) return false;
    for (Index i = 0; i < a.n_rows; ++i) m.match(i, i);
    return true;
}

template <class Index>
void cheap(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const Options& options, Run& run) {
    if (run.team.size() > 1) cheap_with<true>(a, m, options, run);
    else cheap_with<false>(a, m, options, run);
}

}  // namespace sparsematch
