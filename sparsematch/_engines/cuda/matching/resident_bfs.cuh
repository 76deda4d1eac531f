// Breadth-first levels inside a kernel whose blocks stay on the device from the first level to the
// last.
//
// A level reads one stretch of a queue and appends the next. What the threads count meanwhile
// stands in a tally, and there are three of them in turn: one is filled, one is still read by
// threads that come late from the barrier, one is cleared. So a level costs one barrier. A frontier
// of a few vertices is left to the first block, which needs no barrier of the grid, and has tallies
// of its own since the others may still read the last one; they wait until the frontier has grown.
// Lists longer than HUB are cut to chunks, which warps take after the other vertices. Whoever is
// reached is claimed by a bit, so the trees have no vertex in common.
#pragma once

#ifndef THREADS  // what a driver that asks for nothing gets: of a block, blocks of a processor
#define THREADS 512
#define BLOCKS 1
#endif

// entries in a chunk; the logarithm of the threads that share it; entries at a time
enum { HUB = 128, CREW = 5, BATCH = 4 };
// what is counted in a turn, and how many counts that makes
enum { NEXT, ENDS, HUBS, TALLY };
// Where the first block leaves word for the others, twice as one word may still be read when the
// other is left; what the host is told.
enum { STATE = 6 * TALLY, ROUND = STATE + 4, STATS = ROUND + 3 };

// The threads that do a level: of the grid, or of one block that goes ahead alone.
struct Team {
    long long index, count;
    bool alone;
    int* barrier;
};

typedef Index Several[BATCH];
typedef bool Which[BATCH];

struct Lists {
    const Index *indptr, *indices;
};

// How far a search has come; the same in every thread of its team.
struct Progress {
    Index n, tail, ends;  // of the frontier; of the queue; of the list of ends
    int levels;
    int turn, alone_turn;  // which of the three tallies it is, for the grid and for a block alone
};

// What a search stands on: the lists that it follows, the mates of the vertices that these name, a
// bit for each of those.
struct Forest {
    Lists lists;
    const Index* mates;
    Bits* seen;
    Index *queue, *hubs;  // hubs: nullptr where no list is long
    Index* tallies;
    int shift;    // 2^shift neighbouring threads share a list
    Index alone;  // frontiers up to this size are left to the first block
    unsigned salt;
};

DEVICE Team whole_grid(int* barrier) { return {spread_index(), thread_count(), false, barrier}; }
DEVICE Team one_block(int* barrier) {
    return {thread_in_block(), threads_in_block(), true, barrier};
}

DEVICE void wait(const Team& team) {
    if (team.alone) sync_block();
    else sync_grid(team.barrier);
}

DEVICE Index* tally_of(Index* tallies, int turn) { return tallies + turn % 3 * TALLY; }
DEVICE Index* tally_of(const Team& team, Index* tallies, const Progress& at) {
    return team.alone ? tally_of(tallies + 3 * TALLY, at.alone_turn) : tally_of(tallies, at.turn);
}

// The tally after the one given was read by all before the last barrier, so its clearing disturbs
// nobody.
DEVICE void clear_next(Index* tallies, int turn) {
    Index* next = tally_of(tallies, turn + 1);
    for (int k = 0; k < TALLY; ++k) store(next + k, static_cast<Index>(0));
}

// Ends a turn: after the barrier its tally is complete.
DEVICE const Index* close_turn(const Team& team, Index* tallies, Progress& at) {
    if (team.alone) tallies += 3 * TALLY;
    int& turn = team.alone ? at.alone_turn : at.turn;
    if (team.index == 0) clear_next(tallies, turn);
    wait(team);
    return tally_of(tallies, turn++);
}

DEVICE void clear(const Team& team, Bits* set, Index n) {
    for (long long k = team.index; k <= n >> 5; k += team.count) set[k] = 0;  // own words
}

// Looks at the entries from, from + step, ... below `to` of a list, BATCH at a time so that their
// loads overlap, and so do the claims. The list is read from the place `turned` on, round to where
// it began. take(the j, their mates, which are claimed now).
template <class Take>
DEVICE void look(const Forest& f, const Index* list, Index degree, Index from, Index to, Index step,
                 Index turned, bool open, Take take) {
    for (Index k = from; k < to; k += BATCH * step) {
        Index j[BATCH], mate[BATCH];
        Bits before[BATCH];
        bool claimed[BATCH];
        for (int u = 0; u < BATCH; ++u) {
            const Index at = k + u * step, p = at + turned;
            j[u] = at < to ? list[p < degree ? p : p - degree] : UNMATCHED;
        }
        if (!open) return;  // asked for late: it is known no sooner than the list
        for (int u = 0; u < BATCH; ++u) {
            before[u] = j[u] != UNMATCHED ? load(f.seen + (j[u] >> 5)) : ~0u;
            mate[u] = j[u] != UNMATCHED ? f.mates[j[u]] : UNMATCHED;
        }
        for (int u = 0; u < BATCH; ++u) {
            const Bits bit = 1u << (j[u] & 31);
            if (!(before[u] & bit)) before[u] = bit_or(f.seen + (j[u] >> 5), bit);
            else before[u] = ~0u;
        }
        for (int u = 0; u < BATCH; ++u) claimed[u] = !(before[u] >> (j[u] & 31) & 1);
        take(j, mate, claimed);
    }
}

