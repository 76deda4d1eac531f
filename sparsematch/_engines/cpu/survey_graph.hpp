// What must be known of a graph before it is matched, from one pass over its entries; and the weight of a matching of it.
//
// Both triangles are summed up to a 64-bit fingerprint, each entry hashed by its place and modulus as an unordered pair: equal
// sums tell that each entry has its partner, without a search for it.
#pragma once

#include <limits>

#include "graph.hpp"

namespace sparsematch {

struct GraphSurvey {
    bool ascending = true;  // neighbours ascend strictly
    bool symmetric = true;  // both triangles have the same fingerprint
    bool finite = true;     // all weights off the diagonal are
};

// Reads: the graph. Time: O(n + nnz / threads).
template <class Index>
GraphSurvey survey_graph(const Graph<Index>& g, Run& run) {
    constexpr std::uint64_t infinity = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    std::atomic<std::uint64_t> balance{0};  // the upper triangle's fingerprint less the lower one's
    std::atomic<bool> ascending{true}, finite{true};
    run.team.loop(g.n, 4096, [&](int rank, Index begin, Index end) {
        Meter meter(run, rank);
        std::uint64_t sum = 0, largest = 0;
        bool falls = false;
        for (Index u = begin; u < end; ++u) {
            Index last = -1;
            for (Index p = g.indptr[u]; p < g.indptr[u + 1]; ++p) {
                const Index v = g.indices[p];
                falls |= v <= last;
                last = v;
                if (v == u) continue;
                const std::uint64_t key = g.weight ? std::bit_cast<std::uint64_t>(g.weight[p]) & ~(std::uint64_t{1} << 63) : 0;
                largest = key > largest ? key : largest;
                const std::uint64_t print = edge_hash(u, v, key);
                sum += v > u ? print : -print;
            }
            if (!meter.charge(g.degree(u))) break;
        }
        balance.fetch_add(sum, std::memory_order_relaxed);
        if (falls) ascending.store(false, std::memory_order_relaxed);
        if (largest >= infinity) finite.store(false, std::memory_order_relaxed);
    });
    return {ascending.load(), balance.load() == 0, finite.load()};
}

// The sum of the moduli of the matched edges, each once, in the order of their smaller ends. Reads: the graph, mate.
template <class Index>
double matched_weight(const Graph<Index>& g, const Index* mate) {
    double sum = 0;
    for (Index u = 0; u < g.n; ++u) {
        if (mate[u] <= u) continue;
        if (!g.weight) {
            sum += 1;
            continue;
        }
        const Index* begin = g.indices + g.indptr[u];
        sum += std::abs(g.weight[std::lower_bound(begin, g.indices + g.indptr[u + 1], mate[u]) - g.indices]);
    }
    return sum;
}

}  // namespace sparsematch
