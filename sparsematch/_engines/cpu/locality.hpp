// Renumbering for locality: rows and columns in breadth-first order, so that neighbours in the graph are neighbours in memory.
//
// A mesh whose rows come in random order costs a search a cache miss per entry, and a greedy start on it leaves free rows
// far from free columns. Numbered by breadth-first search (the idea of Cuthill and McKee, 1969) both problems go, for a few
// passes over the edges. It does nothing for graphs without locality, where a few steps reach everything: `depth` tells.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// Asks for both ends of a list: most are shorter than two lines of the cache.
template <class Index>
void prefetch_list(const Csr<Index>& lists, Index v) {
    __builtin_prefetch(&lists.indices[lists.indptr[v]]);
    __builtin_prefetch(&lists.indices[lists.indptr[v + 1] - 1]);
}

// Breadth-first search over both sides. What it has seen stands in the two lists, in order. If it tells, row_cursor[k + 1] is
// how many entries the lists of the rows before the k-th have.
template <bool Tells, class Index>
class BreadthFirst {
  public:
    BreadthFirst(const Csr<Index>& a, const Csr<Index>& transposed, Index* rows, Index* cols, Index* row_cursor = nullptr)
        : a_(a), t_(transposed), rows_(rows), cols_(cols), row_cursor_(row_cursor), row_seen_(a.n_rows), col_seen_(a.n_cols) {}

    void start(Index root) {
        if (row_seen_.claim<false>(root)) rows_[n_rows_++] = root;
    }
    // From the last level of rows to its columns, and on to the next level of rows. False when there is none, or to stop.
    bool level(Meter& meter) {
        const Index row_end = n_rows_, col_begin = n_cols_;
        if (!step<Tells>(a_, rows_, level_begin_, row_end, col_seen_, cols_, n_cols_, meter)) return false;
        if (!step<false>(t_, cols_, col_begin, n_cols_, row_seen_, rows_, n_rows_, meter)) return false;
        level_begin_ = row_end;
        n_done_cols_ = n_rows_ > row_end ? col_begin : n_cols_;
        return n_rows_ > row_end;
    }
    // Rows whose lists have been read, and columns that lead to no others.
    Index n_done_rows() const { return level_begin_; }
    Index n_done_cols() const { return n_done_cols_; }
    Index n_rows() const { return n_rows_; }
    Index n_cols() const { return n_cols_; }
    // The columns without entries, which no search meets.
    void append_empty_cols() {
        for (Index j = 0; j < a_.n_cols; ++j)
            if (!col_seen_.test(j)) cols_[n_cols_++] = j;
    }

  private:
    // Appends to `to` the unseen neighbours of from[begin..end).
    template <bool Tell>
    bool step(const Csr<Index>& lists, const Index* from, Index begin, Index end, Bitmap& seen, Index* to, Index& n_to,
              Meter& meter) {
        Index n = n_to;
        bool going = true;
        for (Index k = begin; k < end && going; ++k) {
            if (end - k > 32) __builtin_prefetch(&lists.indptr[from[k + 32]]);
            if (end - k > 16) prefetch_list(lists, from[k + 16]);
            const Index first = lists.indptr[from[k]], last = lists.indptr[from[k] + 1];
            if constexpr (Tell) row_cursor_[k + 1] = std::exchange(total_, total_ + last - first);
            if (last - first <= lists.n_cols - n) {
                // Each is written, and stays if it is new: no branch to mispredict.
                for (Index p = first; p < last; ++p) {
                    to[n] = lists.indices[p];
                    n += seen.insert(lists.indices[p]);
                }
            } else {
                for (Index p = first; p < last; ++p)
                    if (seen.insert(lists.indices[p])) to[n++] = lists.indices[p];
            }
            going = meter.charge(last - first);
        }
        n_to = n;
        return going;
    }

    const Csr<Index>&a_, &t_;
    Index *rows_, *cols_, *row_cursor_;
    Index n_rows_ = 0, n_cols_ = 0, level_begin_ = 0, n_done_cols_ = 0, total_ = 0;
    Bitmap row_seen_, col_seen_;
};

