// Local max: an edge that comes before all its neighbours is matched; what is left is looked at again, round by round.
//
// Paper 004 (Birn, Osipov, Sanders, Schulz, Sitchinava, Euro-Par 2013), section 2, around the vertices instead of the edges:
// each free vertex points at the best of its free neighbours (the paper's candidate C[v]), and two that point at each other are
// matched. Only vertices whose choice was taken from them choose anew (Manne, Bisseling, PPAM 2007). Invariant: a vertex points
// at the first edge, in the strict order of graph.hpp, that leads to a neighbour not yet taken.
#pragma once

#include "graph.hpp"
#include "worklist.hpp"

namespace sparsematch {

template <class Index, bool Weighted, bool Threads>
class LocalMax {
  public:
    LocalMax(const Graph<Index>& g, Index* mate, const GraphOptions& options, Run& run)
        : g_(g), order_(g, options.seed), run_(run), mate_(mate), choice_(g.n), active_(g.n), next_(g.n) {}

    void improve() {
        run_.team.loop(g_.n, grain, [&](int, Index begin, Index end) {
            for (Index v = begin; v < end; ++v) active_[v] = v;
        });
        active_.resize(g_.n);
        while (active_.size() > 0) {
            ++run_.stats.phases;
            if (!choose()) return;
            match();
        }
    }

  private:
    static constexpr std::int64_t grain = 1024;

    // Reads: mate. Writes: choice of the active vertices, each by one thread.
    bool choose() {
        const auto timer = run_.time("choose");
        run_.team.loop(active_.size(), grain, [&](int rank, std::int64_t begin, std::int64_t end) {
            Meter meter(run_, rank);
            for (std::int64_t k = begin; k < end; ++k) {
                const Index u = active_[k];
                Index best = UNMATCHED<Index>;
                std::uint64_t best_key = 0;
                for (Index p = g_.indptr[u]; p < g_.indptr[u + 1]; ++p) {
                    const Index v = g_.indices[p];
                    if (v == u || mate_[v] != UNMATCHED<Index>) continue;
                    const std::uint64_t key = order_.key(u, p);
                    if (best == UNMATCHED<Index> || order_.before(key, u, v, best_key, u, best)) best = v, best_key = key;
                }
                choice_[u] = best;
                if (!meter.charge(g_.degree(u))) return;
            }
        });
        return !run_.stopped();
    }

    // Matches pairs that chose each other, then keeps the free vertices whose choice is taken. Writes: mate of the own vertex.
    void match() {
        const auto timer = run_.time("match");
        run_.team.loop(g_.n, grain, [&](int, Index begin, Index end) {
            for (Index v = begin; v < end; ++v)
                if (mate_[v] == UNMATCHED<Index> && choice_[v] != UNMATCHED<Index> && choice_[choice_[v]] == v)
                    mate_[v] = choice_[v];
        });
        next_.resize(0);
        run_.team.loop(g_.n, grain, [&](int, Index begin, Index end) {
            typename Worklist<Threads, Index>::Writer writer(next_);
            for (Index v = begin; v < end; ++v)
                if (mate_[v] == UNMATCHED<Index> && choice_[v] != UNMATCHED<Index> && mate_[choice_[v]] != UNMATCHED<Index>)
                    writer.push(v);
        });
        active_.swap(next_);
    }

    const Graph<Index>& g_;
    const EdgeOrder<Index, Weighted> order_;
    Run& run_;
    Index* mate_;
    Buffer<Index> choice_;  // the neighbour that a vertex points at; UNMATCHED: none is left
    Worklist<Threads, Index> active_, next_;
};

// Reads: g. Writes: mate. Workspace: three numbers a vertex. Time: O(m), expected, for m edges.
template <class Index>
void local_max(const Graph<Index>& g, Index* mate, const GraphOptions& options, Run& run) {
    with_or_without_weights(g, [&]<bool Weighted>() {
        if (run.team.size() > 1) LocalMax<Index, Weighted, true>(g, mate, options, run).improve();
        else LocalMax<Index, Weighted, false>(g, mate, options, run).improve();
    });
}

}  // namespace sparsematch
