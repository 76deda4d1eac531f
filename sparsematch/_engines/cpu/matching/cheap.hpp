// The cheap initialisation: every free row is matched to the first free column of its list.
//
// Duff, Kaya, Ucar: Design, implementation, and analysis of maximum transversal algorithms (ACM
// TOMS 38, 2011), section 3.1. With `random` each list is scanned from a hashed place on, which
// spreads the choices of neighbouring rows.
// Invariant: a matched column stays matched, so one scan of each list makes the matching maximal.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

struct CheapOptions {
    // Start each list at a hashed place.
    bool random = false;
    // Give up when more than this share of the rows has entries and has found no free column.
    double patience = 1.0;

    static constexpr auto fields() {
        return std::tuple{Option{"random", &CheapOptions::random},
                          Option{"patience", &CheapOptions::patience}};
    }
};

// Matches column j to row i if it is free, not the reverse. Threads: by compare-and-swap.
template <bool Threads, class Index> bool claim_column(Matching<Index> m, Index i, Index j) {
    if constexpr (Threads) {
        Index expected = UNMATCHED<Index>;
        return peek(m.col_mate[j]) == expected &&
               std::atomic_ref(m.col_mate[j]).compare_exchange_strong(expected, i);
    } else {
        if (m.col_mate[j] != UNMATCHED<Index>) return false;
        m.col_mate[j] = i;
        return true;
    }
}

// Matches row i to the first free column in p..last. False: there is none.
template <bool Threads, class Index>
bool match_first(const Index* indices, Matching<Index> m, Index i, Index p, Index last) {
    for (; p < last; ++p)
        if (const Index j = indices[p]; claim_column<Threads>(m, i, j)) {
            m.row_mate[i] = j;
            return true;
        }
    return false;
}

// The same for each of some rows; returns how many have found none. Most get their first column,
// which is tried before any loop; arguments are copies, which writes to mates cannot alias.
template <bool Threads, class Index>
Index match_first_each(Csr<Index> a, Matching<Index> m, Index begin, Index end) {
    Index failed = 0;
    for (Index i = begin, first = a.indptr[begin], last; i < end; ++i, first = last) {
        last = a.indptr[i + 1];
        if (m.row_mate[i] != UNMATCHED<Index> || first == last) continue;
        const Index j = a.indices[first];
        if (claim_column<Threads>(m, i, j)) m.row_mate[i] = j;
        else failed += !match_first<Threads>(a.indices, m, i, first + 1, last);
    }
    return failed;
}

// The same from a hashed place on in each list.
template <bool Threads, class Index>
Index match_random_each(Csr<Index> a, Matching<Index> m, Index begin, Index end,
                        std::uint64_t seed) {
    Index failed = 0;
    for (Index i = begin; i < end; ++i) {
        const Index first = a.indptr[i], last = a.indptr[i + 1];
        if (m.row_mate[i] != UNMATCHED<Index> || first == last) continue;
        const Index start = first + static_cast<Index>(hash(seed ^ i) % (last - first));
        failed += !match_first<Threads>(a.indices, m, i, start, last) &&
                  !match_first<Threads>(a.indices, m, i, first, start);
    }
    return failed;
}

// Reads: the lists of free rows. Writes: both mates. Time: O(nnz).
template <bool Threads, class Index>
void cheap_with(const Csr<Index>& a, Matching<Index> m, const CheapOptions& options,
                RunContext& run) {
    constexpr Index piece = 1024;  // rows that a worker claims at a time
    const auto most_failed =
        static_cast<Index>(std::min(options.patience, 1.0) * static_cast<double>(a.n_rows));
    std::atomic<Index> n_failed{0};
    run.team.loop(a.n_rows, 8 * piece, [&](int rank, Index begin, Index end) {
        WorkCounter counter(run, rank);
        for (Index next; begin < end; begin = next) {
            next = end - begin > piece ? begin + piece : end;
            if (!counter.add(a.indptr[next] - a.indptr[begin])) return;
            const Index failed = options.random
                                     ? match_random_each<Threads>(a, m, begin, next, run.seed)
                                     : match_first_each<Threads>(a, m, begin, next);
            if (n_failed.fetch_add(failed, std::memory_order_relaxed) + failed > most_failed)
                return run.give_up();
        }
    });
}

template <class Index>
void cheap(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const CheapOptions& options,
           RunContext& run) {
    if (run.team.size() > 1) cheap_with<true>(a, m, options, run);
    else cheap_with<false>(a, m, options, run);
}

}  // namespace sparsematch
