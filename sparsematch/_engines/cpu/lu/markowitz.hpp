// A row order and a column order of an unsymmetric matrix in which elimination makes little fill,
// found by elimination with its values, as for bases of linear programs.
//
// Markowitz, The elimination form of the inverse and its application to linear programming
// (Management Science 3, 1957): the next pivot is an entry with the least (r - 1)(c - 1), r and c
// being the entries of its row and of its column that are left, if it is at least `threshold` times
// the largest left in its column. The search ends after a few lists of least length, columns before
// rows: Suhl, Suhl, Computing sparse LU factorizations for large-scale linear programming bases
// (ORSA J. Computing 2, 1990). When what is left is nearly full, its order hardly matters.
// Invariant: of rows and columns that are not eliminated, each row list has the columns whose list
// has that row, and the other way round; what is eliminated leaves a list when that is next passed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "elimination/amd.hpp"
#include "lu/growing_array.hpp"
#include "lu/pivot_checks.hpp"

namespace sparsematch {

// Beyond which there is no order: work, done or predicted, in list elements and multiplications;
// entries left, fill included, while what is left is sparse.
struct MarkowitzLimits {
    double work = infinity, active = infinity;
};

// Lists in one pool that grow: one without room moves to its end, with room for as many more.
template <class T, class Index> class GrowingLists {
  public:
    // Empty lists, with room for as many elements, beside some for fill.
    void reserve(const std::vector<Index>& sizes) {
        constexpr Index fill = 4;
        lists_.resize(sizes.size());
        std::int64_t at = 0;
        for (std::size_t k = 0; k < sizes.size(); ++k)
            lists_[k] = {at, 0, sizes[k] + fill}, at += sizes[k] + fill;
        pool_.clear(), pool_.make_room(static_cast<std::size_t>(at));
        pool_.set_size(static_cast<std::size_t>(at));
    }
    Index size(Index k) const { return lists_[k].size; }
    T* begin(Index k) { return pool_.data() + lists_[k].begin; }
    T* end(Index k) { return begin(k) + lists_[k].size; }
    void append(Index k, const T& element) {
        List& list = lists_[k];
        if (list.size == list.room) move(list);
        pool_[list.begin + list.size++] = element;
    }
    // The first ones remain.
    void shorten(Index k, Index size) { lists_[k].size = size; }

  private:
    struct List {
        std::int64_t begin;
        Index size, room;
    };
    void move(List& list) {
        const auto to = static_cast<std::int64_t>(pool_.size());
        const auto room = 2 * static_cast<std::size_t>(list.room);
        pool_.make_room(room);
        pool_.set_size(pool_.size() + room);
        std::copy_n(pool_.data() + list.begin, list.size, pool_.data() + to);
        list.begin = to, list.room *= 2;
    }
    std::vector<List> lists_;
    GrowingArray<T> pool_;
};

template <class Index, class Value> class Markowitz {
  public:
    // Share of the largest in its column that a pivot has at least. Below 0.25, entries grow beyond
    // what a factorisation admits on 3 of 26 blocks; above, there is 10% more fill.
    static constexpr double threshold = 0.25;
    // Rows and columns looked at for a pivot, if one is found in them.
    static constexpr int most_lists = 4;
    // Share of the places left that are entries above which what is left is full. At 0.8, L and U
    // have 10% fewer entries, and the search takes up to 1.7 times as long (pilot, dano3mip).
    static constexpr double full = 0.5;
    // Share below which it is sparse: at the limit of entries left, what is worth a search has 4%
    // and more (air04), what is not 3% and less (bayer10, maros_r7).
    static constexpr double sparse = 0.03;

    // Reads: the columns of an n x n matrix, rows scaled. Writes: rows and cols, the orders, and
    // stored, how many entries L + U have up to each column, the diagonal counted once. False, and
    // no order: a limit is exceeded, the run was stopped, or a column is left that has zeros only.
    // Time: that of the elimination, O(n^3) at worst.
    bool run(Index n, const Index* start, const Index* row, const Value* value,
             const MarkowitzLimits& limits, Index* rows, Index* cols, double* stored,
             WorkCounter& counter) {
        prepare(n, start, row, value);
        if (!counter.add(start[n])) return false;
        double sum = 0;
        for (Index t = 0; t < n; ++t) {
            if (is_full(n - t)) return finish(t, limits, rows, cols, stored, sum);
            work_ = 1;
            if (!find_pivot(n - t)) return false;
            rows[t] = row_, cols[t] = col_;
            sum += above_[col_] + col_count_[col_];
            stored[t] = sum;
            eliminate();
            if (exceeds(limits, t, n) || !counter.add(work_)) return false;
        }
        return true;
    }

  private:
    struct Entry {
        Index row;
        Value value;
    };
    // Of a row, while the pivot column has it: `stamp` is base_ then, or more: the number of the
    // column that it was applied to last.
    struct Multiplier {
        Value value;
        std::int64_t stamp;
    };
    static constexpr double unknown = -1;

    void prepare(Index n, const Index* start, const Index* row, const Value* value) {
        const auto size = static_cast<std::size_t>(n);
        row_count_.assign(size, 0), col_count_.resize(size);
        for (Index p = 0; p < start[n]; ++p) ++row_count_[row[p]];
        for (Index j = 0; j < n; ++j) col_count_[j] = start[j + 1] - start[j];
        columns_.reserve(col_count_), rows_.reserve(row_count_);
        for (Index j = 0; j < n; ++j)
            for (Index p = start[j]; p < start[j + 1]; ++p)
                columns_.append(j, {row[p], value[p]}), rows_.append(row[p], j);
        active_ = start[n];
        by_column_.clear(size), by_row_.clear(size);
        for (Index k = n; k-- > 0;)
            by_column_.insert(k, col_count_[k]), by_row_.insert(k, row_count_[k]);
        is_listed_.assign(size, 1), left_row_.assign(size, 1), left_col_.assign(size, 1);
        largest_.assign(size, unknown), above_.assign(size, 0);
        multiplier_.assign(size, {Value(0), 0}), stamp_ = 0;
        spent_ = spent_before_ = 0;
    }

    bool is_full(double left) const { return static_cast<double>(active_) >= full * left * left; }
    // After step t. Steps are predicted to cost what they do now, in proportion to what is left.
    bool exceeds(const MarkowitzLimits& limits, Index t, Index n) {
        const double left = n - t;
        spent_ += static_cast<double>(work_);
        double predicted = spent_;
        if (const Index interval = std::max<Index>(n / 32, 8); (t + 1) % interval == 0) {
            predicted += (spent_ - spent_before_) / interval * left * left / n;
            spent_before_ = spent_;
        }
        const auto active = static_cast<double>(active_);
        return predicted > limits.work || (active > limits.active && active < sparse * left * left);
    }

    double largest(Index j) {
        if (largest_[j] != unknown) return largest_[j];
        double most = 0;
        Entry* to = columns_.begin(j);
        for (const Entry *e = to, *end = columns_.end(j); e < end; ++e)
            if (left_row_[e->row]) most = std::max(most, magnitude(e->value)), *to++ = *e;
        work_ += columns_.size(j);
        columns_.shorten(j, col_count_[j]);
        return largest_[j] = most;
    }

    // row_ and col_ become the best pivot of the lists looked at. False: there is none.
    bool find_pivot(Index left) {
        best_ = infinity;
        int looked = 0;
        const auto enough = [&] { return looked >= most_lists && best_ < infinity; };
        for (Index k = 1; k <= left; ++k) {
            const double d = k;
            if (best_ <= (d - 1) * (d - 1)) return true;
            for (Index j = by_column_.first(k), next; j != UNMATCHED<Index>; j = next) {
                next = by_column_.next[j];
                if (!look_at_column(j)) by_column_.unlink(j, k), is_listed_[j] = 0;
                if (++looked, best_ <= (d - 1) * (d - 1) || enough()) return true;
            }
            if (best_ <= d * (d - 1)) return true;
            for (Index i = by_row_.first(k); i != UNMATCHED<Index>; i = by_row_.next[i]) {
                look_at_row(i);
                if (++looked, best_ <= d * (d - 1) || enough()) return true;
            }
        }
        return best_ < infinity;
    }
    // False: it has zeros only.
    bool look_at_column(Index j) {
        const double least = threshold * largest(j);
        if (!(least > 0)) return false;
        const double others = col_count_[j] - 1;
        for (const Entry *e = columns_.begin(j), *end = columns_.end(j); e < end; ++e) {
            if (!left_row_[e->row]) continue;
            const double cost = others * (row_count_[e->row] - 1);
            if (cost < best_ && magnitude(e->value) >= least) best_ = cost, row_ = e->row, col_ = j;
        }
        work_ += columns_.size(j);
        return true;
    }
    void look_at_row(Index i) {
        const double others = row_count_[i] - 1;
        Index* to = rows_.begin(i);
        for (const Index *j = to, *end = rows_.end(i); j < end; ++j) {
            if (!left_col_[*j]) continue;
            *to++ = *j;
            const double cost = others * (col_count_[*j] - 1);
            if (cost >= best_) continue;
            const double size = magnitude(find(*j, i).value);
            if (size > 0 && size >= threshold * largest(*j)) best_ = cost, row_ = i, col_ = *j;
        }
        work_ += rows_.size(i);
        rows_.shorten(i, row_count_[i]);
    }
    const Entry& find(Index j, Index i) {
        const Entry* e = columns_.begin(j);
        const Entry* const begin = e;
        while (e->row != i) ++e;
        work_ += e - begin;
        return *e;
    }

    void eliminate() {
        const Index p = row_, q = col_;
        by_row_.unlink(p, row_count_[p]), unlist(q);
        left_row_[p] = 0, left_col_[q] = 0;
        active_ -= row_count_[p] + col_count_[q] - 1;
        const Value pivot = find(q, p).value;
        base_ = ++stamp_;
        Entry* to = columns_.begin(q);
        for (const Entry *e = to, *end = columns_.end(q); e < end; ++e) {
            if (!left_row_[e->row]) continue;
            *to++ = *e;
            by_row_.unlink(e->row, row_count_[e->row]--);
            multiplier_[e->row] = {e->value / pivot, base_};
        }
        work_ += columns_.size(q) + rows_.size(p);
        columns_.shorten(q, col_count_[q] - 1);
        for (Index k = 0; k < rows_.size(p); ++k) {  // lists may move
            const Index j = rows_.begin(p)[k];
            if (!left_col_[j]) continue;
            unlist(j);
            update(j, p, q);
            by_column_.insert(j, col_count_[j]), is_listed_[j] = 1;
        }
        for (const Entry *e = columns_.begin(q), *end = columns_.end(q); e < end; ++e)
            by_row_.insert(e->row, row_count_[e->row]);
    }
    void unlist(Index j) {
        if (is_listed_[j]) by_column_.unlink(j, col_count_[j]);
    }
    // Column j minus its entry in the pivot row p times the multipliers, those of column q.
    void update(Index j, Index p, Index q) {
        ++above_[j], --col_count_[j];
        if (columns_.size(q) == 0) {
            largest_[j] = unknown;
            return;
        }
        const Value factor = find(j, p).value;
        const std::int64_t applied = ++stamp_, base = base_;
        const char* const left = left_row_.data();
        Multiplier* const multipliers = multiplier_.data();
        double most = 0;
        Index n_fill = columns_.size(q);
        Entry* to = columns_.begin(j);
        work_ += columns_.size(j) + n_fill;
        for (const Entry *e = to, *end = columns_.end(j); e < end; ++e) {
            if (!left[e->row]) continue;
            *to = *e;
            if (Multiplier& m = multipliers[e->row]; m.stamp >= base)
                to->value -= product(m.value, factor), m.stamp = applied, --n_fill;
            most = std::max(most, magnitude(to++->value));
        }
        columns_.shorten(j, col_count_[j]);
        for (Index k = 0; n_fill > 0; ++k) {
            const Index i = columns_.begin(q)[k].row;  // lists may move
            if (multipliers[i].stamp == applied) continue;
            const Value value = -product(multipliers[i].value, factor);
            columns_.append(j, {i, value}), rows_.append(i, j);
            ++col_count_[j], ++row_count_[i], ++active_, --n_fill;
            most = std::max(most, magnitude(value));
        }
        largest_[j] = most;
    }

    // The order of what is left as it was. False: to factorise that would exceed the limit.
    bool finish(Index t, const MarkowitzLimits& limits, Index* rows, Index* cols, double* stored,
                double sum) {
        const auto n = static_cast<Index>(left_row_.size());
        const double left = n - t;
        for (Index k = 0, r = t, c = t; k < n; ++k) {
            if (left_row_[k]) rows[r++] = k;
            if (!left_col_[k]) continue;
            sum += above_[k] + left;
            stored[c] = sum, cols[c++] = k;
        }
        return spent_ + left * left * left / 3 <= limits.work;
    }

    GrowingLists<Entry, Index> columns_;
    GrowingLists<Index, Index> rows_;
    std::vector<Index> row_count_, col_count_, above_;  // above_: entries of U of each column
    DegreeLists<Index> by_column_, by_row_;             // of those left, by their entries
    std::vector<char> is_listed_, left_row_, left_col_;
    std::vector<double> largest_;
    std::vector<Multiplier> multiplier_;
    std::int64_t active_ = 0, stamp_ = 0, base_ = 0, work_ = 0;
    double spent_ = 0, spent_before_ = 0, best_ = 0;
    Index row_ = 0, col_ = 0;  // the pivot
};

}  // namespace sparsematch
