// Strong components by depth-first search, of what is left of a graph when the easy vertices are gone.
//
// Tarjan (SIAM J. Comput. 1, 1972) in Pearce's form with one number per vertex (Information Processing Letters 116, 2016), with
// a stack of its own. The vertices are the matched columns of a matrix; column j has an arc to each column of its mate's row,
// read off the matrix as it is: no permuted copy.
// Where not all of the horizontal part is known beforehand: since components are completed sinks first, one belongs to it
// when one of its arcs leads to a free column or to a component that does.
#pragma once

#include <algorithm>
#include <limits>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// Where a column stands. 0: not known yet. From n_cols downwards: its component in the square part, sinks first. Below 0:
// likewise, sources first. Two codes for the other parts.
template <class Index>
inline constexpr Index in_horizontal = std::numeric_limits<Index>::max() - 1;
template <class Index>
inline constexpr Index in_vertical = std::numeric_limits<Index>::max();

template <class Index>
class StrongComponents {
    struct Arcs {
        Index next, last;  // those still to follow
    };

  public:
    // `number` has where each column stands, 0 for those that are to be searched. Workspace: three indices and two bits per
    // column, written for the latter only.
    StrongComponents(const Csr<Index>& a, Matching<Index> m, Index* number)
        : a_(a), number_(number), arcs_(a.n_cols), stack_(a.n_cols), to_horizontal_(a.n_cols), root_(a.n_cols) {
        for (Index j = 0; j < a.n_cols; ++j)
            if (number[j] == 0) arcs_[j] = {a.indptr[m.col_mate[j]], a.indptr[m.col_mate[j] + 1]};
    }

    // Completes the components of the unseen vertices that `wanted` names and of all that they reach; `component` is the
    // next number and counts down. Calls may follow each other, unless the run was stopped. Time: O(n_cols + arcs) in all.
    template <class Wanted>
    void find(Index& component, const Wanted& wanted, Run& run) {
        Meter meter(run);
        component_ = component;
        for (Index j = 0; j < a_.n_cols && !run.stopped(); ++j)
            if (number_[j] == 0 && wanted(j)) visit(j, meter);
        component = component_;
    }

  private:
    // The path of the search grows from the bottom of the stack, the finished vertices that still wait for the root of
    // their component from its top: a vertex is on one of them at most.
    void visit(Index start, Meter& meter) {
        depth_ = 0;
        Index j = push(start);
        for (;;) {
            Arcs& arcs = arcs_[j];
            Index next = arcs.next, least = number_[j], child = UNMATCHED<Index>;
            const Index last = arcs.last;
            bool horizontal = false;
            for (; next < last; ++next) {
                const Index k = a_.indices[next], number = number_[k];
                if (number == 0) {
                    child = k;
                    break;
                }
                least = std::min(least, number);
                horizontal |= number == in_horizontal<Index>;
            }
            arcs.next = next;
            if (horizontal) to_horizontal_.set(j);
            root_.clear_if(j, least < number_[j]);
            number_[j] = least;
            if (child != UNMATCHED<Index>) {
                if (!meter.charge(arcs_[child].last - arcs_[child].next + 1)) return;
                j = push(child);
                continue;
            }
            leave(j);
            if (depth_ == 0) return;
            j = stack_[depth_ - 1];
        }
    }

    Index push(Index j) {
        __builtin_prefetch(&a_.indices[arcs_[j].next]);
        number_[j] = ++preorder_;
        root_.set(j);
        stack_[depth_++] = j;
        return j;
    }

    // All arcs of j are done. Its parent will look at it again (the arc is still the parent's next), and lower itself there.
    void leave(Index j) {
        --depth_;
        if (!root_.test(j)) {
            stack_[--waiting_] = j;
            if (to_horizontal_.test(j)) to_horizontal_.set(stack_[depth_ - 1]);  // not a root, so it has a parent
            return;
        }
        const bool square = !to_horizontal_.test(j);
        const Index own = number_[j], number = square ? component_-- : in_horizontal<Index>;
        for (; waiting_ < a_.n_cols && number_[stack_[waiting_]] >= own; ++waiting_, --preorder_)
            number_[stack_[waiting_]] = number;
        number_[j] = number;
        --preorder_;
    }

    const Csr<Index>& a_;
    Index* number_;  // of a vertex on the way: the least preorder number reached, smaller than where any stands
    Buffer<Arcs> arcs_;
    Buffer<Index> stack_;
    Bitmap to_horizontal_, root_;
    Index component_ = 0, preorder_ = 0, depth_ = 0, waiting_ = a_.n_cols;
};

}  // namespace sparsematch
