// Whether large components may each be one vertex: (1) and (2) of large_components.hpp, by plain
// means. Only builds that check invariants call it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/large_components.hpp"
#include "decomposition/plain_components.hpp"

namespace sparsematch {

// The graph of the matched columns; the others have no arcs.
template <class Index>
Digraph<Index> column_graph(const Csr<Index>& a, Matching<Index> m) {
    Digraph<Index> graph;
    for (Index j = 0; j < a.n_cols; ++j) {
        if (const Index i = m.col_mate[j]; i != UNMATCHED<Index>)
            for (const Index k : a.neighbours(i)) graph.heads.push_back(k);
        graph.end_vertex();
    }
    return graph;
}

// The vertices that `starts` reach.
template <class Index>
std::vector<bool> reached_from(const Digraph<Index>& graph, std::vector<Index> starts) {
    std::vector<bool> seen(graph.size());
    for (const Index v : starts) seen[v] = true;
    while (!starts.empty()) {
        const Index v = starts.back();
        starts.pop_back();
        for (std::int64_t p = graph.first[v]; p < graph.first[v + 1]; ++p)
            if (const Index w = graph.heads[p]; !seen[w]) seen[w] = true, starts.push_back(w);
    }
    return seen;
}

// Time: O(n_cols + nnz) for each component.
template <class Index>
bool are_sound(const Csr<Index>& a, Matching<Index> m, const CoarseParts& parts,
               const LargeComponents<Index>& found) {
    const Digraph<Index> graph = column_graph(a, m);
    const std::vector<Index> component = plain_components(graph);
    // One number for each column that arcs may lead to, or for all of one place; -1: such arcs are
    // left out.
    const auto place = [&](Index j) -> Index {
        if (found[j] >= 0) return found[j];
        if (parts.horizontal_col.test(j)) return LargeComponents<Index>::most;
        return parts.settled_col.test(j) ? -1 : LargeComponents<Index>::most + 1 + j;
    };
    for (int g = 0; g < found.size; ++g) {
        std::vector<Index> members;
        for (Index j = 0; j < a.n_cols; ++j)
            if (found[j] == g) members.push_back(j);
        if (members.empty()) return false;
        std::vector<bool> wanted(static_cast<std::size_t>(a.n_cols) + found.most + 1);
        wanted[g] = true;
        const std::vector<bool> seen = reached_from(graph, {members.front()});
        for (const Index j : found.targets[g]) {
            if (!seen[j]) return false;
            if (place(j) >= 0) wanted[place(j)] = true;
        }
        for (const Index j : members) {
            if (component[j] != component[members.front()]) return false;
            for (const Index k : a.neighbours(m.col_mate[j]))
                if (place(k) >= 0 && !wanted[place(k)]) return false;
        }
    }
    return true;
}

}  // namespace sparsematch
