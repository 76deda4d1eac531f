// Local max: an edge that precedes all its neighbours is matched, round by round on what is left.
//
// Birn, Osipov, Sanders, Schulz, Sitchinava (Euro-Par 2013), section 2, around the vertices instead
// of the edges: a vertex points at the best of its free neighbours (the paper's candidate C[v]),
// and two that point at each other are matched. Only vertices that have lost their choice choose
// again (Manne, Bisseling, PPAM 2007); nothing is sorted or copied. While NARROW or fewer have lost
// it, one block goes on alone: it searches for the losers among the neighbours of those just
// matched, so that a long chain of vertices that wait costs no pass over all of them. Invariant:
// between two turns, a vertex without a mate points at the first edge, in strict order, to another.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "graph/edge_order.cuh"

#define ITEMS 4  // vertices that a thread processes together

// Workspace: a bit a vertex; its choice; three lists: the open vertices of a turn and of the next,
// in rotation, and those that have lost their choice.
struct LocalMax {
    Index* mate;
    Bits* taken;
    Index *choice, *lists;
};

// The first choice of all vertices, but of those with long lists. Reads: the graph. Writes: choice,
// own entries; cuts. Time: O(nnz / threads).
KERNEL point(Index n, Adjacency g, Cuts cuts, Index* choice, Control* control) {
    const Free rule = {g, nullptr, choice};
    choose(g, rule, nullptr, static_cast<Wide>(n), cuts, control->tallies);
}

// Matches pairs that point at each other, parts other open vertices (nullptr: all): still waiting,
// choice taken. Safe: choices are only read; a vertex writes own mate, its bit by an atomic.
DEVICE Wide match(const LocalMax& s, const Index* open, Wide count, Index* next, Index* lost,
                  Tally* tally) {
    Wide matched = 0;
    for (Wide base = thread_index(); base < count; base += ITEMS * thread_count()) {
        Index v[ITEMS], c[ITEMS], d[ITEMS];
        bool waits[ITEMS], loses[ITEMS];
        for (int k = 0; k < ITEMS; ++k) {
            const Wide at = base + k * thread_count();
            v[k] = at >= count ? UNMATCHED : open ? open[at] : static_cast<Index>(at);
        }
        for (int k = 0; k < ITEMS; ++k)
            c[k] = v[k] < 0 || (open && s.mate[v[k]] != UNMATCHED) ? UNMATCHED : s.choice[v[k]];
        for (int k = 0; k < ITEMS; ++k) d[k] = c[k] < 0 ? UNMATCHED : s.choice[c[k]];
        for (int k = 0; k < ITEMS; ++k) {
            waits[k] = c[k] >= 0 && d[k] != v[k];
            loses[k] = waits[k] && d[k] >= 0 && s.choice[d[k]] == c[k];
            if (c[k] < 0 || waits[k]) continue;
            s.mate[v[k]] = c[k];
            insert(s.taken, v[k]);
            ++matched;
        }
        push_each(next, &tally->open, v, waits);
        push_each(lost, &tally->lost, v, loses);
    }
    return matched;
}

// Rounds by one block, while few vertices have lost their choice: those choose, pairs match,
// vertices that pointed at them are next. Writes how many are left, in which of two lists. Safe:
// the barrier separates steps; the thread that sets the bit of its smaller end matches a pair.
DEVICE void go_alone(const Adjacency& g, const Free& rule, const LocalMax& s, Index* from,
                     Index* to, Wide count, Wide rounds, Wide limit, Control* control) {
    SHARED Index met[2 * NARROW];
    SHARED Wide n_met, n_next, matched, scanned;
    const int warp = warp_in_block(), warps = warps_in_block(), lane = lane_in_warp();
    Wide swapped = 0;
    if (thread_in_block() == 0) matched = scanned = 0;
    for (; count && count <= NARROW && rounds < limit; ++rounds, swapped ^= 1) {
        if (thread_in_block() == 0) n_met = n_next = 0;
        for (Wide k = warp; k < count; k += warps) {
            const Index u = from[k], begin = g.indptr[u], degree = g.indptr[u + 1] - begin;
            const Best best =
                best_of(rule.scan(u, begin, degree, 0, degree, lane, WARP), WARP, u, g.seed);
            if (lane == 0) rule.set(u, best), add(&scanned, static_cast<Wide>(degree));
        }
        sync_block();
        for (Wide k = thread_in_block(); k < count; k += threads_in_block()) {
            const Index u = from[k], v = rule.choice[u];
            if (v < 0 || rule.choice[v] != u || !claim(s.taken, u < v ? u : v)) continue;
            insert(s.taken, u < v ? v : u);
            s.mate[u] = v;
            s.mate[v] = u;
            const Wide at = add(&n_met, static_cast<Wide>(2));
            met[at] = u;
            met[at + 1] = v;
        }
        sync_block();
        for (Wide k = warp; k < n_met; k += warps) {
            const Index v = met[k], end = g.indptr[v + 1];
            for (Index p = g.indptr[v] + lane; p < end; p += WARP) {
                const Index u = g.indices[p];
                push(to, &n_next, u, rule.choice[u] == v && !has(s.taken, u));
            }
        }
        if (thread_in_block() == 0) matched += n_met;
        sync_block();
        count = n_next;
        Index* const last = from;
        from = to;
        to = last;
        sync_block();
    }
    if (thread_in_block()) return;
    control->left = count;
    control->swapped = swapped;
    control->reached = rounds;
    control->matched += matched;
    control->scanned += scanned;
}

// Rounds until none has lost a choice, or as many as `limit` in all launches. Reads: the graph.
// Writes: mate, and the workspace. Time: O(nnz / threads + rounds), expected.
KERNEL __launch_bounds__(512, 2) match_rounds(Index n, Adjacency g, Cuts cuts, LocalMax s,
                                              Wide narrow, Wide limit, Control* control) {
    const Free rule = {g, s.taken, s.choice};
    int* const barrier = control->barrier;
    Index* const lost = s.lists + 2 * static_cast<Wide>(n);
    Wide turn = control->turn, rounds = control->rounds, matched = 0, scanned = 0, count = 1;
    for (bool first = true; count && (first || rounds < limit); first = false) {
        choose_long(g, rule, cuts, tally_of(control, turn), barrier);
        Index *open = s.lists + (turn & 1) * n, *next = s.lists + (~turn & 1) * n;
        const Wide n_open = turn ? load(&tally_of(control, turn)->open) : n;
        matched += match(s, turn ? open : nullptr, n_open, next, lost, tally_of(control, turn + 1));
        clear_tally(control, turn);
        sync_grid(barrier);
        ++turn;
        ++rounds;
        count = load(&tally_of(control, turn)->lost);
        const Index* losers = lost;
        if (count && count <= narrow) {
            if (block_index() == 0) go_alone(g, rule, s, lost, open, count, rounds, limit, control);
            sync_grid(barrier);
            count = control->left;
            if (control->swapped) losers = open;
            rounds = control->reached;
        }
        if (!count) break;
        scanned += choose(g, rule, losers, count, cuts, tally_of(control, turn));
        sync_grid(barrier);
    }
    add_of_block(&control->matched, matched);
    add_of_block(&control->scanned, scanned);
    if (thread_index()) return;
    control->turn = turn;
    control->rounds = rounds;
    control->done = count == 0;
}
