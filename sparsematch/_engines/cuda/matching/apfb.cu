// APFB and APsB: breadth-first search from all free majors at once, then all paths are flipped.
//
// Deveci, Kaya, Ucar, Catalyurek: GPU accelerated maximum cardinality matching algorithms for
// bipartite graphs (Euro-Par 2013), Algorithms 1 to 4. The paper's columns are the majors here, its
// rows the minors; predecessor is links, bfs_array is queue and seen, cmatch and rmatch are
// major_mate and minor_mate, bfs_array[root] of a finished tree is leaf[root], an rmatch of -2 is
// an entry of ends. GPUBFS-WR where with_roots, else GPUBFS; APsB where stop_early, else APFB.
// Corrected: one fetch-or on a bit of `seen` claims a minor, all else is written by the thread that
// claimed it, so the trees are disjoint and nothing is left to fix; one end only is flipped in a
// tree, so a phase that finds a path gains one. Kernel apfb does all of GPUBFS, with a constant
// number of threads (CT); kernel step does one step of either, with a thread for each vertex (MT).
// GPUBFS-WR with a constant number of threads is ms_bfs.cu in lockstep.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "matching/resident_bfs.cuh"

// How a minor of the forest was reached: from this major, and the mate of that one.
struct Link {
    Index major, next;
};

struct Apfb {
    Forest forest;
    Index n_major, n_minor;
    Index *major_mate, *minor_mate;
    Link* links;  // of a minor
    Index* root;  // of a major in the forest
    // of a root: the free minor its tree has met. Without roots, the ends whose walk came to a root
    Index* leaf;
    Index* roots;  // free majors: two lists, for this phase and the one before in rotation
    Index* ends;   // free minors that were met
    Bits* passed;  // majors that a walk has passed
    unsigned seed;
    int shuffle_bits;
    bool with_roots, stop_early;
};

// A step by a launch of its own. Kinds: 0 plant, 1 expand the roots, 2 expand a later level, 3
// settle, 4 flip. n vertices in the frontier or on a list; tail and ends as in Progress.
struct Step {
    int kind, turn;
    Index phase, n, tail, ends;
};

// What is known of a major before its list is scanned: whether to go on, its root, its mate.
struct Entry {
    bool open;
    Index root, mate;
};

DEVICE Index* roots_of(const Apfb& s, Index phase) {
    return phase & 1 ? s.roots + s.n_major : s.roots;
}

DEVICE void plant_one(const Apfb& s, Index* to, Tally* tally, Index v) {
    const bool free = s.major_mate[v] == UNMATCHED;
    if (free) s.root[v] = v, s.leaf[v] = UNMATCHED;  // own entries
    push(to, &tally->next, v, free);
}

// The free majors: all in a shuffled order, or those n of the last phase that still are.
DEVICE void plant_all(const Team& team, const Apfb& s, Tally* tally, Index phase, Index n) {
    Index* to = roots_of(s, phase);
    clear(team, s.forest.seen, s.n_minor);
    if (!s.with_roots) clear(team, s.passed, s.n_major);
    if (phase > 0) {
        for (long long k = team.index; k < n; k += team.count)
            plant_one(s, to, tally, roots_of(s, phase - 1)[k]);
        return;
    }
    const Csr& lists = s.forest.lists;
    for (long long k = team.index; k < s.n_major; k += team.count) {
        // all write the same
        if (lists.indptr[k + 1] - lists.indptr[k] > HUB) store(&tally->hubs, static_cast<Index>(1));
        const Index v = shuffle(static_cast<Index>(k), s.n_major, s.shuffle_bits, s.seed);
        plant_one(s, to, tally, v);
    }
}

DEVICE auto enter(const Apfb& s) {
    return [&s](Index v) {
        const Index mate = s.major_mate[v];
        if (!s.with_roots) return Entry{true, UNMATCHED, mate};
        const Index root = s.root[v];
        // a tree that has its path grows no further
        return Entry{load(s.leaf + root) == UNMATCHED, root, mate};
    };
}

