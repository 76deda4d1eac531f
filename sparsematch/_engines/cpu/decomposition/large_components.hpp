// Large strong components, each of them one vertex for the depth-first search that follows.
// Vertices are the matched columns; column j has an arc to each column of its mate's row.
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

// A set of pivots, of which there are at most two at a time.
using Pivots = unsigned char;
inline constexpr Pivots first_pivot = 1, second_pivot = 2, any_pivot = 3;

// What is known of a vertex: eight flags. Of each pivot p, three that are true where they are set:
//   reached_by p    p reaches the vertex;
//   leads_to p      the vertex reaches p;
//   scanned_by p    all its neighbours are reached_by p, but for those elsewhere if it is_outer.
// And is_open: neither settled nor in a component; others keep their flags, but are not scanned.
class VertexState {
    static constexpr unsigned leads = 4, scan = 16, settled_bit = 64, outer_bit = 128,
                              every_first = 1 + leads + scan;
    constexpr explicit VertexState(unsigned bits) : bits_(static_cast<unsigned char>(bits)) {}

  public:
    VertexState() = default;  // open, and nothing known
    static constexpr VertexState settled() { return VertexState(settled_bit); }
    static constexpr VertexState of_pivot(Pivots p) { return VertexState(p | p * leads); }

    bool is_open() const { return !(bits_ & settled_bit); }
    bool is_outer() const { return bits_ & outer_bit; }
    bool is_unknown() const { return bits_ == 0; }

    Pivots reached_by() const { return bits_ & any_pivot; }
    Pivots leads_to() const { return bits_ / leads & any_pivot; }
    Pivots scanned_by() const { return bits_ / scan & any_pivot; }

    // Of an open vertex and one pivot, with a single comparison each.
    bool is_new_to(Pivots p) const { return matches(0, p); }
    bool is_strong(Pivots p) const { return matches(p | p * leads, 0); }
    bool must_scan(Pivots p) const { return matches(p, p * scan); }
    bool might_lead(Pivots p) const { return matches(p, p * leads); }

    // Of a vertex to which an arc leads from one that these pivots reach.
    [[nodiscard]] VertexState reached_also(Pivots p) const { return VertexState(bits_ | p); }
    [[nodiscard]] VertexState or_known(VertexState other) const {
        return VertexState(bits_ | other.bits_);
    }
    // Its neighbours, but for those elsewhere, have the states joined in `heads`, and are reached.
    [[nodiscard]] VertexState scanned(VertexState heads, bool outer) const {
        return VertexState(bits_ | (heads.bits_ & any_pivot * leads) | reached_by() * scan |
                           outer * outer_bit);
    }
    // All neighbours of one that is outer are reached by these pivots, and by no others.
    [[nodiscard]] VertexState confirmed(Pivots p) const {
        return VertexState(bits_ & ~(outer_bit | (any_pivot - p) * scan));
    }
    [[nodiscard]] VertexState settled_if(bool yes) const {
        return VertexState(bits_ | yes * settled_bit);
    }
    // What is true of the first and of the second pivot is true of these, too, and of no others. Of
    // all vertices at once, settled ones too, as scanned_by says something of the neighbours.
    [[nodiscard]] VertexState renamed(Pivots first, Pivots second) const {
        return VertexState((bits_ & every_first) * first | (bits_ / 2 & every_first) * second |
                           (bits_ & (settled_bit | outer_bit)));
    }

  private:
    bool matches(unsigned set, unsigned clear) const {
        return (bits_ & (settled_bit | set | clear)) == set;
    }

    unsigned char bits_ = 0;
};

// Where a vertex is: the number of its large component, or one of these.
using Place = signed char;
inline constexpr Place no_place = -1, in_other_part = -2, in_horizontal_part = -3;

template <class Index> struct LargeComponents {
    static constexpr int most = 3;  // components

    int size = 0;
    std::size_t left = 0;  // vertices that are neither settled nor in one of them
    Buffer<Place> place;   // of a column
    std::array<std::vector<Index>, most> targets;

    // Negative: in none.
    int operator[](Index j) const { return size > 0 ? place[j] : no_place; }
};

}  // namespace sparsematch
