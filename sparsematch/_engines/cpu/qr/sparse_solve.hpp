// Solutions of an upper triangular system for sparse right-hand sides, as sparse as they come out.
//
// R and the right-hand sides by columns, rows ascending, the diagonal last in each column of R.
// Gilbert, Peierls, Sparse partial pivoting in time proportional to arithmetic operations (SIAM J.
// Sci. Stat. Comput. 9, 1988), with a heap in the place of their search: rows are needed in
// descending order, and are few beside the operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

template <class Index, class Value> class SparseUpperSolve {
  public:
    // Elements of absolute value `drop` and below become zero. Stops where more bytes come out than
    // `room`. Time: that of the operations, and O(log n) for each element.
    SparseUpperSolve(const Csr<Index>& upper, const Value* upper_values, const Csr<Index>& right,
                     const Value* right_values, double drop, double room, WorkCounter& counter)
        : upper_(upper), upper_values_(upper_values), drop_(drop), counter_(counter),
          x_(static_cast<std::size_t>(upper.n_rows)), is_known_(x_.size()) {
        for (Index k = 0; k < right.n_rows; ++k) {
            for (auto p = right.indptr[k]; p < right.indptr[k + 1]; ++p)
                add(right.indices[p], right_values[p]);
            if (!solve()) return;
            start.push_back(static_cast<std::int64_t>(row.size()));
            constexpr double entry = 2 * (sizeof(Value) + sizeof(Index));  // vectors double
            if (exceeds_room = entry * static_cast<double>(row.size()) > room; exceeds_room) return;
        }
    }

    // The solutions by columns, rows descending.
    std::vector<std::int64_t> start{0};
    std::vector<Index> row;
    std::vector<Value> value;
    bool exceeds_room = false;

  private:
    void add(Index i, Value v) {
        x_[i] += v;
        if (is_known_[i]) return;
        is_known_[i] = 1;
        heap_.push_back(i), std::push_heap(heap_.begin(), heap_.end());
    }
    // False: stopped.
    bool solve() {
        while (!heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end());
            const Index j = heap_.back();
            heap_.pop_back(), is_known_[j] = 0;
            const auto begin = upper_.indptr[j], last = upper_.indptr[j + 1] - 1;
            const Value x = std::exchange(x_[j], Value(0)) / upper_values_[last];
            if (!counter_.add(1 + last - begin)) return false;
            if (std::abs(x) <= drop_) continue;
            row.push_back(j), value.push_back(x);
            for (auto p = begin; p < last; ++p) add(upper_.indices[p], -upper_values_[p] * x);
        }
        return true;
    }

    const Csr<Index> upper_;
    const Value* upper_values_;
    const double drop_;
    WorkCounter& counter_;
    std::vector<Value> x_;
    std::vector<unsigned char> is_known_;
    std::vector<Index> heap_;
};

}  // namespace sparsematch
