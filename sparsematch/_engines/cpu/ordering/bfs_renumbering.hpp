// Renumbering for locality: rows and columns in breadth-first order, so that neighbours in the
// graph are neighbours in memory.
//
// A mesh whose rows come in random order costs a search a cache miss per entry, and a greedy start
// on it leaves free rows far from free columns. Numbered by breadth-first search (the idea of
// Cuthill and McKee, 1969) both problems go, for a few passes over the edges. It does nothing for
// graphs without locality, where a few steps reach everything: `depth` tells.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "core/append_unseen.hpp"
#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "core/spsc_ring.hpp"

namespace sparsematch {

// The vertices of one side that a breadth-first search has met, in the order in which it met them.
template <class Index>
class VisitOrder {
  public:
    // `order` has room for all n.
    VisitOrder(Index n, Index* order) : n_(n), order_(order), seen_(n) {}

    Index size() const { return size_; }
    const Index* order() const { return order_; }
    bool add(Index v) {
        const bool is_new = seen_.insert(v);
        if (is_new) order_[size_++] = v;
        return is_new;
    }
    // Adds the neighbours of from[begin..end). Up to from[known) lists can be asked for in advance.
    // tell(k, size): of each list.
    template <class Tell>
    void add_neighbours(const Csr<Index>& lists, const Index* from, Index begin, Index end,
                        Index known, WorkCounter& counter, const Tell& tell) {
        Index size = size_;
        for (Index k = begin; k < end; ++k) {
            PrefetchAhead<16>::lists(lists, from, k, known);
            const auto neighbours = lists.neighbours(from[k]);
            const Index degree = lists.degree(from[k]);
            if (degree <= n_ - size) {
                size = append_unseen(neighbours, seen_, order_, size);
            } else {  // order_ has no room for one more
                for (const Index w : neighbours)
                    if (seen_.insert(w)) order_[size++] = w;
            }
            tell(k, degree);
            if (!counter.add(degree)) break;
        }
        size_ = size;
    }

  private:
    const Index n_;
    Index* const order_;
    Index size_ = 0;
    Bitmap seen_;
};

// How many levels it takes from some row until `rows` rows are seen: the median of three searches.
// Few: no locality.
template <class Index>
Index bfs_depth_to(const Csr<Index>& a, const Csr<Index>& transposed, Index rows, RunContext& run) {
    WorkCounter counter(run);
    Index levels[3] = {};
    Buffer<Index> row_list(a.n_rows), col_list(a.n_cols);
    const auto silent = [](Index, Index) {};
    for (int k = 0; k < 3 && a.n_rows > 0; ++k) {
        VisitOrder<Index> met_rows(a.n_rows, row_list.data()), met_cols(a.n_cols, col_list.data());
        met_rows.add(static_cast<Index>(hash(k + 7) % a.n_rows));
        for (Index row = 0, col = 0;
             row < met_rows.size() && met_rows.size() < rows && !run.stopped(); ++levels[k]) {
            const Index row_end = met_rows.size();
            met_cols.add_neighbours(a, met_rows.order(), std::exchange(row, row_end), row_end,
                                    row_end, counter, silent);
            const Index col_end = met_cols.size();
            met_rows.add_neighbours(transposed, met_cols.order(), std::exchange(col, col_end),
                                    col_end, col_end, counter, silent);
        }
    }
    std::sort(levels, levels + 3);
    return levels[1];
}

// Rows and columns in the order in which a breadth-first search meets them, and the matrix in these
// numbers.
//
// The search reads each column's list once and writes it in the numbers that it gives the rows on
// the way. That is the transpose of what is wanted; transposed once more, now that neighbours are
// near in memory, each list comes out in ascending order: a start that takes the first free column
// then sweeps through the matrix instead of hopping. With several workers one reads the rows' lists
// and meets columns, one reads the columns' lists and meets rows: each goes on with what the other
// has found, and the order is that of one worker. Where they have to wait for each other, as the
// system has other work for a core, one does it all.
// Reads: both orientations. Workspace: a bit per column, an index per entry. Time: O(n_rows +
// n_cols + nnz).
template <class Index>
class Renumbering {
    // lists that a worker reads before the other hears of what it found
    static constexpr Index batch = 64;
    // of the last entry of a list; none is empty
    static constexpr Index end_mark = std::numeric_limits<Index>::min();
    // How far the search had come when it had read about half of the entries.
    struct Half {
        Index n_cols = 0, n_entries = 0, n_rows = 0;
    };

