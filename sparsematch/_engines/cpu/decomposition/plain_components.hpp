// Strong components by the textbook, to check what faster searches have found.
//
// Tarjan (SIAM J. Comput. 1, 1972), on lists of heads, with a stack in place of recursion. It has
// no limits, no second method and nothing in common with strong_components.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sparsematch {

// Vertex v has arcs to heads[first[v]...first[v + 1] - 1].
template <class Index> struct Digraph {
    std::vector<std::int64_t> first{0};
    std::vector<Index> heads;

    Index size() const { return static_cast<Index>(first.size()) - 1; }
    void end_vertex() { first.push_back(static_cast<std::int64_t>(heads.size())); }
};

// The component of each vertex, numbered from 0, sinks first; nothing of use where poll(steps),
// true to go on, was false. Time: O(vertices + arcs).
template <class Index, class Poll>
std::vector<Index> plain_components(const Digraph<Index>& graph, const Poll& poll) {
    const Index n = graph.size(), unknown = -1;
    std::vector<Index> component(n, unknown), preorder(n, unknown), low(n), open, path;
    std::vector<std::int64_t> next(graph.first);
    Index n_seen = 0, n_components = 0;
    const auto enter = [&](Index v) {
        preorder[v] = low[v] = n_seen++;
        open.push_back(v);
        path.push_back(v);
    };
    for (Index start = 0; start < n; ++start) {
        if (preorder[start] == unknown) enter(start);
        while (!path.empty()) {
            const Index v = path.back();
            if (next[v] < graph.first[v + 1]) {
                const Index w = graph.heads[next[v]++];
                if (preorder[w] == unknown) enter(w);
                else if (component[w] == unknown) low[v] = std::min(low[v], preorder[w]);
                continue;
            }
            if (!poll(1 + graph.first[v + 1] - graph.first[v])) return component;
            path.pop_back();
            if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[v]);
            if (low[v] < preorder[v]) continue;
            for (Index w = unknown; w != v; open.pop_back()) {
                w = open.back();
                component[w] = n_components;
            }
            ++n_components;
        }
    }
    return component;
}

}  // namespace sparsematch
