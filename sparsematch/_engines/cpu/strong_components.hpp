// Strong components by depth-first search, of what is left of a graph when the easy vertices are gone.
//
// Tarjan (SIAM J. Comput. 1, 1972) with a stack of its own. The vertices are the matched columns of a matrix; column j has an
// arc to each column of its mate's row, read off the matrix as it is: no permuted copy.
// Where not all of the horizontal part is known beforehand: since components are completed sinks first, one belongs to it
// when one of its arcs leads to a free column or to a component that does.
// What bounds it is waiting for memory: where an arc leads is known before it is followed, so the lists of all neighbours are
// asked for when the first is looked at, and those of vertices on the path before the search comes back to them.
#pragma once

#include <algorithm>
#include <limits>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// Where a column stands. 0: not known yet. From n_cols downwards: its component in the square part, sinks first. Below 0:
// likewise, sources first. Two codes for the other parts.
template <class Index>
inline constexpr Index in_horizontal = std::numeric_limits<Index>::min();
template <class Index>
inline constexpr Index in_vertical = std::numeric_limits<Index>::max();

template <class Index>
class StrongComponents {
    static constexpr int ahead = 4;  // vertices of the path
    struct Arcs {
        Index next, last;
    };
    struct Visit {
        Index vertex, least;  // the least preorder number reached; in_horizontal is less than all of them
        Index next, last;     // arcs still to follow
    };

  public:
    // `number` has where each column stands, 0 for those that are to be searched. Workspace: seven indices per column, of
    // which four are written as deep as the search goes.
    StrongComponents(const Csr<Index>& a, Matching<Index> m, Index* number)
        : a_(a), number_(number), arcs_(a.n_cols), waiting_(a.n_cols), path_(a.n_cols) {
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
            if (number_[j] == 0 && wanted(j)) search(j, meter);
        component = component_;
    }

  private:
    void search(Index start, Meter& meter) {
        const Index* const indices = a_.indices;
        Visit* top = path_.data();
        *top = enter(start);
        for (std::int64_t edges = 0;;) {
            Index next = top->next, least = top->least, child = UNMATCHED<Index>;
            for (const Index last = top->last; next < last; ++next) {
                const Index k = indices[next], number = number_[k];
                __builtin_prefetch(&arcs_[k]);
                if (number == 0) {
                    child = k;
                    break;
                }
                least = std::min(least, number);
            }
            edges += next - top->next + 1;
            if (edges > (1 << 12) && !meter.charge(std::exchange(edges, 0))) return;
            if (child != UNMATCHED<Index>) {
                top->next = next + 1;
                top->least = least;
                *++top = enter(child);
                continue;
            }
            const Index j = top->vertex;
            const bool root = least == number_[j];
            if (root) complete(j, component_--);
            else waiting_[n_waiting_++] = j;
            if (top == path_.data()) {
                if (!root) complete(j, in_horizontal<Index>);
                meter.charge(edges);
                return;
            }
            --top;
            top->least = std::min(top->least, root ? top->least : least);
            if (top - path_.data() >= ahead) __builtin_prefetch(&indices[top[-ahead].next]);
        }
    }

    Visit enter(Index j) {
        number_[j] = ++preorder_;
        return {j, preorder_, arcs_[j].next, arcs_[j].last};
    }

    // Vertex j, and those found after it that still wait for the root of their component.
    void complete(Index j, Index number) {
        const Index own = number_[j];
        while (n_waiting_ > 0 && number_[waiting_[n_waiting_ - 1]] >= own) {
            number_[waiting_[--n_waiting_]] = number;
            --preorder_;
        }
        if (number_[j] != own) return;  // it was waiting itself
        number_[j] = number;
        --preorder_;
    }

    const Csr<Index>& a_;
    Index* number_;  // of a vertex on the way: its preorder number, smaller than where any stands
    Buffer<Arcs> arcs_;
    Buffer<Index> waiting_;  // done, but not the root of their component
    Buffer<Visit> path_;
    Index component_ = 0, preorder_ = 0, n_waiting_ = 0;
};

}  // namespace sparsematch
