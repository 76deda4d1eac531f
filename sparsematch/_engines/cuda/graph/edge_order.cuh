// What the kernels for general graphs share: the one strict order of the edges, bit by bit that of
// the core's graph.hpp, and the choice of the best edge of each vertex of a list.
//
// LANES neighbouring threads scan a vertex's list, UNROLL entries each at once. Lists above LONG
// entries are cut to parts, which warps process after the others; results are combined at last.
// Macros: WEIGHT, bytes of a weight, 0: all the same; LANES; UNROLL; LONG; PART, entries of a part.
#pragma once

// as a choice: no neighbour may be chosen, but not all are taken
#define ALIVE (static_cast<Index>(-2))

#if WEIGHT == 4
typedef Bits Key;
#else
typedef Wide Key;
#endif

// What is counted in a turn.
struct Tally {
    Wide open, lost, parts, longs;
};

// Kept from launch to launch, zero at the first.
struct Control {
    Tally tallies[3];
    Wide turn, rounds, done;      // turns and rounds so far; whether nothing is left to do
    Wide matched, scanned;        // vertices matched, entries scanned
    Wide left, swapped, reached;  // written by one block for the others
    int barrier[2];
};

// The lists of vertices first, first + 1, ...: of all, or of those that one of several GPUs owns.
struct Adjacency {
    const Index *indptr, *indices;
    const Key* weight;
    Wide seed;
    Index first;
};

// Lists that were cut: of each part its list, number and best edge; of a list its first part.
struct Cuts {
    Index *vertex, *number, *best, *owner, *first;
    Key* key;
};

DEVICE LevelCounter<Tally> counter_of(Control* control, Wide turn) {
    return {control->tallies, static_cast<int>(turn)};
}
DEVICE Tally* tally_of(Control* control, Wide turn) { return counter_of(control, turn).written(); }

// Clears the tally of the turn after the next, which is not read any more.
DEVICE void clear_tally(Control* control, Wide turn) {
    if (thread_index() == 0) *counter_of(control, turn + 1).following() = Tally{0, 0, 0, 0};
}

