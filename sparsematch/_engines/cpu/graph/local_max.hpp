// Local max: an edge that comes before all its neighbours is matched; what is left is looked at
// again, round by round.
//
// Paper 004 (Birn, Osipov, Sanders, Schulz, Sitchinava, Euro-Par 2013), section 2, around the
// vertices instead of the edges: each free vertex points at the best of its free neighbours (the
// paper's candidate C[v]), and two that point at each other are matched. Only vertices whose choice
// was taken from them choose anew (Manne, Bisseling, PPAM 2007). Invariant: a vertex points at the
// first edge, in the strict order of graph.hpp, that leads to a neighbour not yet taken.
//
// Where rounds gain little, as along a path of ascending weights, one thread follows the choices
// from vertex to vertex instead.
#pragma once

#include "graph/active_vertices.hpp"

namespace sparsematch {

template <class Index, bool Weighted>
class LocalMax {
  public:
    LocalMax(const Graph<Index>& g, Index* mate, RunContext& run)
        : g_(g), order_(g, run.seed), run_(run), mate_(mate), choice_(g.n), taken_(g.n),
          remaining_(g.n, run) {}

    void improve() {
        for (std::int64_t left = g_.n, before; left > 0; left = remaining_.size()) {
            ++run_.stats.phases;
            if (run_.detailed) {
                const auto live =
                    remaining_.live_edges(g_, [&](Index v) { return taken_.test(v); });
                run_.stats.rounds.push_back({0, live});
            }
            if (!choose()) return;
            before = remaining_.size();
            if (before == 0) --run_.stats.phases;
            if (before == 0 || !match()) break;
            const std::int64_t matched = before - remaining_.size();
            matched_ += matched;
            if (matched < before / 16 && !follow()) return;
            if (run_.detailed) run_.stats.rounds.back().matched = matched_;
        }
    }

  private:
    // Writes: choice of vertices that have none, or lost it. Those without a free neighbour leave
    // the list.
    bool choose() {
        const auto timer = run_.time("choose");
        if (run_.stats.phases == 1)
            return remaining_.sweep([&](Index v, WorkCounter& counter) {
                choice_[v] = order_.best(v, [](Index) { return true; }).vertex;
                counter.add(g_.degree(v));
                return choice_[v] != UNMATCHED<Index>;
            });
        return remaining_.sweep(
            [&](Index v, WorkCounter& counter) {
                return !taken_.test(choice_[v]) || choose_anew(v, counter);
            },
            [&](Index v) { order_.prefetch(v); });
    }

    bool choose_anew(Index v, WorkCounter& counter) {
        choice_[v] = order_.best(v, [&](Index w) { return !taken_.test(w); }).vertex;
        counter.add(g_.degree(v));
        return choice_[v] != UNMATCHED<Index>;
    }

    // Matches pairs that chose each other; they leave the list.
    bool match() {
        const auto timer = run_.time("match");
        return remaining_.sweep([&](Index v, WorkCounter&) {
            if (choice_[choice_[v]] != v) return true;
            mate_[v] = choice_[v];
            taken_.set(v);
            return false;
        });
    }

    // Matches the rest, of one thread: a stack of vertices, each the choice of the one below, so
    // that their edges ascend.
    bool follow() {
        const auto timer = run_.time("follow");
        WorkCounter counter(run_);
        Buffer<Index> stack(remaining_.size());
        bool running = true;
        remaining_.each([&](Index root) {
            std::int64_t height = 0;
            stack[height++] = root;
            while (height > 0 && (running = running && counter.add(1))) {
                const Index v = stack[height - 1];
                if (taken_.test(v) || (taken_.test(choice_[v]) && !choose_anew(v, counter))) {
                    --height;
                } else if (const Index w = choice_[v]; choice_[w] != v) {
                    stack[height++] = w;
                } else {
                    mate_[v] = w, mate_[w] = v;
                    taken_.set(v), taken_.set(w);
                    matched_ += 2;
                    --height;
                }
            }
        });
        remaining_.clear();
        return running;
    }

    const Graph<Index>& g_;
    const EdgeOrder<Index, Weighted> order_;
    RunContext& run_;
    Index* mate_;
    Buffer<Index> choice_;  // the neighbour that a vertex points at
    Bitmap taken_;          // the matched vertices
    Remaining<Index> remaining_;
    std::int64_t matched_ = 0;
};

// Reads: g. Writes: mate. Workspace: two numbers and a bit a vertex. Time: O(m), expected, for m
// edges.
template <class Index>
void local_max(const Graph<Index>& g, Index* mate, const NoOptions&, RunContext& run) {
    with_or_without_weights(
        g, [&]<bool Weighted>() { LocalMax<Index, Weighted>(g, mate, run).improve(); });
}

}  // namespace sparsematch
