// The LU factorisation of a diagonal block front by front, by dense kernels: for blocks that fill.
//
// Duff, Reid, The multifrontal solution of unsymmetric sets of linear equations (SIAM J. Sci. Stat.
// Comput. 5, 1984): fronts of the tree of B + B^T. A front is square: the entries that begin at its
// columns and rows, and what its children have left. Its first columns and rows are complete, and a
// pivot is the largest in its column of these rows, or the diagonal; a column in which that is too
// small beside the others, and a row, wait for the parent. Columns are halved recursively: Toledo,
// Locality of reference in LU decomposition with partial pivoting (SIMAX 18, 1997).
// Rows are named by themselves while pivots are chosen, and by their pivots' columns afterwards, so
// that other values by the same pivots, and solutions, need no search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/run_context.hpp"
#include "elimination/blas.hpp"
#include "elimination/fronts.hpp"
#include "lu/block_plan.hpp"
#include "lu/growing_array.hpp"
#include "lu/pivot_checks.hpp"

namespace sparsematch {

enum class Outcome { done, singular, unstable, fill_exceeded, stopped };

// How pivots are chosen, and when to give up.
struct PivotRule {
    bool fresh = true;              // not those of before
    double least = 0;               // share of its column that a pivot has at least
    double most_growth = infinity;  // entries of U
    double most_entries = infinity;
    const double* predicted = nullptr;  // up to a column; while there are more, less will do
};

template <class Index, class Value>
class FrontalLU {
  public:
    // A pivot by its column. Behind it, entries of L from `values` on, in the rows from lists[rows]
    // on, then those of U, in the columns from lists[cols] on.
    struct Step {
        Index column, n_rows, n_cols;
        std::int64_t rows, cols, values;
    };

    FrontalLU(const BlockPlan<Index>& plan, Index k)
        : row_of(plan.size(k)), pivot(row_of.size()), fronts_(plan.fronts.at(k).fronts),
          blas_(Blas<Value>::load()), made_(fronts_.size()), name_(row_of.size()),
          place_(row_of.size()), row_at_(row_of.size()), col_at_(row_of.size()) {
        std::vector<std::size_t> front_of;
        std::size_t held = 0;
        for (std::size_t f = 0; f < fronts_.size(); ++f) {
            front_of.insert(front_of.end(), fronts_[f].n_pivots, f);
            if (const Index above = fronts_[f].parent; above >= 0)
                made_[f].sibling = made_[above].child, made_[above].child = static_cast<Index>(f);
            const auto left = [this](std::size_t of) {
                const std::size_t n = fronts_[of].columns.size() - fronts_[of].n_pivots;
                return n * n;
            };
            for (Index c = made_[f].child; c >= 0; c = made_[c].sibling) held -= left(c);
            most_rest_ = std::max(most_rest_, held += left(f));
        }
        const Index first = plan.starts[k];
        const auto begin = plan.inner_start[first];
        start_.assign(fronts_.size() + 2, 0);
        const auto each = [&](const auto& visit) {
            for (Index c = 0; c < plan.size(k); ++c)
                for (auto p = plan.inner_start[first + c]; p < plan.inner_start[first + c + 1]; ++p)
                    visit(front_of[std::min(c, plan.inner_row[p])],
                          Entry{plan.inner_row[p], c, p - begin});
        };
        each([&](std::size_t f, const Entry&) { ++start_[f + 2]; });
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        entries_.resize(static_cast<std::size_t>(start_.back()));
        each([&](std::size_t f, const Entry& entry) { entries_[start_[f + 1]++] = entry; });
    }

