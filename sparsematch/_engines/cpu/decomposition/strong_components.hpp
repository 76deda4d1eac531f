// Strong components by depth-first search, for what is left when easy vertices are settled.
//
// Tarjan (SIAM J. Comput. 1, 1972) with an explicit stack. Since components are completed sinks
// first, one belongs to the horizontal part when one of its arcs leads to a vertex of it or to a
// component that does. Memory latency bounds it: the places of the lists of all neighbours are
// prefetched when these are scanned, and the lists of vertices on the path before the search
// returns to them (decision 0005). Several workers search what is weakly connected each.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "core/union_find.hpp"
#include "decomposition/limits.hpp"

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

    // Completes the components of those of the first n vertices for which mine(v), and of all that
    // they reach; `component` is the next number, counts down, and is no less than the vertices
    // without a number. Time: O(n + arcs).
    template <class Mine>
    void find(Index n, const Mine& mine, Index& component, RunContext& run, int rank = 0) {
        WorkCounter counter(run, rank);
        component_ = component;
        for (Index v = 0; v < n && !run.stopped(); ++v)
            if (mine(v) && number_[v] == 0) search(v, counter);
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

// StrongComponents::find for all of n vertices, by all workers: each searches parts of its own.
// Workspace: that, two indices and a short for each vertex.
template <class Index>
void find_strong_components(Index* number, const Arcs<Index>* arcs, const Index* heads, Index n,
                            Index& component, const BlockLimits& limits, RunContext& run) {
    const int size = run.team.size();
    if (size < limits.joining_workers || n <= limits.joined) {
        StrongComponents<Index>(number, arcs, heads, n)
            .find(n, [](Index) { return true; }, component, run);
        return;
    }
    const auto each_vertex = [&](const auto& visit) {
        run.team.loop(n, limits.at_a_time, [&](int rank, Index begin, Index end) {
            WorkCounter counter(run, rank);
            for (Index v = begin; v < end && counter.add(visit(v)); ++v) {
            }
        });
    };
    UnionFind<Index> parts(n);
    each_vertex([&](Index v) {
        if (number[v] != 0) return Index{1};
        for (Index p = arcs[v].begin; p < arcs[v].end; ++p)
            if (const Index k = heads[p]; number[k] == 0) parts.unite_shared(v, k);
        return 1 + arcs[v].end - arcs[v].begin;
    });
    // of the root of a part: its vertices, then the worker that searches it
    Buffer<Index> of_root(n, 0);
    each_vertex([&](Index v) {
        if (number[v] == 0) std::atomic_ref(of_root[parts.find(v)]).fetch_add(1);
        return Index{1};
    });
    const auto open = std::accumulate(of_root.begin(), of_root.end(), std::int64_t{0});
    std::vector<Index> first(size + 1, 0);  // the vertices of the workers before
    for (Index v = 0, all = 0, owner = 0; v < n; ++v) {
        if (of_root[v] == 0) continue;
        all += std::exchange(of_root[v], owner);
        while (owner < size && std::int64_t{all} * size >= open * (owner + 1)) first[++owner] = all;
    }
    constexpr std::uint16_t nobody = 0xffff;
    Buffer<std::uint16_t> owner(n);
    each_vertex([&](Index v) {
        owner[v] = number[v] ? nobody : static_cast<std::uint16_t>(of_root[parts.find(v)]);
        return Index{1};
    });
    if (run.stopped()) return;
    // each numbers as if all vertices of the workers before were components
    std::vector<Index> next(size);
    run.team.each([&](int rank) {
        next[rank] = component - first[rank];
        StrongComponents<Index>(number, arcs, heads, first[rank + 1] - first[rank])
            .find(n, [&](Index v) { return owner[v] == rank; }, next[rank], run, rank);
    });
    Index found = 0;
    for (int rank = 0; rank < size; ++rank) {
        const Index mine = component - first[rank] - next[rank];
        next[rank] = first[rank] - found;  // too many
        found += mine;
    }
    component -= found;
    each_vertex([&](Index v) {
        if (owner[v] != nobody && number[v] != in_horizontal<Index>) number[v] += next[owner[v]];
        return Index{1};
    });
}

}  // namespace sparsematch
