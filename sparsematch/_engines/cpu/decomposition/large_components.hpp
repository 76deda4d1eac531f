// Large strong components that are found before the depth-first search, for which each of them is
// one vertex. The vertices are the matched columns of a matrix; column j has an arc to each column
// of its mate's row.
//
// What a vertex, the pivot, both reaches and is reached from is its component (Fleischer,
// Hendrickson, Pinar 2000). What is found need not be a whole component: the depth-first search
// joins it with the rest.
#pragma once

#include <array>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

// A set of pivots, of which there are at most two at a time.
using Pivots = unsigned char;
inline constexpr Pivots first_pivot = 1, second_pivot = 2, any_pivot = 3;

// What is known of a vertex, in a byte. It is open, or settled: its place in the form is known, or
// it is in a large component. Bits 0 and 1: the pivot reaches it; 2 and 3: it leads to the pivot; 4
// and 5: the pivot reaches its neighbours, too. From bit 6 on: the place of a settled vertex, with
// the number of its component in bits 4 and 5.
class VertexState {
    static constexpr unsigned char leads = 4, scan = 16, settled_bit = 64, horizontal_bits = 128,
                                   component_bits = 192;
    constexpr explicit VertexState(unsigned bits) : bits_(static_cast<unsigned char>(bits)) {}

  public:
    VertexState() = default;  // open, and nothing known
    static constexpr VertexState settled() { return VertexState(settled_bit); }
    static constexpr VertexState horizontal() { return VertexState(horizontal_bits); }
    static constexpr VertexState in_component(int g) {
        return VertexState(component_bits + g * scan);
    }
    static constexpr VertexState of_pivot(Pivots p) { return VertexState(p | p * leads); }

    bool is_open() const { return bits_ < settled_bit; }
    bool is_unknown() const { return bits_ == 0; }
    // Number of the large component; -1: of none.
    int component() const { return bits_ >= component_bits ? (bits_ - component_bits) / scan : -1; }
    // One number for each place that a settled vertex can have.
    unsigned place() const { return bits_ / scan; }

    Pivots reached_by() const { return bits_ & any_pivot; }
    Pivots leads_to() const { return bits_ / leads & any_pivot; }
    Pivots scanned_by() const { return bits_ / scan & any_pivot; }

    // Of an open vertex and one pivot, with a single comparison each.
    bool is_new_to(Pivots p) const { return !(bits_ & (component_bits | p)); }
    bool is_strong(Pivots p) const { return matches(p | p * leads, 0); }
    bool must_scan(Pivots p) const { return matches(p, p * scan); }
    bool might_lead(Pivots p) const { return matches(p, p * leads); }

    [[nodiscard]] VertexState reached_also(Pivots p) const { return VertexState(bits_ | p); }
    [[nodiscard]] VertexState or_known(VertexState other) const {
        return VertexState(bits_ | other.bits_);
    }
    // Its neighbours, all of whose states are joined in `heads`, are reached now.
    [[nodiscard]] VertexState scanned(VertexState heads) const {
        return VertexState(bits_ | (heads.bits_ & any_pivot * leads) | reached_by() * scan);
    }
    // Joins component g, that of pivot p, if it is strong; the other pivot may have reached it.
    [[nodiscard]] VertexState joined(int g, Pivots p) const {
        const unsigned member = component_bits + g * scan;
        return VertexState(is_strong(p) ? member | (bits_ & (any_pivot ^ p)) : bits_);
    }
    // Both pivots are one, the first.
    [[nodiscard]] VertexState pivots_united() const {
        const unsigned either = bits_ | bits_ / 2;
        return VertexState(is_open() ? either & (first_pivot * (1 + leads + scan)) : bits_);
    }
    [[nodiscard]] VertexState without_pivots() const {
        return VertexState(is_open() ? 0 : bits_ & ~any_pivot);
    }

  private:
    bool matches(unsigned set, unsigned clear) const {
        return (bits_ & (component_bits | set | clear)) == set;
    }

    unsigned char bits_ = 0;
};

template <class Index>
struct LargeComponents {
    static constexpr int most = 3;

    int size = 0;
    std::size_t left = 0;       // vertices that are neither settled nor in one of them
    Buffer<VertexState> state;  // of a column
    // Columns that arcs from it lead to: with arcs to these alone it reaches all that it reaches.
    std::array<std::vector<Index>, most> targets;

    int operator[](Index j) const { return size > 0 ? state[j].component() : -1; }
};

}  // namespace sparsematch
