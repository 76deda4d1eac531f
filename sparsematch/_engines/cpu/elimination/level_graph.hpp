// The graphs of a multilevel bisection: with weights of vertices and edges, each level a matching
// of the one below contracted.
//
// Karypis, Kumar, A fast and high quality multilevel scheme for partitioning irregular graphs (SIAM
// J. Sci. Comput. 20, 1998), section 3.1: matchings are of heavy edges (hem.hpp), and aggregates
// are added up as a Galerkin product adds them. Vertices without a free neighbour join a pair
// nearby, so that stars shrink as fast.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "coarsening/aggregates.hpp"
#include "coarsening/galerkin_product.hpp"
#include "graph/hem.hpp"

namespace sparsematch {

// Edges stand in the lists of both ends; loops, edges within an aggregate, are to be skipped.
template <class Index> struct LevelGraph {
    Buffer<Index> indptr, indices;
    Buffer<std::int64_t> edge;         // weights, in the order of indices
    std::vector<std::int64_t> vertex;  // weights

    Index n() const { return static_cast<Index>(vertex.size()); }
    Csr<Index> csr() const { return {n(), n(), indptr.data(), indices.data()}; }
    std::span<const Index> operator[](Index v) const { return csr().neighbours(v); }
    std::int64_t weight() const {
        return std::accumulate(vertex.begin(), vertex.end(), std::int64_t{0});
    }
};

// The next level; label: the coarse vertex of each. Time: O(n + nnz log(longest list)).
template <class Index>
LevelGraph<Index> coarsen(const LevelGraph<Index>& g, std::vector<Index>& label, RunContext& run) {
    const auto n = static_cast<std::size_t>(g.n());
    std::vector<Index> mate(n, UNMATCHED<Index>);
    std::vector<double> weight(g.edge.size());
    std::copy_n(g.edge.data(), weight.size(), weight.begin());
    hem<Index>({g.n(), g.indptr.data(), g.indices.data(), weight.data()}, mate.data(), NoOptions{},
               run);
    const Aggregates<Index> parts = make_aggregates(g.csr(), g.edge.data(), mate.data(), true, run);
    if (run.stopped()) return {};
    auto product = galerkin_product(g.csr(), g.edge.data(), parts, run);
    LevelGraph<Index> out{std::move(product.indptr), std::move(product.indices),
                          std::move(product.values),
                          std::vector<std::int64_t>(static_cast<std::size_t>(parts.count), 0)};
    label.resize(n);
    for (std::size_t v = 0; v < n; ++v)
        label[v] = parts.label[v], out.vertex[label[v]] += g.vertex[v];
    return out;
}

}  // namespace sparsematch
