// Red-blue: free vertices are coloured at random, blue ones propose, red ones accept one each.
//
// Fagginger Auer, Bisseling (2012), Algorithm 3, random and weighted. The paper's pi is mate_ and
// the two bitmaps, sigma is proposal_ and the proposers of proposals_. A step reads what steps
// before it wrote, and nothing that other vertices write in it: so the matching depends on the seed
// alone. A red vertex does not search its list for proposals: of all that are made to it, it keeps
// the best, in whatever order they come. Dead: a vertex without a free neighbour; it leaves the
// list when it has found no partner. Invariant: a vertex outside the list is matched, or dead.
#pragma once

#include "graph/active_vertices.hpp"
#include "graph/proposals.hpp"

namespace sparsematch {

struct RedBlueOptions {
    // Probability of blue.
    double p = 0.53406;

    static constexpr auto fields() {
        return std::tuple{Option{"p", &RedBlueOptions::p, 0.01, 0.99}};
    }
};

template <class Index, bool Weighted, bool Threads> class RedBlue {
  public:
    RedBlue(const Graph<Index>& g, Index* mate, const RedBlueOptions& options, RunContext& run)
        : g_(g), order_(g, run.seed), options_(options), run_(run), mate_(mate), matched_(g.n),
          red_(g.n), proposal_(g.n), proposals_(g.n), active_(g.n, run) {}

    void improve() {
        for (std::int64_t matched = 0; active_.size() > 0; ++run_.stats.phases) {
            active_.report_round(g_, matched_);
            if (!colour() || !propose()) return;
            const std::int64_t before = active_.size();
            if (!match()) return;
            matched += before - active_.size();
            if (run_.detailed) run_.stats.rounds.back().matched = matched;
        }
    }

  private:
    using Pick = typename EdgeOrder<Index, Weighted>::Pick;

    std::uint64_t hash_of(Index v) const { return vertex_hash(v, run_.stats.phases, run_.seed); }

    // Lines 5 to 10. A vertex that was red and is free had no proposal: is it dead (line 23)?
    bool colour() {
        const auto timer = run_.time("colour");
        return active_.sweep([&](Index v, WorkCounter& counter) {
            if (red_.test(v) && is_dead(v, counter)) return false;
            if (is_blue(hash_of(v), options_.p)) red_.clear(v);
            else red_.set(v);
            proposals_.reset(v);
            return true;
        });
    }

    // Lines 11 to 26. Writes: proposals of blue vertices; the best to red ones, under their locks.
    bool propose() {
        const auto timer = run_.time("propose");
        return active_.sweep([&](Index v, WorkCounter& counter) {
            if (red_.test(v)) return true;
            const auto [key, w] = select(v, counter);
            proposal_[v] = w;
            if (w == UNMATCHED<Index>) return !is_dead(v, counter);
            proposals_.propose(w, key, v, [&](std::uint64_t other, Index proposer) {
                if constexpr (Weighted) return order_.before(key, v, w, other, proposer, w);
                else return v < proposer;
            });
            return true;
        });
    }

    // Lines 27 to 33: matched vertices leave the list.
    bool match() {
        const auto timer = run_.time("match");
        return active_.sweep([&](Index v, WorkCounter&) {
            const Index w = red_.test(v) ? proposals_.proposer(v) : proposal_[v];
            if (w == UNMATCHED<Index> || (!red_.test(v) && proposals_.proposer(w) != v))
                return true;
            mate_[v] = w;
            matched_.set(v);
            red_.clear(v);
            return false;
        });
    }

    // The red neighbour that a blue vertex proposes to: the best, or without weights by a hash.
    Pick select(Index v, WorkCounter& counter) const {
        if constexpr (Weighted) {
            counter.add(g_.degree(v));
            return order_.best(v, [&](Index w) { return red_.test(w); });
        }
        const Index begin = g_.indptr[v], degree = g_.degree(v),
                    skip = first_entry(hash_of(v), degree);
        for (Index k = 0; k < degree; ++k) {
            const Index w = g_.indices[begin + (k < degree - skip ? skip + k : skip + k - degree)];
            if (!red_.test(w)) continue;
            counter.add(k + 1);
            return {0, w};
        }
        counter.add(degree);
        return {0, UNMATCHED<Index>};
    }

    // Whether v has no free neighbour, of whichever colour.
    bool is_dead(Index v, WorkCounter& counter) const {
        Index p = g_.indptr[v];
        while (p < g_.indptr[v + 1] && (g_.indices[p] == v || matched_.test(g_.indices[p]))) ++p;
        counter.add(p - g_.indptr[v]);
        return p == g_.indptr[v + 1];
    }

    const Graph<Index>& g_;
    const EdgeOrder<Index, Weighted> order_;
    const RedBlueOptions& options_;
    RunContext& run_;
    Index* mate_;
    Bitmap matched_;          // the matched vertices
    Bitmap red_;              // free ones only
    Buffer<Index> proposal_;  // the red vertex that a blue one proposed to
    Proposals<Index, Threads> proposals_;
    ActiveVertices<Index> active_;
};

// Reads: g. Writes: mate. Workspace: 24 to 32 bytes and two bits a vertex. Time: O(nnz) a round,
// O(log n) rounds on random graphs.
template <class Index>
void red_blue(const Graph<Index>& g, Index* mate, const RedBlueOptions& options, RunContext& run) {
    with_or_without_weights(g, [&]<bool Weighted>() {
        if (run.team.size() > 1) RedBlue<Index, Weighted, true>(g, mate, options, run).improve();
        else RedBlue<Index, Weighted, false>(g, mate, options, run).improve();
    });
}

}  // namespace sparsematch
