// Breadth-first levels inside a kernel whose blocks stay on the device from the first to the last.
//
// A level reads one stretch of a queue and appends the next; what the threads count meanwhile is a
// Tally. A frontier of a few vertices is left to the first block, which needs no barrier of the
// grid, and has tallies of its own; the others wait until it has grown. Lists longer than HUB are
// cut to chunks, which warps process after the other vertices. Whatever is reached is claimed by a
// bit, so the trees are disjoint. Macros: HUB; THREADS of a block, BLOCKS of a processor.
#pragma once

// the logarithm of the threads that share a chunk; entries at a time
enum { CREW = 5, BATCH = 4 };

// What is counted in a turn: vertices of the next level, ends of paths, chunks of long lists.
struct Tally {
    Index next, ends, hubs;
};

// Zero at the launch. What the first block leaves for the others stands twice, as one may still be
// read when the other is written; the last three are for the host.
struct Control {
    Tally of_grid[3], of_block[3];
    Index progress[4], round[3];
    Index phases, levels, found;
};

// The threads that do a level: of the grid, or of one block that goes ahead alone.
struct Team {
    long long index, count;
    bool alone;
    int* barrier;
};

typedef Index Several[BATCH];
typedef bool Which[BATCH];

// How far a search is; the same in every thread of its team.
struct Progress {
    Index n, tail, ends;  // of the frontier; of the queue; of the list of ends
    int levels;
    int turn, alone_turn;  // of the tallies, for the grid and for a block alone
};