  public:
    // row_order has room for one more.
    Renumbering(const Csr<Index>& a, const Csr<Index>& transposed, Index* row_order,
                Index* row_place, Index* col_order, Index* indptr, RunContext& run)
        : a_(a), t_(transposed), row_order_(row_order), row_place_(row_place), indptr_(indptr),
          run_(run), nnz_(a.nnz()), entries_(nnz_), cols_(a.n_cols, col_order) {}

    // Writes the order of both sides, the places of the rows, and indptr.
    void search() {
        std::fill_n(row_place_, a_.n_rows, UNMATCHED<Index>);
        indptr_[0] = 0;
        spin_.start();
        if (run_.team.size() > 1)
            run_.team.each([this](int rank) {
                if (rank == 0) meet_rows();
                if (rank == 1) meet_cols();
            });
        WorkCounter counter(run_);
        while (!run_.stopped() &&
               (cols_read_ < cols_.size() || rows_read_ < n_rows_ || next_root())) {
            read_rows(n_rows_, n_rows_, counter);
            read_cols(cols_.size(), cols_.size(), counter);
        }
        // Those that are left have no entries.
        for (Index j = 0; j < a_.n_cols && cols_.size() < a_.n_cols; ++j) cols_.add(j);
        for (Index i = 0; i < a_.n_rows && n_rows_ < a_.n_rows; ++i)
            if (row_place_[i] == UNMATCHED<Index>) {
                number(i, n_rows_);
                indptr_[n_rows_] = nnz_;
            }
    }

    // Writes the indices. Two workers share the rows: none that was met after half of the entries
    // had been read has any of these.
    void write(Index* indices) {
        const Index middle = run_.team.size() > 1 ? half_.n_rows : a_.n_rows;
        const Index before = middle < a_.n_rows ? indptr_[middle + 1] : nnz_;
        run_.team.each([&](int rank) {
            WorkCounter counter(run_, rank);
            if (rank == 0) fill({}, 0, middle, before, indices, counter);
            if (rank == 1) fill(half_, middle, a_.n_rows, nnz_ - before, indices, counter);
        });
    }

  private:
    // ---- the worker who meets columns

    void meet_cols() {
        WorkCounter counter(run_, 1);
        while (!run_.stopped() && !over_ && !spin_.gave_up()) {
            const Index known = rows_known_;
            if (rows_read_ == known) {
                spin_.wait_until([&] { return over_ || rows_known_ != known; });
                continue;
            }
            read_rows(std::min<Index>(known - rows_read_, batch) + rows_read_, known, counter);
            cols_known_ = cols_.size();
            rows_heard_ = rows_read_;
        }
        over_ = true;
    }

    void read_rows(Index end, Index known, WorkCounter& counter) {
        cols_.add_neighbours(
            a_, row_order_, rows_read_, end, known, counter,
            [this](Index k, Index size) { indptr_[k + 1] = std::exchange(size_, size_ + size); });
        rows_read_ = end;
    }

    // ---- the worker who meets rows

    void meet_rows() {
        WorkCounter counter(run_, 0);
        for (bool more = true; more && !run_.stopped() && !over_ && !spin_.gave_up();) {
            // in this order: the other writes them the other way round
            const Index heard = rows_heard_, known = cols_known_;
            if (cols_read_ < known) {
                read_cols(std::min<Index>(known - cols_read_, batch) + cols_read_, known, counter);
            } else if (heard == n_rows_) {
                more = next_root();
            } else {
                spin_.wait_until(
                    [&] { return over_ || cols_known_ != known || rows_heard_ != heard; });
                continue;
            }
            rows_known_ = n_rows_;
        }
        over_ = true;
    }

    void read_cols(Index end, Index known, WorkCounter& counter) {
        const Index* const cols = cols_.order();
        Index n = n_rows_, total = n_entries_;
        for (Index k = cols_read_; k < end; ++k) {
            PrefetchAhead<16>::lists(t_, cols, k, known);
            if (known - k > 6) prefetch_places(cols[k + 6]);
            const Index first = t_.indptr[cols[k]], last = t_.indptr[cols[k] + 1];
            for (Index p = first; p < last; ++p) entries_[total++] = number(t_.indices[p], n);
            entries_[total - 1] |= end_mark;
            if (!counter.add(last - first)) break;
        }
        n_rows_ = n;
        n_entries_ = total;
        cols_read_ = end;
        if (half_.n_entries == 0 && total >= nnz_ / 2) half_ = {end, total, n};
    }

