// G-PR: free majors push themselves onto the minor that seems nearest to a free one, all at once,
// round after round.
//
// Deveci, Kaya, Ucar, Catalyurek: A push-relabel-based maximum cardinality bipartite matching
// algorithm on GPUs (ICPP 2013), Algorithms 3 to 9. The paper's columns are the majors here and its
// rows the minors; psi of a minor is label, counted in minors (half of psi); psi of a major is
// never stored. G-PR-First where use_list is false, G-PR-Shr where shrink, else NoShr. Corrected:
// an exchange on minor_mate makes a push linear: whoever is thrown out is active exactly once, in
// the place of who threw it out. So there is one list in the place of A_c, A_p and iA, and nothing
// to roll back or to fix. A major is given up only if the last exact labels say so; with nobody
// active, exact labels are made once more and prove it. Invariants: a matched minor stays matched;
// labels only rise between two relabellings.
#include "core/device.cuh"
#include "matching/resident_bfs.cuh"

#define UNREACHABLE (static_cast<Index>(-2))  // the mate of a major that was given up

// The forest of a relabelling: from the free minors along the transposed lists; `seen` and `mates`
// are those of the majors.
struct Game : Forest {
    Lists majors;
    Index n_major, n_minor, infinite;
    Index *major_mate, *minor_mate;
    Index* label;  // of a minor: at most its distance to a free one when it was set
    // majors without a mate, or UNMATCHED where there was one; room for another such list
    Index *active, *spare;
    // places in `active` whose major has a long list; nullptr where there is none
    Index* long_lists;
    int push_shift;
    bool use_list, shrink, adaptive;
    bool complete;  // whether the last relabelling saw all that can be seen
    double k;
};

struct Choice {
    Index least, second, best;
};

struct Open {
    bool open;
};

DEVICE Index smaller(Index a, Index b) { return a < b ? a : b; }

DEVICE void weigh(Choice& c, Index d, Index j) {
    if (d < c.least) c.second = c.least, c.least = d, c.best = j;
    else if (j != c.best) c.second = smaller(c.second, d);
}

// The choice of 2^shift neighbouring lanes together; the same in all of them. Every lane of the
// warp must be here.
DEVICE Choice agree(Choice c, int shift) {
    for (int mask = 1; mask < 1 << shift; mask <<= 1) {
        const Choice o{across(c.least, mask), across(c.second, mask), across(c.best, mask)};
        const bool theirs = o.least < c.least || (o.least == c.least && (lane_in_warp() & mask));
        const Choice won = theirs ? o : c, lost = theirs ? c : o;
        c = {won.least, smaller(won.second, lost.best == won.best ? lost.second : lost.least),
             won.best};
    }
    return c;
}

// The labels of the entries from, from + step, ... of the list of v.
DEVICE Choice choose(const Game& s, Index v, Index first, Index degree, Index from, Index step) {
    Choice c{s.infinite, s.infinite, UNMATCHED};
    const Index turned = start_of(s, v, degree);
    const Index* list = s.majors.indices + first;
    for (Index k = from; k < degree; k += BATCH * step) {
        Several j, d;
        for (int u = 0; u < BATCH; ++u) {
            const Index at = k + u * step, p = at + turned;
            j[u] = at < degree ? list[p < degree ? p : p - degree] : UNMATCHED;
        }
        for (int u = 0; u < BATCH; ++u)
            d[u] = j[u] != UNMATCHED ? load(s.label + j[u]) : s.infinite;
        for (int u = 0; u < BATCH; ++u) weigh(c, d[u], j[u]);
    }
    return c;
}

