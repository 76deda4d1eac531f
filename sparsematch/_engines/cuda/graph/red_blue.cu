// Red-blue: vertices are coloured at random, the blue propose to red neighbours, the red take one
// of those who propose to them.
//
// Fagginger Auer, Bisseling (Facing the Multicore-Challenge II, 2012), Alg. 3. The colour of a
// vertex is a hash of its number and the round, so it stands nowhere (the paper: MD5). A red vertex
// does not search its list for proposals: whoever proposes to it writes itself down there, unless a
// better one has. So every red vertex that got a proposal is matched, and blue ones alone read
// lists. A vertex that has no free neighbour is dead; that is noticed when it is blue.
// Invariant: a step reads what earlier steps have written, parted by barriers; the matching depends
// on the seed alone.
#include "core/device.cuh"
#include "graph/edge_order.cuh"

#define ITEMS 4  // vertices that a thread looks at together

DEVICE bool is_blue(Wide hash, Wide blue_below) { return (hash >> 11) < blue_below; }

// Proposes: with weights, to the free red neighbour of the best edge; without, to the first in the
// list from a random place on.
struct Propose {
    const Adjacency& g;
    const Bits* taken;
    Wide round, blue_below;
    Index* proposal;
    Key* key;

    DEVICE Index may(Index v) const {
        return is_in(taken, v)                                      ? UNMATCHED
               : is_blue(vertex_hash(v, round, g.seed), blue_below) ? ALIVE
                                                                    : v;
    }
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
                const Index says = v == u ? UNMATCHED : may(v);
                if (says >= 0 || best.v == UNMATCHED) best = {static_cast<Key>(degree - at), says};
            }
            if ((ballot(best.v >= 0) & own) || at - lane + lanes >= to) open = false;
        }
        return best;
    }
#endif
    DEVICE void take(Index u, const Best& best) const {
        proposal[u] = best.v;
#if WEIGHT
        key[u] = best.key;
#endif
    }
};

// Matches what the last round has agreed on, and parts the rest of the active vertices: who goes
// on, and who is blue now. The first time all are active. Safe: a vertex writes its own mate and
// proposal, its bit by an atomic; picks are only read.
template <bool FIRST>
DEVICE Wide part(Index n, const Index* active, Wide count, const Propose& rule, Index* pick,
                 Index* mate, Bits* taken, Index* next, Index* blue, Wide* tally) {
    Wide matched = 0;
    for (Wide base = thread_index(); base < count; base += ITEMS * thread_count()) {
        Index v[ITEMS];
        bool goes_on[ITEMS], proposes[ITEMS];
        for (int k = 0; k < ITEMS; ++k) {
            const Wide at = base + k * thread_count();
            v[k] = at >= count ? UNMATCHED : FIRST ? static_cast<Index>(at) : active[at];
            goes_on[k] = v[k] >= 0;
            if (FIRST && v[k] >= 0) rule.proposal[v[k]] = ALIVE, pick[v[k]] = n;
        }
        for (int k = 0; k < ITEMS && !FIRST; ++k) {
            if (v[k] < 0) continue;
            const Index to = rule.proposal[v[k]];
            Index other = pick[v[k]];
            if (other == n && to >= 0 && pick[to] == v[k]) other = to;
            goes_on[k] = other == n && to != UNMATCHED;
            if (other == n) continue;
            mate[v[k]] = other;
            bit_or(taken + (v[k] >> 5), 1u << (v[k] & 31));
            ++matched;
        }
        for (int k = 0; k < ITEMS; ++k)
            proposes[k] =
                goes_on[k] && is_blue(vertex_hash(v[k], rule.round, rule.g.seed), rule.blue_below);
        push_each(next, tally + OPEN, v, goes_on);
        push_each(blue, tally + LOST, v, proposes);
    }
    return matched;
}

// Writes each blue vertex down where it proposes to, unless the one that stands there is better.
// Safe: by compare-and-swap.
DEVICE void respond(const Adjacency& g, const Index* blue, Wide count, const Propose& rule, Index n,
                    Index* pick) {
    for (Wide k = thread_index(); k < count; k += thread_count()) {
        const Index u = blue[k], v = rule.proposal[u];
        if (v < 0) continue;
#if WEIGHT
        for (Index stands = load(pick + v);
             stands == n ||
             (stands != u && before(rule.key[u], u, rule.key[stands], stands, v, g.seed));)
            stands = compare_and_swap(pick + v, stands, u) == stands ? u : load(pick + v);
#else
        minimum(pick + v, u);
#endif
    }
}

// Rounds until no vertex is active, or as many as `limit` in all launches; what the last of a
// launch agreed on is matched by the next. Reads: the graph. Writes: mate, and the workspace:
// taken, a bit a vertex; proposal, pick, and the key of the proposal; lists, three numbers a
// vertex. Time: O(nnz / threads) a round.
KERNEL __launch_bounds__(512, 2)
    match_rounds(Index n, const Index* indptr, const Index* indices, const Key* weight, Wide seed,
                 Index* mate, Bits* taken, Index* proposal, Index* pick, Key* key, Index* lists,
                 Index* cut_words, Key* cut_keys, Index room, Wide blue_below, Wide limit,
                 Wide* control) {
    const Adjacency g = {indptr, indices, weight, seed};
    const Cuts cuts = cuts_in(cut_words, cut_keys, room);
    int* const barrier = reinterpret_cast<int*>(control + BARRIER);
    Index* const blue = lists + 2 * static_cast<Wide>(n);
    Wide turn = control[TURN], matched = 0, scanned = 0, count = 1;
    while (true) {
        const Propose rule = {g, taken, turn, blue_below, proposal, key};
        Index *active = lists + (turn & 1) * n, *next = lists + (~turn & 1) * n;
        Wide* const tally = tally_of(control, turn + 1);
        if (turn)
            matched += part<false>(n, active, load(tally_of(control, turn) + OPEN), rule, pick,
                                   mate, taken, next, blue, tally);
        else part<true>(n, active, n, rule, pick, mate, taken, next, blue, tally);
        clear_tally(control, turn);
        sync_grid(barrier);
        count = load(tally + OPEN);
        if (!count) break;
        const Wide n_blue = load(tally + LOST);
        scanned += choose(g, rule, blue, n_blue, cuts, tally);
        sync_grid(barrier);
        choose_long(g, rule, cuts, tally, barrier);
        respond(g, blue, n_blue, rule, n, pick);
        sync_grid(barrier);
        if (++turn >= limit) break;
    }
    add_up(control + MATCHED, matched);
    add_up(control + SCANNED, scanned);
    if (thread_index()) return;
    control[TURN] = control[ROUNDS] = turn;
    control[DONE] = count == 0;
}
