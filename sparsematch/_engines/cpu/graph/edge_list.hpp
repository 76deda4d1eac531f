// The edges of a graph as a list in the strict order: what greedy and the global path algorithm
// start from.
#pragma once

#include "graph/graph.hpp"

namespace sparsematch {

template <class Index>
struct Edge {
    std::uint64_t key;
    Index u, v;  // u < v
};

// Reads: g. Writes: edges, of room for nnz / 2. Returns their number; -1: stopped. Time: O(m log m)
// for m edges.
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

}  // namespace sparsematch
