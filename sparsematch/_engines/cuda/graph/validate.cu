// What matching relies on in a graph, in one pass over entries; weights, live edges of a matching.
//
// Both triangles are summed up to a 64-bit fingerprint, each entry hashed by its place and
// magnitude as an unordered pair: equal sums show that each entry has its partner.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "graph/edge_order.cuh"

// Of all entries: the upper triangle's fingerprint less the lower one's; flags.
struct Properties {
    Wide balance, falls, infinite;
};

// Of the entries of one thread.
struct Seen {
    Wide balance;
    bool falls, infinite;
};

// Reads entries from .. to of a list that begins at `begin`, by lanes of which this is one.
DEVICE void read(const Adjacency& g, Index u, Index begin, Index from, Index to, int lane,
                 int lanes, Seen& seen) {
    Index p = begin + from + lane;
    for (Index left = to - from - lane; left > 0; left -= UNROLL * lanes, p += UNROLL * lanes) {
        Index v[UNROLL], last[UNROLL];
        Key key[UNROLL];
        for (int k = 0; k < UNROLL; ++k) {
            const Index at = p + k * lanes;
            v[k] = k * lanes < left ? g.indices[at] : u;
            key[k] = WEIGHT && k * lanes < left ? magnitude(g.weight[at]) : 0;
            last[k] = k * lanes < left && at > begin ? g.indices[at - 1] : UNMATCHED;
        }
        for (int k = 0; k < UNROLL; ++k) {
            if (k * lanes < left) seen.falls |= v[k] <= last[k];
            if (v[k] == u) continue;
            seen.infinite |= WEIGHT && key[k] >= (WEIGHT == 4 ? static_cast<Key>(0x7f800000)
                                                              : static_cast<Key>(0x7ffull << 52));
            const Wide print = edge_hash(u, v[k], key[k]);
            seen.balance += v[k] > u ? print : 0 - print;
        }
    }
}

// Safe: atomic additions, one a block; flags are only ever set.
DEVICE void add_up(Properties* found, const Seen& seen) {
    add_of_block(&found->balance, seen.balance);
    if (seen.falls) store(&found->falls, static_cast<Wide>(1));
    if (seen.infinite) store(&found->infinite, static_cast<Wide>(1));
}

// All lists but the long ones, which are cut. Reads: the graph. Writes: found, cuts.
KERNEL survey(Index n, Adjacency g, Cuts cuts, Control* control, Properties* found) {
    const int lane = lane_in_warp() % LANES;
    Seen seen = {0, false, false};
    for (Wide u = thread_index() / LANES; u < static_cast<Wide>(n); u += thread_count() / LANES) {
        const Index begin = g.indptr[u], degree = g.indptr[u + 1] - begin;
        if (degree <= LONG)
            read(g, g.first + static_cast<Index>(u), begin, 0, degree, lane, LANES, seen);
        else if (lane == 0) cut(cuts, control->tallies, static_cast<Index>(u), degree);
    }
    add_up(found, seen);
}

// The lists that were cut, a warp for each part. As `survey`.
KERNEL survey_long(Adjacency g, Cuts cuts, const Control* control, Properties* found) {
    Seen seen = {0, false, false};
    for (Wide k = thread_index() / WARP; k < control->tallies[0].parts;
         k += thread_count() / WARP) {
        const Index u = cuts.vertex[k], begin = g.indptr[u], degree = g.indptr[u + 1] - begin,
                    from = cuts.number[k] * PART;
        read(g, g.first + u, begin, from, degree - from > PART ? from + PART : degree,
             lane_in_warp(), WARP, seen);
    }
    add_up(found, seen);
}

#if WEIGHT
// The magnitude of the weight of each matched pair, at its smaller end, elsewhere zero. Reads: the
// graph, whose lists ascend, and mate. Writes: sums, own entries. Time: O(n log(degree) / threads).
KERNEL pair_weights(Index n, Adjacency g, const Index* mate, double* sums) {
    for (long long u = thread_index(); u < n; u += thread_count()) {
        double own = 0;
        if (mate[u] > g.first + u) {
            const Index at = first_not_below(g.indices, g.indptr[u], g.indptr[u + 1], mate[u]);
            own = static_cast<double>(as_number(magnitude(g.weight[at])));
        }
        sums[u] = own;
    }
}
#endif

// Edges with both ends free, each counted at both of them. Reads: the graph, mate. Writes: count.
// Time: O(nnz / threads).
KERNEL count_live(Index n, Adjacency g, const Index* mate, Wide* count) {
    Wide live = 0;
    for (Wide u = thread_index() / WARP; u < static_cast<Wide>(n); u += thread_count() / WARP) {
        if (mate[u] != UNMATCHED) continue;
        for (Index p = g.indptr[u] + lane_in_warp(); p < g.indptr[u + 1]; p += WARP)
            live += g.indices[p] != static_cast<Index>(u) && mate[g.indices[p]] == UNMATCHED;
    }
    add_of_block(count, live);
}