// ---- The order of the edges.
DEVICE Wide hash(Wide x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
DEVICE Wide edge_hash(Index u, Index v, Wide seed) {
    const Wide low = u < v ? u : v, high = u < v ? v : u;
    return hash(low * 0xd6e8feb86659fd93ull + high * 0xa0761d6478bd642full + seed);
}
DEVICE Wide vertex_hash(Index v, Wide round, Wide seed) {
    return hash(static_cast<Wide>(v) * 0xd6e8feb86659fd93ull + round * 0xa0761d6478bd642full +
                seed);
}

// The magnitude as an integer, which keeps the order.
DEVICE Key magnitude(Key weight) { return weight & (~static_cast<Key>(0) >> 1); }

// Whether edge {u, v} comes before edge {u, w}, given their keys.
DEVICE bool before(Key key_v, Index v, Key key_w, Index w, Index u, Wide seed) {
    if (key_v != key_w) return key_v > key_w;
    if (WEIGHT) {
        const Wide uv = edge_hash(u, v, seed), uw = edge_hash(u, w, seed);
        if (uv != uw) return uv > uw;
    }
    return v > w;  // of two edges with an end in common, that is the order of their pairs
}

// ---- The best edge of a vertex.
struct Best {
    Key key;
    Index v;  // or UNMATCHED, ALIVE
};

DEVICE bool is_better(const Best& a, const Best& b, Index u, Wide seed) {
    if (a.v < 0 || b.v < 0) return a.v >= 0 || (a.v == ALIVE && b.v == UNMATCHED);
    return before(a.key, a.v, b.key, b.v, u, seed);
}

// The best of `lanes` neighbouring lanes; all lanes of the warp must call it.
DEVICE Best best_of(Best mine, int lanes, Index u, Wide seed) {
    for (int bit = lanes >> 1; bit; bit >>= 1) {
        const Best other = {across(mine.key, bit), across(mine.v, bit)};
        if (other.v != mine.v && is_better(other, mine, u, seed)) mine = other;
    }
    return mine;
}

// The best choice among entries p, p + step, ... of u's list, `left` places to its end. may(v): v
// itself if it may, else ALIVE or UNMATCHED. Edge keys are compared first: most need no more.
template <class May>
DEVICE Best scan(const Adjacency& g, Index u, Index p, Index left, Index step, May may) {
    Best best = {0, UNMATCHED};
    for (; left > 0; left -= UNROLL * step, p += UNROLL * step) {
        Best here[UNROLL];
        for (int k = 0; k < UNROLL; ++k) here[k].v = k * step < left ? g.indices[p + k * step] : u;
        for (int k = 0; k < UNROLL; ++k)
            here[k].key = WEIGHT && k * step < left ? magnitude(g.weight[p + k * step]) : 0;
        for (int k = 0; k < UNROLL; ++k) {
            if (here[k].v == u) continue;
            if (!WEIGHT) here[k].key = edge_hash(u, here[k].v, g.seed);
            if (!is_better(here[k], best, u, g.seed)) continue;
            here[k].v = may(here[k].v);
            if (here[k].v >= 0 || best.v == UNMATCHED) best = here[k];
        }
    }
    return best;
}

// A rule of `choose`: points at the best free neighbour. Taken may be nullptr: all are free.
struct Free {
    const Adjacency& g;
    const Bits* taken;
    Index* choice;

    DEVICE Best scan(Index u, Index begin, Index, Index from, Index to, int lane, int lanes) const {
        const auto may = [&](Index v) { return taken && is_in(taken, v) ? UNMATCHED : v; };
        return ::scan(g, u, begin + from + lane, to - from - lane, lanes, may);
    }
    DEVICE void set(Index u, const Best& best) const { choice[u] = best.v; }
};

// Leaves a list to be scanned part by part. Safe: places given out by atomic additions.
DEVICE void cut(const Cuts& cuts, Tally* tally, Index u, Index degree) {
    const Index n = (degree - 1) / PART + 1;
    const Wide at = add(&tally->parts, static_cast<Wide>(n)),
               place = add(&tally->longs, static_cast<Wide>(1));
    cuts.owner[place] = u;
    cuts.first[place] = static_cast<Index>(at);
    for (Index k = 0; k < n; ++k) cuts.vertex[at + k] = u, cuts.number[at + k] = k;
}

// Each vertex of a list (nullptr: 0 .. count - 1), counted from g.first on, makes its choice.
// rule.scan(u, begin, degree, from, to, lane, lanes): the best among entries from .. to of the list
// of u that this lane of `lanes` finds; rule.set(u, best) stores it. Returns the entries scanned.
template <class Rule>
DEVICE Wide choose(const Adjacency& g, const Rule& rule, const Index* list, Wide count,
                   const Cuts& cuts, Tally* tally) {
    const int lane = lane_in_warp() % LANES;
    Wide scanned = 0;
    for (Wide base = thread_index() / WARP * (WARP / LANES); base < count;
         base += thread_count() / LANES) {
        const Wide k = base + lane_in_warp() / LANES;
        Index own = 0, begin = 0, degree = 0;
        if (k < count) {
            own = list ? list[k] : static_cast<Index>(k);
            begin = g.indptr[own];
            degree = g.indptr[own + 1] - begin;
        }
        const Index u = g.first + own;
        const bool is_long = degree > LONG;
        const Index upto = is_long ? 0 : degree;
        const Best best =
            best_of(rule.scan(u, begin, degree, 0, upto, lane, LANES), LANES, u, g.seed);
        if (k >= count || lane) continue;
        scanned += degree;
        if (is_long) cut(cuts, tally, own, degree);
        else rule.set(u, best);
    }
    return scanned;
}

// The same for the lists cut, by the grid between barriers. Safe: a part, and a list, by one warp.
template <class Rule>
DEVICE void choose_long(const Adjacency& g, const Rule& rule, const Cuts& cuts, const Tally* tally,
                        int* barrier) {
    const Wide n_parts = load(&tally->parts), n_long = load(&tally->longs),
               warps = thread_count() / WARP;
    if (!n_long) return;
    for (Wide k = thread_index() / WARP; k < n_parts; k += warps) {
        const Index own = cuts.vertex[k], u = g.first + own, begin = g.indptr[own],
                    degree = g.indptr[own + 1] - begin, from = cuts.number[k] * PART;
        const Index to = degree - from > PART ? from + PART : degree;
        const Best best =
            best_of(rule.scan(u, begin, degree, from, to, lane_in_warp(), WARP), WARP, u, g.seed);
        if (lane_in_warp() == 0) cuts.key[k] = best.key, cuts.best[k] = best.v;
    }
    sync_grid(barrier);
    for (Wide k = thread_index() / WARP; k < n_long; k += warps) {
        const Index own = cuts.owner[k], u = g.first + own,
                    n = (g.indptr[own + 1] - g.indptr[own] - 1) / PART + 1;
        Best best = {0, UNMATCHED};
        for (Index part = lane_in_warp(); part < n; part += WARP) {
            const Best found = {cuts.key[cuts.first[k] + part], cuts.best[cuts.first[k] + part]};
            if (is_better(found, best, u, g.seed)) best = found;
        }
        best = best_of(best, WARP, u, g.seed);
        if (lane_in_warp() == 0) rule.set(u, best);
    }
    sync_grid(barrier);
}