// Reached minors j from v. Safe: who claims j owns its link, and the root of its mate.
DEVICE auto visit(const Apfb& s) {
    return [&s](const Progress& at, Tally* tally, const Entry& from, Index v, const Several& j,
                const Several& mate, const Which& claimed) {
        Which onward, end;
        for (int u = 0; u < BATCH; ++u) {
            onward[u] = claimed[u] && mate[u] != UNMATCHED,
            end[u] = claimed[u] && mate[u] == UNMATCHED;
            if (onward[u]) prefetch(s.forest.lists.indptr.data + mate[u]);
            if (claimed[u]) s.links[j[u]] = Link{v, from.mate};
            if (s.with_roots) {
                if (onward[u]) s.root[mate[u]] = from.root;
                // its tree's first
                if (end[u])
                    end[u] = compare_and_swap(s.leaf + from.root, UNMATCHED, j[u]) == UNMATCHED;
            }
        }
        push_each(s.forest.queue + at.tail, &tally->next, mate, onward);
        push_each(s.ends + at.ends, &tally->ends, j, end);
    };
}

// Without roots a tree may have many ends. Each walks up until it meets another's trace; the one to
// reach the root is flipped. Safe: one walk claims a major. In a tree with an end one arrives.
DEVICE void settle_all(const Team& team, const Apfb& s, Index n, Tally* tally) {
    for (long long k = team.index; k < n; k += team.count) {
        Index j = s.ends[k];
        while (j != UNMATCHED && claim(s.passed, s.links[j].major)) j = s.links[j].next;
        push(s.leaf, &tally->next, s.ends[k], j == UNMATCHED);
    }
}

// Alternate. Safe: the paths have no vertex in common.
DEVICE void flip_all(const Team& team, const Apfb& s, const Index* ends, Index n) {
    for (long long k = team.index; k < n; k += team.count) {
        for (Index j = ends[k]; j != UNMATCHED;) {
            const Link link = s.links[j];
            s.minor_mate[j] = link.major;
            s.major_mate[link.major] = j;
            j = link.next;
        }
    }
}

// All phases, without roots. Reads: the lists of the majors. Writes: both mates. Workspace: three
// indices per minor, five per major, one for HUB / 4 entries; one bit for each vertex; control and
// barrier, zero before. Time: O(n nnz / threads), mostly a few passes.
KERNEL __launch_bounds__(THREADS, BLOCKS) apfb(Apfb s, int* barrier) {
    const Team grid = whole_grid(barrier);
    Control* control = s.forest.control;
    Progress at{};
    Index phase = 0, found = 0;
    for (Index n_roots = 0;; ++phase) {
        plant_all(grid, s, tally_of(grid, control, at), phase, n_roots);
        const Tally* done = close_turn(grid, control, at);
        if (phase == 0 && load(&done->hubs) == 0) s.forest.hubs = nullptr;
        s.forest.salt = scatter(s.seed + static_cast<unsigned>(phase));
        at.n = n_roots = load(&done->next);
        at.tail = at.ends = 0;
        grow(grid, s.forest, roots_of(s, phase),
             s.stop_early ? static_cast<Index>(1) : s.n_major + 1, at, enter(s), visit(s));
        if (at.ends == 0) break;
        settle_all(grid, s, at.ends, tally_of(grid, control, at));
        const Index n = load(&close_turn(grid, control, at)->next);
        flip_all(grid, s, s.leaf, n);
        found += n;
        sync_grid(barrier);
    }
    if (grid.index == 0)
        control->phases = phase + 1, control->levels = at.levels, control->found = found;
}

// One step of a phase, a thread per vertex; after it the host decides on the next by the tally.
KERNEL step(Apfb s, Step step) {
    const Team team = whole_grid(nullptr);
    const LevelCounter<Tally> counter = {s.forest.control->of_grid, step.turn};
    Tally* tally = counter.written();
    if (team.index == 0) clear(counter.following());
    s.forest.hubs = nullptr;  // a thread reads a whole list
    if (step.kind == 0) plant_all(team, s, tally, step.phase, step.n);
    s.forest.salt = scatter(s.seed + static_cast<unsigned>(step.phase));
    if (step.kind == 1 || step.kind == 2) {
        const Progress at{step.n, step.tail, step.ends, 0, 0, 0};
        const Index* frontier =
            step.kind == 1 ? roots_of(s, step.phase) : s.forest.queue + (step.tail - step.n);
        const auto reach = visit(s);
        expand(team, s.forest, frontier, step.n, tally, enter(s),
               [&](const Entry& from, Index v, const Several& j, const Several& mate,
                   const Which& claimed) { reach(at, tally, from, v, j, mate, claimed); });
    }
    if (step.kind == 3) settle_all(team, s, step.n, tally);
    if (step.kind == 4) flip_all(team, s, s.with_roots ? s.ends : s.leaf, step.n);
}
