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

// Where a vertex stands. 0: not known yet. From n_cols downwards: its component in the square part, sinks first.
// Two codes for the other parts.
template <class Index>
inline constexpr Index in_horizontal = std::numeric_limits<Index>::min();
template <class Index>
inline constexpr Index in_vertical = std::numeric_limits<Index>::max();

// What the search reads of a vertex lies together: where it stands, and the place of its arcs in the list of heads.
template <class Index>
struct Vertex {
    Index number, begin, end;
};

template <class Index>
class StrongComponents {
    static constexpr int ahead = 4;  // vertices of the path
    struct Visit {
        Index vertex, least;  // the least preorder number reached; in_horizontal is less than all of them
        Index next;           // arc still to follow
    };

  public:
    // The numbers are 0 for those that are to be searched, at most `size`. Workspace: four indices for each of these, written
    // as deep as the search goes.
    StrongComponents(Vertex<Index>* vertices, const Index* heads, std::size_t size)
        : vertices_(vertices), heads_(heads), waiting_(size), path_(size) {}

    // Completes the components of the first n vertices and of all that they reach; `component` is the next number and counts
    // down. Time: O(n + arcs).
    void find(Index n, Index& component, Run& run) {
        Meter meter(run);
        component_ = component;
        for (Index v = 0; v < n && !run.stopped(); ++v)
            if (vertices_[v].number == 0) search(v, meter);
        component = component_;
    }

  private:
    void search(Index start, Meter& meter) {
        const Index* const heads = heads_;
        Visit* top = path_.data();
        *top = enter(start);
        for (std::int64_t edges = 0;;) {
            Index next = top->next, least = top->least, child = UNMATCHED<Index>;
            for (const Index last = vertices_[top->vertex].end; next < last; ++next) {
                const Index k = heads[next], number = vertices_[k].number;
                __builtin_prefetch(&heads[vertices_[k].begin]);
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
            const bool root = least == vertices_[v].number;
            if (root) complete(v, component_--);
            else waiting_[n_waiting_++] = v;
            if (top == path_.data()) {
                if (!root) complete(v, in_horizontal<Index>);
                meter.charge(edges);
                return;
            }
            --top;
            top->least = std::min(top->least, root ? top->least : least);
            if (top - path_.data() >= ahead) {
                __builtin_prefetch(&heads[top[-ahead].next]);
                __builtin_prefetch(&vertices_[top[-ahead].vertex]);
            }
        }
    }

    Visit enter(Index v) {
        Vertex<Index>& vertex = vertices_[v];
        vertex.number = ++preorder_;
        return {v, preorder_, vertex.begin};
    }

    // Vertex v, and those found after it that still wait for the root of their component.
    void complete(Index v, Index number) {
        const Index own = vertices_[v].number;
        while (n_waiting_ > 0 && vertices_[waiting_[n_waiting_ - 1]].number >= own) {
            vertices_[waiting_[--n_waiting_]].number = number;
            --preorder_;
        }
        if (vertices_[v].number != own) return;  // it was waiting itself
        vertices_[v].number = number;
        --preorder_;
    }

    Vertex<Index>* vertices_;  // the number of one on the way: its preorder number, smaller than where any stands
    const Index* heads_;
    Buffer<Index> waiting_;  // done, but not the root of their component
    Buffer<Visit> path_;
    Index component_ = 0, preorder_ = 0, n_waiting_ = 0;
};

}  // namespace sparsematch
