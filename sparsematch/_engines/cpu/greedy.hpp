// Greedy: all edges by descending weight, each is matched if both its ends are free.
//
// Paper 002 (Fagginger Auer, Bisseling 2012), Alg. 2; Avis (Networks 13, 1983): at least half of the greatest weight.
// Invariant: when an edge is looked at, every heavier one has been, so one of its ends is taken by a heavier edge or it is matched.
#pragma once

#include "graph.hpp"

namespace sparsematch {

// Reads: g. Writes: mate. Workspace: 16 to 24 bytes an edge. Time: O(m log m) for m edges.
template <class Index>
void greedy(const Graph<Index>& g, Index* mate, const GraphOptions& options, Run& run) {
    with_or_without_weights(g, [&]<bool Weighted>() {
        struct Edge {
            std::uint64_t key;
            Index u, v;
        };
        const EdgeOrder<Index, Weighted> order(g, options.seed);
        Meter meter(run);
        Buffer<Edge> edges(g.nnz() / 2 + 1);
        std::size_t m = 0;
        {
            const auto timer = run.time("list");
            for (Index u = 0; u < g.n; ++u) {
                for (Index p = g.indptr[u]; p < g.indptr[u + 1]; ++p)
                    if (const Index v = g.indices[p]; u < v) edges[m++] = {order.key(u, p), u, v};
                if (!meter.charge(g.degree(u))) return;
            }
        }
        {
            const auto timer = run.time("sort");
            std::int64_t compared = 0;
            bool stopped = false;
            // Stopping: an order in which all are equal lets the sort run through in linear time.
            std::sort(edges.begin(), edges.begin() + m, [&](const Edge& a, const Edge& b) {
                if ((++compared & 0xffff) == 0) stopped = stopped || !run.settle(0, 0);
                return !stopped && order.before(a.key, a.u, a.v, b.key, b.u, b.v);
            });
            if (stopped) return;
        }
        const auto timer = run.time("match");
        for (std::size_t k = 0; k < m; ++k) {
            const auto [key, u, v] = edges[k];
            if (mate[u] != UNMATCHED<Index> || mate[v] != UNMATCHED<Index>) continue;
            mate[u] = v;
            mate[v] = u;
        }
        run.stats.phases = 1;
    });
}

}  // namespace sparsematch
