// Maximal matching by proposals over several GPUs, least degree first: what one GPU does between
// two exchanges.
//
// Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011, one-sided), in rounds, each with the
// free rows up to some length. A row proposes to the column of fewest rows among those that are not
// known to be matched. See proposals.cuh. Degrees are bytes: those of all columns stay cached.
#include "core/device.cuh"
#include "core/ranks.cuh"
#include "matching/over_ranks/proposals.cuh"

#define WINDOW 128  // entries of a long list among which the least is chosen

typedef unsigned char Byte;

// How many own rows a column has, up to about `most`, a byte each. Many threads that count the same
// column at once may go further, even round to zero, and carry to the next: a degree is a hint.
// Reads: indices. Writes: degree, zero before, by atomics. Time: O(nnz / threads).
KERNEL count(const Index* __restrict__ indices, long long nnz, Bits most, Bits* degree) {
    enum { EACH = 4 };
    const long long step = thread_count();
    for (long long base = thread_index(); base < nnz; base += EACH * step) {
        Index cols[EACH];
        Bits word[EACH];
        for (int k = 0; k < EACH; ++k)
            cols[k] = base + k * step < nnz ? indices[base + k * step] : UNMATCHED;
        for (int k = 0; k < EACH; ++k) word[k] = cols[k] >= 0 ? load(degree + (cols[k] >> 2)) : ~0u;
        for (int k = 0; k < EACH; ++k) {
            const int shift = 8 * static_cast<int>(cols[k] & 3);
            if ((word[k] >> shift & 255) < most) add(degree + (cols[k] >> 2), 1u << shift);
        }
    }
}
// Degrees above `most` become that: then the sum over all ranks is a byte, too.
KERNEL clamp(long long n_cols, Bits most, Byte* degree) {
    for (long long c = thread_index(); c < n_cols; c += thread_count())
        if (degree[c] > most) degree[c] = static_cast<Byte>(most);
}

// ---- Rare columns, of fewest entries.
// How many columns have 0, 1, ... RARE entries. Reads: degree. Writes: columns, zero before.
KERNEL tally(long long n_cols, const Byte* __restrict__ degree, long long* columns) {
    long long mine[RARE + 1] = {};
    for (long long c = thread_index(); c < n_cols; c += thread_count()) {
        const Byte rows = degree[c];
        for (int d = 0; d <= RARE; ++d) mine[d] += rows == d;
    }
    for (int d = 0; d <= RARE; ++d) add_of_block(columns + d, mine[d]);
}
// Those of at most `upto` entries. Reads: degree. Writes: rare, own word. Time: O(n / threads).
KERNEL find_rare(long long n_cols, const Byte* degree, int upto, Bits* rare) {
    for (long long w = thread_index(); w < n_cols / 32 + 1; w += thread_count()) {
        Bits bits = 0;
        for (int k = 0; k < 32 && w * 32 + k < n_cols; ++k)
            bits |= static_cast<Bits>(degree[w * 32 + k] <= upto) << k;
        rare[w] = bits;
    }
}
// The own row of the p-th entry.
DEVICE Index row_of(const Proposals& s, long long p) {
    long long low = 0, high = s.rows.end - s.rows.begin;  // low begins at p or before, high behind
    while (high - low > 1) {
        const long long middle = low + (high - low) / 2;
        if (s.indptr[middle] <= p) low = middle;
        else high = middle;
    }
    return static_cast<Index>(s.rows.begin + low);
}
// Lists own entries of rare columns, as far as there is room, and counts them all. Reads: lists,
// rare. Writes: list, found, which is zero before. Time: O(nnz / threads), and O(log(rows)) for
// each that is listed.
KERNEL list_rare(Proposals s, long long nnz, const Bits* __restrict__ rare, Pair* list,
                 long long room, long long* found) {
    enum { EACH = 8 };
    const long long step = thread_count();
    for (long long base = thread_index(); base < nnz; base += EACH * step) {
        Index cols[EACH];
        bool wanted[EACH];
        long long at[EACH];
        for (int k = 0; k < EACH; ++k)
            cols[k] = base + k * step < nnz ? s.indices[base + k * step] : UNMATCHED;
        for (int k = 0; k < EACH; ++k) wanted[k] = cols[k] >= 0 && is_in(rare, cols[k]);
        draw_each(found, wanted, at);
        for (int k = 0; k < EACH; ++k)
            if (wanted[k] && at[k] < room) list[at[k]] = Pair{row_of(s, base + k * step), cols[k]};
    }
}
// Pairs that a matching of these columns has, no vertex in two. Writes: taken, mates of own
// vertices.
KERNEL adopt(Proposals s, const Pair* pairs, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Index row = pairs[k].vertex, col = pairs[k].partner;
        if (owns(s.rows, row)) s.row_mate[row - s.rows.begin] = col;
        if (owns(s.cols, col)) s.col_mate[col - s.cols.begin] = row;
        insert(s.taken, col);
    }
}

// ---- Rows.
// The column of fewest rows that seems free among `size` entries of a row, which lanes share of
// which this is one: degree, a number drawn for the pair, entry; all ones if there is none.
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
// lists, degree. Writes: taken, mates of own pairs, boxes, next. Time: O(nnz / threads), times the
// attempts in which another thread was first.
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
        // the same in all lanes: the row's mate is written after all have read it
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
