// Maximum matching by breadth-first search from one free row after the other: the simplest exact
// engine, and the one to read first, as the others build on these definitions.
//
// Problem. A matching is a set of entries of a sparse matrix, no two in the same row or column. A
// row or column with such an entry is matched, and the other end is its mate; the rest are free. A
// maximum matching has as many entries as possible: the structural rank.
//
// An alternating path goes from a free row along an entry to a column, along the matched entry of
// that column to its mate, along another entry to another column, and so on. One that ends in a
// free column is an augmenting path: unmatching its matched entries and matching the others makes
// the matching one larger. Berge (1957): a matching is maximum if and only if there is no
// augmenting path.
//
//          1 2 3
//     a  [ x o . ]    x matched, o not.   c --- 1 === a --- 2 === b --- 3   augmenting path
//     b  [ . x o ]    Row c and column 3
//     c  [ o . . ]    are free.           c === 1 --- a === 2 --- b === 3   after augmenting
//
// Algorithm. For each free row, grow an alternating tree level by level (search_tree.hpp): the
// unvisited columns of a row, then the mates of these. At the first free column, augment along the
// path back to the root.
//   - A column is visited once in a search: a second way to it leads to nothing that the first does
//     not reach.
//   - After augmenting, the tree is forgotten, as its paths have changed.
//   - A tree without a free column stays visited for good. All entries of its rows are in its
//     columns, all of these are matched, and their mates are rows of the tree: whatever enters it
//     never leaves. Searches that skip it change none of its pairs, so that this remains true.
// So one search for each free row is enough: when the last one ends there is no augmenting path.
//
// Azad, Buluc, Pothen: A parallel tree grafting algorithm for maximum cardinality matching in
// bipartite graphs (IPDPS 2015), Algorithm 1. The paper's X, Y -> rows, columns; visited[y] ->
// SearchTree::visited; parent[y] -> SearchTree::parent, the place of that row in the queue; mate ->
// Matching. Several workers: parallel_single_source_bfs.hpp.
// Invariant: between searches `visited` has the columns of failed trees, and no others.
// Time: O(nnz) a successful search, O(nnz) for all that fail together: O(n nnz).
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
void mark_finished(const std::vector<Index>& roots, std::size_t n, const Bitmap& visited,
                   const Csr<Index>& a, Matching<Index> m, const Finished& finished) {
    for (std::size_t k = 0; k < n; ++k)
        if (m.row_mate[roots[k]] == UNMATCHED<Index>) finished.row[roots[k]] = true;
    for (Index j = 0; j < a.n_cols; ++j)
        if (visited.test(j)) finished.col[j] = true;
    for (Index i = 0; i < a.n_rows; ++i)
        if (const Index j = m.row_mate[i]; j != UNMATCHED<Index> && visited.test(j))
            finished.row[i] = true;
}

// Reads: the matrix. Writes: both mates. Workspace: 3 indices, a bit per column. Time: O(n nnz).
template <class Index>
void sequential_single_source_bfs(const Csr<Index>& a, Matching<Index> m, RunContext& run) {
    auto timer = run.time("search");
    const std::vector<Index> roots = search_roots(a, m, run);
    if (roots.empty()) return;
    SearchTree<Index> tree(a, m);
    mark_finished_columns(tree.visited, a.n_cols, run);
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
    if (run.finished && k < roots.size() && run.stats.failed_edges > 0)
        mark_finished(roots, k, tree.visited, a, m, run.finished);
}

template <class Index>
void single_source_bfs(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const NoOptions&,
                       RunContext& run) {
    if (run.team.size() > 1) parallel_single_source_bfs(a, m, run);
    else sequential_single_source_bfs(a, m, run);
}

}  // namespace sparsematch