    // Reads: the entries of the block in the order of its columns. Time: that of the fronts.
    Outcome factorise(const Value* inner, const PivotRule& rule, WorkCounter& counter) {
        rule_ = rule, least_ = rule.least, counter_ = &counter, grown = 0, is_unfit_ = false;
        rests_.clear();
        if (rule.fresh) {
            steps.clear(), lists.clear(), values.clear(), indices_.clear(), kept_.clear();
            rests_.make_room(most_rest_);
            values.make_room(static_cast<std::size_t>(rule.predicted[fronts_.back().first]));
            std::iota(name_.begin(), name_.end(), Index{0});
        }
        for (std::size_t f = 0; f < fronts_.size(); ++f) {
            Made& front = made_[f];
            if (rule.fresh && !open(f)) return Outcome::fill_exceeded;
            if (rule.fresh) choose_least(f);
            size_ = front.size, rows_ = indices_.data() + front.lists, cols_ = rows_ + size_;
            assemble(f, inner);
            const Index done = eliminate_all(rule.fresh ? front.complete : front.pivots);
            if (counter.stopped()) return Outcome::stopped;
            if (done < front.complete && fronts_[f].parent < 0) return Outcome::singular;
            front.pivots = done;
            store(front), keep_rest(f);
            if (is_unfit_ || !(grown <= rule.most_growth)) return Outcome::unstable;
            if (!counter.add(1 + std::int64_t{size_} * size_ / 4)) return Outcome::stopped;
        }
        if (rule.fresh) rename_rows();
        return Outcome::done;
    }

    std::vector<Step> steps;
    std::vector<Index> lists;
    GrowingArray<Value> values;
    std::vector<Index> row_of;  // of each column, that of its pivot
    std::vector<Value> pivot;
    double grown = 0;  // the largest entry of U

  private:
    struct Entry {
        Index row, col;
        std::int64_t from;
    };
    // Lists: its rows, then its columns, those with pivots first, then others that are complete.
    // Rest: what it has left, by columns. Kept: the rows of L, then the columns of U, that are not
    // those of its pivots.
    struct Made {
        Index size = 0, complete = 0, pivots = 0, n_rows = 0, n_cols = 0, child = -1, sibling = -1;
        std::int64_t lists = 0, values = 0, rest = 0, kept = 0;
        // Of the values of the t-th pivot.
        std::int64_t offset(Index t) const {
            return std::int64_t{t} * (2 * pivots - t - 1 + n_rows + n_cols);
        }
    };
    // Columns eliminated one by one; pivots and multiplications from which on BLAS pays, which does
    // as many of these in the time of a scanned entry. Not varied.
    static constexpr Index narrow = 8, few = 4;
    static constexpr std::int64_t large = 4000, per_entry = 16;
    // Of an update, after which a run may stop.
    static constexpr std::int64_t slice = std::int64_t{1} << 25;

    Value& at(Index i, Index c) { return a_[i + std::int64_t{c} * size_]; }
    Value* column(Index c) { return a_.data() + std::int64_t{c} * size_; }

    // Lists the rows and columns of a front. False: there would be too many entries.
    bool open(std::size_t f) {
        const auto& [first, n_pivots, columns, parent] = fronts_[f];
        Made& front = made_[f];
        front.lists = static_cast<std::int64_t>(indices_.size());
        front.values = static_cast<std::int64_t>(values.size());
        for (const bool are_rows : {true, false}) {
            indices_.insert(indices_.end(), columns.begin(), columns.begin() + n_pivots);
            for (Index child = front.child; child >= 0; child = made_[child].sibling) {
                const Made& of = made_[child];
                const auto begin = of.lists + (are_rows ? 0 : of.size);
                for (Index t = of.pivots; t < of.complete; ++t)
                    indices_.push_back(indices_[begin + t]);
            }
            front.complete = static_cast<Index>(indices_.size() - front.lists);
            indices_.insert(indices_.end(), columns.begin() + n_pivots, columns.end());
            if (are_rows) front.size = static_cast<Index>(indices_.size() - front.lists);
        }
        front.complete -= front.size;
        const double more =
            static_cast<double>(front.complete) * (2.0 * front.size - front.complete);
        return static_cast<double>(values.size()) + more <= rule_.most_entries;
    }

