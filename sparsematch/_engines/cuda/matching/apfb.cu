// APFB and APsB: breadth-first search from all free majors at once, then the paths that were found
// are flipped together.
//
// Deveci, Kaya, Ucar, Catalyurek: GPU accelerated maximum cardinality matching algorithms for
// bipartite graphs (Euro-Par
// 2013), Algorithms 1 to 4. The paper's columns are the majors here, its rows the minors;
// predecessor is links[2 j], bfs_array is queue and seen, cmatch and rmatch are major_mate and
// minor_mate, bfs_array[root] of a finished tree is leaf[root], an rmatch of -2 is an entry of
// ends. GPUBFS-WR where with_roots, else GPUBFS; APsB where stop_early, else APFB. Corrected: one
// fetch-or on a bit of `seen` claims a minor, all else is written by who claimed it, so the trees
// are disjoint and nothing is left to fix; one end only is flipped in a tree, so a phase that finds
// a path gains one. Kernel apfb does all of GPUBFS, with a constant number of threads (CT); kernel
// step does one step of either, with a thread for each vertex (MT). GPUBFS-WR with a constant
// number of threads is ms_bfs.cu in lockstep.
#include "core/device.cuh"
#include "matching/resident_bfs.cuh"

struct Search : Forest {
    Index n_major, n_minor;
    Index *major_mate, *minor_mate;
    // of a minor in the forest: the major that it was reached from, and the mate of that one
    Index* links;
    Index* root;  // of a major in the forest
    // of a root: the free minor its tree has met. Without roots, the ends whose walk came to a root
    Index* leaf;
    Index* roots;  // free majors: two lists, for this phase and the one before in turn
    Index* ends;   // free minors that were met
    Bits* passed;  // majors that a walk has gone through
    bool with_roots;
};

// What expand asks of a major: whether to go on, its root, its mate.
struct Entry {
    bool open;
    Index root, mate;
};

DEVICE Search make_search(Index n_major, Index n_minor, const Index* indptr, const Index* indices,
                          Index* major_mate, Index* minor_mate, Index* work, Bits* bits,
                          Index* tallies, bool with_roots, int shift, unsigned seed) {
    Search s;
    s.lists = {indptr, indices};
    s.n_major = n_major, s.n_minor = n_minor;
    s.mates = s.minor_mate = minor_mate, s.major_mate = major_mate;
    s.seen = bits, s.passed = bits + (n_minor >> 5) + 1;
    s.links = work, s.ends = work + 2 * static_cast<long long>(n_minor);
    s.root = s.ends + n_minor, s.leaf = s.root + n_major, s.queue = s.leaf + n_major,
    s.roots = s.queue + n_major;
    s.hubs = s.roots + 2 * static_cast<long long>(n_major);
    s.tallies = tallies, s.shift = shift, s.alone = 0, s.salt = seed, s.with_roots = with_roots;
    return s;
}

DEVICE Index* roots_of(const Search& s, Index phase) {
    return phase & 1 ? s.roots + s.n_major : s.roots;
}

DEVICE void plant_one(const Search& s, Index* to, Index* tally, Index v) {
    const bool free = s.major_mate[v] == UNMATCHED;
    if (free) s.root[v] = v, s.leaf[v] = UNMATCHED;  // own entries
    push(to, tally + NEXT, v, free);
}

// The free majors: all of them in an order that means nothing, or those n of the last phase that
// are still free.
DEVICE void plant_all(const Team& team, const Search& s, Index* tally, Index phase, Index n,
                      int bits) {
    Index* to = roots_of(s, phase);
    clear(team, s.seen, s.n_minor);
    if (!s.with_roots) clear(team, s.passed, s.n_major);
    if (phase > 0) {
        for (long long k = team.index; k < n; k += team.count)
            plant_one(s, to, tally, roots_of(s, phase - 1)[k]);
        return;
    }
    for (long long k = team.index; k < s.n_major; k += team.count) {
        // all write the same
        if (s.lists.indptr[k + 1] - s.lists.indptr[k] > HUB)
            store(tally + HUBS, static_cast<Index>(1));
        plant_one(s, to, tally, shuffle(static_cast<Index>(k), s.n_major, bits, s.salt));
    }
}

DEVICE auto enter(const Search& s) {
    return [&s](Index v) {
        const Index mate = s.major_mate[v];
        if (!s.with_roots) return Entry{true, UNMATCHED, mate};
        const Index root = s.root[v];
        // a tree that has its path grows no further
        return Entry{load(s.leaf + root) == UNMATCHED, root, mate};
    };
}

// Reached minors j from v. Safe: the claim of j makes links[2 j] and [2 j + 1] ours, and root of
// its mate too.
DEVICE auto take(const Search& s) {
    return [&s](const Progress& at, Index* tally, const Entry& from, Index v, const Several& j,
                const Several& mate, const Which& claimed) {
        Which onward, end;
        for (int u = 0; u < BATCH; ++u) {
            onward[u] = claimed[u] && mate[u] != UNMATCHED,
            end[u] = claimed[u] && mate[u] == UNMATCHED;
            if (onward[u]) prefetch(s.lists.indptr + mate[u]);
            if (claimed[u]) {
                Index* link = s.links + 2 * static_cast<long long>(j[u]);
                link[0] = v, link[1] = from.mate;
            }
            if (s.with_roots) {
                if (onward[u]) s.root[mate[u]] = from.root;
                // its tree's first
                if (end[u])
                    end[u] = compare_and_swap(s.leaf + from.root, UNMATCHED, j[u]) == UNMATCHED;
            }
        }
        push_each(s.queue + at.tail, tally + NEXT, mate, onward);
        push_each(s.ends + at.ends, tally + ENDS, j, end);
    };
}

