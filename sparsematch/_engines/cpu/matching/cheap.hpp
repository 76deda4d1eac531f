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

// Matches column j to row i if it is free; the row's mate is left to the caller. Threads: by
// compare-and-swap.
template <bool Threads, class Index>
bool claim_column(Matching<Index> m, Index i, Index j) {
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

// Matches row i to the first column in p..last that claim(i, j) gets. False: there is none.
template <class Index, class Claim>
bool match_first(const Index* indices, Matching<Index> m, Index i, Index p, Index last,
                 const Claim& claim) {
    for (; p < last; ++p)
        if (const Index j = indices[p]; claim(i, j)) {
            m.row_mate[i] = j;
            return true;
        }
    return false;
}

struct CheapCount {
    std::int64_t failed = 0, edges = 0;  // rows that have found none; the lengths of the lists
};

// The same for each free row of some. Most get their first column, which is tried before any loop;
// the arguments are copies, so that writes to mates cannot alias them.
template <class Index, class Claim>
CheapCount match_first_each(Csr<Index> a, Matching<Index> m, Index begin, Index end, Claim claim) {
    CheapCount count;
    for (Index i = begin, first = a.indptr[begin], last; i < end; ++i, first = last) {
        last = a.indptr[i + 1];
        if (m.row_mate[i] != UNMATCHED<Index> || first == last) continue;
        count.edges += last - first;
        const Index j = a.indices[first];
        if (claim(i, j)) m.row_mate[i] = j;
        else count.failed += !match_first(a.indices, m, i, first + 1, last, claim);
    }
    return count;
}

// The same from a hashed place on in each list.
template <class Index, class Claim>
CheapCount match_random_each(Csr<Index> a, Matching<Index> m, Index begin, Index end, Claim claim,
                             std::uint64_t seed) {
    CheapCount count;
    for (Index i = begin; i < end; ++i) {
        const Index first = a.indptr[i], last = a.indptr[i + 1];
        if (m.row_mate[i] != UNMATCHED<Index> || first == last) continue;
        count.edges += last - first;
        const Index start = first + static_cast<Index>(hash(seed ^ i) % (last - first));
        count.failed += !match_first(a.indices, m, i, start, last, claim) &&
                        !match_first(a.indices, m, i, first, start, claim);
    }
    return count;
}

// The rows of one worker, consecutive, and of the columns as large a part, at the same place.
template <class Index>
struct OwnPart {
    Index begin, end, first_col, last_col;

    OwnPart(const Csr<Index>& a, int rank, int workers)
        : begin(first_row_of(a, rank, workers)), end(first_row_of(a, rank + 1, workers)),
          first_col(column_of(a, begin)), last_col(column_of(a, end)) {}
    bool has(Index j) const { return j >= first_col && j < last_col; }

    // Whether the middle columns of 64 of the rows are in the part: halfway between all of them and
    // as many as by chance.
    bool is_local(const Csr<Index>& a, int workers) const {
        constexpr int samples = 64;
        int n = 0, within = 0;
        for (int k = 0; k < samples; ++k) {
            const auto i = static_cast<Index>(begin + std::int64_t{end - begin} * k / samples);
            if (i == end || a.degree(i) == 0) continue;
            ++n;
            within += has(a.neighbours(i)[a.degree(i) / 2]);
        }
        return 2 * workers * within > (workers + 1) * n;
    }

  private:
    static Index column_of(const Csr<Index>& a, Index i) {
        return static_cast<Index>(static_cast<double>(a.n_cols) / a.n_rows * i);
    }
};

// Where the numbering is good, each worker first matches its rows to columns of its part alone, in
// order, as one worker would. Else the first rows of a part would be matched to columns that the
// part before needs: free rows are left there, far from free columns (seven-point operator without
// its diagonal, a quarter of a million points, 16 workers: 3969 rows; so 21; by one worker 1).
// Safe: no other worker reads or writes the mates of these rows and columns.
template <class Index>
void match_own_parts(const Csr<Index>& a, Matching<Index> m, RunContext& run) {
    const int workers = run.team.size();
    run.team.each([&](int rank) {
        const OwnPart<Index> part(a, rank, workers);
        if (!part.is_local(a, workers)) return;
        const auto claim = [=](Index i, Index j) {
            return part.has(j) && claim_column<false>(m, i, j);
        };
        WorkCounter counter(run, rank);
        constexpr Index piece = 1024;
        for (Index begin = part.begin, end; begin < part.end; begin = end) {
            end = begin + std::min(part.end - begin, piece);
            if (!counter.add(match_first_each(a, m, begin, end, claim).edges)) return;
        }
    });
}

// Reads: the lists of free rows. Writes: both mates. Time: O(nnz).
template <bool Threads, class Index>
void cheap_with(const Csr<Index>& a, Matching<Index> m, const CheapOptions& options,
                RunContext& run) {
    constexpr Index piece = 1024, grain = 8 * piece;
    const auto most_failed =
        static_cast<std::int64_t>(std::min(options.patience, 1.0) * static_cast<double>(a.n_rows));
    if (Threads && !options.random && a.n_rows > grain) match_own_parts(a, m, run);
    const auto claim = [=](Index i, Index j) { return claim_column<Threads>(m, i, j); };
    std::atomic<std::int64_t> n_failed{0};
    run.team.loop(a.n_rows, grain, [&](int rank, Index begin, Index end) {
        WorkCounter counter(run, rank);
        for (Index next; begin < end; begin = next) {
            next = end - begin > piece ? begin + piece : end;
            const auto [failed, edges] = options.random
                                             ? match_random_each(a, m, begin, next, claim, run.seed)
                                             : match_first_each(a, m, begin, next, claim);
            if (!counter.add(edges)) return;
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
