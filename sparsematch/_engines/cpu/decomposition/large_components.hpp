// Large strong components that are found before the depth-first search, for which each of them is
// one vertex. The vertices are the matched columns of a matrix; column j has an arc to each column
// of its mate's row.
//
// What a vertex, the pivot, both reaches and is reached from is its component (Fleischer,
// Hendrickson, Pinar 2000). Whatever a search finds, and however early it gives up, the blocks are
// right if two things hold:
// (1) The members of a component reach each other. They need not be all that do: depth-first
//     search joins them with the rest.
// (2) Each arc that leaves a component leads to one of its targets, or to the place of one, and the
//     component reaches its targets. So to draw arcs to the targets alone changes nothing of which
//     vertices reach which.
#pragma once

#include <array>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

// Where a vertex is: the number of its large component, or one of these.
using Place = signed char;
inline constexpr Place no_place = -1, in_other_part = -2, in_horizontal_part = -3;

template <class Index>
struct LargeComponents {
    static constexpr int most = 3;  // components

    int size = 0;
    std::size_t left = 0;  // vertices that are neither settled nor in one of them
    Buffer<Place> place;   // of a column
    std::array<std::vector<Index>, most> targets;

    // Negative: in none.
    int operator[](Index j) const { return size > 0 ? place[j] : no_place; }
};

}  // namespace sparsematch
