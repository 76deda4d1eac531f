// Maximum matching by breadth-first search from one free row after the other: the simplest exact
// engine, and the one to read first, as the others build on these definitions.
//
// Problem. A matching is a set of entries of a sparse matrix, no two in the same row or column. A
// row or column with such an entry is matched, and the other end is its mate; the rest are free. A
// maximum matching has as many entries as possible: the structural rank.
//
// An alternating path goes from a free row along an entry to a column, along the matched entry of
// that column to its mate, along another entry to a column, and so on. One that ends in a free
// column is an augmenting path: unmatching its matched entries and matching the others makes the
// matching one larger. Berge (1957): a matching is maximum if and only if there is none.
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

#include <algorithm>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "matching/parallel_single_source_bfs.hpp"
#include "matching/search_tree.hpp"

namespace sparsematch {

// Flips the path that ends in the leaf. Returns from which of the roots it comes.
template <class Index>
Index augment(const SearchTree<Index>& tree, Matching<Index> m, Statistics& stats) {
    --stats.path_edges;
    ++stats.augmentations;
    return tree.follow_path([&](Index i, Index j) {
        stats.path_edges += 2;
        m.match(i, j);
    });
}

struct SingleSourceBfsOptions {
    // Cut long searches short, and do them once the short ones are done: rows that take the nearest
    // free columns leave others near those that follow. With one worker.
    bool short_first = false;

    static constexpr auto fields() {
        return std::tuple{Option{"short_first", &SingleSourceBfsOptions::short_first}};
    }
};

// Reads: the matrix. Writes: both mates. Workspace: 3 indices, a bit per column. Time: O(n nnz).
template <class Index>
void sequential_single_source_bfs(const Csr<Index>& a, Matching<Index> m, bool short_first,
                                  RunContext& run) {
    // A round scans half a pass at most, and a search four times more than in the round before.
    // What is cut short may cost as much as what finds a path, and 1/64 pass: else paths are long
    // or most searches fail, and none is cut any more.
    constexpr std::int64_t growth = 4, passes = 2, spare_part = 64;
    auto timer = run.time("search");
    std::vector<Index> roots = search_roots(a, m, run);
    if (roots.empty()) return;
    SearchTree<Index> tree(a, m);
    mark_finished_columns(tree.visited, a.n_cols, run);
    CostProjection projection(a, m, run, roots.size());
    WorkCounter counter(run);
    const std::int64_t nnz = a.nnz();
    std::int64_t most = 0, spare = short_first ? 0 : -1;  // below zero: no search is cut
    std::size_t failed = 0;                               // searches since the last that did not
    const auto goes_on = [&] {
        return run.stats.augmentations < projection.n_targets && !run.exhausted() && !run.stopped();
    };
    for (std::size_t n = roots.size(), left = 0; n > 0 && goes_on(); n = std::exchange(left, 0)) {
        most = std::max(growth * most, nnz / (passes * static_cast<std::int64_t>(n)) + 1);
        if (spare >= 0) spare = nnz / spare_part;
        for (std::size_t k = 0; k < n && goes_on();) {
            // A quarter as many as failed in a row grow together: memory is read ahead for all.
            const auto together = std::min<std::size_t>({1 + failed / 4, n - k, tree.most_roots});
            for (std::size_t l = k + 8; l < std::min(k + 8 + together, n); ++l)
                prefetch_list(a, roots[l]);
            if (!tree.grow({&roots[k], together}, counter, spare < 0 ? tree.unlimited : most))
                break;
            if (!tree.is_cut && !tree.has_path()) {  // its columns stay visited
                if (run.edge_limit() > 0) tree.mark_finished(run.finished);
                projection.add(0, 0, together, tree.n_edges);
                failed += together, k += together;
                continue;
            }
            failed = 0;
            if (!tree.is_cut) std::swap(roots[k], roots[k + augment(tree, m, run.stats)]);
            else if (together == 1) roots[left++] = roots[k];
            k += !tree.is_cut || together == 1;
            tree.forget();
            if (spare >= 0) spare += tree.is_cut ? -tree.n_edges : tree.n_edges;
            projection.add(!tree.is_cut, tree.n_edges, 0, 0);
        }
    }
}

template <class Index>
void single_source_bfs(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m,
                       const SingleSourceBfsOptions& options, RunContext& run) {
    if (run.team.size() > 1) parallel_single_source_bfs(a, m, run);
    else sequential_single_source_bfs(a, m, options.short_first, run);
}

}  // namespace sparsematch
