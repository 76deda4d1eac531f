// Where the search for blocks changes its method. No limit changes the result: the tests lower them
// until every method is used on matrices of a few rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/alternating_search.hpp"

namespace sparsematch {

// Of the sweeps, without the transpose. Shares of the vertices that are left when they begin.
struct SweepLimits {
    double most_left = 1 / 2.;    // with more left over, depth-first search of all is faster
    double near = 1 / 64.;        // rows on either side of the pivot that are tried first
    double near_gain = 1 / 128.;  // flags known then, if there is an order that sweeps can follow
    double enough_near = 64;      // flags that are enough in any case
    double gain = 1 / 16.;        // of the flags that are not: known by one more sweep
    double rest = 1 / 16.;        // not in a component of the pivot: no further sweep
    int sweeps = 8;               // over all rows, at most
    int candidates = 64;          // rows, of which that with the most entries is the pivot
};

struct BlockLimits {
    FrontierLimits frontier;
    SweepLimits sweeps;
    double horizontal_gain = 1 / 16.;  // rows found by a pass over those left, for another pass
    // Of all columns, left over: with more, a large component is sought first; with no more, what
    // is left is copied before depth-first search.
    double likely = 3 / 4., copied = 1 / 2.;
    // Of all columns: left over, for another search; of those left over at first: a component that
    // is kept.
    double go_on = 1 / 4., large = 1 / 8.;
    unsigned char many_arcs = 255;          // of a row that is never trimmed
    std::int64_t at_a_time = 1 << 14;       // rows or columns; a multiple of 64
    std::int64_t bits_at_a_time = 1 << 16;  // rows or columns, a bit of each; a multiple of 64
};

}  // namespace sparsematch