    void choose_least(std::size_t f) {
        const auto& front = fronts_[f];
        const bool is_over = values.size() > rule_.predicted[front.first + front.n_pivots - 1];
        least_ = is_over && rule_.least <= diagonal_preference ? loose_preference : rule_.least;
    }
    void assemble(std::size_t f, const Value* inner) {
        a_.assign(static_cast<std::size_t>(size_) * size_, Value(0));
        for (Index i = 0; i < size_; ++i) row_at_[rows_[i]] = col_at_[cols_[i]] = i;
        for (auto p = start_[f]; p < start_[f + 1]; ++p) {
            const auto& [row, col, from] = entries_[p];
            at(row_at_[name_[row]], col_at_[col]) = inner[from];
        }
        for (Index child = made_[f].child; child >= 0; child = made_[child].sibling) {
            const Made& of = made_[child];
            const Index *const rows = indices_.data() + of.lists + of.pivots, *const cols =
                                                                                  rows + of.size;
            const Index m = of.size - of.pivots;
            to_.resize(m);
            for (Index i = 0; i < m; ++i) to_[i] = row_at_[rows[i]];
            const Value* from = rests_.data() + of.rest;
            for (Index c = 0; c < m; ++c, from += m) {
                Value* const into = column(col_at_[cols[c]]);
                for (Index i = 0; i < m; ++i) into[to_[i]] += from[i];
            }
            rests_.set_size(std::min(rests_.size(), static_cast<std::size_t>(of.rest)));
        }
    }

    // Returns the number of pivots, those of the first columns. Columns that wait are tried again.
    Index eliminate_all(Index complete) {
        complete_ = complete, moved_.resize(complete);
        Index done = 0;
        for (Index more = 1; more > 0 && done < complete; done += more) {
            more = eliminate(done, complete);
            exchange_rows(done, more, 0, done);
        }
        update(0, done, complete, size_);
        return done;
    }
    // Pivots of these columns; those without are behind the others then, updated by them.
    Index eliminate(Index begin, Index end) {
        if (end - begin <= narrow) return eliminate_each(begin, end);
        const Index middle = begin + (end - begin) / 2, left = eliminate(begin, middle);
        update(begin, left, middle, end);
        const Index failed = middle - begin - left;
        if (failed > 0) {
            std::rotate(column(begin + left), column(middle), column(end));
            std::rotate(cols_ + begin + left, cols_ + middle, cols_ + end);
        }
        const Index right = eliminate(begin + left, end - failed);
        exchange_rows(begin + left, right, begin, begin + left);
        update(begin + left, right, end - failed, end);
        return left + right;
    }
    Index eliminate_each(Index begin, const Index end) {
        Index k = begin;
        for (Index last = end; k < last;) {
            if (!choose_pivot(k, begin, end)) {
                --last;
                std::swap_ranges(column(k), column(k + 1), column(last));
                std::swap(cols_[k], cols_[last]);
                continue;
            }
            Value* const x = column(k);
            const Value by = Value(1) / x[k];
            for (Index i = k + 1; i < size_; ++i) x[i] = product(x[i], by);
            subtract(k, 1, k + 1, end), ++k;
        }
        return k - begin;
    }
    // Brings a pivot to the diagonal of a column, in some columns; false if none will do.
    bool choose_pivot(Index k, Index begin, Index end) {
        constexpr double preferred = 0.1;  // the diagonal, to that share
        const Value* const x = column(k);
        double best = 0, below = 0;
        Index row = k;
        for (Index i = k; i < complete_; ++i)
            if (const double v = magnitude(x[i]); v > best) best = v, row = i;
        for (Index i = complete_; i < size_; ++i) below = std::max(below, magnitude(x[i]));
        const double diagonal = magnitude(x[k]), most = std::max(best, below);
        if (!rule_.fresh) {  // which goes on, as what comes out is of no use then
            is_unfit_ |= !(diagonal > 0 && diagonal >= least_ * most);
            return true;
        }
        if (!(best > 0) || best < least_ * below) return false;
        moved_[k] = diagonal >= preferred * most ? k : row;
        if (moved_[k] != k) exchange_rows(k, 1, begin, end), std::swap(rows_[k], rows_[row]);
        return true;
    }
    // In some columns, as `n` pivots from `first` on were brought to the diagonal.
    void exchange_rows(Index first, Index n, Index begin, Index end) {
        for (Index c = begin; c < end && rule_.fresh; ++c)
            for (Index k = first; k < first + n; ++k)
                if (moved_[k] != k) std::swap(at(k, c), at(moved_[k], c));
    }
    // Updates columns by the `n` pivots from `first` on.
    void update(Index first, Index n, Index begin, Index end) {
        if (n == 0 || begin >= end) return;
        exchange_rows(first, n, begin, end);
        const Index below = size_ - first - n;
        const std::int64_t work = std::int64_t{n} * (size_ - first);
        if (n < few || work * (end - begin) < large) return subtract(first, n, begin, end);
        const auto step = static_cast<Index>(std::max<std::int64_t>(1, slice / work));
        for (Index c = begin; c < end && !counter_->stopped(); c += step) {
            const int width = std::min(step, end - c), pivots = n, rest = below, stride = size_;
            const Value one = 1, minus = -1;
            Value* const to = &at(first, c);
            blas_.trsm("L", "L", "N", "U", &pivots, &width, &one, &at(first, first), &stride, to,
                       &stride);
            if (rest > 0)
                blas_.gemm("N", "N", &rest, &width, &pivots, &minus, &at(first + n, first), &stride,
                           to, &stride, &one, to + n, &stride);
            counter_->add(work * width / per_entry);
        }
    }
    void subtract(Index first, Index n, Index begin, Index end) {
        for (Index c = begin; c < end; ++c) {
            Value* const x = column(c);
            for (Index t = first; t < first + n; ++t) {
                const Value v = x[t];
                const Value* const l = column(t);
                if (v != Value(0))
                    for (Index i = t + 1; i < size_; ++i) x[i] -= product(l[i], v);
            }
        }
    }