    bool next_root() {
        for (; root_ < a_.n_rows; ++root_)
            if (a_.degree(root_) > 0 && row_place_[root_] == UNMATCHED<Index>) {
                number(root_, n_rows_);
                return true;
            }
        return false;
    }

    // The number of a row, the next one if it has none. Without a branch, for none could be
    // predicted: compilers turn a choice between two numbers into one, so it is made bit by bit.
    Index number(Index i, Index& next) const {
        const Index place = row_place_[i], is_new = -static_cast<Index>(place == UNMATCHED<Index>);
        const Index own = (place & ~is_new) | (next & is_new);
        row_order_[next] = i;
        next -= is_new;
        return row_place_[i] = own;
    }

    [[gnu::always_inline]] void prefetch_places(Index col) const {
        for (Index p = t_.indptr[col]; p < t_.indptr[col + 1]; ++p)
            __builtin_prefetch(&row_place_[t_.indices[p]], 1);
    }

    // ---- the second transpose

    // Fills the lists of rows begin..end-1, which have `left` entries, with the columns after
    // `from` in ascending order. Where the next entry of a row goes stands in indptr, which so
    // comes to say where the next list begins.
    void fill(Half from, Index begin, Index end, Index left, Index* indices, WorkCounter& counter) {
        constexpr Index stride = 1 << 12;
        Index col = from.n_cols, p = from.n_entries;
        while (left > 0 && counter.add(stride)) {
            for (const Index stop = std::min(nnz_ - p, stride) + p; p < stop; ++p) {
                const Index row = entries_[p] & ~end_mark;
                if (begin <= row && row < end) {
                    indices[indptr_[row + 1]++] = col;
                    --left;
                }
                col += entries_[p] < 0;
            }
        }
    }

    const Csr<Index>&a_, &t_;
    Index *const row_order_, *const row_place_, *const indptr_;
    RunContext& run_;
    const Index nnz_;
    Buffer<Index> entries_;  // the columns' lists, one after the other
    VisitOrder<Index> cols_;
    Index rows_read_ = 0, size_ = 0;  // and how many entries these rows have
    alignas(64) Index cols_read_ = 0, n_rows_ = 0, n_entries_ = 0, root_ = 0;
    Half half_;
    BoundedSpin spin_;
    // to the worker who meets columns
    alignas(64) std::atomic<Index> rows_known_{0};
    alignas(64) std::atomic<Index> cols_known_{0}, rows_heard_{0};  // to the one who meets rows
    alignas(64) std::atomic<bool> over_{false};
};

// Workspace: the indices of the transpose, which are replaced by those of the renumbered matrix.
template <class Index>
void renumber(const Csr<Index>& a, const Csr<Index>& transposed, Index* row_order, Index* row_place,
              Index* col_order, Index* indptr, Index* indices, RunContext& run) {
    Renumbering<Index> renumbering(a, transposed, row_order, row_place, col_order, indptr, run);
    renumbering.search();
    if (!run.stopped()) renumbering.write(indices);
}

// Carries a matching into the renumbering: the inverse of restore. By one thread: it writes all
// over the mates.
template <class Index>
void permute_matching(Index n_cols, const Index* row_place, const Index* col_order,
                      const Index* col_mate, Matching<Index> to) {
    for (Index k = 0; k < n_cols; ++k)
        if (const Index i = col_mate[col_order[k]]; i != UNMATCHED<Index>)
            to.match(row_place[i], k);
}

// Carries a matching of the renumbered matrix back, in the order of the new numbers: mates are near
// each other in these, so that only what is written is all over memory. With several workers each
// side is written by one: two that write to the same lines of memory hold each other up. Time:
// O(n_rows + n_cols).
template <class Index>
void unpermute_matching(Index n_rows, Index n_cols, const Index* row_order, const Index* col_order,
                        const Index* new_row_mate, const Index* new_col_mate, Matching<Index> to,
                        ThreadTeam& team) {
    const auto name = [](const Index* order, Index place) {
        return place == UNMATCHED<Index> ? UNMATCHED<Index> : order[place];
    };
    const auto write_rows = [&] {
        for (Index k = 0; k < n_rows; ++k)
            to.row_mate[row_order[k]] = name(col_order, new_row_mate[k]);
    };
    const auto write_cols = [&] {
        for (Index k = 0; k < n_cols; ++k)
            to.col_mate[col_order[k]] = name(row_order, new_col_mate[k]);
    };
    team.each([&](int rank) {
        if (rank == 0) write_rows();
        if (rank == team.size() - 1) write_cols();
    });
}

}  // namespace sparsematch
