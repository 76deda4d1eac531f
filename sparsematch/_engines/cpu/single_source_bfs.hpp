// Single-source breadth-first search: one free row after the other, each augmented as soon as a free column is met.
//
// Azad, Buluc, Pothen (IPDPS 2015), Algorithm 1; Setubal (1996). Paper's visited[y]: visited_; parent of a column: parent_[j].
// Invariant: a tree without an augmenting path can never have one again (Papadimitriou, Steiglitz), so its columns stay
// visited; a tree with one is forgotten.
#pragma once

#include <cmath>
#include <vector>

#include "csr.hpp"
#include "free_rows.hpp"
#include "run.hpp"

namespace sparsematch {

template <class Index>
class SingleSourceBfs {
  public:
    SingleSourceBfs(const Csr<Index>& a, Matching<Index> m, Run& run)
        : a_(a), m_(m), run_(run), meter_(run), visited_(a.n_cols), parent_(a.n_cols), queue_(a.n_rows), trail_(a.n_cols),
          everywhere_(run.edge_limit() > 2 * static_cast<std::int64_t>(a.nnz())) {}

    // Reads: the matrix. Writes: both mates. Workspace: an index per row, two per column, a bit per column. Time: O(n nnz).
    void improve() {
        auto timer = run_.time("search");
        const auto roots = leave_settled(free_rows(a_, m_));
        for (std::size_t k = 0; k < roots.size() && !run_.stopped() && !run_.exhausted(); ++k) {
            search(roots[k]);
            ++run_.stats.phases;
            if (k % 64 == 63 && run_.stats.augmentations > run_.stats.phases / 2) run_.expect(growth(roots.size(), k + 1));
        }
    }

  private:
    // Hides what the caller says no augmenting path needs.
    std::vector<Index> leave_settled(std::vector<Index>&& roots) {
        if (!run_.settled) return std::move(roots);
        for (Index j = 0; j < a_.n_cols; ++j)
            if (run_.settled.col[j]) visited_.set(j);
        std::erase_if(roots, [&](Index i) { return run_.settled.row[i]; });
        return std::move(roots);
    }

    // Where most searches succeed, what k of n have cost tells early what all of them will. Among near neighbours each costs
    // about the same. Searches that go everywhere (for which a caller allows several passes) cost the more, the fewer free
    // columns are left: with r of them about 1 / r, which makes ln(n) of all n.
    double growth(std::size_t n, std::size_t k) const {
        const auto all = static_cast<double>(n), done = static_cast<double>(k);
        return everywhere_ ? std::log(all + 1) / std::log((all + 1) / (all + 1 - done)) : all / done;
    }

    void search(Index root) {
        Index head = 0, tail = 0, n_trail = 0;
        std::int64_t edges = 0;
        queue_[tail++] = root;
        while (head < tail) {
            const Index i = queue_[head++];
            if (tail - head > 8) __builtin_prefetch(&a_.indptr[queue_[head + 8]]);
            if (tail - head > 4) __builtin_prefetch(&a_.indices[a_.indptr[queue_[head + 4]]]);
            if (!meter_.charge(a_.degree(i))) return;
            edges += a_.degree(i);
            for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
                const Index j = a_.indices[p];
                if (!visited_.claim<false>(j)) continue;
                parent_[j] = i;
                trail_[n_trail++] = j;
                if (m_.col_mate[j] == UNMATCHED<Index>) return augment(j, n_trail);
                queue_[tail++] = m_.col_mate[j];
            }
        }
        run_.allow(edges);  // no edge is scanned twice by searches that fail: only the others can use up an allowance
    }

    // Flips the path that ends in free column j, and forgets the tree.
    void augment(Index j, Index n_trail) {
        for (; j != UNMATCHED<Index>; run_.stats.path_edges += 2) {
            const Index i = parent_[j], next = m_.row_mate[i];
            m_.match(i, j);
            j = next;
        }
        --run_.stats.path_edges;
        ++run_.stats.augmentations;
        for (Index k = 0; k < n_trail; ++k) visited_.clear(trail_[k]);
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    Run& run_;
    Meter meter_;
    Bitmap visited_;
    Buffer<Index> parent_, queue_, trail_;
    const bool everywhere_;
};

template <class Index>
void single_source_bfs(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const Options&, Run& run) {
    SingleSourceBfs<Index>(a, m, run).improve();
}

}  // namespace sparsematch
