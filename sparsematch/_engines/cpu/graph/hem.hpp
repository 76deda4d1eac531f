// Heavy edge matching: in random order, each vertex is matched by its heaviest edge to a free one.
//
// Karypis, Kumar (SIAM J. Sci. Comput. 20, 1998), section 3.1; HEM in Birn et al. (Euro-Par 2013).
// Without weights it is random matching, Algorithm 1 of Fagginger Auer, Bisseling (2012).
// Invariant: a vertex that had its turn is matched, or has no free neighbour.
#pragma once

#include "graph/graph.hpp"

namespace sparsematch {

// Reads: g. Writes: mate. Workspace: one number and a bit a vertex. Time: O(n + nnz).
template <class Index>
void hem(const Graph<Index>& g, Index* mate, const NoOptions&, RunContext& run) {
    Buffer<Index> turn(g.n);
    {
        const auto timer = run.time("shuffle");
        for (Index v = 0; v < g.n; ++v) {
            if ((v & 0xffff) == 0 && !run.flush(0, 0)) return;
            const std::uint64_t k =
                vertex_hash(v, 0, run.seed) % (static_cast<std::uint64_t>(v) + 1);
            turn[v] = turn[k];
            turn[k] = v;
        }
    }
    const auto timer = run.time("match");
    with_or_without_weights(g, [&]<bool Weighted>() {
        const EdgeOrder<Index, Weighted> order(g, run.seed);
        Bitmap matched(g.n);
        WorkCounter counter(run);
        for (Index k = 0; k < g.n; ++k) {
            order.template prefetch_ahead<8>(turn, k, g.n);
            const Index v = turn[k];
            if (matched.test(v)) continue;
            const Index w = order.best(v, [&](Index u) { return !matched.test(u); }).vertex;
            if (!counter.add(g.degree(v))) return;
            if (w == UNMATCHED<Index>) continue;
            mate[v] = w, mate[w] = v;
            matched.set(v), matched.set(w);
        }
    });
    run.stats.phases = 1;
}

}  // namespace sparsematch
