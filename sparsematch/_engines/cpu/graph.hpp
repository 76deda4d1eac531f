// What flows through the engines for general graphs: the view, the one strict total order of the edges, the report.
//
// Edges are compared by weight, then by a hash of both ends and the seed, then by their ends: no two are equal. Under such an
// order greedy, suitor and local max have the same result (Manne, Halappanavar, IPDPS 2014, and Birn et al., Euro-Par 2013), so
// that it depends neither on the engine nor on the threads. common_graph.cuh spells the same for a GPU, bit by bit.
#pragma once

#include <bit>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// Each edge stands in the lists of both its ends. Lists ascend; loops are to be skipped.
template <class Index>
struct Graph {
    Index n;
    const Index* indptr;
    const Index* indices;
    const double* weight;  // of either sign, the modulus counts; null: all edges weigh the same

    Index nnz() const { return indptr[n]; }
    Index degree(Index v) const { return indptr[v + 1] - indptr[v]; }
};

// The options of all engines for general graphs; an engine reads those which its row in graph_table.hpp names.
struct GraphOptions {
    double p = 0.53406;  // red_blue: probability of blue
    std::uint64_t seed = 0;
};

// A hash of the unordered pair, and one of a vertex in a round.
inline std::uint64_t edge_hash(std::uint64_t u, std::uint64_t v, std::uint64_t seed) {
    const std::uint64_t low = u < v ? u : v, high = u < v ? v : u;
    return hash(low * 0xd6e8feb86659fd93u + high * 0xa0761d6478bd642fu + seed);
}
inline std::uint64_t vertex_hash(std::uint64_t v, std::uint64_t round, std::uint64_t seed) {
    return hash(v * 0xd6e8feb86659fd93u + round * 0xa0761d6478bd642fu + seed);
}

// The strict total order. A key is the modulus as an integer, which keeps the order of numbers that are not negative; without
// weights it is the hash. Weighted: the graph has weights.
template <class Index, bool Weighted>
class EdgeOrder {
  public:
    EdgeOrder(const Graph<Index>& g, std::uint64_t seed) : g_(g), seed_(seed) {}

    // The key of the edge that stands at position p of the list of u.
    std::uint64_t key(Index u, Index p) const {
        if constexpr (Weighted) return std::bit_cast<std::uint64_t>(g_.weight[p]) & ~(std::uint64_t{1} << 63);
        else return edge_hash(u, g_.indices[p], seed_);
    }

    // Whether edge {u, v} comes before edge {x, y}; they are not the same edge.
    bool before(std::uint64_t key_uv, Index u, Index v, std::uint64_t key_xy, Index x, Index y) const {
        if (key_uv != key_xy) return key_uv > key_xy;
        return before_tied(u, v, x, y);
    }

  private:
    [[gnu::noinline]] bool before_tied(Index u, Index v, Index x, Index y) const {
        if constexpr (Weighted) {
            const std::uint64_t uv = edge_hash(u, v, seed_), xy = edge_hash(x, y, seed_);
            if (uv != xy) return uv > xy;
        }
        const Index low_uv = u < v ? u : v, low_xy = x < y ? x : y;
        if (low_uv != low_xy) return low_uv > low_xy;
        return (u < v ? v : u) > (x < y ? y : x);
    }

    const Graph<Index>& g_;
    const std::uint64_t seed_;
};

// Calls engine.template operator()<Weighted>() as the graph is.
template <class Index, class Engine>
void with_or_without_weights(const Graph<Index>& g, const Engine& engine) {
    if (g.weight) engine.template operator()<true>();
    else engine.template operator()<false>();
}

}  // namespace sparsematch