    // Appends, or writes again, L and U of a front, without rows and columns that are zero there.
    // Of other values these have to be zero, too.
    void store(Made& front) {
        const Index n = front.pivots;
        if (rule_.fresh) mark_filled(n), keep_lists(front);
        const Index *const rows = kept_.data() + front.kept, *const cols = rows + front.n_rows;
        if (!rule_.fresh && front.n_rows + front.n_cols < 2 * (size_ - n)) {
            mark_filled(n);
            for (Index p = 0; p < front.n_rows; ++p) mark_[rows[p]] = 0;
            for (Index p = 0; p < front.n_cols; ++p) mark_[size_ + cols[p]] = 0;
            is_unfit_ |= std::find(mark_.begin(), mark_.end(), 1) != mark_.end();
        }
        Value* const to = values.data() + front.values;
        for (Index t = 0; t < n; ++t) {
            const Value* const x = column(t);
            pivot[cols_[t]] = x[t];
            grown = std::max(grown, magnitude(x[t]));
            Value* l = std::copy(x + t + 1, x + n, to + front.offset(t));
            for (Index p = 0; p < front.n_rows; ++p) *l++ = x[rows[p]];
        }
        constexpr Index lines = 8;  // of U, written side by side
        for (Index begin = 0; begin < n; begin += lines) {
            const Index end = std::min<Index>(begin + lines, n);
            for (Index q = begin + 1; q < n + front.n_cols; ++q) {
                const Value* const x = column(q < n ? q : cols[q - n]);
                for (Index t = begin; t < std::min(q, end); ++t) {
                    to[front.offset(t) + n - t - 1 + front.n_rows + q - t - 1] = x[t];
                    grown = std::max(grown, magnitude(x[t]));
                }
            }
        }
    }
    // Marks rows of L, and behind them columns of U, that are not zero, behind the pivots.
    void mark_filled(Index n) {
        mark_.assign(2 * static_cast<std::size_t>(size_), 0);
        Index left = size_ - n;
        for (Index t = 0; t < n && left > 0; ++t)
            for (Index i = n; i < size_; ++i)
                if (!mark_[i] && at(i, t) != Value(0)) mark_[i] = 1, --left;
        for (Index c = n; c < size_; ++c)
            mark_[size_ + c] =
                std::any_of(column(c), column(c) + n, [](Value v) { return v != Value(0); });
    }
    void keep_lists(Made& front) {
        const Index n = front.pivots;
        front.kept = static_cast<std::int64_t>(kept_.size());
        auto list = static_cast<std::int64_t>(lists.size());
        for (const bool are_rows : {true, false}) {
            const Index* const from = are_rows ? rows_ : cols_;
            lists.insert(lists.end(), from, from + n);
            for (Index i = n; i < size_; ++i)
                if (mark_[i + (are_rows ? 0 : size_)]) kept_.push_back(i), lists.push_back(from[i]);
            if (are_rows) front.n_rows = static_cast<Index>(kept_.size() - front.kept);
        }
        front.n_cols = static_cast<Index>(kept_.size() - front.kept) - front.n_rows;
        for (Index t = 0; t < n; ++t, ++list) {
            steps.push_back({cols_[t], n - t - 1 + front.n_rows, n - t - 1 + front.n_cols, list + 1,
                             list + n + front.n_rows + 1, front.values + front.offset(t)});
            place_[rows_[t]] = cols_[t];
        }
        const auto count = static_cast<std::size_t>(front.offset(n));
        values.make_room(count), values.set_size(values.size() + count);
    }
    void keep_rest(std::size_t f) {
        const Index n = made_[f].pivots;
        const auto m = static_cast<std::size_t>(size_ - n);
        made_[f].rest = static_cast<std::int64_t>(rests_.size());
        rests_.make_room(m * m), rests_.set_size(rests_.size() + m * m);
        Value* to = rests_.data() + made_[f].rest;
        for (Index c = n; c < size_; ++c) to = std::copy(column(c) + n, column(c + 1), to);
    }
    void rename_rows() {
        std::int64_t list = 0;
        const auto rename = [this](Index* row, Index count) {
            for (Index i = 0; i < count; ++i) row[i] = place_[row[i]];
        };
        for (const Made& front : made_) {
            rename(indices_.data() + front.lists, front.size);
            rename(lists.data() + list, front.pivots + front.n_rows);
            list += 2 * std::int64_t{front.pivots} + front.n_rows + front.n_cols;
        }
        name_ = place_;
        for (std::size_t r = 0; r < name_.size(); ++r) row_of[name_[r]] = static_cast<Index>(r);
    }

    const std::vector<typename Fronts<Index>::Front>& fronts_;
    const Blas<Value> blas_;
    std::vector<Made> made_;
    GrowingArray<Value>
        rests_;  // a stack, as fronts come in postorder, and how long, if none waits
    std::size_t most_rest_ = 0;
    std::vector<std::int64_t> start_;  // of each front's entries
    std::vector<Entry> entries_;
    std::vector<Index> name_, place_;  // of rows; the columns of their pivots
    std::vector<Index> indices_, kept_;
    PivotRule rule_;
    double least_ = 0;
    bool is_unfit_ = false;  // what was found before
    WorkCounter* counter_ = nullptr;
    // The front at hand: its rows and columns, by columns; where the block's are in it.
    Index size_ = 0, complete_ = 0;
    Index *rows_ = nullptr, *cols_ = nullptr;
    std::vector<Value> a_;
    std::vector<Index> row_at_, col_at_, to_, moved_;
    std::vector<char> mark_;
};

}  // namespace sparsematch
