// Red-blue: colours are random, blue vertices propose to red neighbours, the red choose a proposal.
//
// Fagginger Auer, Bisseling (Facing the Multicore-Challenge II, 2012), Alg. 3. The colour of a
// vertex is a hash of its number and the round, so it is not stored (the paper: MD5). A red vertex
// does not search its list for proposals: a vertex that proposes to it writes its number there,
// unless a better one has. So every red vertex that got a proposal is matched, and blue ones alone
// read lists. A vertex that has no free neighbour is dead; that is noticed when it is blue.
// Invariant: a step reads what was written before a barrier; the seed alone decides the matching.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "graph/edge_order.cuh"

#define ITEMS 4  // vertices that a thread processes together

// Workspace: a bit a vertex; to which it proposes and the key of that edge, the best that proposes
// to it; three lists: the active vertices of this round and the next, and the blue ones.
struct RedBlue {
    Index* mate;
    Bits* taken;
    Index *proposal, *pick;
    Key* key;
    Index* lists;
    Wide blue_below;
};

DEVICE bool is_blue(Wide hash, Wide blue_below) { return (hash >> 11) < blue_below; }

// Proposes: with weights to the best free red neighbour; without to the first from a random place.
struct Propose {
    const Adjacency& g;
    const RedBlue& s;
    Wide round;

    DEVICE bool blue(Index v) const { return is_blue(vertex_hash(v, round, g.seed), s.blue_below); }
    DEVICE Index may(Index v) const { return is_in(s.taken, v) ? UNMATCHED : blue(v) ? ALIVE : v; }
#if WEIGHT
    DEVICE Best scan(Index u, Index begin, Index, Index from, Index to, int lane, int lanes) const {
        return ::scan(g, u, begin + from + lane, to - from - lane, lanes,
                      [&](Index v) { return may(v); });
    }
#else
    // The key of an entry is how many come after it on the way round. A list is left at the first
    // that will do, by all lanes that share it: those of a warp go on together.
    DEVICE Best scan(Index u, Index begin, Index degree, Index from, Index to, int lane,
                     int lanes) const {
        const Wide draw = vertex_hash(u, round, g.seed) & 0xffffffff;
        const Index first = static_cast<Index>(draw * static_cast<Wide>(degree) >> 32);
        const Bits own = (lanes == 32 ? ~0u : (1u << lanes) - 1) << (lane_in_warp() - lane);
        Best best = {0, UNMATCHED};
        bool open = from < to;
        for (Index at = from + lane; ballot(open); at += lanes) {
            if (open && at < to) {
                const Index left = degree - first,
                            v = g.indices[begin + (at < left ? at + first : at - left)];
                const Index to = v == u ? UNMATCHED : may(v);
                if (to >= 0 || best.v == UNMATCHED) best = {static_cast<Key>(degree - at), to};
            }
            if ((ballot(best.v >= 0) & own) || at - lane + lanes >= to) open = false;
        }
        return best;
    }
#endif
    DEVICE void set(Index u, const Best& best) const {
        s.proposal[u] = best.v;
#if WEIGHT
        s.key[u] = best.key;
#endif
    }
};

// Matches the mutual picks of the last round, and lists the rest of the active vertices: those that
// stay active, and those that are blue now. The first time all are active. Safe: a vertex writes
// its own mate and proposal, its bit by an atomic; picks are only read.
template <bool FIRST>
DEVICE Wide match(Index n, const Propose& rule, const Index* active, Wide count, Index* next,
                  Index* blue, Tally* tally) {
    const RedBlue& s = rule.s;
    Wide matched = 0;
    for (Wide base = thread_index(); base < count; base += ITEMS * thread_count()) {
        Index v[ITEMS];
        bool goes_on[ITEMS], proposes[ITEMS];
        for (int k = 0; k < ITEMS; ++k) {
            const Wide at = base + k * thread_count();
            v[k] = at >= count ? UNMATCHED : FIRST ? static_cast<Index>(at) : active[at];
            goes_on[k] = v[k] >= 0;
            if (FIRST && v[k] >= 0) s.proposal[v[k]] = ALIVE, s.pick[v[k]] = n;
        }
        for (int k = 0; k < ITEMS && !FIRST; ++k) {
            if (v[k] < 0) continue;
            const Index to = s.proposal[v[k]];
            Index other = s.pick[v[k]];
            if (other == n && to >= 0 && s.pick[to] == v[k]) other = to;
            goes_on[k] = other == n && to != UNMATCHED;
            if (other == n) continue;
            s.mate[v[k]] = other;
            insert(s.taken, v[k]);
            ++matched;
        }
        for (int k = 0; k < ITEMS; ++k) proposes[k] = goes_on[k] && rule.blue(v[k]);
        push_each(next, &tally->open, v, goes_on);
        push_each(blue, &tally->lost, v, proposes);
    }
    return matched;
}

// Writes each blue vertex to the one that it proposes to, unless a better one is there; atomically.
DEVICE void respond(Index n, const Propose& rule, const Index* blue, Wide count) {
    const RedBlue& s = rule.s;
    for (Wide k = thread_index(); k < count; k += thread_count()) {
        const Index u = blue[k], v = s.proposal[u];
        if (v < 0) continue;
#if WEIGHT
        for (Index now = load(s.pick + v);
             now == n || (now != u && before(s.key[u], u, s.key[now], now, v, rule.g.seed));)
            now = compare_and_swap(s.pick + v, now, u) == now ? u : load(s.pick + v);
#else
        minimum(s.pick + v, u);
#endif
    }
}

// Rounds until none is active, or `limit` in all launches; mutual picks of a launch's last round
// match in the next. Reads: the graph. Writes: mate, workspace. Time: O(nnz / threads) a round.
KERNEL __launch_bounds__(512, 2)
    match_rounds(Index n, Adjacency g, Cuts cuts, RedBlue s, Wide limit, Control* control) {
    int* const barrier = control->barrier;
    Index* const blue = s.lists + 2 * static_cast<Wide>(n);
    Wide turn = control->turn, matched = 0, scanned = 0, count = 1;
    while (true) {
        const Propose rule = {g, s, turn};
        Index *active = s.lists + (turn & 1) * n, *next = s.lists + (~turn & 1) * n;
        Tally* const tally = tally_of(control, turn + 1);
        if (turn)
            matched += match<false>(n, rule, active, load(&tally_of(control, turn)->open), next,
                                    blue, tally);
        else match<true>(n, rule, active, n, next, blue, tally);
        clear_tally(control, turn);
        sync_grid(barrier);
        count = load(&tally->open);
        if (!count) break;
        const Wide n_blue = load(&tally->lost);
        scanned += choose(g, rule, blue, n_blue, cuts, tally);
        sync_grid(barrier);
        choose_long(g, rule, cuts, tally, barrier);
        respond(n, rule, blue, n_blue);
        sync_grid(barrier);
        if (++turn >= limit) break;
    }
    add_of_block(&control->matched, matched);
    add_of_block(&control->scanned, scanned);
    if (thread_index()) return;
    control->turn = control->rounds = turn;
    control->done = count == 0;
}