// Major v, at a place of the active list, takes its choice. Safe: v is at one place, which is its
// thread's own, as is its mate; the exchange hands the one thrown out to one thread. A label that
// another thread raised meanwhile is not lowered.
DEVICE void push_one(const Game& s, Index place, Index v, const Choice& c, Index* tally) {
    const Index one = 1;
    if (c.best == UNMATCHED) {
        if (!s.complete || has(s.seen, v)) {
            // labels may have been raised too far: it waits for exact ones
            store(tally + NEXT, one);
        } else {
            s.major_mate[v] = UNREACHABLE;
            s.active[place] = UNMATCHED;
        }
        return;
    }
    const Index thrown_out = exchange(s.minor_mate + c.best, v);
    s.major_mate[v] = c.best;
    s.active[place] = thrown_out;
    if (load(s.minor_mate + c.best) == v)
        maximum(s.label + c.best, smaller(c.second, s.infinite - 1) + 1);
    store(tally + ENDS, one);                               // somebody pushed; all write the same
    if (thrown_out != UNMATCHED) store(tally + NEXT, one);  // somebody is active
}

// One major with a long list, chosen for by a whole block.
DEVICE void push_long(const Game& s, Index place, Index* tally) {
    SHARED Index least, best;
    const Index v = s.active[place], first = s.majors.indptr[v],
                degree = s.majors.indptr[v + 1] - first;
    if (thread_in_block() == 0) least = s.infinite, best = UNMATCHED;
    sync_block();
    const Choice mine = choose(s, v, first, degree, thread_in_block(), threads_in_block());
    minimum(&least, mine.least);
    sync_block();
    if (mine.best != UNMATCHED && mine.least == least)
        compare_and_swap(&best, UNMATCHED, mine.best);
    sync_block();
    if (thread_in_block() == 0) push_one(s, place, v, {least, least, best}, tally);
    sync_block();
}

// One round: every active major pushes once.
DEVICE void push_all(const Team& team, const Game& s, Index n, Index* tally) {
    const int shift = lanes_in_warp() > 1 ? s.push_shift : 0;
    const long long warp = lanes_in_warp(),
                    items = ((static_cast<long long>(n) << shift) + warp - 1) / warp * warp;
    for (long long w = team.index; w < items; w += team.count) {  // whole warps: their lanes agree
        const Index place = static_cast<Index>(w >> shift),
                    lane = static_cast<Index>(w) & ((1 << shift) - 1);
        const Index v = place < n ? s.active[place] : UNMATCHED;
        const Index first = v != UNMATCHED ? s.majors.indptr[v] : 0,
                    degree = v != UNMATCHED ? s.majors.indptr[v + 1] - first : 0;
        const bool is_long = s.long_lists && degree > 4 * HUB;
        push(s.long_lists, tally + HUBS, place, is_long && lane == 0);
        const Choice mine =
            choose(s, v, first, is_long ? 0 : degree, lane, static_cast<Index>(1) << shift);
        const Choice c = agree(mine, shift);
        if (v != UNMATCHED && lane == 0 && !is_long) push_one(s, place, v, c, tally);
    }
    if (!s.long_lists) return;
    wait(team);
    const Index n_long = load(tally + HUBS);
    for (Index k = team.alone ? 0 : block_index(); k < n_long; k += team.alone ? 1 : block_count())
        push_long(s, s.long_lists[k], tally);
}

// Lists the majors that pass a test, out of n that are on the active list, or out of all of them:
// in the spare list, which takes the place of the active one. Where `bits` are given, in an order
// that means nothing.
template <class Wanted>
DEVICE Index list_majors(const Team& grid, Game& s, Progress& at, Index n, const Index* from,
                         int bits, Wanted wanted) {
    Index* tally = tally_of(grid, s.tallies, at);
    for (long long k = grid.index; k < n; k += grid.count) {
        const Index v = from   ? from[k]
                        : bits ? shuffle(static_cast<Index>(k), n, bits, s.salt)
                               : static_cast<Index>(k);
        push(s.spare, tally + NEXT, v, v != UNMATCHED && wanted(v));
    }
    Index* list = s.spare;
    s.spare = s.active, s.active = list;
    return load(close_turn(grid, s.tallies, at) + NEXT);
}

