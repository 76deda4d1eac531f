// Maximal matching by proposals over several GPUs, least degree first: the kernels of one GPU
// between two exchanges.
//
// Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011, one-sided), in rounds, each with the
// free rows up to some length. A row proposes to the column of fewest rows among those that are not
// known to be matched. See proposals.cuh.
#include "core/device.cuh"
#include "core/ranks.cuh"
#include "matching/column_degrees.cuh"
#include "matching/over_ranks/proposals.cuh"

#define WINDOW 128  // entries of a long list among which the column of least degree is chosen

// Caps degrees at `most`, so that the sum over all ranks fits a byte.
KERNEL clamp(long long n_cols, Bits most, Byte* degree) {
    for (long long c = thread_index(); c < n_cols; c += thread_count())
        if (degree[c] > most) degree[c] = static_cast<Byte>(most);
}

// ---- Rare columns: those of fewest entries.
// Lists own entries of rare columns, at most `capacity`, and counts them all. Reads: lists, rare.
// Writes: list, found, which is zero before. Time: O(nnz / threads), and O(log(rows)) for each that
// is listed.
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
// The column of least degree not in `taken` among the entries of a row that are this lane's, of
// `size`: degree, a random number for the pair, entry; all ones if there is none.
DEVICE Wide least(const Proposals& s, const Byte* degree, const Index* list, long long size,
                  int lane, int lanes, Index row) {
    Wide best = ~Wide(0);
    for (long long k = lane; k < size; k += lanes) {
        const Index j = list[k];
        if (has(s.taken, j)) continue;
        const Wide rows = load_constant(degree + j);
        const unsigned pair = static_cast<unsigned>(j) ^ static_cast<unsigned>(row) ^ s.seed;
        const Wide draw = scatter(pair) & 0xFFF;
        const Wide key = rows << 44 | draw << 32 | static_cast<Wide>(k);
        if (key < best) best = key;
    }
    return best;
}

// Free rows of a list (`all`: own rows) with at most `upto` entries, each by one thread. Reads:
// lists, degree. Writes: taken, mates of own pairs, send buffers, next. Time: O(nnz / threads),
// times the attempts in which another thread was first.
KERNEL propose(Proposals s, const Byte* degree, bool all, const Index* list, long long count,
               long long upto) {
    long long scanned = 0;
    for (long long k = thread_index(); k < count; k += thread_count()) {
        const Index row = all ? static_cast<Index>(s.rows.begin + k) : list[k];
        const long long r = row - s.rows.begin, size = s.indptr[r + 1] - s.indptr[r];
        if (size > upto || s.row_mate[r] != UNMATCHED) continue;
        const Index* const entries = s.indices + s.indptr[r];
        bool finished = false;
        while (!finished) {
            const Wide best = least(s, degree, entries, size, 0, 1, row);
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

// Free rows of a list with more than `above` entries and at most `upto`, each by one warp, window
// by window. As `propose`.
KERNEL propose_long(Proposals s, const Byte* degree, const Index* list, long long count,
                    long long above, long long upto) {
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
            const Wide mine = least(s, degree, entries + at, part, lane, WARP, row);
            const Wide best = least_in_warp(mine);
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