// How many levels it takes from some row until `rows` rows are seen: the median of three searches. Few: no locality.
template <class Index>
Index depth(const Csr<Index>& a, const Csr<Index>& transposed, Index rows, Run& run) {
    Meter meter(run);
    Index levels[3] = {};
    Buffer<Index> row_list(a.n_rows), col_list(a.n_cols);
    for (int k = 0; k < 3 && a.n_rows > 0; ++k) {
        BreadthFirst<false, Index> search(a, transposed, row_list.data(), col_list.data());
        search.start(static_cast<Index>(hash(k + 7) % a.n_rows));
        do ++levels[k];
        while (search.level(meter) && search.n_rows() < rows);
    }
    std::sort(levels, levels + 3);
    return levels[1];
}

// Writes the renumbered matrix behind the search: row i of a becomes row row_place[i], column col_order[k] column k. The
// entries are dealt out column by column of the transpose, so that each list comes out in ascending order: a start that
// takes the first free column then sweeps through the matrix instead of hopping. With several workers one searches and
// one writes, and is told the degrees that the other has looked up.
// Reads: both orientations. Writes: row_place, col_order, indptr, indices. Workspace: row_order. Time: O(nnz).
template <bool Threads, class Index>
class Renumbering {
    // Columns that are written at a time: while their lists are still in the cache, or soon enough for the other to go on.
    static constexpr Index stride = Threads ? 1 << 10 : 1 << 12;
    static constexpr int patience = 1 << 9;

  public:
    Renumbering(const Csr<Index>& a, const Csr<Index>& transposed, Index* row_order, Index* row_place, Index* col_order,
                Index* indptr, Index* indices, Run& run)
        : a_(a), t_(transposed), row_order_(row_order), row_place_(row_place), col_order_(col_order), indptr_(indptr),
          indices_(indices), run_(run), search_(a, transposed, row_order, col_order, indptr) {}

    void write() {
        indptr_[0] = 0;
        if constexpr (!Threads) {
            search([this](Index n_rows, Index n_cols) { catch_up(n_rows, n_cols); });
            return;
        }
        run_.team.each([this](int rank) {
            if (rank == 0) search([this](Index n_rows, Index n_cols) { publish(n_rows, n_cols); });
            if (rank == 1) follow();
        });
    }

  private:
    template <class Report>
    void search(const Report& report) {
        Meter meter(run_);
        Index reported = 0;
        for (Index root = 0; root < a_.n_rows && !run_.stopped(); ++root) {
            search_.start(root);
            do {
                const bool more = search_.level(meter);
                const Index n_cols = Threads ? search_.n_done_cols() : search_.n_cols();
                if (n_cols - reported >= stride) report(Threads ? search_.n_done_rows() : search_.n_rows(), reported = n_cols);
                if (!more) break;
            } while (!run_.stopped());
        }
        search_.append_empty_cols();
        report(a_.n_rows, a_.n_cols);
    }

    // Seen columns lead to seen rows only, so that all that is reported can be written. A worker who is told the degrees waits
    // until the search is through with these rows: then indptr_[k + 1] is where the list of row k begins. Not inlined: the
    // search needs the registers.
    [[gnu::noinline]] void catch_up(Index n_rows, Index n_cols) {
        if (run_.stopped()) return;
        for (; rows_done_ < n_rows; ++rows_done_) {
            const Index i = row_order_[rows_done_];
            if (n_rows - rows_done_ > 16) {
                if constexpr (!Threads) __builtin_prefetch(&a_.indptr[row_order_[rows_done_ + 16]]);
                __builtin_prefetch(&row_place_[row_order_[rows_done_ + 16]], 1);
            }
            row_place_[i] = rows_done_;
            if constexpr (!Threads) {
                indptr_[rows_done_ + 1] = total_;  // the cursor of the row's list, which ends up where the list ends
                total_ += a_.degree(i);
            }
        }
        for (; cols_done_ < n_cols; ++cols_done_) {
            const Index j = col_order_[cols_done_];
            if (n_cols - cols_done_ > 16) prefetch_list(t_, col_order_[cols_done_ + 16]);
            if (n_cols - cols_done_ > 6) prefetch_places(col_order_[cols_done_ + 6]);
            for (Index p = t_.indptr[j]; p < t_.indptr[j + 1]; ++p)
                indices_[indptr_[row_place_[t_.indices[p]] + 1]++] = cols_done_;
        }
    }

