// Single-source breadth-first search by several workers: each searches from free rows of its own,
// on mates that the others may change meanwhile. What they share is hardly ever written.
//
// Three protocols:
// - SpinLock. A path is flipped with the lock held, and only if all its pairs are still those that
//   the search met. Otherwise the search is repeated.
// - SequenceCount, odd while a path is flipped. A tree that failed is one of a matching that there
//   was if no path has been flipped since its search began, or, looked up with the lock held, if
//   its mates are the same still. Then it fails for good; otherwise the search is repeated.
// - PublishedLists (decision 0005) of the columns of failed trees, which stay visited for all.
// Invariant: as in single_source_bfs.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/alternating_search.hpp"
#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/published_lists.hpp"
#include "core/run_context.hpp"
#include "matching/search_tree.hpp"

namespace sparsematch {

// Held for less time than it takes to fall asleep.
class SpinLock {
  public:
    void lock() {
        for (int tries = 1; held_.load(std::memory_order_relaxed) ||
                            held_.exchange(true, std::memory_order_acquire);
             ++tries)
            if (tries % 256 == 0) std::this_thread::yield();
    }
    void unlock() { held_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> held_{false};
};

// Twice the writes that have been made, and one more during one. A reader that loads a written
// value (acquire) sees the count of that write too. One writer at a time, by release stores.
class SequenceCount {
  public:
    std::uint64_t read() const { return count_.load(std::memory_order_acquire); }
    bool unchanged_since(std::uint64_t seen) const {
        return seen % 2 == 0 && count_.load(std::memory_order_relaxed) == seen;
    }
    void begin_write() { advance(std::memory_order_relaxed); }
    void end_write() { advance(std::memory_order_release); }

