// Maximal matching by proposals over several GPUs, least degree first: what one GPU does between
// two exchanges.
//
// Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011), in rounds. First those with the rare
// columns, of at most so many entries, which are listed; then those with the free rows up to some
// length. A row proposes to the column of fewest rows among those that are not known to be matched.
// See proposals.cuh.
#include "core/device.cuh"
#include "core/ranks.cuh"
#include "matching/over_ranks/entries.cuh"
#include "matching/over_ranks/proposals.cuh"

#define WINDOW 128       // entries of a long list among which the least is chosen
#define HIGHEST 0xFFFFF  // degrees are counted so far, or a little further

// How many own rows a column has; hubs, all alike, get little more than HIGHEST. Reads: indices.
// Writes: degree, zero before, by atomics. Time: O(nnz / threads).
KERNEL count(const Index* indices, long long nnz, int* degree) {
    for (long long p = thread_index(); p < nnz; p += thread_count()) {
        int* const to = degree + indices[p];
        if (load(to) < HIGHEST) add(to, 1);
    }
}

// ---- Rare columns.
// Those of at most `upto` entries. Reads: degree. Writes: rare, own word. Time: O(n / threads).
KERNEL find_rare(long long n_cols, const int* degree, int upto, Bits* rare) {
    for (long long w = thread_index(); w < n_cols / 32 + 1; w += thread_count()) {
        Bits bits = 0;
        for (int k = 0; k < 32 && w * 32 + k < n_cols; ++k)
            bits |= static_cast<Bits>(degree[w * 32 + k] <= upto) << k;
        rare[w] = bits;
    }
}
// Counts the columns of one entry that cannot be matched, as the row has others; `single` is a bit
// for each own row, zero before.
KERNEL count_excess(Proposals s, const int* degree, EntryList list, long long* excess,
                    Bits* single) {
    for (long long k = thread_index(); k < size_of(list); k += thread_count()) {
        const Entry entry = list.entries[k];
        if (degree[entry.col] == 1 && !claim(single, entry.row - static_cast<Index>(s.rows.begin)))
            add(excess, 1ll);
    }
}
// Free rows of at most `size` entries propose to listed columns of at most `upto`. Reads: list,
// degree. Writes: taken, mates of own pairs, boxes, next; asked, zero before: a row proposes once
// in a round. Time: O(listed / threads).
KERNEL propose_rare(Proposals s, const int* degree, EntryList list, int upto, long long size,
                    Bits* asked) {
    long long scanned = 0;
    for (long long k = thread_index(); k < size_of(list); k += thread_count()) {
        const Entry entry = list.entries[k];
        const Index r = entry.row - static_cast<Index>(s.rows.begin);
        ++scanned;
        if (degree[entry.col] > upto || has(s.taken, entry.col) ||
            load(s.row_mate + r) != UNMATCHED || s.indptr[r + 1] - s.indptr[r] > size ||
            !claim(asked, r))
            continue;
        if (!propose_to(s, entry.row, entry.col)) remove(asked, r);
    }
    add_of_block(&s.progress->edges, scanned);
}

// ---- Rows.
// The column of fewest rows that seems free among `size` entries of a row, which lanes share of
// which this is one: degree, a number drawn for the pair, entry; all ones if there is none.
DEVICE Wide least(const Proposals& s, const int* degree, const Index* list, long long size,
                  int lane, int lanes, Index row) {
    Wide best = ~Wide(0);
    for (long long k = lane; k < size; k += lanes) {
        const Index j = list[k];
        if (has(s.taken, j)) continue;
        const int rows = load_constant(degree + j);
        const Wide capped = static_cast<Wide>(rows < HIGHEST ? rows : HIGHEST);
        const unsigned pair = static_cast<unsigned>(j) ^ static_cast<unsigned>(row) ^ s.seed;
        const Wide draw = scatter(pair) & 0xFFF;
        const Wide key = capped << 44 | draw << 32 | static_cast<Wide>(k);
        if (key < best) best = key;
    }
    return best;
}

// Free rows of a list (`all`: own rows) with at most `upto` entries, each by one thread. Reads:
// lists, degree. Writes: taken, mates of own pairs, boxes, next. Time: O(nnz / threads), times the
// attempts in which another thread was first.
KERNEL propose(Proposals s, const int* degree, bool all, const Index* list, long long count,
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

// Those with more than `above` entries, each by one warp, window by window. As `propose`.
KERNEL propose_long(Proposals s, const int* degree, bool all, const Index* list, long long count,
                    long long above) {
    const int lane = lane_in_warp();
    long long scanned = 0;
    for (long long k = thread_index() / WARP; k < count; k += thread_count() / WARP) {
        const Index row = all ? static_cast<Index>(s.rows.begin + k) : list[k];
        const long long r = row - s.rows.begin, size = s.indptr[r + 1] - s.indptr[r];
        // the same in all lanes: the row's mate is written after all have read it
        if (size <= above || broadcast(s.row_mate[r], 0) != UNMATCHED) continue;
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
