// Maximal matching by proposals over several GPUs: what its starts share.
//
// Azad, Buluc (IEEE Cluster 2015), in rounds. A free row proposes to a column of its list that is
// not known to be matched. The owner gives the column to the first row that names it. A column that
// somebody has proposed to is matched when the round is over, so its bit of `taken` is set once the
// proposal is posted.
// Invariant: the bit of an own column decides who gets it; whoever has set it writes its mate.
#pragma once

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

// What is known on other ranks, one set of so many words after the other, is known here.
KERNEL unite(Bits* set, long long words, const Bits* others, int count) {
    for (long long w = thread_index(); w < words; w += thread_count()) {
        Bits bits = set[w];
        for (int k = 0; k < count; ++k) bits |= others[k * words + w];
        set[w] = bits;
    }
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
