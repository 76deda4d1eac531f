// Single-source breadth-first search: one free row after the other, each augmented as soon as a free column is met.
//
// Azad, Buluc, Pothen (IPDPS 2015), Algorithm 1; Setubal (1996). Paper's visited[y]: visited; parent of a column: parent[j].
// Invariant: a tree without an augmenting path can never have one again (Papadimitriou, Steiglitz), so its columns stay
// visited; a tree with one is forgotten.
#pragma once

#include <cmath>

#include "csr.hpp"
#include "free_rows.hpp"
#include "run.hpp"

namespace sparsematch {

// Where most searches succeed, what k of n have cost tells early what all of them will. Among near neighbours each costs about
// the same. Searches that go everywhere (for which a caller allows several passes) cost the more, the fewer free columns are
// left: with r of them about 1 / r, which makes ln(n) of all n.
inline double growth(std::size_t n, std::size_t k, bool everywhere) {
    const auto all = static_cast<double>(n), done = static_cast<double>(k);
    if (!everywhere) return all / done;
    return std::log(all + 1) / std::log((all + 1) / (all + 1 - done));
}

// Reads: the matrix. Writes: both mates. Workspace: an index per row and per column, bits per column. Time: O(n nnz).
template <class Index>
void single_source_bfs(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const Options&, Run& run) {
    Meter meter(run);
    Bitmap visited(a.n_cols);
    Buffer<Index> parent(a.n_cols), queue(a.n_rows), trail(a.n_cols);
    auto free = free_rows(a, m);
    if (run.settled) {
        for (Index j = 0; j < a.n_cols; ++j)
            if (run.settled.col[j]) visited.set(j);
        std::erase_if(free, [&](Index i) { return run.settled.row[i]; });
    }
    const bool everywhere = run.edge_limit() > 2 * static_cast<std::int64_t>(a.nnz());
    auto timer = run.time("search");
    const auto search = [&](Index root) {
        Index head = 0, tail = 0, n_trail = 0;
        std::int64_t edges = 0;
        queue[tail++] = root;
        while (head < tail) {
            const Index i = queue[head++];
            if (head + 8 < tail) __builtin_prefetch(&a.indptr[queue[head + 8]]);
            if (head + 4 < tail) __builtin_prefetch(&a.indices[a.indptr[queue[head + 4]]]);
            if (!meter.charge(a.degree(i))) return;
            edges += a.degree(i);
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
                const Index j = a.indices[p];
                if (!visited.claim<false>(j)) continue;
                parent[j] = i;
                trail[n_trail++] = j;
                if (m.col_mate[j] != UNMATCHED<Index>) {
                    queue[tail++] = m.col_mate[j];
                    continue;
                }
                for (Index end = j, row = i; end != UNMATCHED<Index>; ++run.stats.path_edges) {
                    row = parent[end];
                    const Index next = m.row_mate[row];
                    m.match(row, end);
                    end = next;
                }
                ++run.stats.augmentations;
                for (Index k = 0; k < n_trail; ++k) visited.clear(trail[k]);
                return;
            }
        }
        run.allow(edges);  // no edge is scanned twice by searches that fail: only the others can use up an allowance
    };
    for (std::size_t k = 0; k < free.size() && !run.stopped() && !run.exhausted(); ++k) {
        search(free[k]);
        ++run.stats.phases;
        if (k % 64 == 63 && run.stats.augmentations > run.stats.phases / 2) run.expect(growth(free.size(), k + 1, everywhere));
    }
}

}  // namespace sparsematch
