// Suitor: a vertex proposes to the best neighbour without a better suitor; if displaced, again.
//
// Manne, Halappanavar, New effective multithreaded matching algorithms (IPDPS 2014), Alg. 3. A
// displaced vertex proposes in the next pass, not at once: the lists of many proposers can be
// prefetched. At first all propose to their best neighbour, reading no suitors. Invariant: in the
// end each matched vertex is its suitor's suitor, as the strict order leaves one stable matching.
#pragma once

#include "core/worklist.hpp"
#include "graph/graph.hpp"
#include "graph/proposals.hpp"

namespace sparsematch {

template <class Index, bool Weighted, bool Threads> class Suitor {
  public:
    Suitor(const Graph<Index>& g, Index* mate, RunContext& run)
        : g_(g), order_(g, run.seed), run_(run), mate_(mate), suitors_(g.n), proposers_(g.n),
          displaced_(g.n) {}

    void improve() {
        run_.team.for_each(g_.n, grain, [&](Index v) { suitors_.reset(v); });
        if (!propose_first()) return;
        while (displaced_.size() > 0)
            if (!propose_again()) return;
        run_.team.for_each(g_.n, grain, [&](Index v) { mate_[v] = suitors_.proposer(v); });
    }

  private:
    using Order = EdgeOrder<Index, Weighted>;
    using Writer = typename Worklist<Threads, Index>::Writer;
    static constexpr std::int64_t grain = 1024;  // vertices that a worker claims at a time
    static constexpr Index few = 64;             // proposals of a batch

    // All propose to their best neighbour; in batches, so that the suitors are prefetched.
    bool propose_first() {
        const auto timer = run_.time("first");
        run_.team.loop(g_.n, grain, [&](int rank, Index begin, Index end) {
            Writer displaced(displaced_);
            WorkCounter counter(run_, rank);
            typename Order::Pick pick[few];
            for (Index v = begin; v < end; v += few) {
                const Index n = std::min<Index>(few, end - v);
                for (Index k = 0; k < n; ++k) {
                    pick[k] = order_.best(v + k, [](Index) { return true; });
                    if (pick[k].vertex != UNMATCHED<Index>) suitors_.prefetch(pick[k].vertex);
                    if (!counter.add(g_.degree(v + k))) return;
                }
                for (Index k = 0; k < n; ++k) propose(v + k, pick[k], displaced);
            }
        });
        ++run_.stats.phases;
        return !run_.stopped();
    }

    // A displaced vertex proposes to the best neighbour that would prefer it.
    bool propose_again() {
        const auto timer = run_.time("again");
        proposers_.swap(displaced_);
        displaced_.resize(0);
        run_.team.loop(proposers_.size(), grain,
                       [&](int rank, std::int64_t begin, std::int64_t end) {
                           Writer displaced(displaced_);
                           WorkCounter counter(run_, rank);
                           for (std::int64_t k = begin; k < end; ++k) {
                               order_.template prefetch_ahead<4>(proposers_, k, end);
                               propose(proposers_[k], best(proposers_[k]), displaced);
                               if (!counter.add(g_.degree(proposers_[k]))) return;
                           }
                       });
        ++run_.stats.phases;
        return !run_.stopped();
    }

    // The best neighbour that would prefer u to its suitor.
    typename Order::Pick best(Index u) const {
        typename Order::Pick best{0, UNMATCHED<Index>};
        for (Index p = g_.indptr[u]; p < g_.indptr[u + 1]; ++p) {
            const Index v = g_.indices[p];
            const std::uint64_t key = order_.key(u, p);
            if (key < best.key || v == u) continue;
            if (best.vertex != UNMATCHED<Index> &&
                !order_.before(key, u, v, best.key, u, best.vertex))
                continue;
            if (suitors_.beats(v, key, precedes(key, u, v))) best = {key, v};
        }
        return best;
    }

    // Writes: the suitor of another vertex, under its lock; and the vertex displaced.
    void propose(Index u, const typename Order::Pick& to, Writer& displaced) {
        if (to.vertex == UNMATCHED<Index>) return;
        const Index left = suitors_.propose(to.vertex, to.key, u, precedes(to.key, u, to.vertex));
        if (left != UNMATCHED<Index>) displaced.push(left);
    }

    auto precedes(std::uint64_t key, Index u, Index v) const {
        return [=, this](std::uint64_t other, Index suitor) {
            return order_.before(key, u, v, other, suitor, v);
        };
    }

    const Graph<Index>& g_;
    const Order order_;
    RunContext& run_;
    Index* mate_;
    Proposals<Index, Threads> suitors_;
    Worklist<Threads, Index> proposers_, displaced_;
};

// Reads: g. Writes: mate. Workspace: 24 to 32 bytes a vertex. Time: O(m log(degree)), expected.
template <class Index>
void suitor(const Graph<Index>& g, Index* mate, const NoOptions&, RunContext& run) {
    with_or_without_weights(g, [&]<bool Weighted>() {
        if (run.team.size() > 1) Suitor<Index, Weighted, true>(g, mate, run).improve();
        else Suitor<Index, Weighted, false>(g, mate, run).improve();
    });
}

}  // namespace sparsematch
