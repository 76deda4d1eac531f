// Where the search for blocks changes its method. No limit changes the result: the tests lower them
// until every method is used on matrices of a few rows.
#pragma once

#include <cstdint>

#include "core/alternating_search.hpp"

namespace sparsematch {

// Of the sweeps. Shares of the vertices that are left when the search begins, unless said.
struct SweepLimits {
    double start = 7 / 8.;         // of all columns: left over, for a large component to be likely
    double go_on = 1 / 4.;         // left over, for another search
    double large = 1 / 8.;         // of those left over: a component that is kept
    double most_left = 1 / 2.;     // with more left over, depth-first search of all is faster
    double near = 1 / 64.;         // rows on either side of the pivot that are tried first
    double near_gain = 1 / 128.;   // states known then, if there is an order that sweeps can follow
    double enough_near = 64;       // states that are enough in any case
    double first_gain = 1 / 128.;  // states known after the first sweep over all rows
    double gain = 1 / 4.;          // of the states that are open: known by one more sweep
    double rest = 1 / 16.;         // not in a component of the pivots: no further sweep
    int sweeps = 8;                // over all rows, at most
    int candidates = 64;           // rows, of which that with the most entries is the pivot
    std::int64_t strip = 1 << 15;  // columns that a worker sweeps over by itself, at least
    std::int64_t rows_at_a_time = 1 << 12;  // between two checks for a stop
};

struct BlockLimits {
    FrontierLimits frontier;
    SweepLimits sweeps;
    double horizontal_gain = 1 / 16.;  // rows found by a pass over those left, for another pass
    // Of all columns, left over: with more, a large component is sought before trimming; with no
    // more, what is left is copied before depth-first search.
    double likely = 3 / 4., copied = 1 / 2.;
    // Of searches with the transpose. Of all columns: left over, for another search; of those left
    // over at first: a component that is kept.
    double go_on = 1 / 4., large = 1 / 8.;
    // Columns from which on it is tested what some vertices reach; how many of them, and how many
    // reached are little: an eighth of these columns, too few for a large component; vertices a
    // level, below which a search is narrow: as many as one prefetches.
    std::int64_t reaching = 1 << 15, some = 8;
    std::size_t little = 1 << 12, narrow = 8;
    // Where the transpose is built: rows, whose mates are not cached then; entries a row, at most,
    // for one worker: of the time without it, scrambled grids and random rows of 6 to 9 entries
    // took 0.5 to 1.4, of 14 to 26 entries 1.0 to 2.9; the distance of neighbours, as a share of
    // that of any two rows (Policy.near).
    std::int64_t many_rows = 3 << 16, many_entries = 10;
    double near = 0.05;
    std::int64_t piece = 1 << 14;  // columns and entries with at most one bound between pieces
    // Workers that repay a pass for pieces, and a transpose where sweeps fail or columns are free.
    int many = 4;
    unsigned char many_arcs = 255;  // of a row that is never trimmed
    // Vertices of a level of trimming that repay waking the others; claimed at a time. Not varied.
    std::int64_t trimmed_together = 1 << 11;
    std::int64_t trimmed_at_a_time = 1 << 7;
    std::int64_t at_a_time = 1 << 14;       // rows or columns; a multiple of 64
    std::int64_t bits_at_a_time = 1 << 16;  // rows or columns, a bit of each; a multiple of 64
};

}  // namespace sparsematch
