// Maximal matching by proposals over several GPUs: the part common to its heuristics.
//
// Azad, Buluc (IEEE Cluster 2015), in rounds. A free row proposes to a column of its list that is
// not known to be matched. The owner grants the column to the first proposal. A column with a
// proposal is matched at the end of the round, so its bit of `taken` is set once the proposal is
// stored in a send buffer.
// Invariant: the thread that sets the bit of an own column writes its mate.
#pragma once

// A proposal, of a row to a column; or a grant, of a column to a row.
struct alignas(8) Pair {
    Index vertex, partner;
};

// Rows that propose again; rows of this round with long lists, left to warps; entries scanned.
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
    SendBuffers proposals, grants;
    Progress* progress;
    unsigned seed;
};

// Proposes to a column not known to be matched; returns whether the row is done for this round.
DEVICE bool propose_to(const Proposals& s, Index row, Index col) {
    if (owns(s.cols, col)) {
        if (!claim(s.taken, col)) return false;
        s.col_mate[col - s.cols.begin] = row;
        s.row_mate[row - s.rows.begin] = col;
        return true;
    }
    // if the buffer is full, the row tries again in the next round
    if (send(s.proposals, owner(s.cols, col), Pair{col, row})) insert(s.taken, col);
    push(s.next, &s.progress->next, row, true);
    return true;
}

// Proposals of other ranks to own columns. Writes: taken, col_mate, send buffers.
KERNEL grant(Proposals s, const Pair* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Pair proposal = arrived[k];
        if (!claim(s.taken, proposal.vertex)) continue;
        s.col_mate[proposal.vertex - s.cols.begin] = proposal.partner;
        send(s.grants, owner(s.rows, proposal.partner), Pair{proposal.partner, proposal.vertex});
    }
}
// Grants to own rows.
KERNEL accept(Proposals s, const Pair* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count())
        s.row_mate[arrived[k].vertex - s.rows.begin] = arrived[k].partner;
}

// Union of a bit set with those of `count` other ranks, of `words` words each.
KERNEL unite(Bits* set, long long words, const Bits* others, int count) {
    for (long long w = thread_index(); w < words; w += thread_count()) {
        Bits bits = set[w];
        for (int k = 0; k < count; ++k) bits |= others[k * words + w];
        set[w] = bits;
    }
}

// Marks own columns that have a mate. Writes: taken, own bits.
KERNEL mark(Owners cols, const Index* col_mate, Bits* taken) {
    for (long long c = thread_index(); c < cols.end - cols.begin; c += thread_count())
        if (col_mate[c] != UNMATCHED) insert(taken, static_cast<Index>(cols.begin + c));
}
