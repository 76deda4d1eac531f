// Large strong components with the transpose: one breadth-first search forwards and one backwards
// from each pivot (Fleischer, Hendrickson, Pinar 2000).
#pragma once

#include "core/alternating_search.hpp"
#include "core/csr.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/large_components.hpp"

namespace sparsematch {

template <class Index>
class ForwardBackward {
  public:
    ForwardBackward(const Csr<Index>& a, const Csr<Index>& t, Matching<Index> m,
                    const CoarseParts& parts, LargeComponents<Index>& found, RunContext& run)
        : a_(a), t_(t), m_(m), found_(found), run_(run), row_(a.n_rows), col_(a.n_cols) {
        row_.copy(parts.settled_row);
        col_.copy(parts.settled_col);
    }

    // Searches among the vertices that are not settled. Writes: the components found. Workspace: a
    // byte per column, eight bits per vertex, and that of AlternatingSearch. Time: O(n_rows +
    // n_cols + nnz).
    void search() {
        found_.state = Buffer<VertexState>(a_.n_cols, VertexState());
        std::size_t left = found_.left = a_.n_cols - col_.count();
        for (bool large = true; large && left > static_cast<std::size_t>(a_.n_cols) / 4 &&
                                found_.size < found_.most && !run_.stopped();) {
            large = search_from(pivot());
            left = a_.n_cols - col_.count();
        }
    }

  private:
    // The row with the most entries.
    Index pivot() const {
        Index pivot = UNMATCHED<Index>, most_entries = -1;
        for (Index i = 0; i < a_.n_rows; ++i)
            if (a_.degree(i) > most_entries && !row_.test(i)) {
                pivot = i;
                most_entries = a_.degree(i);
            }
        return pivot;
    }

    // The pivot's component. False if it is not large. Adds what leads to it to row_ and col_.
    bool search_from(Index pivot) {
        // Both searches stop at row_ and col_, which stay in what they return on their own side.
        Bitmap forward_row(a_.n_rows), forward(a_.n_cols), backward_row(a_.n_rows),
            backward(a_.n_cols);
        reach(a_, m_, pivot, col_, forward_row, forward);
        reach(t_, m_.flipped(), m_.row_mate[pivot], row_, backward, backward_row);
        forward.remove(col_);
        row_.copy(backward_row);
        col_.merge(backward);
        backward.keep(forward);  // what is in both is the component
        forward.remove(backward);
        const std::size_t found = backward.count();
        if (found <= found_.left / 8) return false;
        const int g = found_.size++;
        each(backward, true, a_.n_cols,
             [&](Index j) { found_.state[j] = VertexState::in_component(g); });
        each(forward, true, a_.n_cols, [&](Index j) { found_.targets[g].push_back(j); });
        found_.left -= found;
        return true;
    }

    void reach(const Csr<Index>& a, Matching<Index> m, Index pivot, const Bitmap& without,
               Bitmap& row, Bitmap& col) {
        col.copy(without);
        row.set(pivot);
        col.set(m.row_mate[pivot]);
        AlternatingSearch<Index> search(a, m.col_mate, row, col);
        search.from(pivot);
        search.run(run_);
    }

    const Csr<Index>&a_, &t_;
    Matching<Index> m_;
    LargeComponents<Index>& found_;
    RunContext& run_;
    Bitmap row_, col_;  // settled, or known to lead to an earlier pivot
};

}  // namespace sparsematch
