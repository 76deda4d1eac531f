// The cheap start: every free row takes the first free column of its list.
//
// Duff, Kaya, Ucar: Design, implementation, and analysis of maximum transversal algorithms (ACM TOMS 38, 2011), section 3.1.
// With `random` each list is read from a hashed place on, which spreads the choices of neighbouring rows.
// Invariant: a column, once matched, stays matched, so that one look at each edge makes the matching maximal.
#pragma once

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// Reads: the lists of free rows. Writes: both mates. Workspace: one bit per column. Time: O(nnz).
template <bool Threads, class Index>
void cheap_with(const Csr<Index>& a, Matching<Index> m, const Options& options, Run& run) {
    Bitmap taken(a.n_cols);
    for (Index j = 0; j < a.n_cols; ++j)
        if (m.col_mate[j] != UNMATCHED<Index>) taken.set(j);
    run.team.loop(a.n_rows, 1 << 13, [&](int rank, std::int64_t begin, std::int64_t end) {
        Meter meter(run, rank);
        for (auto i = static_cast<Index>(begin); i < end; ++i) {
            if (m.row_mate[i] != UNMATCHED<Index>) continue;
            const Index first = a.indptr[i], last = a.indptr[i + 1];
            if (!meter.charge(last - first)) return;
            const Index shift =
                options.random && last > first ? static_cast<Index>(hash(options.seed ^ i) % (last - first)) : 0;
            const auto search = [&](Index from, Index to) {
                for (Index p = from; p < to; ++p)
                    if (taken.claim<Threads>(a.indices[p])) return m.match(i, a.indices[p]), true;  // claimed: ours alone
                return false;
            };
            if (!search(first + shift, last)) search(first, first + shift);
        }
    });
}

template <class Index>
void cheap(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const Options& options, Run& run) {
    if (run.team.size() > 1) cheap_with<true>(a, m, options, run);
    else cheap_with<false>(a, m, options, run);
}

}  // namespace sparsematch
