// Karp-Sipser on the graph of a symmetric pattern: match vertices of degree one while they are
// found (always right), then pick, and go on.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981). A vertex is the row and the
// column of its number, an edge two entries, which are matched together. So what is left are rows
// and columns of the same vertices, and short cycles of odd length lead from the ones to the
// others. A vertex has one word: its free neighbours, an entry each, and a bit once it is matched.
// To match two lowers the words of their neighbours; one that is left with degree one is the next
// that the warp does: no chain is waited for. Invariant: the thread that sets the bits of both ends
// of an edge, the lower vertex first, matches them, and clears the first if it cannot set both.
#include "core/device.cuh"

#define MATCHED (1u << 31)

// Entries of a list: lowered by one thread at most, else by a block; scanned for the best neighbour
// if one was found, and if not; read at a time. Vertices that a warp keeps, for each lane.
enum { LONG = 256, WINDOW = 128, MOST_SCANNED = 1024, AT_ONCE = 4, STAGED = 4 };
// Picks are made for a part of the vertices at a time: of those with two free neighbours, of all.
enum { FEW_PARTS = 8, FEW_TIMES = 3, ALL_PARTS = 4, ALL_TIMES = 3 };
// Passes for vertices of degree one after the first, before any pick; all passes.
enum { FORCED = 3, PASSES = 1 + FORCED + 2 * FEW_TIMES + 1 + 2 * ALL_TIMES + 1 };

// Of a pass: vertices that it has matched whose lists are long; whether degree one is left.
struct Tally {
    int n_long, left;
};

struct GraphKarpSipser {
    Csr lists;
    Index n;
    Index *row_mate, *col_mate;
    Bits* word;
    Index* long_lists;  // of vertices matched in this pass
    Tally* tallies;     // of passes, four in rotation, zero at the launch
    Bits* finished;
    int turn, bits;  // turn: the pass that is under way
    unsigned seed;
    bool one_only;
};

struct List {
    ReadOnly<Index> entries;
    Index size;
};

DEVICE List list_of(const GraphKarpSipser& s, Index v) {
    const Index begin = s.lists.indptr[v];
    return {s.lists.indices + begin, s.lists.indptr[v + 1] - begin};
}

DEVICE Tally* tally(const GraphKarpSipser& s, int turn) { return s.tallies + (turn & 3); }

DEVICE bool claim_vertex(const GraphKarpSipser& s, Index v) {
    return !(bit_or(s.word + v, MATCHED) & MATCHED);
}

// The free neighbour of least degree, of the first of equal ones from a place drawn for v on.
// gone: which of the first entries were seen to be matched, a bit each.
DEVICE Index best_neighbour(const GraphKarpSipser& s, Index v, const List& list, Bits& gone) {
    const Index size = list.size, turned = drawn_below(size, v, s.seed);
    Index best = UNMATCHED;
    Bits least = MATCHED;
    gone = 0;
    for (Index base = 0; base < size && base < MOST_SCANNED; base += AT_ONCE) {
        if (base >= WINDOW && best != UNMATCHED) break;
        Index k[AT_ONCE], at[AT_ONCE];
        Bits word[AT_ONCE];
        for (int u = 0; u < AT_ONCE; ++u) {
            const Index p = base + u + turned;
            at[u] = p < size ? p : p - size;
            k[u] = base + u < size ? list.entries[at[u]] : v;
        }
        for (int u = 0; u < AT_ONCE; ++u) word[u] = k[u] != v ? load(s.word + k[u]) : MATCHED;
        for (int u = 0; u < AT_ONCE; ++u) {
            if (word[u] < least) least = word[u], best = k[u];
            if (word[u] >= MATCHED && base + u < size && at[u] < 32) gone |= 1u << at[u];
        }
    }
    return best;
}

// Two vertices that are left with degree one, or UNMATCHED.
struct LeftWithOne {
    Index v[2];
};