// Exact labels, while nobody pushes; the active majors stand in n places of the list. Returns how
// many levels there were. Once all of these are reached, the rest is known to be farther away,
// which is label enough.
DEVICE Index relabel(const Team& grid, Game& s, Index n, Progress& at) {
    Index* tally = tally_of(grid, s.tallies, at);
    for (long long k = grid.index; k < n; k += grid.count) {
        const Index v = s.active[k];
        if (v != UNMATCHED) s.major_mate[v] = UNMATCHED;  // own entry: each is on the list once
        push(s.spare, tally + HUBS, v, v != UNMATCHED);   // for their number
    }
    clear(grid, s.seen, s.n_major);
    for (long long u = grid.index; u < s.n_minor; u += grid.count) {
        const bool free = s.minor_mate[u] == UNMATCHED;
        s.label[u] = free ? 0 : s.infinite;
        push(s.queue, tally + NEXT, static_cast<Index>(u), free);
    }
    close_turn(grid, s.tallies, at);
    at.n = at.tail = load(tally + NEXT), at.ends = 0;
    const Index active = n > 0 ? load(tally + HUBS) : s.n_major + 1;
    const int before = at.levels;
    // Safe: a minor is reached through its mate only, and who claimed that one writes its label.
    const auto take = [&s, before](const Progress& at, Index* tally, Open, Index, const Several& j,
                                   const Several& mate, const Which& claimed) {
        Which onward, end;
        for (int u = 0; u < BATCH; ++u) {
            onward[u] = claimed[u] && mate[u] >= 0, end[u] = claimed[u] && mate[u] == UNMATCHED;
            if (onward[u])
                prefetch(s.lists.indptr + mate[u]), s.label[mate[u]] = at.levels - before + 1;
        }
        push_each(s.queue + at.tail, tally + NEXT, mate, onward);
        push_each(s.spare + at.ends, tally + ENDS, j, end);
    };
    grow(grid, s, s.queue, active, at, [](Index) { return Open{true}; }, take);
    const Index depth = at.levels - before;
    s.complete = at.n == 0;
    if (!s.complete) {
        for (long long u = grid.index; u < s.n_minor; u += grid.count)
            if (s.label[u] == s.infinite) s.label[u] = smaller(depth + 1, s.infinite);  // own entry
        sync_grid(grid.barrier);
    }
    return depth;
}

// How many rounds from one relabelling to the next. The paper counts levels in psi, two for each of
// ours.
DEVICE Index rounds_after(const Game& s, Index depth) {
    const double rounds = s.adaptive ? s.k * 2 * depth : s.k;
    return rounds < 1 ? 1 : rounds > s.infinite ? s.infinite : static_cast<Index>(rounds);
}

// Nobody is active. Lists the majors that were given up and that exact labels reach nevertheless:
// none, if all is done.
DEVICE Index certify(const Team& grid, Game& s, Progress& at, Index* depth) {
    const Index n = list_majors(grid, s, at, s.n_major, nullptr, 0,
                                [&s](Index v) { return s.major_mate[v] == UNREACHABLE; });
    if (n == 0) return 0;
    *depth = relabel(grid, s, 0, at);
    return list_majors(grid, s, at, n, s.active, 0, [&s](Index v) {
        const bool reached = has(s.seen, v);
        if (reached) s.major_mate[v] = UNMATCHED;  // own entry
        return reached;
    });
}

// Rounds with the same list until exact labels are due, nobody is active or nobody can push. Few
// majors are left to one block.
DEVICE void play(const Team& grid, Game& s, Index n, Index due, Index& round, bool& active,
                 bool& pushed, Progress& at, unsigned seed) {
    const bool alone = s.use_list && n <= s.alone;
    const Team team = alone ? one_block(grid.barrier) : grid;
    if (!alone || block_index() == 0) {
        do {
            s.salt = scatter(seed + static_cast<unsigned>(round));
            push_all(team, s, n, tally_of(team, s.tallies, at));
            const Index* done = close_turn(team, s.tallies, at);
            active = load(done + NEXT) != 0, pushed = load(done + ENDS) != 0;
            ++round;
        } while (s.use_list && active && pushed && round < due);
    }
    if (!alone) return;
    Index* state = s.tallies + ROUND;
    if (grid.index == 0) state[0] = active, state[1] = pushed, state[2] = round;
    sync_grid(grid.barrier);
    active = state[0] != 0, pushed = state[1] != 0, round = state[2];
}