// Without roots a tree may have many ends. Each walks up until it meets the trace of another; the
// one that comes to the root is flipped. Safe: a major is claimed by one walk. Every tree with an
// end has one walk that arrives.
DEVICE void settle_all(const Team& team, const Search& s, Index n, Index* tally) {
    for (long long k = team.index; k < n; k += team.count) {
        Index j = s.ends[k];
        while (j != UNMATCHED && claim(s.passed, s.links[2 * static_cast<long long>(j)]))
            j = s.links[2 * static_cast<long long>(j) + 1];
        push(s.leaf, tally + NEXT, s.ends[k], j == UNMATCHED);
    }
}

// Alternate. Safe: the paths have no vertex in common.
DEVICE void flip_all(const Team& team, const Search& s, const Index* ends, Index n) {
    for (long long k = team.index; k < n; k += team.count) {
        for (Index j = ends[k]; j != UNMATCHED;) {
            const Index i = s.links[2 * static_cast<long long>(j)],
                        next = s.links[2 * static_cast<long long>(j) + 1];
            s.minor_mate[j] = i;
            s.major_mate[i] = j;
            j = next;
        }
    }
}

// All phases, without roots. Reads: the lists of the majors. Writes: both mates. Workspace: work,
// three indices per minor, five per major, one for HUB / 4 entries; bits, one for each vertex;
// tallies and barrier, zero before. Time: O(n nnz / threads), mostly a few passes.
KERNEL __launch_bounds__(THREADS, BLOCKS)
    apfb(Index n_major, Index n_minor, const Index* __restrict__ indptr,
         const Index* __restrict__ indices, Index* major_mate, Index* minor_mate, Index* work,
         Bits* bits, Index* tallies, bool with_roots, unsigned seed, int shuffle_bits,
         bool stop_early, int shift, Index alone, int* barrier) {
    Search s = make_search(n_major, n_minor, indptr, indices, major_mate, minor_mate, work, bits,
                           tallies, with_roots, shift, seed);
    const Team grid = whole_grid(barrier);
    s.alone = alone;
    Progress at{};
    Index phase = 0, found = 0;
    for (Index n_roots = 0;; ++phase) {
        plant_all(grid, s, tally_of(grid, tallies, at), phase, n_roots, shuffle_bits);
        const Index* done = close_turn(grid, tallies, at);
        if (phase == 0 && load(done + HUBS) == 0) s.hubs = nullptr;
        s.salt = scatter(seed + static_cast<unsigned>(phase));
        at.n = n_roots = load(done + NEXT);
        at.tail = at.ends = 0;
        grow(grid, s, roots_of(s, phase), stop_early ? static_cast<Index>(1) : n_major + 1, at,
             enter(s), take(s));
        if (at.ends == 0) break;
        settle_all(grid, s, at.ends, tally_of(grid, tallies, at));
        const Index n = load(close_turn(grid, tallies, at) + NEXT);
        flip_all(grid, s, s.leaf, n);
        found += n;
        sync_grid(barrier);
    }
    if (grid.index == 0) {
        Index* stats = tallies + STATS;
        stats[0] = phase + 1, stats[1] = at.levels, stats[2] = found;
    }
}

// One step of a phase, with as many threads as it has vertices; the host reads the tally of the
// turn after each, and says how far the search has come: n vertices in the frontier or on a list,
// tail and ends as in Progress. Steps: 0 plant, 1 expand the roots, 2 expand a later level, 3
// settle, 4 flip.
KERNEL step(Index n_major, Index n_minor, const Index* __restrict__ indptr,
            const Index* __restrict__ indices, Index* major_mate, Index* minor_mate, Index* work,
            Bits* bits, Index* tallies, bool with_roots, unsigned seed, int shuffle_bits, int which,
            Index phase, int turn, Index n, Index tail, Index ends) {
    Search s = make_search(n_major, n_minor, indptr, indices, major_mate, minor_mate, work, bits,
                           tallies, with_roots, 0, seed);
    const Team team = whole_grid(nullptr);
    Index* tally = tally_of(tallies, turn);
    s.hubs = nullptr;
    if (team.index == 0) clear_next(tallies, turn);
    if (which == 0) plant_all(team, s, tally, phase, n, shuffle_bits);
    s.salt = scatter(seed + static_cast<unsigned>(phase));
    if (which == 1 || which == 2) {
        const Progress at{n, tail, ends, 0, 0, 0};
        const Index* frontier = which == 1 ? roots_of(s, phase) : s.queue + (tail - n);
        const auto reach = take(s);
        expand(team, s, frontier, n, tally, enter(s),
               [&](const Entry& from, Index v, const Several& j, const Several& mate,
                   const Which& claimed) { reach(at, tally, from, v, j, mate, claimed); });
    }
    if (which == 3) settle_all(team, s, n, tally);
    if (which == 4) flip_all(team, s, with_roots ? s.ends : s.leaf, n);
}
