// G-PR: free majors push themselves onto the minor that seems nearest to a free one, in rounds.
//
// Deveci, Kaya, Ucar, Catalyurek: A push-relabel-based maximum cardinality bipartite matching
// algorithm on GPUs (ICPP 2013), Algorithms 3 to 9. The paper's columns are the majors here and its
// rows the minors; psi of a minor is label, counted in minors (half of psi); psi of a major is
// never stored. G-PR-First where use_list is false, G-PR-Shr where shrink, else NoShr. Corrected:
// an exchange on minor_mate makes a push linear: a major that is displaced is active exactly once,
// in the place of the one that displaced it. So one list replaces A_c, A_p and iA, and nothing is
// rolled back or fixed. A major is given up only if the last exact labels show that it reaches no
// free minor; with none active, exact labels are computed once more and prove it. Invariants: a
// matched minor stays matched; labels only rise between two relabellings.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "matching/resident_bfs.cuh"

#define UNREACHABLE (static_cast<Index>(-2))  // the mate of a major that was given up

// A relabelling's forest: from free minors along transposed lists; `seen` and `mates` of majors.
struct PushRelabel {
    Forest forest;
    Csr majors;
    Index n_major, n_minor, infinite;
    Index *major_mate, *minor_mate;
    Index* label;  // of a minor: at most its distance to a free one when it was set
    // majors without a mate, or UNMATCHED where there was one; room for another such list
    Index *active, *spare;
    // places in `active` whose major has a long list; nullptr where there is none
    Index* long_lists;
    int push_shift, shuffle_bits;
    unsigned seed;
    bool use_list, shrink, adaptive;
    bool complete;  // whether the last relabelling reached all that can be reached
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

// The choice of 2^shift neighbouring lanes, the same in all. Every lane must be here.
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
DEVICE Choice choose(const PushRelabel& s, Index v, Index first, Index degree, Index from,
                     Index step) {
    Choice c{s.infinite, s.infinite, UNMATCHED};
    const Index turned = start_of(s.forest, v, degree);
    const ReadOnly<Index> list = s.majors.indices + first;
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

// Pushes major v, at a place of the active list, onto its choice. Safe: v is at one place, which is
// its thread's own, as is its mate; the exchange hands the displaced major to one thread. A label
// that another thread raised meanwhile is not lowered.
DEVICE void push_one(const PushRelabel& s, Index place, Index v, const Choice& c, Tally* tally) {
    const Index one = 1;
    if (c.best == UNMATCHED) {
        if (!s.complete || has(s.forest.seen, v)) {
            // labels may have been raised too far: it waits for exact ones
            store(&tally->next, one);
        } else {
            s.major_mate[v] = UNREACHABLE;
            s.active[place] = UNMATCHED;
        }
        return;
    }
    const Index displaced = exchange(s.minor_mate + c.best, v);
    s.major_mate[v] = c.best;
    s.active[place] = displaced;
    if (load(s.minor_mate + c.best) == v)
        maximum(s.label + c.best, smaller(c.second, s.infinite - 1) + 1);
    store(&tally->ends, one);                              // pushed; all write the same
    if (displaced != UNMATCHED) store(&tally->next, one);  // one is active
}

// One major with a long list, by a whole block.
DEVICE void push_long(const PushRelabel& s, Index place, Tally* tally) {
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
DEVICE void push_all(const Team& team, const PushRelabel& s, Index n, Tally* tally) {
    const int shift = WARP > 1 ? s.push_shift : 0;
    const long long warp = WARP,
                    items = ((static_cast<long long>(n) << shift) + warp - 1) / warp * warp;
    for (long long w = team.index; w < items; w += team.count) {  // whole warps
        const Index place = static_cast<Index>(w >> shift),
                    lane = static_cast<Index>(w) & ((1 << shift) - 1);
        const Index v = place < n ? s.active[place] : UNMATCHED;
        const Index first = v != UNMATCHED ? s.majors.indptr[v] : 0,
                    degree = v != UNMATCHED ? s.majors.indptr[v + 1] - first : 0;
        const bool is_long = s.long_lists && degree > 4 * HUB;
        push(s.long_lists, &tally->hubs, place, is_long && lane == 0);
        const Choice mine =
            choose(s, v, first, is_long ? 0 : degree, lane, static_cast<Index>(1) << shift);
        const Choice c = agree(mine, shift);
        if (v != UNMATCHED && lane == 0 && !is_long) push_one(s, place, v, c, tally);
    }
    if (!s.long_lists) return;
    wait(team);
    const Index n_long = load(&tally->hubs);
    for (Index k = team.alone ? 0 : block_index(); k < n_long; k += team.alone ? 1 : block_count())
        push_long(s, s.long_lists[k], tally);
}

// Lists the majors that pass a test, out of n that are on the active list, or out of all of them:
// in the spare list, which takes the place of the active one. Where `bits` are given, in any order.
template <class Wanted>
DEVICE Index list_majors(const Team& grid, PushRelabel& s, Progress& at, Index n, const Index* from,
                         int bits, Wanted wanted) {
    Tally* tally = tally_of(grid, s.forest.control, at);
    for (long long k = grid.index; k < n; k += grid.count) {
        const Index v = from   ? from[k]
                        : bits ? shuffle(static_cast<Index>(k), n, bits, s.forest.salt)
                               : static_cast<Index>(k);
        push(s.spare, &tally->next, v, v != UNMATCHED && wanted(v));
    }
    Index* list = s.spare;
    s.spare = s.active, s.active = list;
    return load(&close_turn(grid, s.forest.control, at)->next);
}

// Exact labels, while none pushes; the active majors stand in n places of the list. Returns how
// many levels there were. Once all of these are reached, the rest is farther: label enough.
DEVICE Index relabel(const Team& grid, PushRelabel& s, Index n, Progress& at) {
    Tally* tally = tally_of(grid, s.forest.control, at);
    for (long long k = grid.index; k < n; k += grid.count) {
        const Index v = s.active[k];
        if (v != UNMATCHED) s.major_mate[v] = UNMATCHED;  // own entry: each is on the list once
        push(s.spare, &tally->hubs, v, v != UNMATCHED);   // for their number
    }
    clear(grid, s.forest.seen, s.n_major);
    for (long long u = grid.index; u < s.n_minor; u += grid.count) {
        const bool free = s.minor_mate[u] == UNMATCHED;
        s.label[u] = free ? 0 : s.infinite;
        push(s.forest.queue, &tally->next, static_cast<Index>(u), free);
    }
    close_turn(grid, s.forest.control, at);
    at.n = at.tail = load(&tally->next), at.ends = 0;
    const Index active = n > 0 ? load(&tally->hubs) : s.n_major + 1;
    const int before = at.levels;
    // Safe: a minor is reached through its mate only; the thread that claimed that labels it.
    const auto visit = [&s, before](const Progress& at, Tally* tally, Open, Index, const Several& j,
                                    const Several& mate, const Which& claimed) {
        Which onward, end;
        for (int u = 0; u < BATCH; ++u) {
            onward[u] = claimed[u] && mate[u] >= 0, end[u] = claimed[u] && mate[u] == UNMATCHED;
            if (!onward[u]) continue;
            prefetch(s.forest.lists.indptr.data + mate[u]);
            s.label[mate[u]] = at.levels - before + 1;
        }
        push_each(s.forest.queue + at.tail, &tally->next, mate, onward);
        push_each(s.spare + at.ends, &tally->ends, j, end);
    };
    grow(grid, s.forest, s.forest.queue, active, at, [](Index) { return Open{true}; }, visit);
    const Index depth = at.levels - before;
    s.complete = at.n == 0;
    if (!s.complete) {
        for (long long u = grid.index; u < s.n_minor; u += grid.count)
            if (s.label[u] == s.infinite) s.label[u] = smaller(depth + 1, s.infinite);  // own entry
        sync_grid(grid.barrier);
    }
    return depth;
}

// How many rounds from one relabelling to the next. The paper's psi counts two levels for each.
DEVICE Index rounds_after(const PushRelabel& s, Index depth) {
    const double rounds = s.adaptive ? s.k * 2 * depth : s.k;
    return rounds < 1 ? 1 : rounds > s.infinite ? s.infinite : static_cast<Index>(rounds);
}

// None is active. Lists majors given up that exact labels reach after all: none, if done.
DEVICE Index certify(const Team& grid, PushRelabel& s, Progress& at, Index* depth) {
    const Index n = list_majors(grid, s, at, s.n_major, nullptr, 0,
                                [&s](Index v) { return s.major_mate[v] == UNREACHABLE; });
    if (n == 0) return 0;
    *depth = relabel(grid, s, 0, at);
    return list_majors(grid, s, at, n, s.active, 0, [&s](Index v) {
        const bool reached = has(s.forest.seen, v);
        if (reached) s.major_mate[v] = UNMATCHED;  // own entry
        return reached;
    });
}

// Rounds with one list until labels are due, none is active or none can push; few by one block.
DEVICE void push_rounds(const Team& grid, PushRelabel& s, Index n, Index due, Index& round,
                        bool& active, bool& pushed, Progress& at) {
    const bool alone = s.use_list && n <= s.forest.alone;
    const Team team = alone ? one_block(grid.barrier) : grid;
    if (!alone || block_index() == 0) {
        do {
            s.forest.salt = scatter(s.seed + static_cast<unsigned>(round));
            push_all(team, s, n, tally_of(team, s.forest.control, at));
            const Tally* done = close_turn(team, s.forest.control, at);
            active = load(&done->next) != 0, pushed = load(&done->ends) != 0;
            ++round;
        } while (s.use_list && active && pushed && round < due);
    }
    if (!alone) return;
    Index* state = s.forest.control->round;
    if (grid.index == 0) state[0] = active, state[1] = pushed, state[2] = round;
    sync_grid(grid.barrier);
    active = state[0] != 0, pushed = state[1] != 0, round = state[2];
}

// Notes whether any list is long, on either side. Returns the number of free majors: active now.
DEVICE Index first_list(const Team& grid, PushRelabel& s, Progress& at) {
    Tally* tally = tally_of(grid, s.forest.control, at);
    const Index one = 1;
    for (long long v = grid.index; v < s.n_major; v += grid.count)
        // all write the same
        if (s.majors.indptr[v + 1] - s.majors.indptr[v] > 4 * HUB) store(&tally->hubs, one);
    for (long long u = grid.index; u < s.n_minor; u += grid.count)
        if (s.forest.lists.indptr[u + 1] - s.forest.lists.indptr[u] > HUB) store(&tally->ends, one);
    const Index n = list_majors(grid, s, at, s.n_major, nullptr, s.shuffle_bits,
                                [&s](Index v) { return s.major_mate[v] == UNMATCHED; });
    if (load(&tally->hubs) == 0) s.long_lists = nullptr;
    if (load(&tally->ends) == 0) s.forest.hubs = nullptr;
    return n;
}

// The majors that are free, or were displaced, out of all of them: G-PR-First.
DEVICE Index list_active(const Team& grid, PushRelabel& s, Progress& at) {
    return list_majors(grid, s, at, s.n_major, nullptr, 0, [&s](Index v) {
        const Index mate = s.major_mate[v];
        return mate == UNMATCHED || (mate >= 0 && s.minor_mate[mate] != v);
    });
}

// The whole algorithm. Reads: the lists of both sides. Writes: both mates. Workspace: two indices
// per minor, two per major, one for HUB / 4 entries; a bit per major; control and barrier, zero
// before. Time: O(n nnz / threads), mostly a few passes.
KERNEL __launch_bounds__(THREADS, BLOCKS) push_relabel(PushRelabel s, int* barrier) {
    const Team grid = whole_grid(barrier);
    Progress at{};
    Index n = first_list(grid, s, at), due = 0, round = 0, relabels = 0;
    for (;;) {
        if (!s.use_list && round > 0) n = list_active(grid, s, at);
        if (n > 0 && round >= due) {
            if (s.use_list && s.shrink && n >= 512)
                n = list_majors(grid, s, at, n, s.active, 0, [](Index) { return true; });
            due = round + rounds_after(s, relabel(grid, s, n, at));
            ++relabels;
        }
        bool active = false, pushed = false;
        if (n > 0) push_rounds(grid, s, n, due, round, active, pushed, at);
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
    for (long long v = grid.index; v < s.n_major; v += grid.count)
        if (s.major_mate[v] == UNREACHABLE) s.major_mate[v] = UNMATCHED;  // own entry
    Control* control = s.forest.control;
    if (grid.index == 0)
        control->phases = relabels, control->levels = at.levels, control->found = round;
}