    void prefetch_places(Index col) const {
        for (Index p = t_.indptr[col]; p < t_.indptr[col + 1]; ++p) __builtin_prefetch(&row_place_[t_.indices[p]]);
    }

    void publish(Index n_rows, Index n_cols) {
        rows_seen_.store(n_rows, std::memory_order_relaxed);
        cols_seen_.store(n_cols, std::memory_order_release);
        version_.fetch_add(1, std::memory_order_release);
        version_.notify_one();
    }
    void follow() {
        for (std::uint32_t seen = 0; rows_done_ < a_.n_rows || cols_done_ < a_.n_cols;) {
            // The next report is near; to be woken takes the search longer than it does to get there.
            for (int tries = 0; tries < patience && version_.load(std::memory_order_relaxed) == seen; ++tries)
                std::this_thread::yield();
            version_.wait(seen, std::memory_order_acquire);
            seen = version_.load(std::memory_order_acquire);
            if (run_.stopped()) return;
            const Index n_cols = cols_seen_.load(std::memory_order_acquire);  // first: it must not be ahead of the rows
            catch_up(rows_seen_.load(std::memory_order_relaxed), n_cols);
        }
    }

    const Csr<Index>&a_, &t_;
    Index *row_order_, *row_place_, *col_order_, *indptr_, *indices_;
    Run& run_;
    BreadthFirst<Threads, Index> search_;
    Index rows_done_ = 0, cols_done_ = 0, total_ = 0;
    std::atomic<Index> rows_seen_{0}, cols_seen_{0};
    std::atomic<std::uint32_t> version_{0};
};

template <class Index>
void renumber(const Csr<Index>& a, const Csr<Index>& transposed, Index* row_order, Index* row_place, Index* col_order,
              Index* indptr, Index* indices, Run& run) {
    const auto write = [&]<bool Threads>(std::bool_constant<Threads>) {
        Renumbering<Threads, Index>(a, transposed, row_order, row_place, col_order, indptr, indices, run).write();
    };
    if (run.team.size() > 1) write(std::true_type{});
    else write(std::false_type{});
}

// Carries a matching into the renumbering: the inverse of restore. Both by one thread: they write all over the mates, and
// two that write to the same lines of memory hold each other up.
template <class Index>
void carry(Index n_rows, Index n_cols, const Index* row_place, const Index* col_order, const Index* row_mate,
           Matching<Index> to) {
    Buffer<Index> col_place(n_cols);
    for (Index k = 0; k < n_cols; ++k) col_place[col_order[k]] = k;
    for (Index i = 0; i < n_rows; ++i)
        if (row_mate[i] != UNMATCHED<Index>) to.match(row_place[i], col_place[row_mate[i]]);
}

// Carries a matching of the renumbered matrix back. The order of the columns may stand in the mates that are to be written.
// With several workers each side is written by one, for the reason above.
// Workspace: an index per row. Time: O(n_rows + n_cols).
template <class Index>
void restore(Index n_rows, Index n_cols, const Index* row_place, const Index* col_order, const Index* row_mate,
             Matching<Index> to, Team& team) {
    Buffer<Index> mate(n_rows);  // an old column for each new row
    team.loop(n_rows, 1 << 14, [&](int, Index begin, Index end) {
        for (Index k = begin; k < end; ++k)
            mate[k] = row_mate[k] == UNMATCHED<Index> ? UNMATCHED<Index> : col_order[row_mate[k]];
    });
    const auto write_rows = [&] {
        for (Index i = 0; i < n_rows; ++i) to.row_mate[i] = mate[row_place[i]];
    };
    const auto write_cols = [&] {
        std::fill_n(to.col_mate, n_cols, UNMATCHED<Index>);
        for (Index i = 0; i < n_rows; ++i)
            if (const Index j = mate[row_place[i]]; j != UNMATCHED<Index>) to.col_mate[j] = i;
    };
    team.each([&](int rank) {
        if (rank == 0) write_rows();
        if (rank == team.size() - 1) write_cols();
    });
}

}  // namespace sparsematch
