// Maximal matching by proposals over several GPUs: what one GPU does between two exchanges.
//
// Azad, Buluc (IEEE Cluster 2015), simple greedy, in rounds. A free row proposes to the first
// column of its list, from a place drawn at random on, that is not known to be matched. The owner
// gives the column to the first row that names it. A column that somebody has proposed to is
// matched when the round is over, so its bit of `taken` is set once the proposal is posted.
// Invariant: the bit of an own column decides who gets it; whoever has set it writes its mate.
#include "core/device.cuh"
#include "core/ranks.cuh"

// A row proposes to a column; a column is given to a row.
struct alignas(8) Pair {
    Index vertex, partner;
};

// How many rows go on, how many of this round have long lists to be scanned by a warp; entries
// scanned.
struct Progress {
    long long next, hard, edges;
};

struct Proposals {
    const long long* indptr;
    const Index* indices;
    Index *row_mate, *col_mate;  // of own vertices
    Bits* taken;                 // of all columns
    Index *next, *hard;
    Owners rows, cols;
    Outbox asks, grants;
    Progress* progress;
    unsigned seed;
};

// Proposes to a column that seems free; returns whether the row has done what it can in this round.
DEVICE bool propose_to(const Proposals& s, Index row, Index col) {
    if (owns(s.cols, col)) {
        if (!claim(s.taken, col)) return false;
        s.col_mate[col - s.cols.begin] = row;
        s.row_mate[row - s.rows.begin] = col;
        return true;
    }
    // where the box is full it tries again
    if (post(s.asks, owner(s.cols, col), Pair{col, row})) insert(s.taken, col);
    push(s.next, &s.progress->next, row, true);
    return true;
}

// Each free row of a list (`all`: each own row) looks at TRIES entries; if its list is longer,
// the rest is left to a warp. Reads: lists. Writes: taken, mates of own pairs, boxes, next, hard.
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
// The rows with long lists, a warp for each. Reads: the number of these from the device.
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

// Own columns that others propose to. Writes: taken, col_mate, boxes.
KERNEL grant(Proposals s, const Pair* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Pair ask = arrived[k];
        if (!claim(s.taken, ask.vertex)) continue;
        s.col_mate[ask.vertex - s.cols.begin] = ask.partner;
        post(s.grants, owner(s.rows, ask.partner), Pair{ask.partner, ask.vertex});
    }
}
// Own rows that have got a column.
KERNEL accept(Proposals s, const Pair* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count())
        s.row_mate[arrived[k].vertex - s.rows.begin] = arrived[k].partner;
}

// Own columns that have a mate. Writes: taken, own bits.
KERNEL mark(Owners cols, const Index* col_mate, Bits* taken) {
    for (long long c = thread_index(); c < cols.end - cols.begin; c += thread_count())
        if (col_mate[c] != UNMATCHED) insert(taken, static_cast<Index>(cols.begin + c));
}
// Counts to where the host reads them; the first `cleared` of them begin anew.
KERNEL report(long long* counts, int n, int cleared, long long* to) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        to[k] = counts[k];
        if (k < cleared) counts[k] = 0;
    }
}
