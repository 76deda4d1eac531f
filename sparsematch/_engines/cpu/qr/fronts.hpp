// The fronts of a multifrontal QR factorisation: which columns are eliminated together, and which
// columns the rows have there.
//
// Davis, Algorithm 915: SuiteSparseQR (ACM TOMS 38, 2011). The rows that begin in column j of the
// order, and what is left of the rows of its children in the tree, have all columns that row j of R
// may have. Columns one behind another with the same such list share a front, as do those where
// few zeros come in by it.
// Invariant: the columns of a front ascend, and begin with those that are eliminated there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "qr/column_order.hpp"

namespace sparsematch {

template <class Index>
class Fronts {
    static constexpr Index no_front = UNMATCHED<Index>;

  public:
    struct Front {
        Index first, n_pivots;       // places of its pivots in the order
        std::vector<Index> columns;  // all, as places in the order
        std::vector<Index> rows;     // of the matrix, that begin at a pivot
        Index parent = no_front;
    };

    // Time: O(entries of R). After a stop nothing is to be read.
    Fronts(const Csr<Index>& rows, const ColumnOrder<Index>& order, WorkCounter& counter)
        : place(order.order.size()), rows_(rows), parent_(order.parent) {
        for (std::size_t k = 0; k < place.size(); ++k)
            place[order.order[k]] = static_cast<Index>(k);
        sort_rows();
        if (merge_columns(counter)) link();
    }

    // Entries of R while all columns are independent, and numbers held at once at most while it is
    // made: rows of R there are, fronts not yet assembled, and the one that is being factorised.
    struct Need {
        double entries = 0, numbers = 0;
    };
    Need predict(std::int64_t n_right) const {
        std::vector<double> left(fronts.size(), 0), waiting(fronts.size(), 0);  // by parent
        Need need;
        double held = 0;
        for (std::size_t f = 0; f < fronts.size(); ++f) {
            const auto right = static_cast<double>(n_right);
            const auto columns = static_cast<double>(fronts[f].columns.size());
            const auto rows = static_cast<double>(fronts[f].rows.size()) + left[f];
            const double pivots = fronts[f].n_pivots, done = std::min(rows, pivots),
                         rest = std::min(rows - done, columns - pivots),
                         passed = rest * (columns - pivots + right);
            need.numbers =
                std::max(need.numbers, need.entries + held + rows * (columns + right) + passed);
            need.entries += done * (columns + right) - done * (done - 1) / 2;
            held += passed - waiting[f];
            if (const Index above = fronts[f].parent; above != no_front)
                left[above] += rest, waiting[above] += passed;
            else held -= passed;
        }
        return need;
    }

    std::vector<Front> fronts;  // children before parents
    std::vector<Index> place;   // of each column in the order

  private:
    // Zeros that a front may have for one column more, as a share of its entries of R, and the
    // pivots up to which that is checked: small fronts cost more in bookkeeping than in arithmetic.
    static constexpr double zeros = 0.25;
    static constexpr Index few_pivots = 32;

    void sort_rows() {
        starting_.resize(place.size());
        for (Index i = 0; i < rows_.n_rows; ++i) {
            if (rows_.degree(i) == 0) continue;
            Index first = place[rows_.neighbours(i)[0]];
            for (const Index j : rows_.neighbours(i)) first = std::min(first, place[j]);
            starting_[first].push_back(i);
        }
    }

    // columns_[k]: those that row k of R may have.
    bool merge_columns(WorkCounter& counter) {
        const auto n = static_cast<Index>(place.size());
        columns_.resize(place.size());
        std::vector<Index> seen(place.size(), no_front);
        std::vector<std::vector<Index>> children(place.size());
        double entries = 0;  // of R in the last front, zeros that it has brought not counted
        for (Index k = 0; k < n; ++k) {
            auto& list = columns_[k];
            std::int64_t work = 1;
            const auto add = [&](Index j) {
                if (seen[j] != k) seen[j] = k, list.push_back(j);
            };
            add(k);
            for (const Index i : starting_[k]) {
                for (const Index j : rows_.neighbours(i)) add(place[j]);
                work += rows_.degree(i);
            }
            for (const Index c : children[k]) {
                for (const Index j : columns_[c])
                    if (j > c) add(j);
                work += static_cast<std::int64_t>(columns_[c].size());
            }
            assign(k, entries);
            for (const Index c : children[k]) columns_[c] = {};
            children[k] = {};
            if (parent_[k] != no_front) children[parent_[k]].push_back(k);
            if (!counter.add(work)) return false;
        }
        return true;
    }

    // Puts column k into the last front, or begins another one.
    void assign(Index k, double& entries) {
        const auto size = static_cast<double>(columns_[k].size());
        if (!fronts.empty() && parent_[k - 1] == k) {
            auto& last = fronts.back();
            const double pivots = last.n_pivots + 1, width = pivots - 1 + size;
            const double all = pivots * width - pivots * (pivots - 1) / 2;
            const bool same = size == static_cast<double>(last.columns.size()) - last.n_pivots;
            if (same || (last.n_pivots < few_pivots && all - entries - size <= zeros * all)) {
                entries += size, ++last.n_pivots;
                if (!same) widen(last, k);
                last.rows.insert(last.rows.end(), starting_[k].begin(), starting_[k].end());
                return;
            }
        }
        entries = size;
        fronts.push_back({k, 1, columns_[k], std::move(starting_[k])});
        std::sort(fronts.back().columns.begin(), fronts.back().columns.end());
    }
    // The columns of its pivots, and those of the last one.
    void widen(Front& front, Index k) {
        front.columns.clear();
        for (Index j = front.first; j < k; ++j) front.columns.push_back(j);
        front.columns.insert(front.columns.end(), columns_[k].begin(), columns_[k].end());
        std::sort(front.columns.begin(), front.columns.end());
    }

    void link() {
        std::vector<Index> front_of(place.size());
        for (std::size_t f = 0; f < fronts.size(); ++f)
            for (Index j = 0; j < fronts[f].n_pivots; ++j)
                front_of[fronts[f].first + j] = static_cast<Index>(f);
        for (auto& front : fronts)
            if (const Index above = parent_[front.first + front.n_pivots - 1]; above != no_front)
                front.parent = front_of[above];
    }

    const Csr<Index> rows_;
    const std::vector<Index>& parent_;
    std::vector<std::vector<Index>> starting_, columns_;  // rows, and columns, by place
};

}  // namespace sparsematch
