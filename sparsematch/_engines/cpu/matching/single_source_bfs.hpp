// Single-source breadth-first search: one free row after the other, each augmented as soon as a
// free column is met.
//
// Azad, Buluc, Pothen (IPDPS 2015), Algorithm 1; Setubal (1996). Paper's visited[y]: visited;
// parent of a column: parent.
// Invariant: a tree without an augmenting path can never have one again (Papadimitriou, Steiglitz),
// so its columns stay visited; a tree with one is forgotten.
#pragma once

#include <vector>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "matching/parallel_single_source_bfs.hpp"
#include "matching/search_tree.hpp"

namespace sparsematch {

// Flips the path that ends in the leaf.
template <class Index>
void augment(const SearchTree<Index>& tree, Matching<Index> m, Statistics& stats) {
    tree.follow_path([&](Index i, Index j) {
        stats.path_edges += 2;
        m.match(i, j);
    });
    --stats.path_edges;
    ++stats.augmentations;
}

// Marks what no later search needs to visit: the first n roots that are free still, and the visited
// columns with their mates.
template <class Index>
void settle(const std::vector<Index>& roots, std::size_t n, const Bitmap& visited,
            const Csr<Index>& a, Matching<Index> m, const Settled& settled) {
    for (std::size_t k = 0; k < n; ++k)
        if (m.row_mate[roots[k]] == UNMATCHED<Index>) settled.row[roots[k]] = true;
    for (Index j = 0; j < a.n_cols; ++j)
        if (visited.test(j)) settled.col[j] = true;
    for (Index i = 0; i < a.n_rows; ++i)
        if (const Index j = m.row_mate[i]; j != UNMATCHED<Index> && visited.test(j))
            settled.row[i] = true;
}

// Reads: the matrix. Writes: both mates. Workspace: three indices and a bit per column. Time: O(n
// nnz).
template <class Index>
void sequential_single_source_bfs(const Csr<Index>& a, Matching<Index> m, RunContext& run) {
    auto timer = run.time("search");
    const std::vector<Index> roots = search_roots(a, m, run);
    if (roots.empty()) return;
    SearchTree<Index> tree(a, m);
    mark_settled_columns(tree.visited, a.n_cols, run);
    CostProjection projection(a, m, run, roots.size(), tree.visited);
    WorkCounter counter(run);
    std::size_t k = 0;
    const std::int64_t free_columns = count_free(m.col_mate, a.n_cols);
    for (; k < roots.size() && run.stats.augmentations < free_columns && !run.exhausted(); ++k) {
        if (k + 8 < roots.size()) prefetch_list(a, roots[k + 8]);
        if (!tree.grow(roots[k], counter)) {
            tree.forget();
            break;
        }
        if (tree.has_path()) {
            augment(tree, m, run.stats);
            tree.forget();
            projection.add(1, tree.n_edges, 0, 0);
        } else {
            projection.add(0, 0, 1, tree.n_edges);
        }
    }
    if (run.settled && k < roots.size() && run.stats.failed_edges > 0)
        settle(roots, k, tree.visited, a, m, run.settled);
}

template <class Index>
void single_source_bfs(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const NoOptions&,
                       RunContext& run) {
    if (run.team.size() > 1) parallel_single_source_bfs(a, m, run);
    else sequential_single_source_bfs(a, m, run);
}

}  // namespace sparsematch
