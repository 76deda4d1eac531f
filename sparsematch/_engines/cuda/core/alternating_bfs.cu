// Alternating breadth-first search: from majors to unseen minors in their lists, to their mates.
//
// The search under the certificate of Koenig (1931), the coarse parts of Dulmage and Mendelsohn
// (1958) and the component of a pivot (Fleischer, Hendrickson, Pinar, IPDPS workshops 2000). Two
// searches run at a time, each on half of the blocks. HUB: entries from which a list is left to all
// threads of its search, one level later. Invariant: a minor is claimed once, by one atomic
// operation on its bit, and the thread that claims it queues its mate.
#include "core/device.cuh"
#include "core/level_queue.cuh"

struct AlternatingSearch {
    const Index *indptr, *indices;
    const Index* minor_mate;
    const Index* major_mate;  // read where owners are wanted
    Bits* seen;               // minors
    Index* owner;             // of a minor: whose region it belongs to; nullptr: not wanted
    Index *queue, *hubs;      // majors; those with long lists
    Index* widths;            // three of each queue
    int shift;                // 2^shift neighbouring threads share a list
};

// A search and how far it is.
struct Frontier {
    LevelQueue majors, hubs;
};

// Safe: the thread that claims a minor alone names its owner and queues its mate.
DEVICE void visit(const AlternatingSearch& s, const LevelQueue& majors, Index p, Index end,
                  Index owner, bool crowded, int* free_found) {
    const Index j = s.indices[p], i = s.minor_mate[j];
    const bool fresh = !(crowded && has(s.seen, j)) && claim(s.seen, j);
    if (fresh && s.owner) store(s.owner + j, owner);
    if (fresh && i == UNMATCHED) store(free_found, 1);  // all write the same
    if (fresh && i != UNMATCHED) prefetch(s.indptr + i);
    majors.append(end, i, fresh && i != UNMATCHED);
}

// Writes: bits of seen, the next level. Time: O(entries of this level / threads + HUB / 2^shift).
DEVICE void expand(const AlternatingSearch& s, const Frontier& f, Index width, Index n_hubs,
                   Half half, int* free_found) {
    if (half.count == 0) return;
    const Index end = f.majors.begin + width, hubs_end = f.hubs.begin + n_hubs;
    const long long jobs = static_cast<long long>(width) << s.shift, lanes = 1ll << s.shift;
    const bool crowded = jobs > half.count;
    for (long long t = half.index; t < jobs; t += half.count) {
        const Index v = load(s.queue + f.majors.begin + (t >> s.shift)),
                    lane = static_cast<Index>(t & (lanes - 1));
        const Index first = s.indptr[v], last = s.indptr[v + 1];
        const bool hub = last - first >= HUB;
        const Index owner = s.owner ? load(s.owner + s.major_mate[v]) : 0;
        f.hubs.append(hubs_end, v, hub && lane == 0);
        for (Index p = hub ? last : first + lane; p < last; p += static_cast<Index>(lanes))
            visit(s, f.majors, p, end, owner, crowded, free_found);
    }
    for (Index h = f.hubs.begin; h < hubs_end; ++h) {
        const Index v = load(s.hubs + h), last = s.indptr[v + 1];
        const Index owner = s.owner ? load(s.owner + s.major_mate[v]) : 0;
        for (Index p = s.indptr[v] + half.index; p < last; p += half.count)
            visit(s, f.majors, p, end, owner, true, free_found);
    }
}

// Queues the majors that are free.
KERNEL seed(Index n_major, const Index* __restrict__ mate, Index* queue, Index* count) {
    list_all(n_major, queue, count, [&](Index v) { return mate[v] == UNMATCHED; });
}

// Reads: lists and mates of two searches, their queues with the first level in place. Writes: bits
// of the minors reached, their owners where these are wanted; flags: whether a minor reached is
// free, whether the levels did not suffice. Time: O(nnz / threads) and a barrier per level.
KERNEL __launch_bounds__(512) reach(AlternatingSearch first, AlternatingSearch second,
                                    int max_levels, Allowance allowance, int* flags, int* barrier) {
    LevelCost levels = level_cost(allowance);
    const AlternatingSearch s[2] = {first, second};
    Frontier f[2];
    for (int k = 0; k < 2; ++k)
        f[k] = {level_queue(s[k].queue, s[k].widths), level_queue(s[k].hubs, s[k].widths + 3)};
    for (int level = 0;; ++level) {
        Index width[2], n_hubs[2];
        for (int k = 0; k < 2; ++k) width[k] = f[k].majors.width(), n_hubs[k] = f[k].hubs.width();
        const bool busy[2] = {width[0] + n_hubs[0] > 0, width[1] + n_hubs[1] > 0};
        if (!busy[0] && !busy[1]) break;
        if (!levels.allow(width[0] + width[1] + n_hubs[0] + n_hubs[1])) break;
        if (max_levels && level == max_levels) {
            if (thread_index() == 0) flags[1] = 1;
            break;
        }
        for (int k = 0; k < 2; ++k) {
            f[k].majors.clear_following();
            f[k].hubs.clear_following();
            if (!busy[k]) continue;
            expand(s[k], f[k], width[k], n_hubs[k], half_of(k, busy[0] && busy[1]), flags);
        }
        sync_grid(barrier);
        for (int k = 0; k < 2; ++k) f[k].majors.advance(width[k]), f[k].hubs.advance(n_hubs[k]);
    }
    levels.finish();
}
