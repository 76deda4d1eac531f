// Alternating breadth-first search from a set of rows: to all their unseen columns, from these to
// their mates, and so on.
//
// A narrow frontier is read in the order of the queue, with prefetching; a wide one by ascending
// row, where many lists are near to each other in memory.
// Invariant: every row in row_seen is a start or the mate of a column in seen; the queue holds the
// columns whose mates are still to be read.
#pragma once

#include "core/append_unseen.hpp"
#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Reads: the matrix, the columns' mates. Writes: `seen`, which holds the columns not to be entered
// and gets those that were; `row_seen`, which gets the mates of these. Workspace: an index per
// column, written as far as the search goes, and two bits per vertex. Time: O(entries read), and
// O(n_rows + n_cols) bits for each wide frontier.
template <class Index>
class AlternatingSearch {
  public:
    AlternatingSearch(const Csr<Index>& a, const Index* col_mate, Bitmap& row_seen, Bitmap& seen)
        : a_(a), col_mate_(col_mate), row_seen_(row_seen), seen_(seen),
          queue_(static_cast<std::size_t>(a.n_cols) + 1),
          wide_(static_cast<std::size_t>(a.n_cols) / 16 + 64) {}

    void from(Index i) { tail_ = expand(i, tail_); }
    // Until nothing new is reached, or the run is stopped. False as soon as it meets a free column.
    bool run(RunContext& run) {
        WorkCounter counter(run);
        while (head_ < tail_ && !run.stopped())
            if (!(tail_ - head_ < wide_ ? one_by_one(counter) : in_order(counter))) return false;
        return true;
    }

  private:
    // In the order of the queue, while that is short.
    bool one_by_one(WorkCounter& counter) {
        const Index *const queue = queue_.data(), *const mate = col_mate_;
        std::size_t head = head_, tail = tail_;
        bool going = true;
        for (; head < tail && tail - head < wide_ && going; ++head) {
            PrefetchAhead<16>::mate_lists(a_, mate, queue, head, tail);
            const Index i = mate[queue[head]];
            if (i == UNMATCHED<Index>) return false;
            row_seen_.set(i);
            going = counter.add(a_.degree(i));
            tail = expand(i, tail);
        }
        head_ = head;
        tail_ = tail;
        return true;
    }

    // All that is in the queue, by ascending row. What is new is found by bitmaps afterwards, so
    // that no store depends on the length of the queue.
    bool in_order(WorkCounter& counter) {
        Bitmap rows(a_.n_rows), fresh(a_.n_cols);
        for (; head_ < tail_; ++head_) {
            if (head_ + 16 < tail_) SPARSEMATCH_PREFETCH(&col_mate_[queue_[head_ + 16]]);
            const Index i = col_mate_[queue_[head_]];
            if (i == UNMATCHED<Index>) return false;
            rows.set(i);
        }
        row_seen_.merge(rows);
        each(rows, true, a_.n_rows, [&](Index i) {
            for (const Index j : a_.neighbours(i)) fresh.set(j);
            counter.add(a_.degree(i));
        });
        fresh.remove(seen_);
        seen_.merge(fresh);
        head_ = tail_ = 0;
        each(fresh, true, a_.n_cols, [&](Index j) { queue_[tail_++] = j; });
        return true;
    }

    std::size_t expand(Index i, std::size_t tail) {
        return append_unseen(a_.neighbours(i), seen_, queue_.data(), tail);
    }

    const Csr<Index>& a_;
    const Index* col_mate_;
    Bitmap &row_seen_, &seen_;
    Buffer<Index> queue_;
    std::size_t head_ = 0, tail_ = 0;
    const std::size_t wide_;  // a frontier for which passes over all bits pay
};

}  // namespace sparsematch