  private:
    void advance(std::memory_order order) {
        count_.store(count_.load(std::memory_order_relaxed) + 1, order);
    }
    std::atomic<std::uint64_t> count_{0};
};

template <class Index> class ParallelSingleSourceBfs {
    struct Worker {
        Worker(const Csr<Index>& a, Matching<Index> m, RunContext& run, int rank)
            : rank(rank), counter(run, rank), tree(a, m) {}
        const int rank;
        WorkCounter counter;
        SearchTree<Index> tree;
        std::int64_t failed = 0, failed_edges = 0;  // not yet in the projection
    };
    struct Share {
        std::size_t begin, end;
    };
    // Searches, or edges of those that fail, that are accounted for together.
    static constexpr std::int64_t searches_at_once = 64, edges_at_once = 1 << 12;

  public:
    // `finished`: columns that are not to be visited.
    ParallelSingleSourceBfs(const Csr<Index>& a, Matching<Index> m, RunContext& run,
                            const std::vector<Index>& roots, const Bitmap& finished)
        : a_(a), m_(m), run_(run), roots_(roots), finished_(finished),
          projection_(a, m, run, roots.size()), left_(projection_.n_targets) {
        for (int rank = 0; rank < run.team.size() && workers_.size() < roots.size(); ++rank)
            workers_.push_back(std::make_unique<Worker>(a, m, run, rank));
        failed_ = PublishedLists<Index>(workers_.size(), a.n_cols);
    }

    void search_all() {
        run_.team.each([&](int rank) {
            if (rank < static_cast<int>(workers_.size())) search_shares(*workers_[rank]);
        });
    }

  private:
    void search_shares(Worker& worker) {
        Share share = next_share();
        if (share.begin < share.end) worker.tree.visited.copy(finished_);
        while (share.begin < share.end && left_.load(std::memory_order_relaxed) > 0 &&
               !run_.stopped() && !run_.exhausted()) {
            if (share.begin + 8 < roots_.size()) prefetch_list(a_, roots_[share.begin + 8]);
            search(worker, roots_[share.begin]);
            if (++share.begin == share.end) share = next_share();
        }
        const std::lock_guard lock(lock_);
        account(worker, 0, 0);
    }
    // Ever fewer roots at a time: the last, with few columns left, take as long as hundreds.
    Share next_share() {
        const std::size_t n = roots_.size();
        std::size_t begin = next_.load(), end = n;
        do {
            if (begin == n) return {n, n};
            end = begin + std::clamp<std::size_t>((n - begin) / 32, 1, 64);
        } while (!next_.compare_exchange_weak(begin, end));
        return {begin, end};
    }

    // Until the root is matched, or its tree has failed.
    void search(Worker& worker, Index root) {
        SearchTree<Index>& tree = worker.tree;
        for (bool done = false; !done;) {
            if (worker.failed % 16 == 0)
                failed_.consume(worker.rank, [&](const Index* cols, std::size_t n) {
                    for (std::size_t k = 0; k < n; ++k) tree.visited.set(cols[k]);
                });
            const std::uint64_t count = n_writes_.read();
            if (!tree.template grow<std::memory_order_acquire>({&root, 1}, worker.counter)) return;
            if (tree.has_path()) done = augment(worker);
            else if (still_fails(tree, count)) return hide(worker);
            tree.forget();
        }
    }

    // Flips the path that ends in the leaf. False: a mate on it has changed since.
    bool augment(Worker& worker) {
        const std::lock_guard lock(lock_);
        if (!path_holds(worker.tree)) return false;
        n_writes_.begin_write();
        worker.tree.follow_path([&](Index i, Index j) {
            run_.stats.path_edges += 2;
            poke(m_.row_mate[i], j);
            poke(m_.col_mate[j], i, std::memory_order_release);
        });
        n_writes_.end_write();
        --run_.stats.path_edges;
        ++run_.stats.augmentations;
        left_.fetch_sub(1, std::memory_order_relaxed);
        account(worker, 1, worker.tree.n_edges);
        return true;
    }
    bool path_holds(const SearchTree<Index>& tree) const {
        if (m_.col_mate[tree.trail[tree.leaf]] != UNMATCHED<Index>) return false;
        for (Index k = tree.parent[tree.leaf]; k > 0; k = tree.parent[k - 1])
            if (m_.row_mate[tree.queue[k]] != tree.trail[k - 1]) return false;
        return true;
    }

    // Whether a tree without a free column is of a matching that there was since count was read.
    bool still_fails(const SearchTree<Index>& tree, std::uint64_t count) {
        if (tree.size == 0 || n_writes_.unchanged_since(count)) return true;
        const std::lock_guard lock(lock_);
        for (Index k = 0; k < tree.size; ++k)
            if (m_.col_mate[tree.trail[k]] != tree.queue[k + 1]) return false;
        return true;
    }
    // The columns of a tree that failed stay visited, for all workers.
    void hide(Worker& worker) {
        failed_.add(worker.rank, worker.tree.trail.data(), worker.tree.size);
        failed_.publish(worker.rank);
        worker.tree.mark_finished(run_.finished);
        worker.failed_edges += worker.tree.n_edges;
        if (++worker.failed < searches_at_once && worker.failed_edges < edges_at_once) return;
        const std::lock_guard lock(lock_);
        account(worker, 0, 0);
    }
    // With the lock held.
    void account(Worker& worker, std::int64_t found, std::int64_t edges) {
        projection_.add(found, edges, std::exchange(worker.failed, 0),
                        std::exchange(worker.failed_edges, 0));
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    RunContext& run_;
    const std::vector<Index>& roots_;
    const Bitmap& finished_;
    CostProjection projection_;
    std::vector<std::unique_ptr<Worker>> workers_;
    PublishedLists<Index> failed_;      // columns of trees that failed
    std::atomic<std::size_t> next_{0};  // of the roots
    std::atomic<std::int64_t> left_;    // free columns
    alignas(64) SpinLock lock_;
    alignas(64) SequenceCount n_writes_;
};

// The halves of a list in turns. Trees of neighbours meet the same free columns, so two that grow
// at the same time should be far apart.
template <class Index> std::vector<Index> interleaved(const std::vector<Index>& list) {
    std::vector<Index> mixed(list.size());
    for (std::size_t k = 0, half = (list.size() + 1) / 2; k < list.size(); ++k)
        mixed[k] = list[k / 2 + k % 2 * half];
    return mixed;
}

// From the last few rows at once, to one free column after the other, each time by all workers:
// one worker for each row would leave most of them without work. A search that fails, with which
// the matching is maximum, does not count against the budget.
template <class Index>
void search_together(const Csr<Index>& a, Matching<Index> m, RunContext& run,
                     std::vector<Index> roots, const Bitmap& finished) {
    Buffer<Index> parent(a.n_cols);
    for (auto left = count_free(a.n_cols, m.col_mate, run.finished.col, run);
         left > 0 && !roots.empty() && !run.exhausted(); --left) {
        Bitmap rows(a.n_rows), cols(a.n_cols);
        cols.copy(finished);
        AlternatingSearch<Index> search(a, m.col_mate, rows, cols, {.wide = 2}, parent.data());
        for (const Index root : roots) search.from(root);
        const std::int64_t edges = run.edges();
        const bool fails = run_searches(std::array{&search}, run);
        ++run.stats.phases;
        if (fails) run.extend_budget(run.edges() - edges);
        if (fails || run.stopped()) return;
        Index i;
        for (Index j = search.found(); j != UNMATCHED<Index>; run.stats.path_edges += 2) {
            i = parent[j];
            const Index before = m.row_mate[i];
            m.match(i, j);
            j = before;
        }
        --run.stats.path_edges, ++run.stats.augmentations;
        std::erase(roots, i);
    }
}

// Writes: both mates. Workspace of each worker: four indices, a bit per column. Time: O(n nnz).
template <class Index>
void parallel_single_source_bfs(const Csr<Index>& a, Matching<Index> m, RunContext& run) {
    // Roots above which there are free columns nearby for all.
    constexpr std::size_t few_roots = 1 << 10;
    auto timer = run.time("search");
    std::vector<Index> roots = search_roots(a, m, run);
    Bitmap finished(a.n_cols);
    mark_finished_columns(finished, a.n_cols, run);
    if (2 * roots.size() <= static_cast<std::size_t>(run.team.size()))
        return search_together(a, m, run, std::move(roots), finished);
    if (roots.size() <= few_roots) roots = interleaved(roots);
    ParallelSingleSourceBfs<Index>(a, m, run, roots, finished).search_all();
}

}  // namespace sparsematch