// Lowers the words of the neighbours of two that are matched now, but for entries of the first that
// are known to be gone. Returns one of each list left with degree one; the next pass takes others.
DEVICE LeftWithOne lower(const GraphKarpSipser& s, const Index (&v)[2], List (&list)[2],
                         Bits gone) {
    LeftWithOne next = {{UNMATCHED, UNMATCHED}};
    for (int e = 0; e < 2; ++e)
        if (list[e].size > LONG) {
            s.long_lists[add(&tally(s, s.turn)->n_long, 1)] = v[e];
            list[e].size = 0;
        }
    for (Index base = 0; base < list[0].size || base < list[1].size; base += AT_ONCE) {
        Index k[2][AT_ONCE];
        Bits before[2][AT_ONCE];
        for (int e = 0; e < 2; ++e)
            for (int u = 0; u < AT_ONCE; ++u) {
                const Index p = e == 0 && base + u < 32 && gone >> (base + u) & 1 ? LONG : base + u;
                k[e][u] = p < list[e].size ? list[e].entries[p] : v[1 - e];
            }
        for (int e = 0; e < 2; ++e)
            for (int u = 0; u < AT_ONCE; ++u)
                before[e][u] = k[e][u] != v[1 - e] ? add(s.word + k[e][u], ~Bits(0)) : 0;
        for (int e = 0; e < 2; ++e)
            for (int u = 0; u < AT_ONCE; ++u)
                if (before[e][u] == 2) {
                    if (next.v[e] != UNMATCHED) store(&tally(s, s.turn)->left, 1);
                    next.v[e] = k[e][u];
                }
    }
    return next;
}

// Matches a free vertex, whose list is given, with its best neighbour, unless another thread is
// first. A chain of degrees of one is as slow as what waits for each other in here.
DEVICE LeftWithOne match_vertex(const GraphKarpSipser& s, Index v, const List& list) {
    for (;;) {
        Bits gone;
        const Index other = best_neighbour(s, v, list, gone);
        if (other == UNMATCHED) break;
        const Index low = v < other ? v : other, high = v < other ? other : v;
        List lists[2] = {list, list_of(s, other)};  // on its way beside the claims
        Index lost = claim_vertex(s, low) ? UNMATCHED : low;
        prefetch(lists[1].entries.data);
        if (lost < 0 && !claim_vertex(s, high)) lost = high, bit_and(s.word + low, ~MATCHED);
        if (lost == v) break;
        if (lost >= 0) continue;
        s.row_mate[low] = high;
        s.row_mate[high] = low;
        return lower(s, {v, other}, lists, gone);
    }
    return {{UNMATCHED, UNMATCHED}};
}

// What a warp has still to do, the last first; the same count in all lanes, all of which must call.
struct Stage {
    Index* values;
    int n;

    DEVICE void put(const GraphKarpSipser& s, Index v, bool wanted) {
        const Bits who = ballot(wanted);
        const int at = n + count_lanes_before(who);
        if (wanted && at < STAGED * WARP) values[at] = v;
        else if (wanted) store(&tally(s, s.turn)->left, 1);  // no room: all write the same
        n += count_bits(who);
        if (n > STAGED * WARP) n = STAGED * WARP;
        sync_warp();
    }
    DEVICE Index pop_last() {
        const int at = n - 1 - lane_in_warp();
        const Index v = at >= 0 ? values[at] : UNMATCHED;
        n = n > WARP ? n - WARP : 0;
        sync_warp();
        return v;
    }
};

// Matches as many staged vertices as a warp has lanes, if they have up to `most` free neighbours.
DEVICE void match_staged(const GraphKarpSipser& s, Stage& stage, Bits most) {
    const Index v = stage.pop_last();
    LeftWithOne left = {{UNMATCHED, UNMATCHED}};
    const List list = v >= 0 ? list_of(s, v) : List{};
    const Bits word = v >= 0 ? load(s.word + v) : 0;
    if (word && word <= most) left = match_vertex(s, v, list);
    for (int k = 0; k < 2; ++k) stage.put(s, left.v[k], left.v[k] >= 0);
}

