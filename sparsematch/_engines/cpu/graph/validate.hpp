// What must be known of a graph before it is matched, from one pass; the weight of a matching.
#pragma once

#include "graph/graph.hpp"

namespace sparsematch {

struct GraphProperties {
    bool ascending = true;  // neighbours ascend strictly
    bool finite = true;     // all weights off the diagonal are
    // the upper triangle less the lower, as fingerprints; meant if neighbours ascend
    std::uint64_t balance = 0;
    auto as_tuple() const { return std::tuple(ascending, finite, balance); }
};

// What the entries of some rows add to it: those above the diagonal, less those below.
template <class Index, bool Weighted> class GraphSum {
  public:
    // The given list, which is row u. In one that ascends, what is below the diagonal comes first.
    void add(const Graph<Index>& g, Index list, Index u) {
        const Index end = g.indptr[list + 1];
        Index p = g.indptr[list], last = -1;
        for (Index v; p < end && (v = g.indices[p]) < u; ++p) {
            falls_ |= v <= last;
            last = v;
            balance_ -= entry_fingerprint(v, u, key(g, p));
        }
        if (p < end && g.indices[p] == u) last = g.indices[p++];
        for (; p < end; ++p) {
            const Index v = g.indices[p];
            falls_ |= v <= last;
            last = v;
            balance_ += entry_fingerprint(u, v, key(g, p));
        }
    }

    bool ascending() const { return !falls_; }
    bool finite() const { return !(large_ >> 63); }
    std::uint64_t balance() const { return balance_; }

  private:
    // To an infinite absolute value or NaN alone, the least exponent adds the highest bit.
    std::uint64_t key(const Graph<Index>& g, Index p) {
        if constexpr (!Weighted) return 0;
        const std::uint64_t key = magnitude_bits(g.weight[p]);
        large_ |= key + (std::uint64_t{1} << 52);
        return key;
    }

    std::uint64_t balance_ = 0, large_ = 0;
    bool falls_ = false;
};

// Reads: the graph, or consecutive rows of one, from row `first` on. Time: O(n + nnz / threads).
template <class Index>
GraphProperties validate_graph(const Graph<Index>& g, Index first, RunContext& run) {
    std::atomic<std::uint64_t> balance{0};
    std::atomic<bool> ascending{true}, finite{true};
    with_or_without_weights(g, [&]<bool Weighted>() {
        run.team.loop(g.n, 4096, [&](int rank, Index begin, Index end) {
            WorkCounter counter(run, rank);
            GraphSum<Index, Weighted> sum;
            for (Index u = begin; u < end && counter.add(g.degree(u)); ++u)
                sum.add(g, u, first + u);
            balance.fetch_add(sum.balance(), std::memory_order_relaxed);
            if (!sum.ascending()) ascending.store(false, std::memory_order_relaxed);
            if (!sum.finite()) finite.store(false, std::memory_order_relaxed);
        });
    });
    return {ascending.load(), finite.load(), balance.load()};
}

// The sum of the weights of the matched edges, absolute values, each once, in the order of their
// smaller ends. Reads: the graph, or rows of one from row `first` on, and their mates.
template <class Index>
double matched_weight(const Graph<Index>& g, const Index* mate, Index first, RunContext& run) {
    double sum = 0;
    WorkCounter counter(run);
    for (Index u = 0; u < g.n && counter.add(8); ++u) {  // about as long as that many edges
        if (mate[u] <= first + u) continue;
        const Index *list = g.indices + g.indptr[u], *end = g.indices + g.indptr[u + 1];
        sum += g.weight ? std::abs(g.weight[std::lower_bound(list, end, mate[u]) - g.indices]) : 1;
    }
    return sum;
}

}  // namespace sparsematch
