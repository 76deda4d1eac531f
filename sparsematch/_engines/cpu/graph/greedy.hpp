// Greedy: all edges by descending weight, each is matched if both its ends are free.
//
// Fagginger Auer, Bisseling (2012), Algorithm 2; Avis (Networks 13, 1983): at least half of the
// greatest weight. Invariant: when an edge is scanned, every heavier one has been, so that one of
// its ends is matched by a heavier edge, or it is matched.
#pragma once

#include "graph/graph.hpp"

namespace sparsematch {

template <class Index> struct Edge {
    std::uint64_t key;
    Index u, v;  // u < v
};

// Reads: g. Writes: edges, of room for nnz / 2; their number, or -1: stopped. Time: O(m log m).
template <class Index, bool Weighted>
std::int64_t sorted_edges(const Graph<Index>& g, const EdgeOrder<Index, Weighted>& order,
                          Edge<Index>* edges, RunContext& run) {
    WorkCounter counter(run);
    std::int64_t m = 0;
    {
        const auto timer = run.time("list");
        for (Index u = 0; u < g.n; ++u) {
            for (Index p = g.indptr[u]; p < g.indptr[u + 1]; ++p)
                if (const Index v = g.indices[p]; u < v) edges[m++] = {order.key(u, p), u, v};
            if (!counter.add(g.degree(u))) return -1;
        }
    }
    const auto timer = run.time("sort");
    std::int64_t compared = 0;
    bool stopped = false;
    // Stopping: an order in which all are equal lets the sort run through in linear time.
    std::sort(edges, edges + m, [&](const Edge<Index>& a, const Edge<Index>& b) {
        if ((++compared & 0xffff) == 0) stopped = stopped || !run.flush(0, 0);
        return !stopped && order.before(a.key, a.u, a.v, b.key, b.u, b.v);
    });
    return stopped ? -1 : m;
}

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
