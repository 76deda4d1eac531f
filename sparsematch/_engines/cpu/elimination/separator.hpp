// A vertex separator of a graph, and its refinement: vertices move out of the separator one by one,
// and pull their neighbours on the other side into it.
//
// Fiduccia, Mattheyses, A linear-time heuristic for improving network partitions (DAC 1982), for
// separators as Hendrickson, Rothberg, Improving the run time and quality of nested dissection
// ordering (SIAM J. Sci. Comput. 20, 1998). The best gain moves first, even a loss; a vertex moves
// once a pass; the pass's best state is returned to. Invariant: no edge joins the two sides.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "elimination/level_graph.hpp"

namespace sparsematch {

// Where a vertex is; the sides are 0 and 1.
enum Part : signed char { left_side = 0, right_side = 1, in_separator = 2 };

// A separator and the weights of its parts.
struct Separator {
    std::vector<signed char> part;
    std::array<std::int64_t, 3> weight{};

    template <class Index> void weigh(const LevelGraph<Index>& g) {
        weight = {};
        for (Index v = 0; v < g.n(); ++v) weight[part[v]] += g.vertex[v];
    }
    std::int64_t imbalance() const { return std::abs(weight[0] - weight[1]); }
    std::int64_t larger_side() const { return std::max(weight[0], weight[1]); }
};

template <class Index> class SeparatorRefinement {
  public:
    // Share of all weight that a side may have at most.
    static constexpr double largest_share = 0.6;

    // Writes: s. Passes are made until one gains nothing: O(edges at the separator log n) each.
    void refine(const LevelGraph<Index>& g, Separator& s, int passes, RunContext& run) {
        WorkCounter counter(run);
        g_ = &g, s_ = &s;
        limit_ = static_cast<std::int64_t>(largest_share * static_cast<double>(g.weight()));
        while (passes-- > 0 && pass(counter)) {
        }
    }

    // Whether a separator of the last graph is better than another: balanced, small, then more so.
    std::tuple<std::int64_t, std::int64_t, std::int64_t> rank(const Separator& s) const {
        return {std::max<std::int64_t>(s.larger_side() - limit_, 0), s.weight[in_separator],
                s.imbalance()};
    }

  private:
    static constexpr std::size_t patience = 120;  // moves without a new best that end a pass

    struct Move {
        std::int64_t gain;
        Index vertex;
        bool operator<(const Move& other) const {
            return gain != other.gain ? gain < other.gain : vertex > other.vertex;
        }
    };

    bool pass(WorkCounter& counter) {
        Separator& s = *s_;
        const auto n = static_cast<std::size_t>(g_->n());
        moved_.assign(n, false), log_.clear(), touched_.clear();
        pulled_.resize(n);
        heaps_ = {};
        for (Index v = 0; v < g_->n(); ++v)
            if (s.part[v] == in_separator) enter(v);
        const auto before = rank(s);
        auto best = before;
        std::size_t best_at = 0, moves = 0;
        for (std::size_t last = 0; moves - last < patience; ++moves) {
            const int side = choose();
            if (side < 0) break;
            const Index v = heaps_[side].top().vertex;
            heaps_[side].pop();
            move(v, side);
            if (!counter.add(static_cast<std::int64_t>((*g_)[v].size()))) break;
            if (const auto now = rank(s); now < best)
                best = now, best_at = log_.size(), last = moves;
        }
        while (log_.size() > best_at) {
            const auto [v, from] = log_.back();
            log_.pop_back();
            put(v, from);
        }
        return best < before;
    }

    std::int64_t gain(Index v, int side) const { return g_->vertex[v] - pulled_[v][side]; }

    // A vertex of the separator becomes a candidate.
    void enter(Index v) {
        pulled_[v] = {0, 0};
        for (const Index u : (*g_)[v])
            if (s_->part[u] != in_separator) pulled_[v][1 - s_->part[u]] += g_->vertex[u];
        offer(v, 0), offer(v, 1);
    }
    void offer(Index v, int side) {
        if (!moved_[v]) heaps_[side].push({gain(v, side), v});
    }
    // Candidates that have moved, or gain something else now, leave the heaps.
    bool settle(int side) {
        auto& heap = heaps_[side];
        while (!heap.empty()) {
            const auto [g, v] = heap.top();
            if (s_->part[v] == in_separator && !moved_[v] && g == gain(v, side)) return true;
            heap.pop();
        }
        return false;
    }
    // The side to which the next vertex moves; -1: none may.
    int choose() {
        int best = -1;
        std::tuple<std::int64_t, std::int64_t> most;
        for (int side = 0; side < 2; ++side) {
            if (!settle(side)) continue;
            const auto [g, v] = heaps_[side].top();
            const std::int64_t there = s_->weight[side] + g_->vertex[v];
            if (there > limit_ && there >= s_->weight[1 - side]) continue;
            const std::tuple now{g, -s_->weight[side]};
            if (best < 0 || now > most) best = side, most = now;
        }
        return best;
    }

    void put(Index v, signed char part) {
        s_->weight[s_->part[v]] -= g_->vertex[v], s_->weight[part] += g_->vertex[v];
        s_->part[v] = part;
    }
    void move(Index v, int side) {
        log_.emplace_back(v, in_separator);
        put(v, static_cast<signed char>(side));
        moved_[v] = true;
        touched_.clear();
        for (const Index u : (*g_)[v]) {
            if (u == v) continue;
            if (s_->part[u] == in_separator) {
                pulled_[u][1 - side] += g_->vertex[v];
                offer(u, 1 - side);
            } else if (s_->part[u] != side) {
                log_.emplace_back(u, static_cast<signed char>(1 - side));
                put(u, in_separator);
                touched_.push_back(u);
            }
        }
        for (const Index u : touched_) {
            for (const Index x : (*g_)[u])
                if (x != u && s_->part[x] == in_separator) {
                    pulled_[x][side] -= g_->vertex[u];
                    offer(x, side);
                }
        }
        for (const Index u : touched_) enter(u);
    }

    const LevelGraph<Index>* g_ = nullptr;
    Separator* s_ = nullptr;
    std::int64_t limit_ = 0;                           // weight of a side at most
    std::vector<std::array<std::int64_t, 2>> pulled_;  // weight that moving to a side pulls in
    std::vector<bool> moved_;
    std::vector<std::pair<Index, signed char>> log_;
    std::vector<Index> touched_;
    std::array<std::priority_queue<Move>, 2> heaps_;
};

}  // namespace sparsematch
