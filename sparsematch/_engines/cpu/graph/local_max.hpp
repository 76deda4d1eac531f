// Local max: an edge that precedes all its neighbours is matched, round by round on what is left.
//
// Birn, Osipov, Sanders, Schulz, Sitchinava (Euro-Par 2013), section 2, around the vertices instead
// of the edges: each free vertex points at the best of its free neighbours (the paper's candidate
// C[v]), and two that point at each other are matched. Only vertices whose choice was matched
// otherwise choose again (Manne, Bisseling, PPAM 2007). Invariant: a vertex points at the first
// edge, in the strict order of graph.hpp, that leads to a free neighbour.
//
// Where rounds gain little, as along a path of ascending weights, one thread follows the choices.
#pragma once

#include "graph/active_vertices.hpp"

namespace sparsematch {

template <class Index, bool Weighted> class LocalMax {
  public:
    LocalMax(const Graph<Index>& g, Index* mate, RunContext& run)
        : g_(g), order_(g, run.seed), run_(run), mate_(mate), choice_(g.n), matched_(g.n),
          active_(g.n, run) {}

    void improve() {
        for (std::int64_t left = g_.n, before; left > 0; left = active_.size()) {
            ++run_.stats.phases;
            active_.report_round(g_, matched_);
            if (!choose()) return;
            before = active_.size();
            if (before == 0) --run_.stats.phases;
            if (before == 0 || !match()) break;
            const std::int64_t matched = before - active_.size();
            n_matched_ += matched;
            if (matched < before / 16 && !follow()) return;
            if (run_.detailed) run_.stats.rounds.back().matched = n_matched_;
        }
    }

  private:
    // Writes: the choice of vertices without one. Those without a free neighbour leave the list.
    bool choose() {
        const auto timer = run_.time("choose");
        if (run_.stats.phases == 1)
            return active_.sweep([&](Index v, WorkCounter& counter) {
                choice_[v] = order_.best(v, [](Index) { return true; }).vertex;
                counter.add(g_.degree(v));
                return choice_[v] != UNMATCHED<Index>;
            });
        return active_.sweep(
            [&](Index v, WorkCounter& counter) {
                return !matched_.test(choice_[v]) || choose_again(v, counter);
            },
            [&](Index v) { order_.prefetch(v); });
    }

    bool choose_again(Index v, WorkCounter& counter) {
        choice_[v] = order_.best(v, [&](Index w) { return !matched_.test(w); }).vertex;
        counter.add(g_.degree(v));
        return choice_[v] != UNMATCHED<Index>;
    }

    // Matches pairs that chose each other; they leave the list.
    bool match() {
        const auto timer = run_.time("match");
        return active_.sweep([&](Index v, WorkCounter&) {
            if (choice_[choice_[v]] != v) return true;
            mate_[v] = choice_[v];
            matched_.set(v);
            return false;
        });
    }

    // Matches the rest, sequentially: a stack of vertices, each the choice of the one below.
    bool follow() {
        const auto timer = run_.time("follow");
        WorkCounter counter(run_);
        Buffer<Index> stack(active_.size());
        bool running = true;
        active_.each([&](Index root) {
            std::int64_t height = 0;
            stack[height++] = root;
            while (height > 0 && (running = running && counter.add(1))) {
                const Index v = stack[height - 1];
                if (matched_.test(v) || (matched_.test(choice_[v]) && !choose_again(v, counter))) {
                    --height;
                } else if (const Index w = choice_[v]; choice_[w] != v) {
                    stack[height++] = w;
                } else {
                    mate_[v] = w, mate_[w] = v;
                    matched_.set(v), matched_.set(w);
                    n_matched_ += 2;
                    --height;
                }
            }
        });
        active_.clear();
        return running;
    }

    const Graph<Index>& g_;
    const EdgeOrder<Index, Weighted> order_;
    RunContext& run_;
    Index* mate_;
    Buffer<Index> choice_;  // the neighbour that a vertex points at
    Bitmap matched_;        // the matched vertices
    ActiveVertices<Index> active_;
    std::int64_t n_matched_ = 0;
};

// Reads: g. Writes: mate. Workspace: two numbers and a bit a vertex. Time: O(m edges), expected.
template <class Index>
void local_max(const Graph<Index>& g, Index* mate, const NoOptions&, RunContext& run) {
    with_or_without_weights(
        g, [&]<bool Weighted>() { LocalMax<Index, Weighted>(g, mate, run).improve(); });
}

}  // namespace sparsematch
