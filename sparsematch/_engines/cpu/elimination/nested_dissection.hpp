// In which order to eliminate the vertices of a symmetric graph so that little fill comes: nested
// dissection. A separator comes last, and the two parts that it leaves are ordered alike.
//
// George, Nested dissection of a regular finite element mesh (SIAM J. Numer. Anal. 10, 1973);
// separators by the multilevel scheme of Karypis, Kumar (SIAM J. Sci. Comput. 20, 1998): the graph
// is coarsened by matchings (level_graph.hpp), separated where it is small
// (initial_separator.hpp), and the separator refined on each level on the way back (separator.hpp).
// The rest is ordered by minimum degree, part by part, separators counted as neighbours (amd.hpp).
// Invariant: vertices of different parts are joined by paths through separators only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/helping_team.hpp"
#include "elimination/adjacency_lists.hpp"
#include "elimination/amd.hpp"
#include "elimination/initial_separator.hpp"
#include "elimination/level_graph.hpp"
#include "elimination/separator.hpp"

namespace sparsematch {

template <class Index> class NestedDissection {
  public:
    // leaf: vertices of a part that minimum degree orders.
    explicit NestedDissection(RunContext& run, std::int64_t leaf = 200) : leaf_(leaf), run_(run) {}

    // Writes: order. False: stopped, or the first separator alone, as a front, exceeds the limits.
    // Time: O(nnz log n) mostly.
    bool run(const AdjacencyLists<Index>& graph, std::vector<Index>& order,
             const EliminationLimits& limits = {}) {
        std::vector<Index> separators;
        std::vector<std::vector<Index>> parts;
        std::vector<std::unique_ptr<Dissector>> by(run_.team.size());
        Piece all = whole(graph, separators);
        if (limits.most < infinity && exceeds(limits, all.graph)) return false;
        dissect(std::move(all), separators, parts, by);
        HelpingTeam(run_).each(parts.size(), [&](int rank, std::size_t k) {
            worker(by, rank).order_part(graph, parts[k]);
        });
        if (run_.stopped()) return false;
        order.clear();
        for (const auto& part : parts) order.insert(order.end(), part.begin(), part.end());
        order.insert(order.end(), separators.rbegin(), separators.rend());
        return true;
    }

    // The parts of a graph; vertices that nearly all others touch are in the separator.
    std::vector<signed char> separate(const AdjacencyLists<Index>& graph) {
        std::vector<Index> separators;
        const Piece rest = whole(graph, separators);
        std::vector<signed char> part(static_cast<std::size_t>(graph.n()), in_separator);
        Separator s;
        if (rest.graph.n() == 0 || !separate(rest.graph, s)) return part;
        for (std::size_t v = 0; v < rest.vertices.size(); ++v) part[rest.vertices[v]] = s.part[v];
        return part;
    }

  private:
    // Vertices of a graph that is separated without coarsening it.
    static constexpr std::int64_t coarsest = 120;

    // Tries of a coarsest graph, and passes of refinement at each level.
    struct Effort {
        int tries, passes;
    };
    static constexpr Effort full{8, 10}, single{1, 1};

    // By one try of the coarsest graph and one pass of refinement, which take a half to an eighth
    // of the time; separators are 0.9 to 1.4 times as large.
    bool exceeds(const EliminationLimits& limits, const LevelGraph<Index>& g) {
        if (g.n() <= leaf_) return false;
        Separator s;
        effort_ = single;
        const bool found = separate(g, s);
        effort_ = full;
        EliminationCost front;
        front.add(static_cast<double>(s.weight[in_separator]), 0);
        return !found || limits.exceeded_by(front);
    }

    // A part of the graph, and which vertices of it these are.
    struct Piece {
        LevelGraph<Index> graph;
        std::vector<Index> vertices;
    };

    // The part of a graph that has the vertices for which has(v); these weigh nothing yet.
    template <class Graph, class Has> Piece part_of(const Graph& graph, const Has& has) {
        Piece out;
        number_.assign(static_cast<std::size_t>(graph.n()), UNMATCHED<Index>);
        std::size_t entries = 0;
        for (Index v = 0; v < graph.n(); ++v) {
            if (!has(v)) continue;
            number_[v] = static_cast<Index>(out.vertices.size());
            out.vertices.push_back(v);
            entries += graph[v].size();
        }
        LevelGraph<Index>& g = out.graph;
        g.indptr = Buffer<Index>(out.vertices.size() + 1);
        g.indices = Buffer<Index>(entries);
        g.edge = Buffer<std::int64_t>(entries, 1);
        Index to = 0, row = 0;
        for (const Index v : out.vertices) {
            g.indptr[row++] = to;
            for (const Index u : graph[v])
                if (number_[u] != UNMATCHED<Index>) g.indices[to++] = number_[u];
        }
        g.indptr[row] = to;
        return out;
    }
    // The graph; but vertices that nearly all others touch come last, as if they were separators.
    Piece whole(const AdjacencyLists<Index>& graph, std::vector<Index>& separators) {
        const double dense = dense_limit(static_cast<std::size_t>(graph.n()));
        Piece out = part_of(graph, [&](Index v) {
            if (graph.length[v] > dense) separators.push_back(v);
            return !(graph.length[v] > dense);
        });
        LevelGraph<Index>& g = out.graph;
        for (std::size_t v = 0; v < out.vertices.size(); ++v)
            std::sort(g.indices.data() + g.indptr[v], g.indices.data() + g.indptr[v + 1]);
        g.vertex.assign(out.vertices.size(), 1);
        return out;
    }

    // A worker's memory.
    struct Dissector : LoneRun {
        using LoneRun::LoneRun;
        NestedDissection of{this->run};
    };
    using Dissectors = std::vector<std::unique_ptr<Dissector>>;
    NestedDissection& worker(Dissectors& by, int rank) {
        if (!by[rank]) by[rank] = std::make_unique<Dissector>(run_, rank);
        return by[rank]->of;
    }
    // Writes: separators, last ones first, and parts left. A level's pieces go side by side.
    void dissect(Piece all, std::vector<Index>& separators, std::vector<std::vector<Index>>& parts,
                 Dissectors& by) {
        std::vector<Piece> level, next;
        const auto is_small = [&](Piece& piece) {
            const bool small = static_cast<std::int64_t>(piece.vertices.size()) <= leaf_;
            if (small) parts.push_back(std::move(piece.vertices));
            return small;
        };
        if (!is_small(all)) level.push_back(std::move(all));
        for (; !level.empty() && !run_.stopped(); level.swap(next)) {
            next.clear(), next.resize(2 * level.size());
            std::vector<std::vector<Index>> found(level.size());
            HelpingTeam(run_).each(level.size(), [&](int rank, std::size_t k) {
                worker(by, rank).split(level[k], found[k], &next[2 * k]);
            });
            for (const auto& piece : found)
                separators.insert(separators.end(), piece.begin(), piece.end());
            std::erase_if(next, is_small);
        }
    }
    // Puts vertices in order of elimination. Their other neighbours are in separators.
    void order_part(const AdjacencyLists<Index>& whole, std::vector<Index>& part) {
        place_.resize(static_cast<std::size_t>(whole.n()), UNMATCHED<Index>);
        std::vector<Index> around;
        const auto size = static_cast<Index>(part.size());
        for (Index v = 0; v < size; ++v) place_[part[v]] = v;
        auto& [begin, length, pool] = part_;
        length.assign(part.size(), 0);
        for (Index v = 0; v < size; ++v)
            for (const Index u : whole[part[v]]) {
                if (place_[u] == UNMATCHED<Index>) {
                    place_[u] = static_cast<Index>(length.size());
                    around.push_back(u), length.push_back(0);
                }
                ++length[v], length[place_[u]] += place_[u] >= size;
            }
        begin.resize(length.size());
        std::exclusive_scan(length.begin(), length.end(), begin.begin(), std::int64_t{0});
        pool.resize(static_cast<std::size_t>(begin.empty() ? 0 : begin.back() + length.back()));
        std::fill(length.begin(), length.end(), 0);
        for (Index v = 0; v < size; ++v)
            for (const Index neighbour : whole[part[v]]) {
                const Index u = place_[neighbour];
                pool[begin[v] + length[v]++] = u;
                if (u >= size) pool[begin[u] + length[u]++] = v;
            }
        for (const auto* list : {&part, &around})
            for (const Index v : *list) place_[v] = UNMATCHED<Index>;
        std::vector<bool> last(length.size(), false);
        std::fill(last.begin() + size, last.end(), true);
        std::vector<Index> order(length.size());
        WorkCounter counter(run_);
        EliminationCost cost;
        if (!amd_.run(part_, {}, order.data(), cost, counter, &last)) return;
        for (Index t = 0; t < size; ++t) order[t] = part[order[t]];
        part.assign(order.begin(), order.begin() + size);
    }
    void split(const Piece& piece, std::vector<Index>& separator, Piece* sides) {
        Separator s;
        if (!separate(piece.graph, s)) return;
        for (Index v = 0; v < piece.graph.n(); ++v)
            if (s.part[v] == in_separator) separator.push_back(piece.vertices[v]);
        for (const signed char side : {left_side, right_side})
            *sides++ = extract(piece, s.part, side);
    }
    Piece extract(const Piece& piece, const std::vector<signed char>& part, signed char side) {
        Piece out = part_of(piece.graph, [&](Index v) { return part[v] == side; });
        for (Index& v : out.vertices)
            out.graph.vertex.push_back(piece.graph.vertex[v]), v = piece.vertices[v];
        return out;
    }

    bool separate(const LevelGraph<Index>& g, Separator& s) {
        if (g.n() <= coarsest) return start(g, s);
        std::vector<Index> label;
        const LevelGraph<Index> coarse = coarsen(g, label, run_);
        if (run_.stopped()) return false;
        if (coarse.n() > g.n() - g.n() / 16) return start(g, s);
        Separator below;
        if (!separate(coarse, below)) return false;
        s.part.resize(label.size());
        for (std::size_t v = 0; v < label.size(); ++v) s.part[v] = below.part[label[v]];
        s.weight = below.weight;
        refinement_.refine(g, s, effort_.passes, run_);
        return !run_.stopped();
    }
    // The best of several separators of a small graph.
    bool start(const LevelGraph<Index>& g, Separator& s) {
        Separator found;
        for (int k = 0; k < effort_.tries; ++k) {
            const auto seed =
                static_cast<Index>(vertex_hash(static_cast<std::uint64_t>(k), 1, run_.seed) %
                                   static_cast<std::uint64_t>(g.n()));
            grow_left_side(g, seed, found.part);
            cover_cut(g, found.part, run_);
            found.weigh(g);
            refinement_.refine(g, found, effort_.passes, run_);
            if (run_.stopped()) return false;
            if (k == 0 || refinement_.rank(found) < refinement_.rank(s)) s = found;
        }
        return true;
    }

    const std::int64_t leaf_;
    RunContext& run_;
    Effort effort_ = full;
    Amd<Index> amd_;
    AdjacencyLists<Index> part_;
    SeparatorRefinement<Index> refinement_;
    std::vector<Index> number_, place_;
};

}  // namespace sparsematch
