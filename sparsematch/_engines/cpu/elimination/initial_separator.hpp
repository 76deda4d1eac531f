// A first separator of a small graph: one side grows from a seed until it has half of the weight,
// and a least vertex cover of the edges between the sides separates them.
//
// Karypis, Kumar (SIAM J. Sci. Comput. 20, 1998), section 3.2: greedy graph growing. Koenig (1931):
// in a bipartite graph, as the edges of a cut are, a maximum matching gives a least cover.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "core/certificates.hpp"
#include "elimination/level_graph.hpp"
#include "elimination/separator.hpp"
#include "matching/hopcroft_karp.hpp"

namespace sparsematch {

// The left side: what is cheapest to add to it comes next. Writes: part. Time: O(nnz log n).
template <class Index>
void grow_left_side(const LevelGraph<Index>& g, Index seed, std::vector<signed char>& part) {
    const Index n = g.n();
    const std::int64_t half = g.weight() / 2;
    part.assign(static_cast<std::size_t>(n), right_side);
    std::vector<std::int64_t> gain(part.size(), 0);
    std::priority_queue<std::pair<std::int64_t, Index>> front;
    std::int64_t weight = 0;
    Index next = seed, unseen = 0;
    while (weight < half) {
        weight += g.vertex[next];
        part[next] = left_side;
        for (Index p = g.indptr[next]; p < g.indptr[next + 1]; ++p) {
            const Index u = g.indices[p];
            if (part[u] == left_side) continue;
            if (gain[u] == 0)  // its first: the cut gains all of its edges
                for (Index q = g.indptr[u]; q < g.indptr[u + 1]; ++q)
                    if (g.indices[q] != u) gain[u] -= g.edge[q];
            gain[u] += 2 * g.edge[p];
            front.emplace(gain[u], u);
        }
        const auto is_stale = [&] {
            const auto [value, u] = front.top();
            return part[u] == left_side || value != gain[u];
        };
        while (!front.empty() && is_stale()) front.pop();
        if (!front.empty()) {
            next = front.top().second;
            continue;
        }
        while (unseen < n && part[unseen] == left_side) ++unseen;
        if (unseen == n) return;
        next = unseen;
    }
}

// Makes a bisection a separator: the vertices of a least cover of the edges between its sides.
// Writes: part. Time: O(n + nnz), and a matching of the cut.
template <class Index>
void cover_cut(const LevelGraph<Index>& g, std::vector<signed char>& part, RunContext& run) {
    std::vector<Index> number(part.size()), rows, cols, indptr{0}, indices;
    for (Index v = 0; v < g.n(); ++v)
        if (part[v] == right_side)
            for (const Index u : g[v])
                if (part[u] == left_side) {
                    number[v] = static_cast<Index>(cols.size()), cols.push_back(v);
                    break;
                }
    for (Index v = 0; v < g.n(); ++v) {
        if (part[v] != left_side) continue;
        const std::size_t before = indices.size();
        for (const Index u : g[v])
            if (part[u] == right_side) indices.push_back(number[u]);
        if (indices.size() == before) continue;
        rows.push_back(v), indptr.push_back(static_cast<Index>(indices.size()));
    }
    const Csr<Index> cut{static_cast<Index>(rows.size()), static_cast<Index>(cols.size()),
                         indptr.data(), indices.data()};
    std::vector<Index> row_mate(rows.size(), UNMATCHED<Index>),
        col_mate(cols.size(), UNMATCHED<Index>);
    const Matching<Index> m{row_mate.data(), col_mate.data()};
    hopcroft_karp<Index>(cut, nullptr, m, HopcroftKarpOptions{}, run);
    Buffer<bool> row_cover(rows.size(), true), col_cover(cols.size(), false);
    koenig_cover(cut, m, row_cover.data(), col_cover.data(), run);
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (row_cover[k]) part[rows[k]] = in_separator;
    for (std::size_t k = 0; k < cols.size(); ++k)
        if (col_cover[k]) part[cols[k]] = in_separator;
}

}  // namespace sparsematch
