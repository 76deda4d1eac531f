// QR of a sparse matrix B, front by front: R, and Q^H applied to right-hand sides; Q is not kept.
//
// Davis, Algorithm 915: SuiteSparseQR (ACM TOMS 38, 2011). A front has the rows of B that begin
// there and what is left of its children's; its rows of R go to the result, the rest to the parent.
// Columns with less left than a tolerance are dead: R has no row for them, no entry below its rows.
// Invariant: what is left of a front ends in its parent, and then is freed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "elimination/fronts.hpp"
#include "qr/column_order.hpp"
#include "qr/dense_front.hpp"

namespace sparsematch {

template <class Index, class Value> class MultifrontalQr {
  public:
    // Reads: B by rows, no repeats; right-hand sides, `n_right` for each row of B; of each
    // column the tolerance, in its unit, and whether it comes last. Nothing is factorised where
    // more bytes are predicted than `room`. Time: O(nnz) beside the order, and that of the fronts.
    MultifrontalQr(const Csr<Index>& rows, const Value* values, const Value* right,
                   std::int64_t n_right, const double* tolerance, const bool* last, double room,
                   WorkCounter& counter)
        : rows_(rows), values_(values), right_(right), n_right_(n_right), counter_(counter) {
        ColumnOrder<Index> order(rows, last, counter);
        if (counter.stopped()) return;
        sort_rows(order.order);
        const auto own = [&](Index k, const auto& add) {
            std::int64_t work = 0;
            for (const Index i : starting_[k]) {
                for (const Index j : rows.neighbours(i)) add(place_[j]);
                work += rows.degree(i);
            }
            return work;
        };
        const Fronts<Index> fronts(order.parent, own, counter);
        if (counter.stopped()) return;
        const auto need = predict(fronts.fronts);
        constexpr double number = sizeof(Value), entry = sizeof(Value) + sizeof(Index);
        // behind it R is copied, without its dead columns
        predicted = std::max(number * need.numbers + sizeof(Index) * need.entries,
                             2.5 * entry * need.entries);
        if (predicted > room) return;
        column.reserve(static_cast<std::size_t>(need.entries));
        value.reserve(static_cast<std::size_t>(need.entries));
        for (const Index j : order.order) tolerance_.push_back(tolerance[j]);
        order_.swap(order.order);
        const OneBlasThread alone_with_blas;
        factorise(fronts.fronts);
    }

    // Row k of R: columns (of B), the pivot first, values; of Q^H applied to the right-hand sides.
    std::vector<std::int64_t> start{0};
    std::vector<Index> column;
    std::vector<Value> value, top;
    double predicted = 0;  // bytes that all this takes at most while columns are independent

  private:
    using Front = typename Fronts<Index>::Front;

    // Rows left of a front, by columns, right-hand sides behind; where in the order each begins.
    struct Rest {
        std::vector<Index> begin, columns;
        std::vector<Value> values;
    };

    void sort_rows(const std::vector<Index>& order) {
        place_.resize(order.size()), starting_.resize(order.size());
        for (std::size_t k = 0; k < order.size(); ++k) place_[order[k]] = static_cast<Index>(k);
        for (Index i = 0; i < rows_.n_rows; ++i) {
            if (rows_.degree(i) == 0) continue;
            const auto place = [&](Index j) { return place_[j]; };
            starting_[place_[std::ranges::min(rows_.neighbours(i), {}, place)]].push_back(i);
        }
    }
    // visit(i, c) for the rows that begin at a pivot of a front, its column c.
    template <class Visit> void each_row(const Front& front, const Visit& visit) const {
        for (Index k = front.first; k < front.first + front.n_pivots; ++k)
            for (const Index i : starting_[k]) visit(i, k - front.first);
    }

    // Entries of R while all columns are independent, and numbers held at once at most while it is
    // made: rows of R there are, fronts not yet assembled, and the one that is being factorised.
    struct Need {
        double entries = 0, numbers = 0;
    };
    Need predict(const std::vector<Front>& fronts) const {
        std::vector<double> left(fronts.size(), 0), waiting(fronts.size(), 0);  // by parent
        Need need;
        double held = 0;
        for (std::size_t f = 0; f < fronts.size(); ++f) {
            const auto right = static_cast<double>(n_right_);
            const auto columns = static_cast<double>(fronts[f].columns.size());
            double rows = left[f];
            each_row(fronts[f], [&](Index, Index) { ++rows; });
            const double pivots = fronts[f].n_pivots, done = std::min(rows, pivots),
                         rest = std::min(rows - done, columns - pivots),
                         passed = rest * (columns - pivots + right);
            need.numbers =
                std::max(need.numbers, need.entries + held + rows * (columns + right) + passed);
            need.entries += done * (columns + right) - done * (done - 1) / 2;
            held += passed - waiting[f];
            if (const Index above = fronts[f].parent; above >= 0)
                left[above] += rest, waiting[above] += passed;
            else held -= passed;
        }
        return need;
    }

    void factorise(const std::vector<Front>& all) {
        local_.resize(place_.size());
        std::vector<std::vector<Rest>> waiting(all.size());
        for (std::size_t f = 0; f < all.size(); ++f) {
            const Front& front = all[f];
            assemble(front, waiting[f]);
            waiting[f] = {};
            if (!front_.factorise(front.n_pivots, tolerance_.data() + front.first, counter_))
                return;
            const std::int64_t done = keep_rows(front);
            if (front.parent >= 0 && front_.rank > done)
                waiting[front.parent].push_back(rest(front, done));
            if (!counter_.add(1 + front_.n_rows * front_.n_all / 16)) return;
        }
    }

    // Rows of the front in the order in which they begin, which makes the staircase.
    void assemble(const Front& front, const std::vector<Rest>& children) {
        const auto n = static_cast<Index>(front.columns.size());
        for (Index c = 0; c < n; ++c) local_[front.columns[c]] = c;
        SPARSEMATCH_ASSERT(local_[front.first] == 0);
        count_.assign(static_cast<std::size_t>(n) + 1, 0);
        each_row(front, [&](Index, Index c) { ++count_[c + 1]; });
        for (const Rest& child : children)
            for (const Index begin : child.begin) ++count_[local_[begin] + 1];
        for (Index c = 0; c < n; ++c) count_[c + 1] += count_[c];
        front_.reset(count_[n], n, n_right_);
        std::copy(count_.begin() + 1, count_.end(), front_.stair.begin());
        each_row(front, [&](Index i, Index c) { put_row(i, count_[c]++); });
        for (const Rest& child : children) put_rest(child);
    }
    void put_row(Index i, std::int64_t to) {
        for (auto p = rows_.indptr[i]; p < rows_.indptr[i + 1]; ++p)
            front_.at(to, local_[place_[rows_.indices[p]]]) = values_[p];
        for (std::int64_t k = 0; k < n_right_; ++k)
            front_.at(to, front_.n_columns + k) = right_[i * n_right_ + k];
    }
    void put_rest(const Rest& child) {
        const auto m = static_cast<std::int64_t>(child.begin.size());
        to_.clear();
        for (const Index begin : child.begin) to_.push_back(count_[local_[begin]]++);
        const auto n = static_cast<std::int64_t>(child.columns.size());
        for (std::int64_t c = 0; c < n + n_right_; ++c) {
            const std::int64_t column =
                c < n ? local_[child.columns[c]] : front_.n_columns + (c - n);
            const Value* from = child.values.data() + c * m;
            for (std::int64_t i = 0; i < m; ++i) front_.at(to_[i], column) = from[i];
        }
    }

    // The rows of R that begin at a pivot go to the result; how many they are.
    std::int64_t keep_rows(const Front& front) {
        std::int64_t done = 0;
        for (Index p = 0; p < front.n_pivots; ++p) {
            if (front_.row_of[p] < 0) continue;
            ++done;
            for (std::int64_t c = p; c < front_.n_columns; ++c)
                if (const Value v = front_.at(front_.row_of[p], c); v != Value(0))
                    column.push_back(order_[front.columns[c]]), value.push_back(v);
            for (std::int64_t k = 0; k < n_right_; ++k)
                top.push_back(front_.at(front_.row_of[p], front_.n_columns + k));
            start.push_back(static_cast<std::int64_t>(column.size()));
        }
        return done;
    }
    Rest rest(const Front& front, std::int64_t done) const {
        Rest out;
        out.columns.assign(front.columns.begin() + front.n_pivots, front.columns.end());
        out.begin.resize(static_cast<std::size_t>(front_.rank - done));
        for (std::int64_t c = front.n_pivots; c < front_.n_columns; ++c)
            if (front_.row_of[c] >= 0) out.begin[front_.row_of[c] - done] = front.columns[c];
        out.values.reserve(out.begin.size() * (out.columns.size() + n_right_));
        for (std::int64_t c = front.n_pivots; c < front_.n_all; ++c)
            for (std::int64_t i = done; i < front_.rank; ++i) out.values.push_back(front_.at(i, c));
        return out;
    }

    const Csr<Index> rows_;
    const Value *values_, *right_;
    const std::int64_t n_right_;
    WorkCounter& counter_;
    DenseFront<Value> front_;
    std::vector<std::vector<Index>> starting_;  // rows, by the place of their first column
    std::vector<double> tolerance_;
    std::vector<Index> place_, order_, local_;
    std::vector<std::int64_t> count_, to_;
};

}  // namespace sparsematch
