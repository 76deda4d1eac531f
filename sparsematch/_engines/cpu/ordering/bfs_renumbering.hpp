// Renumbering for locality: rows and columns in breadth-first order, so that neighbours in the
// graph are neighbours in memory.
//
// Cuthill, McKee: Reducing the bandwidth of sparse symmetric matrices (ACM National Conference,
// 1969), on a bipartite graph and without sorting by degree. A mesh whose rows come in random order
// costs a search a cache miss per entry, and leaves a greedy initialisation free rows far from free
// columns; a few passes over the entries mend both. On graphs without locality it does nothing:
// bfs_depth_to (visit_order.hpp).
// The search writes each column's list, when it reads it, in the numbers that its rows have got.
// That is the transpose of what is wanted; transposed once more, now that neighbours are near in
// memory, each list comes out in ascending order.
// Invariant: rows, and columns, are numbered in the order in which the search visits them;
// entries_ holds the lists of the first cols_read_ columns.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "ordering/visit_order.hpp"

namespace sparsematch {

// What a renumbering writes: the rows and the columns in the new order, the new number of each row,
// and the pattern in the new numbers.
template <class Index>
struct Renumbered {
    Index *row_order, *row_place, *col_order, *indptr, *indices;
};

// Reads: both orientations. Workspace: a bit per column, an index per entry. Time: O(n_rows +
// n_cols + nnz). The steps are public for the parallel form (parallel_bfs_renumbering.hpp).
template <class Index>
class BfsRenumbering {
    // of the last entry of a list; none is empty
    static constexpr Index end_mark = std::numeric_limits<Index>::min();

  public:
    BfsRenumbering(const Csr<Index>& a, const Csr<Index>& transposed, const Renumbered<Index>& to,
                   RunContext& run)
        : a_(a), t_(transposed), to_(to), run_(run), entries_(a.nnz()),
          cols_(a.n_cols, to.col_order) {
        std::fill_n(to.row_place, a.n_rows, UNMATCHED<Index>);
        to.indptr[0] = 0;
    }

    // Numbers all rows and columns.
    void search() {
        WorkCounter counter(run_);
        while (!run_.stopped() && level(counter)) {
        }
        number_empty();
    }

    // Then writes the new indices. They may replace those of the transpose, which are read no more.
    void write() {
        WorkCounter counter(run_);
        transpose_back({}, {0, a_.n_rows, a_.nnz()}, counter);
    }

    // ---- steps of the search

    // The next level of columns, then of rows. False if there is nothing left to search.
    bool level(WorkCounter& counter) {
        if (rows_read_ == n_rows_ && cols_read_ == cols_.size() && !next_root()) return false;
        read_rows(n_rows_, n_rows_, counter);
        read_cols(cols_.size(), cols_.size(), counter);
        return true;
    }

    // Visits the columns of the rows up to place `end`; those up to `known` are in order by now.
    void read_rows(Index end, Index known, WorkCounter& counter) {
        for (; rows_read_ < end; ++rows_read_) {
            PrefetchAhead<16>::lists(a_, to_.row_order, rows_read_, known);
            const Index i = to_.row_order[rows_read_], degree = a_.degree(i);
            cols_.add_all(a_.neighbours(i));
            to_.indptr[rows_read_ + 1] = std::exchange(next_list_, next_list_ + degree);
            if (!counter.add(degree)) return;
        }
    }

    // Visits the rows of the columns up to place `end`, and writes their numbers.
    void read_cols(Index end, Index known, WorkCounter& counter) {
        const Index* const cols = cols_.order();
        Index n = n_rows_, total = n_entries_;  // in registers
        for (; cols_read_ < end; ++cols_read_) {
            PrefetchAhead<16>::lists(t_, cols, cols_read_, known);
            if (known - cols_read_ > 6) prefetch_places(cols[cols_read_ + 6]);
            for (const Index i : t_.neighbours(cols[cols_read_])) entries_[total++] = number(i, n);
            entries_[total - 1] |= end_mark;
            if (!counter.add(t_.degree(cols[cols_read_]))) break;
        }
        n_rows_ = n;
        n_entries_ = total;
    }

    // Numbers the first row that has entries and no number, as the root of the next component.
    bool next_root() {
        for (; root_ < a_.n_rows; ++root_)
            if (a_.degree(root_) > 0 && to_.row_place[root_] == UNMATCHED<Index>) {
                number(root_, n_rows_);
                return true;
            }
        return false;
    }

    // Rows and columns without entries come last.
    void number_empty() {
        for (Index j = 0; j < a_.n_cols && cols_.size() < a_.n_cols; ++j) cols_.add(j);
        for (Index i = 0; i < a_.n_rows && n_rows_ < a_.n_rows; ++i)
            if (to_.row_place[i] == UNMATCHED<Index>) {
                number(i, n_rows_);
                to_.indptr[n_rows_] = a_.nnz();
            }
    }

    // How many rows and columns have got numbers, and of how many the lists have been read.
    Index n_rows() const { return n_rows_; }
    Index n_cols() const { return cols_.size(); }
    Index rows_read() const { return rows_read_; }
    Index cols_read() const { return cols_read_; }

    // ---- the second transpose

    struct Place {
        Index col = 0, entry = 0;  // of entries_
    };
    struct Part {
        Index begin, end, n_entries;  // rows, and how many entries they have
    };
    Place place() const { return {cols_read_, n_entries_}; }

    // Fills the lists of some rows, which have no entries before `from`. Where a row's next entry
    // goes stands in indptr[row + 1], which in the end is where the next list begins.
    void transpose_back(Place from, Part part, WorkCounter& counter) {
        constexpr Index stride = 1 << 12;
        const Index nnz = a_.nnz();
        Index col = from.col, p = from.entry, left = part.n_entries;
        while (left > 0 && counter.add(stride)) {
            for (const Index stop = std::min(nnz - p, stride) + p; p < stop; ++p) {
                const Index row = entries_[p] & ~end_mark;
                if (part.begin <= row && row < part.end) {
                    to_.indices[to_.indptr[row + 1]++] = col;
                    --left;
                }
                col += entries_[p] < 0;
            }
        }
    }

  private:
    // The number of row i, the next one if it has none.
    Index number(Index i, Index& next) const {
        Index& place = to_.row_place[i];
        if (place == UNMATCHED<Index>) {
            to_.row_order[next] = i;
            place = next++;
        }
        return place;
    }

    [[gnu::always_inline]] void prefetch_places(Index j) const {
        for (const Index i : t_.neighbours(j)) __builtin_prefetch(&to_.row_place[i], 1);
    }

    const Csr<Index>&a_, &t_;
    const Renumbered<Index> to_;
    RunContext& run_;
    Buffer<Index> entries_;  // the columns' lists, one after the other
    // written by read_rows
    VisitOrder<Index> cols_;
    Index rows_read_ = 0, next_list_ = 0;  // and where the list of the next row begins
    // written by read_cols and next_root
    alignas(64) Index cols_read_ = 0, n_rows_ = 0, n_entries_ = 0, root_ = 0;
};

}  // namespace sparsematch
