// Maximal matching by proposals over several GPUs: the kernels of one GPU between two exchanges.
//
// Azad, Buluc (IEEE Cluster 2015), in rounds. A free row proposes to the column of fewest rows in
// its list not known to be matched, or to any (static minimum degree and simple greedy: Duff, Kaya,
// Ucar, ACM TOMS 38, 2011). The owner grants the column to the first proposal. A column with a
// proposal is matched at the end of the round, so its bit of `taken` is set once the proposal is in
// a send buffer. Invariant: the thread that sets the bit of an own column writes its mate.
#include "core/device.cuh"
#include "core/ranks.cuh"
#include "matching/column_degrees.cuh"

// A proposal, of a row to a column; or a grant, of a column to a row.
struct alignas(8) Pair {
    Index vertex, partner;
};

// Rows that propose again; entries scanned.
struct Progress {
    long long next, edges;
};

struct Proposals {
    const long long* indptr;
    const Index* indices;
    Index *row_mate, *col_mate;  // of own vertices
    Bits* taken;                 // of all columns
    const Byte* degree;          // of all columns; nullptr: any is as good
    Index* next;
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

// ---- Degrees.
// Caps degrees at `most`, so that the sum over all ranks fits a byte.
KERNEL clamp(long long n_cols, Bits most, Byte* degree) {
    for (long long c = thread_index(); c < n_cols; c += thread_count())
        if (degree[c] > most) degree[c] = static_cast<Byte>(most);
}

// ---- Rare columns: those of fewest entries.
// Lists own entries of rare columns, at most `capacity`, and counts them all. Reads: lists, rare.
// Writes: list, found, zero before. Time: O(nnz / threads), and O(log(rows)) for each listed.
KERNEL list_rare(Proposals s, long long nnz, const Bits* __restrict__ rare, Pair* list,
                 long long capacity, long long* found) {
    list_rare_entries(nnz, s.indices, rare, found, [&](long long at, long long p, Index col) {
        if (at >= capacity) return;
        const long long row = row_of(s.indptr, s.rows.end - s.rows.begin, p);
        list[at] = Pair{static_cast<Index>(s.rows.begin + row), col};
    });
}
// Adopts the pairs of a matching of these columns. Writes: taken, mates of own vertices.
KERNEL adopt(Proposals s, const Pair* pairs, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Index row = pairs[k].vertex, col = pairs[k].partner;
        if (owns(s.rows, row)) s.row_mate[row - s.rows.begin] = col;
        if (owns(s.cols, col)) s.col_mate[col - s.cols.begin] = row;
        insert(s.taken, col);
    }
}

// ---- Rows.
DEVICE unsigned draw_of(const Proposals& s, Index row) {
    return static_cast<unsigned>(row) ^ s.seed;
}

// Free rows of a list (`all`: own rows) with at most `upto` entries, each by one thread. Reads:
// lists, degree. Writes: taken, mates of own pairs, send buffers, next. Time: O(nnz / threads),
// times the attempts in which another thread was first.
KERNEL propose(Proposals s, bool all, const Index* list, long long count, long long upto) {
    long long scanned = 0;
    for (long long k = thread_index(); k < count; k += thread_count()) {
        const Index row = all ? static_cast<Index>(s.rows.begin + k) : list[k];
        const long long r = row - s.rows.begin, size = s.indptr[r + 1] - s.indptr[r];
        if (size > upto || s.row_mate[r] != UNMATCHED) continue;
        const Index* const entries = s.indices + s.indptr[r];
        bool finished = false;
        while (!finished) {
            const Wide best = least(s.taken, s.degree, entries, size, 0, 1, draw_of(s, row));
            scanned += size;
            finished = best == ~Wide(0) || propose_to(s, row, entries[best & 0xFFFFFFFF]);
        }
    }
    add_of_block(&s.progress->edges, scanned);
}

// Own rows of more than `above` entries. Writes: list; found, zero before.
KERNEL list_long(Proposals s, long long above, Index* list, long long* found) {
    for (long long r = thread_index(); r < s.rows.end - s.rows.begin; r += thread_count())
        push(list, found, static_cast<Index>(s.rows.begin + r),
             s.indptr[r + 1] - s.indptr[r] > above);
}

// As `propose`, rows with more than `above` entries, at most `upto`: a warp each, by windows.
KERNEL propose_long(Proposals s, const Index* list, long long count, long long above,
                    long long upto) {
    const int lane = lane_in_warp();
    long long scanned = 0;
    for (long long k = thread_index() / WARP; k < count; k += thread_count() / WARP) {
        const Index row = list[k];
        const long long r = row - s.rows.begin, size = s.indptr[r + 1] - s.indptr[r];
        if (size <= above || size > upto) continue;
        // uniform over the warp: no lane writes the row's mate before all have read it
        if (broadcast(s.row_mate[r], 0) != UNMATCHED) continue;
        const Index* const entries = s.indices + s.indptr[r];
        for (long long at = 0; at < size;) {
            const long long part = size - at < WINDOW ? size - at : WINDOW;
            const Wide best = least_in_warp(
                least(s.taken, s.degree, entries + at, part, lane, WARP, draw_of(s, row)));
            if (lane == 0) scanned += part;
            if (best == ~Wide(0)) {
                at += WINDOW;
                continue;
            }
            bool finished = false;
            if (lane == 0) finished = propose_to(s, row, entries[at + (best & 0xFFFFFFFF)]);
            if (ballot(finished)) break;
        }
    }
    add_of_block(&s.progress->edges, scanned);
}
