// Checks in linear time: the certificates of what an engine returned.
//
// Koenig (1931): a matching is maximum exactly when some choice of one end of each matched entry
// covers all entries.
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

enum class PairFault {
    none,
    col_out_of_range,
    row_out_of_range,
    col_disagrees,
    row_disagrees,
    no_entry
};

template <class Index>
struct PairReport {
    PairFault fault;
    Index i, j;
};

// Is this a matching of this matrix? The first wrong pair, if not. Time: O(n_rows + n_cols +
// entries of matched rows).
template <class Index>
PairReport<Index> check_matching(const Csr<Index>& a, Matching<Index> m) {
    const auto named = [](Index mate) { return mate != UNMATCHED<Index>; };
    for (Index i = 0; i < a.n_rows; ++i) {
        const Index j = m.row_mate[i];
        if (!named(j)) continue;
        if (j < 0 || j >= a.n_cols) return {PairFault::col_out_of_range, i, j};
        if (m.col_mate[j] != i) return {PairFault::col_disagrees, i, j};
        bool entry = false;
        for (Index p = a.indptr[i]; p < a.indptr[i + 1] && !entry; ++p) entry = a.indices[p] == j;
        if (!entry) return {PairFault::no_entry, i, j};
    }
    for (Index j = 0; j < a.n_cols; ++j) {
        const Index i = m.col_mate[j];
        if (!named(i)) continue;
        if (i < 0 || i >= a.n_rows) return {PairFault::row_out_of_range, i, j};
        if (m.row_mate[i] != j) return {PairFault::row_disagrees, i, j};
    }
    return {PairFault::none, 0, 0};
}

// An entry whose ends are both free, or (UNMATCHED, UNMATCHED) when the matching is maximal.
template <class Index>
PairReport<Index> free_entry(const Csr<Index>& a, Matching<Index> m) {
    for (Index i = 0; i < a.n_rows; ++i)
        if (m.row_mate[i] == UNMATCHED<Index>)
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p)
                if (m.col_mate[a.indices[p]] == UNMATCHED<Index>)
                    return {PairFault::none, i, a.indices[p]};
    return {PairFault::none, UNMATCHED<Index>, UNMATCHED<Index>};
}

// Alternating search: from one set of rows to all their unseen columns, from these to their mates,
// and so on. `seen` are the columns that are not entered, and in the end also those that were;
// `row_seen` gets the mates of these. Workspace: an index per column, written as far as the search
// goes, and a bit per row.
template <class Index>
class AlternatingSearch {
  public:
    AlternatingSearch(const Csr<Index>& a, const Index* col_mate, Bitmap& row_seen, Bitmap& seen)
        : a_(a), col_mate_(col_mate), row_seen_(row_seen), seen_(seen),
          queue_(static_cast<std::size_t>(a.n_cols) + 1),
          wide_(static_cast<std::size_t>(a.n_cols) / 16 + 64) {}

    void from(Index i) { tail_ = expand(i, tail_); }
    // Goes on until there is nothing new, or the run is stopped. False as soon as it meets a free
    // column.
    bool run(RunContext& run) {
        WorkCounter counter(run);
        while (head_ < tail_ && !run.stopped())
            if (!(tail_ - head_ < wide_ ? one_by_one(counter) : in_order(counter))) return false;
        return true;
    }

  private:
    // While few are in the queue.
    bool one_by_one(WorkCounter& counter) {
        const Index *const queue = queue_.data(), *const mate = col_mate_,
                           *const indptr = a_.indptr;
        std::size_t head = head_, tail = tail_;
        bool going = true;
        for (; head < tail && tail - head < wide_ && going; ++head) {
            if (head + 48 < tail) __builtin_prefetch(&mate[queue[head + 48]]);
            if (head + 32 < tail)
                __builtin_prefetch(&indptr[std::max<Index>(mate[queue[head + 32]], 0)]);
            if (head + 16 < tail)
                __builtin_prefetch(&a_.indices[indptr[std::max<Index>(mate[queue[head + 16]], 0)]]);
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

    // All that is in the queue, by ascending row: many lists are near to each other then. What is
    // new is found afterwards: no store has to wait for where the queue ends.
    bool in_order(WorkCounter& counter) {
        Bitmap rows(a_.n_rows), fresh(a_.n_cols);
        for (; head_ < tail_; ++head_) {
            if (head_ + 16 < tail_) __builtin_prefetch(&col_mate_[queue_[head_ + 16]]);
            const Index i = col_mate_[queue_[head_]];
            if (i == UNMATCHED<Index>) return false;
            rows.set(i);
        }
        row_seen_.merge(rows);
        each(rows, true, a_.n_rows, [&](Index i) {
            for (Index p = a_.indptr[i], last = a_.indptr[i + 1]; p < last; ++p)
                fresh.set(a_.indices[p]);
            counter.add(a_.degree(i));
        });
        fresh.remove(seen_);
        seen_.merge(fresh);
        head_ = tail_ = 0;
        each(fresh, true, a_.n_cols, [&](Index j) { queue_[tail_++] = j; });
        return true;
    }

    // Every column is written behind the queue, and stays there if it is new: no branch to
    // mispredict. Returns the new tail.
    std::size_t expand(Index i, std::size_t tail) {
        Index* const queue = queue_.data();
        for (Index p = a_.indptr[i], last = a_.indptr[i + 1]; p < last; ++p) {
            const Index j = a_.indices[p];
            queue[tail] = j;
            tail += seen_.insert(j);
        }
        return tail;
    }

    const Csr<Index>& a_;
    const Index* col_mate_;
    Bitmap &row_seen_, &seen_;
    Buffer<Index> queue_;
    std::size_t head_ = 0, tail_ = 0;
    const std::size_t wide_;  // so many are worth a look at every row
};

// Everything that alternating paths from the free rows reach. False as soon as one reaches a free
// column.
template <class Index>
bool reach_from_free(const Csr<Index>& a, Matching<Index> m, Bitmap& row_reached,
                     Bitmap& col_reached, RunContext& run) {
    Index n_free = 0;
    for (Index i = 0; i < a.n_rows; ++i) n_free += m.row_mate[i] == UNMATCHED<Index>;
    if (n_free == 0) return true;
    AlternatingSearch<Index> search(a, m.col_mate, row_reached, col_reached);
    for (Index i = 0; i < a.n_rows; ++i)
        if (m.row_mate[i] == UNMATCHED<Index>) {
            row_reached.set(i);
            search.from(i);
        }
    return search.run(run);
}

// Koenig's cover: the rows not reached and the columns reached. It covers every entry, and has as
// many vertices as the matching has pairs, so that neither can be improved. False, and nothing
// written, if the matching is not maximum.
template <class Index>
bool koenig_cover(const Csr<Index>& a, Matching<Index> m, bool* row_cover, bool* col_cover,
                  RunContext& run) {
    Bitmap rows(a.n_rows), cols(a.n_cols);
    if (!reach_from_free(a, m, rows, cols, run)) return false;
    for (Index i = 0; i < a.n_rows; ++i) row_cover[i] = !rows.test(i);
    for (Index j = 0; j < a.n_cols; ++j) col_cover[j] = cols.test(j);
    return true;
}

}  // namespace sparsematch
