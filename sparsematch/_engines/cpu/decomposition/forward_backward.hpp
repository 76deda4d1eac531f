// Large strong components with the transpose: one breadth-first search forwards and one backwards
// from each pivot (Fleischer, Hendrickson, Pinar 2000).
//
// Invariant, hence (1) of large_components.hpp: what is in row_ and col_ is settled, in an earlier
// component, or leads to an earlier pivot without being led to by it; nothing of it is in a new
// component, nor on a path between two vertices of one. Of (2): the forward search reads all that
// the pivot reaches without entering these.
#pragma once

#include "core/alternating_search.hpp"
#include "core/csr.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/large_components.hpp"
#include "decomposition/limits.hpp"

namespace sparsematch {

template <class Index> class ForwardBackward {
  public:
    ForwardBackward(const Csr<Index>& a, const Csr<Index>& t, Matching<Index> m,
                    const CoarseParts& parts, LargeComponents<Index>& found,
                    const BlockLimits& limits, RunContext& run)
        : a_(a), t_(t), m_(m), found_(found), limits_(limits), run_(run), row_(a.n_rows),
          col_(a.n_cols) {
        row_.copy(parts.settled_row);
        col_.copy(parts.settled_col);
    }

    // Searches what is not settled. Writes: the components found. Workspace: a byte per column,
    // eight bits per vertex, and that of AlternatingSearch. Time: O(n_rows + n_cols + nnz).
    void search() {
        const auto timer = run_.time("forward-backward");
        found_.place = Buffer<Place>(a_.n_cols, no_place);
        std::size_t left = found_.left = a_.n_cols - col_.count();
        const double enough = limits_.go_on * static_cast<double>(a_.n_cols);
        for (bool large = true; large && static_cast<double>(left) > enough &&
                                found_.size < found_.most && !run_.stopped();) {
            large = search_from(pivot());
            left = a_.n_cols - col_.count();
        }
    }

  private:
    // The row with the most entries.
    Index pivot() const {
        Index pivot = UNMATCHED<Index>, most = -1;
        for (Index i = 0; i < a_.n_rows; ++i)
            if (a_.degree(i) > most && !row_.test(i)) pivot = i, most = a_.degree(i);
        return pivot;
    }

    // The pivot's component. False if it is not large. Adds what leads to it to row_ and col_.
    bool search_from(Index pivot) {
        // Both searches stop at row_ and col_, which stay in what they return on their own side.
        Bitmap forward_row(a_.n_rows), forward(a_.n_cols), backward_row(a_.n_rows),
            backward(a_.n_cols);
        run_both([&] { return search(a_, m_, pivot, col_, forward_row, forward, limits_); },
                 [&] {
                     return search(t_, m_.flipped(), m_.row_mate[pivot], row_, backward,
                                   backward_row, limits_);
                 },
                 run_);
        forward.remove(col_);
        row_.copy(backward_row);
        col_.merge(backward);
        backward.keep(forward);  // what is in both is the component
        forward.remove(backward);
        const std::size_t found = backward.count();
        if (static_cast<double>(found) <= limits_.large * static_cast<double>(found_.left))
            return false;
        const int g = found_.size++;
        run_.team.loop(a_.n_cols, limits_.bits_at_a_time,
                       [&](int, std::int64_t begin, std::int64_t end) {
                           each<Index>(backward, true, begin, end,
                                       [&](Index j) { found_.place[j] = static_cast<Place>(g); });
                       });
        each(forward, true, a_.n_cols, [&](Index j) { found_.targets[g].push_back(j); });
        found_.left -= found;
        return true;
    }

    static AlternatingSearch<Index> search(const Csr<Index>& a, Matching<Index> m, Index pivot,
                                           const Bitmap& without, Bitmap& row, Bitmap& col,
                                           const BlockLimits& limits) {
        col.copy(without);
        col.set(m.row_mate[pivot]);
        AlternatingSearch<Index> search(a, m.col_mate, row, col, limits.frontier);
        search.from(pivot);
        return search;
    }

    const Csr<Index>&a_, &t_;
    Matching<Index> m_;
    LargeComponents<Index>& found_;
    const BlockLimits& limits_;
    RunContext& run_;
    Bitmap row_, col_;  // settled, or known to lead to an earlier pivot
};

}  // namespace sparsematch
