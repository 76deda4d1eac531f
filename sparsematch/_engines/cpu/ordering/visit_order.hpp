// The order in which a breadth-first search visits one side of a matrix, and how deep it gets.
#pragma once

#include <algorithm>
#include <span>

#include "core/append_unseen.hpp"
#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// The vertices of one side, each once, in the order in which they were added.
template <class Index>
class VisitOrder {
  public:
    // `order` has room for all n.
    VisitOrder(Index n, Index* order) : n_(n), order_(order), seen_(n) {}

    Index size() const { return size_; }
    const Index* order() const { return order_; }
    void add(Index v) {
        if (seen_.insert(v)) order_[size_++] = v;
    }
    void add_all(std::span<const Index> vertices) {
        if (static_cast<Index>(vertices.size()) <= n_ - size_) {
            size_ = append_unseen(vertices, seen_, order_, size_);
        } else {  // near the end there is no room for a vertex that does not stay
            for (const Index v : vertices) add(v);
        }
    }

  private:
    const Index n_;
    Index* const order_;
    Index size_ = 0;
    Bitmap seen_;
};

// How many levels a search from some row takes to reach `rows` rows: the median of three. Few: the
// matrix has no locality. Reads: both orientations. Workspace: an index and a bit per vertex.
template <class Index>
Index bfs_depth_to(const Csr<Index>& a, const Csr<Index>& transposed, Index rows, RunContext& run) {
    WorkCounter counter(run);
    Index levels[3] = {};
    Buffer<Index> row_list(a.n_rows), col_list(a.n_cols);
    const auto expand = [&](const Csr<Index>& lists, const VisitOrder<Index>& from, Index& next,
                            VisitOrder<Index>& to) {
        for (const Index end = from.size(); next < end && !run.stopped(); ++next) {
            PrefetchAhead<16>::lists(lists, from.order(), next, end);
            to.add_all(lists.neighbours(from.order()[next]));
            counter.add(lists.degree(from.order()[next]));
        }
    };
    for (int k = 0; k < 3 && a.n_rows > 0; ++k) {
        VisitOrder<Index> row_order(a.n_rows, row_list.data()),
            col_order(a.n_cols, col_list.data());
        row_order.add(static_cast<Index>(hash(k + 7) % a.n_rows));
        for (Index row = 0, col = 0;
             row < row_order.size() && row_order.size() < rows && !run.stopped(); ++levels[k]) {
            expand(a, row_order, row, col_order);
            expand(transposed, col_order, col, row_order);
        }
    }
    std::sort(levels, levels + 3);
    return levels[1];
}

}  // namespace sparsematch
