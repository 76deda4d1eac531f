// Strong components by depth-first search, of what is left of a graph when the easy vertices are gone.
//
// Tarjan (SIAM J. Comput. 1, 1972) with a stack of its own. Since components are completed sinks first, one belongs to the
// horizontal part when one of its arcs leads to a vertex of it or to a component that does.
// What bounds it is waiting for memory: where an arc leads is known before it is followed, so the lists of all neighbours are
// asked for when the first is looked at, and those of vertices on the path before the search comes back to them.
#pragma once

#include <algorithm>
#include <limits>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// Where a vertex stands. 0: not known yet. From n_cols downwards: its component in the square part, sinks first. Below 0:
// likewise, sources first. Two codes for the other parts.
template <class Index>
inline constexpr Index in_horizontal = std::numeric_limits<Index>::min();
template <class Index>
inline constexpr Index in_vertical = std::numeric_limits<Index>::max();

// Where the arcs of a vertex lead: lists.heads from lists.begin(v) to lists.end(v).
template <class Index, class Lists>
class StrongComponents {
    static constexpr int ahead = 4;  // vertices of the path
    struct Visit {
        Index vertex, least;  // the least preorder number reached; in_horizontal is less than all of them
        Index next, last;     // arcs still to follow
    };

  public:
    // `number` has where each vertex stands, 0 for those that are to be searched, at most `size`. Workspace: five indices for
    // each of these, written as deep as the search goes.
    StrongComponents(const Lists& lists, Index* number, std::size_t size)
        : lists_(lists), number_(number), waiting_(size), path_(size) {}

    // Completes the components of the first n vertices and of all that they reach; `component` is the next number and counts
    // down. Time: O(n + arcs).
    void find(Index n, Index& component, Run& run) {
        Meter meter(run);
        component_ = component;
        for (Index v = 0; v < n && !run.stopped(); ++v)
            if (number_[v] == 0) search(v, meter);
        component = component_;
    }

  private:
    void search(Index start, Meter& meter) {
        const Index* const heads = lists_.heads;
        Visit* top = path_.data();
        *top = enter(start);
        for (std::int64_t edges = 0;;) {
            Index next = top->next, least = top->least, child = UNMATCHED<Index>;
            for (const Index last = top->last; next < last; ++next) {
                const Index k = heads[next], number = number_[k];
                lists_.prefetch(k);
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
            const Index v = top->vertex;
            const bool root = least == number_[v];
            if (root) complete(v, component_--);
            else waiting_[n_waiting_++] = v;
            if (top == path_.data()) {
                if (!root) complete(v, in_horizontal<Index>);
                meter.charge(edges);
                return;
            }
            --top;
            top->least = std::min(top->least, root ? top->least : least);
            if (top - path_.data() >= ahead) __builtin_prefetch(&heads[top[-ahead].next]);
        }
    }

    Visit enter(Index v) {
        number_[v] = ++preorder_;
        return {v, preorder_, lists_.begin(v), lists_.end(v)};
    }

    // Vertex v, and those found after it that still wait for the root of their component.
    void complete(Index v, Index number) {
        const Index own = number_[v];
        while (n_waiting_ > 0 && number_[waiting_[n_waiting_ - 1]] >= own) {
            number_[waiting_[--n_waiting_]] = number;
            --preorder_;
        }
        if (number_[v] != own) return;  // it was waiting itself
        number_[v] = number;
        --preorder_;
    }

    const Lists lists_;
    Index* number_;          // of a vertex on the way: its preorder number, smaller than where any stands
    Buffer<Index> waiting_;  // done, but not the root of their component
    Buffer<Visit> path_;
    Index component_ = 0, preorder_ = 0, n_waiting_ = 0;
};

}  // namespace sparsematch
