// What alternating paths reach: from majors to all unseen minors in their lists, from these to
// their mates, level by level.
//
// The search under the certificate of Koenig (1931), the coarse parts of Dulmage and Mendelsohn
// (1958) and the component of a pivot (Fleischer, Hendrickson, Pinar, IPDPS workshops 2000). Two
// searches run at a time, each on half of the blocks.
// Invariant: a minor is claimed once, by one atomic operation on its bit, and whoever claims it
// queues its mate.
#include "core/device.cuh"
#include "core/level_queue.cuh"

struct Search {
    const Index *indptr, *indices;
    const Index* mate;  // of a minor
    Bits* seen;         // minors
    Levels majors, hubs;
    int shift;                // 2^shift neighbouring threads share a list
    const Index* major_mate;  // of a major
    Index* owner;             // whose region a minor belongs to, if anyone asks
};

// Entries from which a list is left to all threads that there are, one level later.
#define HUB 4096

// Safe: who claims a minor alone names its owner and queues its mate.
DEVICE void visit(const Search& s, Index p, Index end, Index owner, bool crowded, int* free_found) {
    const Index j = s.indices[p], i = s.mate[j];
    const bool fresh = !(crowded && has(s.seen, j)) && claim(s.seen, j);
    if (fresh && s.owner) store(s.owner + j, owner);
    if (fresh && i == UNMATCHED) store(free_found, 1);  // all write the same
    if (fresh && i != UNMATCHED) prefetch(s.indptr + i);
    append(s.majors, end, i, fresh && i != UNMATCHED);
}

// Writes: bits of seen by atomic claims, the next level. Time: O(entries of this level / threads +
// HUB / 2^shift).
DEVICE void expand(const Search& s, Index width, Index n_hubs, Share share, int* free_found) {
    if (share.count == 0) return;
    const Index end = s.majors.begin + width, hubs_end = s.hubs.begin + n_hubs;
    const long long jobs = static_cast<long long>(width) << s.shift, lanes = 1ll << s.shift;
    const bool crowded = jobs > share.count;
    for (long long t = share.index; t < jobs; t += share.count) {
        const Index v = load(s.majors.queue + s.majors.begin + (t >> s.shift)),
                    lane = static_cast<Index>(t & (lanes - 1));
        const Index first = s.indptr[v], last = s.indptr[v + 1];
        const bool hub = last - first >= HUB;
        const Index owner = s.owner ? load(s.owner + s.major_mate[v]) : 0;
        append(s.hubs, hubs_end, v, hub && lane == 0);
        for (Index p = hub ? last : first + lane; p < last; p += static_cast<Index>(lanes))
            visit(s, p, end, owner, crowded, free_found);
    }
    for (Index h = s.hubs.begin; h < hubs_end; ++h) {
        const Index v = load(s.hubs.queue + h), last = s.indptr[v + 1];
        const Index owner = s.owner ? load(s.owner + s.major_mate[v]) : 0;
        for (Index p = s.indptr[v] + share.index; p < last; p += share.count)
            visit(s, p, end, owner, true, free_found);
    }
}

// Queues the majors that are free.
KERNEL seed(Index n_major, const Index* __restrict__ mate, Index* queue, Index* count) {
    list_all(n_major, queue, count, [&](Index v) { return mate[v] == UNMATCHED; });
}

// Reads: lists and mates of two searches, their queues with the first level in place. Writes: bits
// of the minors reached, their owners where these are asked for; flags: whether a minor reached is
// free, whether the levels did not suffice. count: three numbers for each queue: majors, hubs,
// majors, hubs. Time: O(nnz / threads) and a barrier per level.
KERNEL __launch_bounds__(512)
    reach(const Index* indptr_0, const Index* indices_0, const Index* mate_0, Bits* seen_0,
          Index* queue_0, Index* hubs_0, int shift_0, const Index* major_mate_0, Index* owner_0,
          const Index* indptr_1, const Index* indices_1, const Index* mate_1, Bits* seen_1,
          Index* queue_1, Index* hubs_1, int shift_1, const Index* major_mate_1, Index* owner_1,
          bool owned, int max_levels, Index* count, int* flags, int* barrier) {
    Search s[2] = {
        {indptr_0,
         indices_0,
         mate_0,
         seen_0,
         {queue_0, count, 0, 0},
         {hubs_0, count + 3, 0, 0},
         shift_0,
         major_mate_0,
         owner_0},
        {indptr_1,
         indices_1,
         mate_1,
         seen_1,
         {queue_1, count + 6, 0, 0},
         {hubs_1, count + 9, 0, 0},
         shift_1,
         major_mate_1,
         owner_1},
    };
    if (!owned) s[0].owner = s[1].owner = nullptr;
    for (int level = 0;; ++level) {
        Index width[2], n_hubs[2];
        for (int k = 0; k < 2; ++k)
            width[k] = width_of(s[k].majors), n_hubs[k] = width_of(s[k].hubs);
        const bool busy[2] = {width[0] + n_hubs[0] > 0, width[1] + n_hubs[1] > 0};
        if (!busy[0] && !busy[1]) break;
        if (max_levels && level == max_levels) {
            if (thread_index() == 0) flags[1] = 1;
            break;
        }
        for (int k = 0; k < 2; ++k) {
            clear_ahead(s[k].majors);
            clear_ahead(s[k].hubs);
            if (busy[k]) expand(s[k], width[k], n_hubs[k], share_of(k, busy[0] && busy[1]), flags);
        }
        sync_grid(barrier);
        for (int k = 0; k < 2; ++k) advance(s[k].majors, width[k]), advance(s[k].hubs, n_hubs[k]);
    }
}
