// Global path algorithm: edges by descending weight grow into paths and even cycles to be matched.
//
// Maue, Sanders, Engineering algorithms for approximate weighted matching (WEA 2007), section 3.2.
// An edge is applicable if both its ends have at most one edge yet, and do not close a cycle of odd
// length. Each end of a path stores the other end and the parity of the path: no inner vertex
// is ever queried, so that no union-find is needed. The same is repeated for what is free
// afterwards, until no edge has two free ends. Weight: at least half of the greatest.
#pragma once

#include "graph/greedy.hpp"

namespace sparsematch {

template <class Index, bool Weighted> class GlobalPaths {
  public:
    GlobalPaths(const Graph<Index>& g, Index* mate, RunContext& run)
        : g_(g), run_(run), mate_(mate), strand_(g.n), end_(g.n), path_(g.n + 1), weight_(g.n + 1),
          best_(g.n + 2) {}

    void improve(Edge<Index>* edges, std::int64_t m) {
        WorkCounter counter(run_);
        while (m > 0 && !run_.stopped()) {
            ++run_.stats.phases;
            if (run_.detailed) run_.stats.rounds.push_back({0, m});
            {
                const auto timer = run_.time("grow");
                for (Index v = 0; v < g_.n; ++v) strand_[v] = {}, end_[v] = {v, false};
                for (std::int64_t k = 0; k < m && counter.add(1); ++k) grow(edges[k]);
            }
            {
                const auto timer = run_.time("match");
                for (Index v = 0; v < g_.n; ++v)
                    if (strand_[v].degree == 1) match_path(v);
                for (Index v = 0; v < g_.n; ++v)
                    if (strand_[v].degree == 2) match_cycle(v);
            }
            if (run_.detailed) run_.stats.rounds.back().matched = matched_;
            const auto timer = run_.time("list");
            if (!counter.add(m)) return;
            m = std::remove_if(edges, edges + m,
                               [&](const auto& e) { return !is_free(e.u) || !is_free(e.v); }) -
                edges;
        }
    }

  private:
    // The edges that a vertex has in its path or cycle.
    struct Strand {
        Index neighbour[2] = {};
        std::uint64_t key[2] = {};
        int degree = 0;
    };
    // Valid at the ends of a path only; a vertex by itself is both its ends.
    struct End {
        Index other;
        bool odd;  // the number of edges
    };

    bool is_free(Index v) const { return mate_[v] == UNMATCHED<Index>; }

    void grow(const Edge<Index>& e) {
        const auto [key, u, v] = e;
        Strand &a = strand_[u], &b = strand_[v];
        if (a.degree == 2 || b.degree == 2) return;
        const End x = end_[u], y = end_[v];
        if (x.other == v && !x.odd) return;
        a.neighbour[a.degree] = v, a.key[a.degree++] = key;
        b.neighbour[b.degree] = u, b.key[b.degree++] = key;
        end_[x.other] = {y.other, x.odd == y.odd};
        end_[y.other] = {x.other, x.odd == y.odd};
    }

    // Lists the vertices and weights of the path or cycle from v on, and clears their strands.
    std::int64_t walk(Index v) {
        std::int64_t length = 0;
        path_[0] = v;
        for (Index last = UNMATCHED<Index>;;) {
            Strand& strand = strand_[v];
            const int k = strand.degree == 2 && strand.neighbour[0] == last ? 1 : 0;
            const bool ends = strand.degree == 1 && last != UNMATCHED<Index>;
            const Index next = strand.neighbour[k];
            const std::uint64_t key = strand.key[k];
            strand.degree = 0;
            if (ends) return length;
            weight_[length++] = Weighted ? std::bit_cast<double>(key) : 1.0;
            if (next == path_[0]) return length;
            path_[length] = next;
            last = v, v = next;
        }
    }

    void match_path(Index v) {
        const std::int64_t length = walk(v);
        solve(0, length);
        match_best(0, length);
    }

    // Without its first edge or without its last one, a cycle is a path.
    void match_cycle(Index v) {
        const std::int64_t length = walk(v);
        path_[length] = v;
        const double without_last = solve(0, length - 1);
        if (solve(1, length) > without_last) return match_best(1, length);
        solve(0, length - 1);
        match_best(0, length - 1);
    }

    // The greatest weight of a matching of edges begin to end of the path: best[k + 2], up to k.
    double solve(std::int64_t begin, std::int64_t end) {
        best_[begin] = best_[begin + 1] = 0;
        for (std::int64_t k = begin; k < end; ++k)
            best_[k + 2] = std::max(best_[k + 1], best_[k] + weight_[k]);
        return best_[end + 1];
    }

    void match_best(std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = end - 1; k >= begin; --k) {
            if (best_[k] + weight_[k] < best_[k + 1]) continue;
            mate_[path_[k]] = path_[k + 1], mate_[path_[k + 1]] = path_[k];
            matched_ += 2;
            --k;
        }
    }

    const Graph<Index>& g_;
    RunContext& run_;
    Index* mate_;
    Buffer<Strand> strand_;
    Buffer<End> end_;
    Buffer<Index> path_;     // the vertices of one path or cycle
    Buffer<double> weight_;  // of the edge from path[k] to path[k + 1]
    Buffer<double> best_;
    std::int64_t matched_ = 0;
};

// Reads: g. Writes: mate. Workspace: 24 bytes an edge, 100 a vertex, at most. Time: O(m log m).
template <class Index>
void gpa(const Graph<Index>& g, Index* mate, const NoOptions&, RunContext& run) {
    with_or_without_weights(g, [&]<bool Weighted>() {
        const EdgeOrder<Index, Weighted> order(g, run.seed);
        Buffer<Edge<Index>> edges(g.nnz() / 2 + 1);
        const std::int64_t m = sorted_edges(g, order, edges.data(), run);
        if (m > 0) GlobalPaths<Index, Weighted>(g, mate, run).improve(edges.data(), m);
    });
}

}  // namespace sparsematch