// Where the list of v is begun in this phase: neither the numbering nor the phase before may favour
// a direction.
DEVICE Index start_of(const Forest& f, Index v, Index degree) {
    return degree > 1 ? scatter(static_cast<unsigned>(v) ^ f.salt) % static_cast<unsigned>(degree)
                      : 0;
}

// A list too long for a few threads: its chunks, as pairs (vertex, where it begins).
DEVICE void cut(Index* hubs, Index* count, Index v, Index degree) {
    const Index chunks = (degree + HUB - 1) / HUB, at = add(count, chunks);
    // places of its own
    for (Index c = 0; c < chunks; ++c) hubs[2 * (at + c)] = v, hubs[2 * (at + c) + 1] = c * HUB;
}

// Each vertex of the frontier looks at its list, unless enter(v) says that it need not. take(what
// enter said, v, the j, their mates, which were claimed).
template <class Enter, class Take>
DEVICE void expand(const Team& team, const Forest& f, const Index* frontier, Index n, Index* tally,
                   Enter enter, Take take) {
    const Index lanes = static_cast<Index>(1) << f.shift;
    for (long long w = team.index; w < static_cast<long long>(n) << f.shift; w += team.count) {
        const Index v = frontier[w >> f.shift], lane = static_cast<Index>(w & (lanes - 1));
        const Index first = f.lists.indptr[v], degree = f.lists.indptr[v + 1] - first;
        const auto said = enter(v);
        if (f.hubs && degree > HUB) {
            if (lane == 0 && said.open) cut(f.hubs, tally + HUBS, v, degree);
            continue;
        }
        look(f, f.lists.indices + first, degree, lane, degree, lanes, start_of(f, v, degree),
             said.open, [&](const Several& j, const Several& mate, const Which& claimed) {
                 take(said, v, j, mate, claimed);
             });
    }
}

template <class Enter, class Take>
DEVICE void expand_hubs(const Team& team, const Forest& f, Index n, Enter enter, Take take) {
    for (long long w = team.index; w < static_cast<long long>(n) << CREW; w += team.count) {
        const Index* chunk = f.hubs + 2 * (w >> CREW);
        const Index v = chunk[0], begin = chunk[1],
                    lane = static_cast<Index>(w & ((1 << CREW) - 1));
        const Index first = f.lists.indptr[v], degree = f.lists.indptr[v + 1] - first;
        const auto said = enter(v);
        look(f, f.lists.indices + first, degree, begin + lane,
             begin + HUB < degree ? begin + HUB : degree, static_cast<Index>(1 << CREW),
             static_cast<Index>(0), said.open,
             [&](const Several& j, const Several& mate, const Which& claimed) {
                 take(said, v, j, mate, claimed);
             });
    }
}

// One level of the team's. Pushes go to queue + tail and are counted in the turn's tally.
template <class Enter, class Take>
DEVICE void do_level(const Team& team, const Forest& f, const Index* frontier, Progress& at,
                     Enter enter, Take take) {
    Index* tally = tally_of(team, f.tallies, at);
    const auto reach = [&](const auto& said, Index v, const Several& j, const Several& mate,
                           const Which& claimed) { take(at, tally, said, v, j, mate, claimed); };
    expand(team, f, frontier, at.n, tally, enter, reach);
    if (f.hubs) {
        wait(team);
        expand_hubs(team, f, load(tally + HUBS), enter, reach);
    }
    const Index* done = close_turn(team, f.tallies, at);
    at.n = load(done + NEXT);
    at.tail += at.n;
    at.ends += load(done + ENDS);
    ++at.levels;
}

// The first block leaves word how far it has come, the others read it. A barrier of the grid comes
// before the next such word, so nobody reads late.
DEVICE void hand_over(const Team& grid, Index* state, Progress& at) {
    if (grid.index == 0)
        state[0] = at.n, state[1] = at.tail, state[2] = at.ends, state[3] = at.levels;
    sync_grid(grid.barrier);
    at.n = state[0], at.tail = state[1], at.ends = state[2], at.levels = static_cast<int>(state[3]);
}

// Levels until the frontier is empty, or so many ends are found that it is enough. Level 0 reads
// `roots`, the others the queue. Safe: a vertex is claimed by one thread, which alone writes what
// belongs to it.
template <class Enter, class Take>
DEVICE void grow(const Team& grid, const Forest& f, const Index* roots, Index enough, Progress& at,
                 Enter enter, Take take) {
    const auto goes_on = [&] { return at.n > 0 && at.ends < enough; };
    const Index* frontier = roots;
    while (goes_on()) {
        const bool alone = at.n <= f.alone;
        const Team team = alone ? one_block(grid.barrier) : grid;
        if (!alone || block_index() == 0) {
            do {
                do_level(team, f, frontier, at, enter, take);
                frontier = f.queue + (at.tail - at.n);
            } while (alone && goes_on() && at.n <= f.alone);
        }
        if (alone) hand_over(grid, f.tallies + STATE, at);
        frontier = f.queue + (at.tail - at.n);
    }
}