// Notes whether any list is long, on either side; free majors become the active list. Returns how
// many.
DEVICE Index begin_game(const Team& grid, Game& s, Progress& at, int bits) {
    Index* tally = tally_of(grid, s.tallies, at);
    const Index one = 1;
    for (long long v = grid.index; v < s.n_major; v += grid.count)
        // all write the same
        if (s.majors.indptr[v + 1] - s.majors.indptr[v] > 4 * HUB) store(tally + HUBS, one);
    for (long long u = grid.index; u < s.n_minor; u += grid.count)
        if (s.lists.indptr[u + 1] - s.lists.indptr[u] > HUB) store(tally + ENDS, one);
    const Index n = list_majors(grid, s, at, s.n_major, nullptr, bits,
                                [&s](Index v) { return s.major_mate[v] == UNMATCHED; });
    if (load(tally + HUBS) == 0) s.long_lists = nullptr;
    if (load(tally + ENDS) == 0) s.hubs = nullptr;
    return n;
}

// The whole game. Reads: the lists of both sides. Writes: both mates. Workspace: work, two indices
// per minor, two per major, one for HUB / 4 entries; seen, a bit per major; tallies and barrier,
// zero before. Time: O(n nnz / threads), mostly a few passes.
KERNEL __launch_bounds__(THREADS, BLOCKS)
    push_relabel(Index n_major, Index n_minor, const Index* __restrict__ indptr,
                 const Index* __restrict__ indices, const Index* __restrict__ t_indptr,
                 const Index* __restrict__ t_indices, Index* major_mate, Index* minor_mate,
                 Index* work, Bits* seen, Index* tallies, int* barrier, double k, bool adaptive,
                 bool use_list, bool shrink, int push_shift, int shift, Index alone,
                 int shuffle_bits, unsigned seed) {
    Game s;
    s.lists = {t_indptr, t_indices}, s.majors = {indptr, indices};
    s.n_major = n_major, s.n_minor = n_minor, s.infinite = smaller(n_major, n_minor) + 1;
    s.mates = s.major_mate = major_mate, s.minor_mate = minor_mate, s.seen = seen,
    s.tallies = tallies;
    s.label = work, s.queue = work + n_minor, s.active = s.queue + n_minor,
    s.spare = s.active + n_major;
    s.hubs = s.long_lists = s.spare + n_major;  // one is read in relabelling, the other in pushing
    s.shift = shift, s.push_shift = push_shift, s.alone = alone, s.salt = seed;
    s.use_list = use_list, s.shrink = shrink, s.adaptive = adaptive, s.k = k;
    const Team grid = whole_grid(barrier);
    Progress at{};
    Index n = begin_game(grid, s, at, shuffle_bits), due = 0, round = 0, relabels = 0;
    for (;;) {
        // G-PR-First looks at all majors; free is also who was thrown out
        if (!use_list && round > 0)
            n = list_majors(grid, s, at, n_major, nullptr, 0, [&s](Index v) {
                const Index mate = s.major_mate[v];
                return mate == UNMATCHED || (mate >= 0 && s.minor_mate[mate] != v);
            });
        if (n > 0 && round >= due) {
            if (use_list && shrink && n >= 512)
                n = list_majors(grid, s, at, n, s.active, 0, [](Index) { return true; });
            due = round + rounds_after(s, relabel(grid, s, n, at));
            ++relabels;
        }
        bool active = false, pushed = false;
        if (n > 0) play(grid, s, n, due, round, active, pushed, at, seed);
        if (!active) {
            Index depth = 0;
            n = certify(grid, s, at, &depth);
            if (n == 0) break;
            due = round + rounds_after(s, depth);
            ++relabels;
        } else if (!pushed) {
            due = round;
        }
    }
    for (long long v = grid.index; v < n_major; v += grid.count)
        if (major_mate[v] == UNREACHABLE) major_mate[v] = UNMATCHED;  // own entry
    if (grid.index == 0) {
        Index* stats = tallies + STATS;
        stats[0] = relabels, stats[1] = at.levels, stats[2] = round;
    }
}