// Ends a pass, for all blocks: lowers what it has left to whole blocks.
DEVICE void end_pass(GraphKarpSipser& s, int* barrier) {
    // of the next pass; last read before this one began
    if (thread_index() == 0) *tally(s, s.turn + 1) = Tally{0, 0};
    sync_grid(barrier);
    const int n_long = load(&tally(s, s.turn)->n_long);
    if (n_long) {
        if (thread_index() == 0) store(&tally(s, s.turn)->left, 1);
        for (int k = block_index(); k < n_long; k += block_count()) {
            const List list = list_of(s, s.long_lists[k]);
            for (Index p = thread_in_block(); p < list.size; p += threads_in_block())
                add(s.word + list.entries[p], ~Bits(0));
        }
        sync_grid(barrier);
    }
    ++s.turn;
}

// What a pass is about: vertices first .. last - 1, of the shuffled order unless `most` is 1, that
// have up to `most` free neighbours.
struct Pass {
    Bits most;
    long long first, last;
};

// The k-th pass: degrees of one; then a part of those with two free neighbours, degrees of one and
// so on, and the others; then the same for all. If all picked at a time, more would be left free.
DEVICE Pass pass_of(const GraphKarpSipser& s, int k) {
    const long long n = s.n;
    const bool forced = k <= FORCED;
    int parts = FEW_PARTS, times = FEW_TIMES;
    Bits most = 2;
    k -= 1 + FORCED;
    if (k > 2 * FEW_TIMES) {
        k -= 2 * FEW_TIMES + 1;
        parts = ALL_PARTS, times = ALL_TIMES, most = MATCHED - 1;
    }
    if (forced || k & 1) return {1, 0, n};
    const int part = k / 2;
    return {most, n * part / parts, part < times ? n * (part + 1) / parts : n};
}

DEVICE void match(GraphKarpSipser& s, const Pass& pass, int* barrier) {
    SHARED Index stages[STAGED * THREADS];
    Stage stage = {stages + STAGED * WARP * warp_in_block(), 0};
    long long base = pass.first + thread_index() / WARP * WARP;
    while (base < pass.last || stage.n) {
        if (base >= pass.last || stage.n >= WARP) {
            match_staged(s, stage, pass.most);
            continue;
        }
        const long long t = base + lane_in_warp();
        Index v = static_cast<Index>(t);
        if (pass.most != 1 && t < pass.last) v = shuffle(v, s.n, s.bits, s.seed);
        const Bits word = t < pass.last ? load(s.word + v) : 0;
        stage.put(s, v, word && word <= pass.most);
        base += thread_count() / WARP * WARP;
    }
    end_pass(s, barrier);
}

// Whether the last two passes have left vertices of degree one.
DEVICE bool are_left(const GraphKarpSipser& s) {
    return load(&tally(s, s.turn - 1)->left) || load(&tally(s, s.turn - 2)->left);
}

// Vertices that are matched or without a free neighbour: after degrees of one alone, some maximum
// matching has these pairs and no others there. Writes: finished, own word.
DEVICE void list_finished(const GraphKarpSipser& s) {
    make_set(s.finished, s.n, nullptr,
             [&](long long v) { return s.word[v] == 0 || s.word[v] >= MATCHED; });
}

// All of it. Reads: lists. Writes: both mates, finished; word, tallies, long_lists, by atomics.
// Time: O(nnz / threads).
KERNEL __launch_bounds__(THREADS, BLOCKS) graph_karp_sipser(GraphKarpSipser s, int* barrier) {
    for (long long t = thread_index(); t < s.n; t += thread_count())
        s.word[t] = static_cast<Bits>(list_of(s, static_cast<Index>(t)).size) & ~MATCHED;
    end_pass(s, barrier);
    for (int k = 0; k < PASSES; ++k) {
        const Pass pass = pass_of(s, k);
        if (k == 0 || pass.most != 1 || are_left(s)) match(s, pass, barrier);
        if (k != FORCED) continue;
        if (s.one_only && are_left(s)) {
            --k;  // until none is
            continue;
        }
        list_finished(s);
        sync_grid(barrier);
        if (s.one_only) break;
    }
    // the other side: a pair is two entries
    for (long long i = thread_index(); i < s.n; i += thread_count()) s.col_mate[i] = s.row_mate[i];
}
