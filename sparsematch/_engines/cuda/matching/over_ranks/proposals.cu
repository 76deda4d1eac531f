// Maximal matching by proposals over several GPUs, in any order: the kernels of one GPU between two
// exchanges.
//
// Azad, Buluc (IEEE Cluster 2015), simple greedy. A free row proposes to the first column of its
// list not known to be matched, from a random place on. See proposals.cuh.
#include "core/device.cuh"
#include "core/ranks.cuh"
#include "matching/over_ranks/proposals.cuh"

// Each free row of a list (`all`: each own row) scans TRIES entries; longer lists are left to a
// warp. Reads: lists. Writes: taken, mates of own pairs, send buffers, next, hard.
KERNEL propose(Proposals s, bool all, const Index* list, long long count) {
    long long scanned = 0;
    for (long long k = thread_index(); k < count; k += thread_count()) {
        const Index row = all ? static_cast<Index>(s.rows.begin + k) : list[k];
        const long long r = row - s.rows.begin, begin = s.indptr[r],
                        degree = s.indptr[r + 1] - begin;
        if (s.row_mate[r] != UNMATCHED || !degree) continue;
        const Wide draw = scatter(static_cast<unsigned>(row) ^ s.seed);
        long long at = static_cast<long long>(draw * static_cast<Wide>(degree) >> 32);
        bool finished = false;
        long long n = 0;
        for (; n < degree && n < TRIES && !finished; ++n) {
            const Index col = s.indices[begin + at];
            if (!has(s.taken, col)) finished = propose_to(s, row, col);
            if (++at == degree) at = 0;
        }
        scanned += n;
        push(s.hard, &s.progress->hard, row, !finished && degree > TRIES);
    }
    add_of_block(&s.progress->edges, scanned);
}
// The rows with long lists, a warp for each; their number is on the device.
KERNEL propose_hard(Proposals s) {
    const long long count = s.progress->hard;
    const int lane = lane_in_warp();
    long long scanned = 0;
    for (long long k = thread_index() / WARP; k < count; k += thread_count() / WARP) {
        const Index row = s.hard[k];
        const long long r = row - s.rows.begin, end = s.indptr[r + 1];
        bool finished = false;
        for (long long from = s.indptr[r]; from < end && !finished; from += WARP) {
            const Index col = from + lane < end ? s.indices[from + lane] : UNMATCHED;
            bool wanted = col >= 0 && !has(s.taken, col);
            while (!finished && ballot(wanted)) {
                const Wide first = least_in_warp(wanted ? lane : WARP);
                bool mine = false;
                if (static_cast<Wide>(lane) == first) {
                    mine = propose_to(s, row, col);
                    wanted = false;
                }
                finished = ballot(mine) != 0;
            }
            if (lane == 0) scanned += end - from < WARP ? end - from : WARP;
        }
    }
    add_of_block(&s.progress->edges, scanned);
}
