// What the sequential and the parallel single-source search share: where searches start, the tree
// that one of them grows, and the projection of what all of them will cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/csr.hpp"
#include "core/free_rows.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// The free rows, without those that the caller says no augmenting path needs.
template <class Index>
std::vector<Index> search_roots(const Csr<Index>& a, Matching<Index> m, const RunContext& run) {
    std::vector<Index> roots = free_rows(a, m, run.team);
    if (run.finished) std::erase_if(roots, [&](Index i) { return run.finished.row[i]; });
    return roots;
}

// The columns that the caller says no augmenting path needs.
inline void mark_finished_columns(Bitmap& visited, std::size_t n_cols, const RunContext& run) {
    if (!run.finished) return;
    run.team.loop(n_cols, mates_at_a_time, [&](int, std::int64_t begin, std::int64_t end) {
        visited.mark(begin, end, [&](std::size_t j) { return run.finished.col[j]; });
    });
}

// Alternating trees of a few roots. Row queue[k + n_roots] is the mate of column trail[k];
// parent[k] is the place in the queue of the row from which that column was reached.
template <class Index> class SearchTree {
  public:
    SearchTree(const Csr<Index>& a, Matching<Index> m)
        : visited(a.n_cols), parent(a.n_cols), queue(std::size_t{most_roots} + a.n_cols),
          trail(a.n_cols + std::size_t{1}), a_(a), col_mate_(m.col_mate) {}

    // Level by level from free rows to the first free column, if there is one; cut short before it
    // scans more than `most` edges. False: the run was stopped, or its budget is exhausted.
    template <std::memory_order order = std::memory_order_relaxed>
    bool grow(std::span<const Index> roots, WorkCounter& counter, std::int64_t most = unlimited) {
        // How many rows of the queue have been prefetched: their lists, places of lists. The queue
        // grows while it is read, so each link of the chain counts for itself.
        Index lists = 0, places = 0, n = 0;
        n_edges = 0;
        leaf = -1;
        n_roots = static_cast<Index>(roots.size());
        std::copy(roots.begin(), roots.end(), queue.data());
        for (Index head = 0; head < n + n_roots && leaf < 0; ++head) {
            for (; places < std::min(n, head + 16); ++places)
                SPARSEMATCH_PREFETCH(&a_.indptr[queue[places + n_roots]]);
            for (; lists < std::min(n, head + 8); ++lists)
                prefetch_list(a_, queue[lists + n_roots]);
            const Index i = queue[head];
            if (is_cut = a_.degree(i) > most - n_edges; is_cut) break;
            if (!counter.add_within_budget(a_.degree(i))) {
                size = n;
                return false;
            }
            n_edges += a_.degree(i);
            const Index first = n;
            n = append_unseen(a_.neighbours(i), visited, trail.data(), n);
            enqueue_mates<order>(head, first, n);
        }
        size = n;
        return true;
    }
    bool has_path() const { return leaf >= 0; }
    // Calls use(i, j) for each row i of the path, from its end to the root, and its new column j.
    // Returns which of the roots that is.
    template <class Use> Index follow_path(const Use& use) const {
        for (Index place = leaf, k = parent[place];; place = k - n_roots, k = parent[place]) {
            use(queue[k], trail[place]);
            if (k < n_roots) return k;
        }
    }
    // Its vertices need no visit by any later search.
    void mark_finished(const Finished& finished) const {
        if (!finished) return;
        for (Index k = 0; k < size + n_roots; ++k) poke(finished.row[queue[k]], true);
        for (Index k = 0; k < size; ++k) poke(finished.col[trail[k]], true);
    }
    // Its columns may be visited again.
    void forget() {
        for (Index k = 0; k < size; ++k) visited.clear(trail[k]);
    }

    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    static constexpr int most_roots = 16;  // at a time (random web pages: 0.87 of the time of 1)
    Bitmap visited;
    Buffer<Index> parent, queue, trail;
    Index n_roots = 0, size = 0;  // columns in the trail
    Index leaf = -1;           // the place in the trail of the free column at the end of the path
    std::int64_t n_edges = 0;  // scanned
    bool is_cut = false;       // before it had a path or was whole

  private:
    // Enqueues the mates of columns from place k of the trail to n, until one has none.
    template <std::memory_order order> void enqueue_mates(Index head, Index k, Index n) {
        for (; k < n; ++k) {
            const Index mate = peek(col_mate_[trail[k]], order);
            parent[k] = head;
            queue[k + n_roots] = mate;
            if (mate == UNMATCHED<Index>) return void(leaf = k);
        }
    }

    const Csr<Index>& a_;
    const Index* col_mate_;
};

// Ends a run early if the remaining searches are projected to cost more than half of its budget of
// edges: from the second projection on, as few searches tell little (banded with dense rows and
// columns: 0.4 of the time; 106 matrices: 0.99). Only searches that succeed count, where columns of
// failed ones are never visited again. They are taken to cost the same each, where free columns are
// near; where the last search has to find the last column, one with r left costs about 1 / r.
class CostProjection {
  public:
    template <class Index>
    CostProjection(const Csr<Index>& a, Matching<Index> m, RunContext& run, std::size_t n_roots)
        : n_targets(count_free(a.n_cols, m.col_mate, run.finished.col, run)), run_(run),
          n_roots_(static_cast<double>(n_roots)),
          n_free_rows_(count_free(a.n_rows, m.row_mate, run.finished.row, run)),
          budget_(static_cast<double>(run.edge_limit())), next_(budget_ / first_sample) {}

    // Adds the numbers of searches that have succeeded and failed, and the edges that they scanned.
    void add(std::int64_t found, std::int64_t edges, std::int64_t failed,
             std::int64_t failed_edges) {
        if (run_.finished) run_.extend_budget(failed_edges);
        run_.stats.phases += found + failed;
        run_.stats.failed_edges += failed_edges;
        now_.cost += static_cast<double>(edges);
        now_.found += static_cast<double>(found);
        now_.failed += static_cast<double>(failed);
        now_.failed_cost += static_cast<double>(failed_edges);
        if (budget_ <= 0 || now_.cost < next_ || now_.found <= before_.found) return;
        if (before_.found > 0 && 2 * remaining() > budget_) run_.give_up();
        before_ = now_;
        next_ = 2 * now_.cost;
    }

    // The free columns that an augmenting path may need, and those without entries.
    const std::int64_t n_targets;

  private:
    static constexpr int first_sample = 64;  // the budget over the cost of the first projection
    struct Sample {
        double cost = 0, found = 0, failed = 0, failed_cost = 0;
    };

    // The cost of the searches left, of which as many succeed as of the last, if there are targets.
    double remaining() const {
        const double found = now_.found - before_.found, failed = now_.failed - before_.failed;
        const double searches_left = n_roots_ - now_.found - now_.failed;
        const double left = std::min(searches_left * found / (found + failed),
                                     static_cast<double>(n_targets) - now_.found);
        const double cost = now_.cost - before_.cost;
        if (!ends_with_last_column()) return cost * left / found;
        return cost * std::log(left + 1) / std::log((left + found + 1) / (left + 1));
    }
    bool ends_with_last_column() const {
        if (now_.failed > now_.found / 4 || now_.failed_cost > now_.cost / 4) return false;
        return static_cast<double>(n_targets) < 1.2 * (n_free_rows_ - now_.failed);
    }

    RunContext& run_;
    const double n_roots_, n_free_rows_, budget_;
    double next_;  // the cost at which the projection is made again
    Sample before_, now_;
};

}  // namespace sparsematch
