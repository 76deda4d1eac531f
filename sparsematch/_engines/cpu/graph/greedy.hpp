// Greedy: all edges by descending weight, each is matched if both its ends are free.
//
// Fagginger Auer, Bisseling (2012), Algorithm 2; Avis (Networks 13, 1983): at least half of the
// greatest weight. Invariant: when an edge is scanned, every heavier one has been, so that one of
// its ends is matched by a heavier edge, or it is matched.
#pragma once

#include "graph/edge_list.hpp"

namespace sparsematch {

// Reads: g. Writes: mate. Workspace: 16 to 24 bytes an edge. Time: O(m log m) for m edges.
template <class Index>
void greedy(const Graph<Index>& g, Index* mate, const NoOptions&, RunContext& run) {
    with_or_without_weights(g, [&]<bool Weighted>() {
        const EdgeOrder<Index, Weighted> order(g, run.seed);
        Buffer<Edge<Index>> edges(g.nnz() / 2 + 1);
        const std::int64_t m = sorted_edges(g, order, edges.data(), run);
        const auto timer = run.time("match");
        WorkCounter counter(run);
        for (std::int64_t k = 0; k < m && counter.add(1); ++k) {
            const auto [key, u, v] = edges[k];
            if (mate[u] != UNMATCHED<Index> || mate[v] != UNMATCHED<Index>) continue;
            mate[u] = v;
            mate[v] = u;
        }
        run.stats.phases = 1;
    });
}

}  // namespace sparsematch
