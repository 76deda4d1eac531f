// From a Hall violator to one that has no other on fewer of its columns.
//
// Hall (J. London Math. Soc. 10, 1935); Kuhn (Naval Research Logistics Quarterly 2, 1955). The rows
// that have no column outside the violator's are all that a smaller one on its columns can consist
// of. Column after column is left out; if the rows without it can still not all be matched, what
// alternating paths reach from the first that fails is the violator from then on. A column that
// could not be left out need not be tried again: fewer columns have fewer violators.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

// A few rows of a few columns, both renumbered.
template <class Index> class MinimalViolator {
  public:
    explicit MinimalViolator(Index n_cols)
        : alive_(n_cols, 1), col_mate_(n_cols), parent_(n_cols), indptr_(1, 0) {}

    void add_entry(Index j) { indices_.push_back(j); }
    void drop_row() { indices_.resize(indptr_.back()); }
    void end_row() { indptr_.push_back(static_cast<Index>(indices_.size())); }
    Index n_rows() const { return static_cast<Index>(indptr_.size()) - 1; }

    // Replaces the rows of a violator by those of a smaller one until there is none on fewer of its
    // columns, or the budget of entries is spent. Whether it did. Time: O(n_cols^2 entries).
    bool shrink(std::vector<Index>& rows, std::int64_t& budget) {
        bool smaller = false;
        for (std::size_t c = 0; c < alive_.size() && budget > 0; ++c) {
            if (!alive_[c]) continue;
            alive_[c] = 0;
            if (!find(rows, budget)) {
                alive_[c] = 1;
                continue;
            }
            smaller = true;
            std::fill(alive_.begin(), alive_.end(), 0);
            for (const Index i : rows)
                for (Index p = indptr_[i]; p < indptr_[i + 1]; ++p) alive_[indices_[p]] = 1;
        }
        return smaller;
    }
    // The columns of what was found.
    bool has_col(Index j) const { return alive_[j]; }

  private:
    // A violator of the rows all of whose columns are alive.
    bool find(std::vector<Index>& rows, std::int64_t& budget) {
        std::fill(col_mate_.begin(), col_mate_.end(), UNMATCHED<Index>);
        row_mate_.assign(n_rows(), UNMATCHED<Index>);
        for (Index i = 0; i < n_rows() && budget > 0; ++i) {
            budget -= indptr_[i + 1] - indptr_[i] + 1;
            const bool whole =
                std::all_of(indices_.begin() + indptr_[i], indices_.begin() + indptr_[i + 1],
                            [&](Index j) { return alive_[j]; });
            if (!whole || augment(i, budget)) continue;
            rows = queue_;
            return true;
        }
        return false;
    }

    // Breadth first from one row, over all that it reaches if it cannot be matched.
    bool augment(Index start, std::int64_t& budget) {
        std::fill(parent_.begin(), parent_.end(), UNMATCHED<Index>);
        queue_.assign(1, start);
        budget -= static_cast<std::int64_t>(parent_.size());
        for (std::size_t head = 0; head < queue_.size(); ++head) {
            const Index i = queue_[head];
            budget -= indptr_[i + 1] - indptr_[i];
            for (Index p = indptr_[i]; p < indptr_[i + 1]; ++p) {
                const Index j = indices_[p];
                if (parent_[j] != UNMATCHED<Index>) continue;
                parent_[j] = i;
                if (col_mate_[j] != UNMATCHED<Index>) {
                    queue_.push_back(col_mate_[j]);
                    continue;
                }
                for (Index end = j; end != UNMATCHED<Index>;) {  // flips the path
                    const Index row = col_mate_[end] = parent_[end];
                    end = std::exchange(row_mate_[row], end);
                }
                return true;
            }
        }
        return false;
    }

    std::vector<char> alive_;
    std::vector<Index> row_mate_, col_mate_, parent_, indptr_, indices_, queue_;
};

}  // namespace sparsematch
