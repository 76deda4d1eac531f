// The entries of a square matrix as a solver is given them, by columns or by rows, and its columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "lu/equilibration.hpp"

namespace sparsematch {

// Whether each list ascends without repeats.
template <class Index>
bool ascend(const std::vector<Index>& start, const std::vector<Index>& lists) {
    for (std::size_t j = 0; j + 1 < start.size(); ++j)
        for (Index p = start[j] + 1; p < start[j + 1]; ++p)
            if (lists[p] <= lists[p - 1]) return false;
    return true;
}

// Puts the rows of each column in order, and with them what else belongs to the entries.
template <class Index>
void sort_columns(const std::vector<Index>& indptr, Index* rows, Index* other) {
    std::vector<std::pair<Index, Index>> column;
    for (std::size_t j = 0; j + 1 < indptr.size(); ++j) {
        column.clear();
        for (Index p = indptr[j]; p < indptr[j + 1]; ++p) column.emplace_back(rows[p], other[p]);
        std::sort(column.begin(), column.end());
        for (Index p = indptr[j]; p < indptr[j + 1]; ++p)
            std::tie(rows[p], other[p]) = column[p - indptr[j]];
    }
}

// What has become of values: all is well, one is not finite, or one is not zero that was left out.
enum class Taken { all, not_finite, not_zero };

template <class Index> class Entries {
  public:
    // Copies arrays of columns, or rows.
    Entries(const Csr<Index>& a, bool by_rows)
        : indptr(a.indptr, a.indptr + a.n_rows + 1), indices(a.indices, a.indices + a.nnz()),
          by_rows(by_rows) {
        if (by_rows) order_by_columns(a.n_rows);
        if (by_rows || ascend(this->indptr, this->indices)) return;
        copy_columns();
        sort_columns(start_, row_.data(), place_.data());
    }

    // Whether there are several in one place.
    bool has_repeats() const { return !are_columns() && !ascend(start_, row_); }
    // Whether the columns are what was given, entry by entry.
    bool are_columns() const { return start_.empty(); }
    Csr<Index> columns() const {
        const auto n = static_cast<Index>(indptr.size() - 1);
        if (are_columns()) return {n, n, indptr.data(), indices.data()};
        return {n, n, start_.data(), row_.data()};
    }
    // Which of those given each entry of the columns is, if that is not the same.
    const std::vector<Index>& places() const { return place_; }

    // Leaves out the entries whose value is zero, of values as given. Time: O(n + nnz).
    template <class Value> void drop_zeros(const Value* values) {
        if (std::find(values, values + indices.size(), Value(0)) == values + indices.size()) return;
        if (are_columns()) copy_columns();
        Index to = 0, p = 0;
        for (std::size_t j = 0; j + 1 < start_.size(); ++j) {
            for (const Index end = start_[j + 1]; p < end; ++p)
                if (values[place_[p]] != Value(0)) row_[to] = row_[p], place_[to++] = place_[p];
            start_[j + 1] = to;
        }
        row_.resize(to), place_.resize(to);
        has_zeros_ = true;
    }

    // Finds the values of columns: as given, or in `room`, some in another order. Time: O(nnz).
    template <class Value>
    Taken take(const Value* given, std::vector<Value>& room, const Value*& values) const {
        if (!are_columns()) room.resize(place_.size());
        for (std::size_t p = 0; p < place_.size(); ++p) room[p] = given[place_[p]];
        values = are_columns() ? given : room.data();
        const auto nnz = static_cast<std::size_t>(columns().nnz());
        if (!are_finite(values, nnz)) return Taken::not_finite;
        const auto count = [](const Value* from, std::size_t n) {
            return n - static_cast<std::size_t>(std::count(from, from + n, Value(0)));
        };
        const bool lost = has_zeros_ && count(given, indices.size()) != count(values, nnz);
        return lost ? Taken::not_zero : Taken::all;
    }

    std::vector<Index> indptr, indices;  // as given
    bool by_rows;

  private:
    void copy_columns() {
        start_ = indptr, row_ = indices, place_.resize(indices.size());
        std::iota(place_.begin(), place_.end(), Index{0});
    }
    // By counting.
    void order_by_columns(Index n) {
        start_.assign(indptr.size(), 0);
        row_.resize(indices.size()), place_.resize(indices.size());
        for (const Index j : indices) ++start_[j];
        std::exclusive_scan(start_.begin(), start_.end(), start_.begin(), Index{0});
        for (Index i = 0; i < n; ++i)
            for (Index p = indptr[i]; p < indptr[i + 1]; ++p) {
                const Index q = start_[indices[p]]++;
                row_[q] = i, place_[q] = p;
            }
        std::copy_backward(start_.begin(), start_.end() - 1, start_.end());  // each is the next's
        start_[0] = 0;
    }
    template <class Value> static bool are_finite(const Value* values, std::size_t size) {
        constexpr std::size_t lanes = 4;  // independent of each other, so that none waits
        double sums[lanes] = {};          // NaN as soon as an entry is not finite
        const std::size_t whole = size - size % lanes;
        for (std::size_t p = 0; p < whole; p += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                sums[lane] += largest_part(values[p + lane]) * 0;
        for (std::size_t p = whole; p < size; ++p) sums[0] += largest_part(values[p]) * 0;
        return std::accumulate(sums, sums + lanes, 0.0) == 0;
    }

    std::vector<Index> start_, row_, place_;  // of the columns, unless these were given
    bool has_zeros_ = false;                  // that were left out
};

}  // namespace sparsematch
