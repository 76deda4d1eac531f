// Strong components by depth-first search, for what is left when easy vertices are settled.
//
// Tarjan (SIAM J. Comput. 1, 1972) with an explicit stack. As components are completed sinks first,
// one belongs to the horizontal part when one of its arcs leads there or to a component that does.
// Memory latency bounds it: the places of all neighbours' lists are prefetched when these are
// scanned, and the lists of vertices on the path before the search returns (decision 0005).
#pragma once

#include <algorithm>
#include <limits>
#include <ranges>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// The number of a vertex. 0: not known yet. From n_cols downwards: its component in the square
// part, sinks first. From in_horizontal + 1 upwards: sources first. Two codes for the coarse parts.
template <class Index> inline constexpr Index in_horizontal = std::numeric_limits<Index>::min();
template <class Index> inline constexpr Index in_vertical = std::numeric_limits<Index>::max();

// The place of a vertex's arcs in the list of heads.
template <class Index> struct Arcs {
    Index begin, end;
};

template <class Index> class StrongComponents {
    static constexpr int ahead = 4;  // vertices of the path
    struct Visit {
        // the least preorder number reached; in_horizontal is less than all of them
        Index vertex, least;
        Index next;  // arc still to follow
    };

  public:
    // Writes the numbers that are 0, of at most `size` vertices. They are an array of their own:
    // most arcs lead to vertices with a number, of which nothing else is read. Workspace: four
    // indices for each, written as deep as the search goes.
    StrongComponents(Index* number, const Arcs<Index>* arcs, const Index* heads, std::size_t size)
        : number_(number), arcs_(arcs), heads_(heads), waiting_(size), path_(size) {}

    // Completes the components of the vertices at these places of an order, and of all that they
    // reach; `component` is the next number and counts down. Time: O(vertices + arcs).
    template <class Order = std::ranges::iota_view<Index>>
    void find(Index place, Index end, Index& component, RunContext& run, int rank = 0,
              const Order& order = Order(0)) {
        WorkCounter counter(run, rank);
        component_ = component;
        for (; place < end && !run.stopped(); ++place)
            if (const Index v = order[place]; number_[v] == 0) search(v, counter);
        component = component_;
    }

  private:
    void search(Index start, WorkCounter& counter) {
        const Index* const heads = heads_;
        Visit* top = path_.data();
        *top = enter(start);
        for (std::int64_t edges = 0;;) {
            Index next = top->next, least = top->least, child = UNMATCHED<Index>;
            for (const Index last = arcs_[top->vertex].end; next < last; ++next) {
                const Index k = heads[next], number = number_[k];
                SPARSEMATCH_PREFETCH(&arcs_[k]);
                if (number == 0) {
                    child = k;
                    break;
                }
                least = std::min(least, number);
            }
            edges += next - top->next + 1;
            if (edges > (1 << 12) && !counter.add(std::exchange(edges, 0))) return;
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
                counter.add(edges);
                return;
            }
            --top;
            top->least = std::min(top->least, root ? top->least : least);
            if (top - path_.data() >= ahead) {
                SPARSEMATCH_PREFETCH(&heads[top[-ahead].next]);
                SPARSEMATCH_PREFETCH(&number_[top[-ahead].vertex]);
            }
        }
    }

    Visit enter(Index v) {
        number_[v] = ++preorder_;
        return {v, preorder_, arcs_[v].begin};
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

    Index* number_;  // of a vertex on the path: its preorder number, smaller than any component's
    const Arcs<Index>* arcs_;
    const Index* heads_;
    Buffer<Index> waiting_;  // done, but not the root of their component
    Buffer<Visit> path_;
    Index component_ = 0, preorder_ = 0, n_waiting_ = 0;
};

}  // namespace sparsematch
