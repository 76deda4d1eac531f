// The graph of A^T A: two columns are neighbours if they have a row in common.
//
// Its factor bounds those of A, whatever rows become pivots: George, Ng, An implementation of
// Gaussian elimination with partial pivoting for sparse systems (SIAM J. Sci. Stat. Comput. 6,
// 1985).
#pragma once

#include <cstdint>
#include <vector>

#include "elimination/adjacency_lists.hpp"

namespace sparsematch {

// Column c of a square matrix of order m has rows[column[c]...column[c + 1]]. Writes: graph. False,
// and no graph, if it has more than 64 times as many entries as the matrix, some of them counted
// twice. Time: O(entries of both).
template <class Index>
bool join_rows(const Index* column, const Index* rows, Index m, AdjacencyLists<Index>& graph) {
    const auto size = static_cast<std::size_t>(m);
    std::vector<std::int64_t> start(size + 1, 0);
    for (Index p = 0; p < column[m]; ++p) ++start[rows[p] + 1];
    std::int64_t most = 0;
    for (std::size_t r = 0; r < size; ++r) {
        most += start[r + 1] * start[r + 1];
        start[r + 1] += start[r];
    }
    if (most > 64 * static_cast<std::int64_t>(column[m])) return false;
    std::vector<Index> columns(static_cast<std::size_t>(column[m]));
    std::vector<std::int64_t> next(start.begin(), start.end() - 1);
    for (Index c = 0; c < m; ++c)
        for (Index p = column[c]; p < column[c + 1]; ++p) columns[next[rows[p]]++] = c;
    graph.begin.resize(size), graph.length.resize(size), graph.pool.clear();
    std::vector<Index> seen(size, -1);
    for (Index c = 0; c < m; ++c) {
        graph.begin[c] = static_cast<std::int64_t>(graph.pool.size());
        seen[c] = c;
        for (Index p = column[c]; p < column[c + 1]; ++p)
            for (auto q = start[rows[p]]; q < start[rows[p] + 1]; ++q)
                if (seen[columns[q]] != c) seen[columns[q]] = c, graph.pool.push_back(columns[q]);
        graph.length[c] =
            static_cast<Index>(static_cast<std::int64_t>(graph.pool.size()) - graph.begin[c]);
    }
    return true;
}

}  // namespace sparsematch