// A search: the lists that it follows, the mates of the vertices in these, a bit for each.
struct Forest {
    Csr lists;
    const Index* mates;
    Bits* seen;
    Index *queue, *hubs;  // hubs: nullptr where no list is long
    Control* control;
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

DEVICE LevelCounter<Tally> counter_of(const Team& team, Control* control, const Progress& at) {
    if (team.alone) return {control->of_block, at.alone_turn};
    return {control->of_grid, at.turn};
}
DEVICE Tally* tally_of(const Team& team, Control* control, const Progress& at) {
    return counter_of(team, control, at).written();
}

DEVICE void clear(Tally* tally) {
    store(&tally->next, static_cast<Index>(0));
    store(&tally->ends, static_cast<Index>(0));
    store(&tally->hubs, static_cast<Index>(0));
}

// Ends a turn: after the barrier its tally is complete.
DEVICE const Tally* close_turn(const Team& team, Control* control, Progress& at) {
    const LevelCounter<Tally> counter = counter_of(team, control, at);
    if (team.index == 0) clear(counter.following());
    wait(team);
    ++(team.alone ? at.alone_turn : at.turn);
    return counter.written();
}

DEVICE void clear(const Team& team, Bits* set, Index n) {
    for (long long k = team.index; k <= n >> 5; k += team.count) set[k] = 0;  // own words
}

// Scans the entries from, from + step, ... below `to` of a list, BATCH at a time so that their
// loads overlap, and so do the claims. The list is read from the place `turned` on, round to where
// it began. visit(the j, their mates, which are claimed now).
template <class Visit>
DEVICE void scan(const Forest& f, ReadOnly<Index> list, Index degree, Index from, Index to,
                 Index step, Index turned, bool open, Visit visit) {
    for (Index k = from; k < to; k += BATCH * step) {
        Index j[BATCH], mate[BATCH];
        Bits before[BATCH];
        bool claimed[BATCH];
        for (int u = 0; u < BATCH; ++u) {
            const Index at = k + u * step, p = at + turned;
            j[u] = at < to ? list[p < degree ? p : p - degree] : UNMATCHED;
        }
        if (!open) return;  // tested late: it is known no sooner than the list
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
        visit(j, mate, claimed);
    }
}

// Where the list of v is begun in this phase: neither numbering nor phase may favour a direction.
DEVICE Index start_of(const Forest& f, Index v, Index degree) {
    return drawn_below(degree, v, f.salt);
}

// A list too long for a few threads: its chunks, as pairs (vertex, where it begins).
DEVICE void cut(Index* hubs, Index* count, Index v, Index degree) {
    const Index chunks = (degree + HUB - 1) / HUB, at = add(count, chunks);
    // places of its own
    for (Index c = 0; c < chunks; ++c) hubs[2 * (at + c)] = v, hubs[2 * (at + c) + 1] = c * HUB;
}

// Scans the list of each vertex of the frontier, unless enter(v) is not open. visit(what enter
// returned, v, the j, their mates, which were claimed).
template <class Enter, class Visit>
DEVICE void expand(const Team& team, const Forest& f, const Index* frontier, Index n, Tally* tally,
                   Enter enter, Visit visit) {
    const Index lanes = static_cast<Index>(1) << f.shift;
    for (long long w = team.index; w < static_cast<long long>(n) << f.shift; w += team.count) {
        const Index v = frontier[w >> f.shift], lane = static_cast<Index>(w & (lanes - 1));
        const Index first = f.lists.indptr[v], degree = f.lists.indptr[v + 1] - first;
        const auto entry = enter(v);
        if (f.hubs && degree > HUB) {
            if (lane == 0 && entry.open) cut(f.hubs, &tally->hubs, v, degree);
            continue;
        }
        scan(f, f.lists.indices + first, degree, lane, degree, lanes, start_of(f, v, degree),
             entry.open, [&](const Several& j, const Several& mate, const Which& claimed) {
                 visit(entry, v, j, mate, claimed);
             });
    }
}

template <class Enter, class Visit>
DEVICE void expand_hubs(const Team& team, const Forest& f, Index n, Enter enter, Visit visit) {
    for (long long w = team.index; w < static_cast<long long>(n) << CREW; w += team.count) {
        const Index* chunk = f.hubs + 2 * (w >> CREW);
        const Index v = chunk[0], begin = chunk[1],
                    lane = static_cast<Index>(w & ((1 << CREW) - 1));
        const Index first = f.lists.indptr[v], degree = f.lists.indptr[v + 1] - first;
        const auto entry = enter(v);
        scan(f, f.lists.indices + first, degree, begin + lane,
             begin + HUB < degree ? begin + HUB : degree, static_cast<Index>(1 << CREW),
             static_cast<Index>(0), entry.open,
             [&](const Several& j, const Several& mate, const Which& claimed) {
                 visit(entry, v, j, mate, claimed);
             });
    }
}

// One level of the team. Pushes go to queue + tail and are counted in the turn's tally.
template <class Enter, class Visit>
DEVICE void do_level(const Team& team, const Forest& f, const Index* frontier, Progress& at,
                     Enter enter, Visit visit) {
    Tally* tally = tally_of(team, f.control, at);
    const auto reach = [&](const auto& entry, Index v, const Several& j, const Several& mate,
                           const Which& claimed) { visit(at, tally, entry, v, j, mate, claimed); };
    expand(team, f, frontier, at.n, tally, enter, reach);
    if (f.hubs) {
        wait(team);
        expand_hubs(team, f, load(&tally->hubs), enter, reach);
    }
    const Tally* done = close_turn(team, f.control, at);
    at.n = load(&done->next);
    at.tail += at.n;
    at.ends += load(&done->ends);
    ++at.levels;
}

// The first block writes how far it is, the others read it. A barrier of the grid precedes the next
// such write, so none reads late.
DEVICE void publish(const Team& grid, Index* state, Progress& at) {
    if (grid.index == 0)
        state[0] = at.n, state[1] = at.tail, state[2] = at.ends, state[3] = at.levels;
    sync_grid(grid.barrier);
    at.n = state[0], at.tail = state[1], at.ends = state[2], at.levels = static_cast<int>(state[3]);
}

// Levels until the frontier is empty, or `enough` ends are found. Level 0 reads `roots`, the others
// the queue. Safe: a vertex is claimed by one thread, which alone writes what belongs to it.
template <class Enter, class Visit>
DEVICE void grow(const Team& grid, const Forest& f, const Index* roots, Index enough, Progress& at,
                 Enter enter, Visit visit) {
    const auto goes_on = [&] { return at.n > 0 && at.ends < enough; };
    const Index* frontier = roots;
    while (goes_on()) {
        const bool alone = at.n <= f.alone;
        const Team team = alone ? one_block(grid.barrier) : grid;
        if (!alone || block_index() == 0) {
            do {
                do_level(team, f, frontier, at, enter, visit);
                frontier = f.queue + (at.tail - at.n);
            } while (alone && goes_on() && at.n <= f.alone);
        }
        if (alone) publish(grid, f.control->progress, at);
        frontier = f.queue + (at.tail - at.n);
    }
}
