// Karp-Sipser: match vertices of degree one while there are any (always right), then pick, and go
// on.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981), on both sides with exact
// degrees; a pick takes the live column of least degree. Memory latency bounds it, so vertices are
// taken in batches, each step prefetching what the next reads (decision 0005). One worker has all
// degrees to itself (one_worker.hpp); from a number on they share them (shared_degrees.hpp).
// Invariant: the degree of a live vertex is the number of its live neighbours, or higher.
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/run_context.hpp"
#include "matching/karp_sipser/one_worker.hpp"
#include "matching/karp_sipser/shared_degrees.hpp"

namespace sparsematch {

struct KarpSipserOptions {
    // No picks once the vertices of degree one are used up.
    bool degree_one_only = false;

    static constexpr auto fields() {
        return std::tuple{Option{"degree_one_only", &KarpSipserOptions::degree_one_only}};
    }
};

// Once all vertices of degree one are used up each match was right: what is left is to match the
// core of free vertices that still have live neighbours, and a maximum matching of the core makes
// the whole maximum. All others are settled.
template <class Index, class Workers>
void karp_sipser_by(Workers&& workers, Index n_rows, Matching<Index> m,
                    const KarpSipserOptions& options, RunContext& run) {
    const bool warm =
        std::any_of(m.row_mate, m.row_mate + n_rows, [](Index j) { return j != UNMATCHED<Index>; });
    {
        auto timer = run.time("degrees");
        workers.count(warm);
    }
    if (run.stopped()) return;
    {
        auto timer = run.time("degree one");
        workers.match_degree_one(warm ? nullptr : &run.forced);
        if (run.settled && !warm && !run.stopped())
            run.team.both([&](int side, int) {
                workers.settle(side, side == 0 ? run.settled.row : run.settled.col);
            });
    }
    if (!options.degree_one_only && !run.stopped()) {
        auto timer = run.time("picks");
        workers.match_rest();
    }
    workers.copy_mates();
}

// Reads: both orientations. Writes: both mates. Workspace: a word of four or eight bytes per
// vertex, or a byte and a bit, and the stacks. Time: O(nnz).
template <class Index>
void karp_sipser(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                 const KarpSipserOptions& options, RunContext& run) {
    constexpr int few = 7;  // up to so many workers, one is faster
    const auto by = [&](auto&& workers) { karp_sipser_by(workers, a.n_rows, m, options, run); };
    if (run.team.size() > few) by(SharedKarpSipser<Index>(a, *transposed, m, run));
    else if (ResidualWords<std::uint32_t, Index>::fits(std::max(a.n_rows, a.n_cols)))
        by(OneWorkerKarpSipser<std::uint32_t, Index>(a, *transposed, m, run));
    else by(OneWorkerKarpSipser<std::uint64_t, Index>(a, *transposed, m, run));
}

}  // namespace sparsematch
