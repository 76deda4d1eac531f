// Minimum-degree start: rows with short lists first, each with the free column of the fewest rows.
//
// Static minimum degree (Duff, Kaya, Ucar, ACM TOMS 38, 2011, one-sided), all rows of a class of
// lengths at once. Invariant: a column is claimed by one atomic on its bit, never released, and its
// row alone writes both mates; a row gives up only after it has seen all its columns matched. Those
// of fewest entries may be matched before: a maximum matching that no exact engine has to undo.
#include "core/device.cuh"
#include "matching/column_degrees.cuh"
#include "matching/start_common.cuh"

// The degrees where numbers of four bytes stay cached: an addition that nobody waits for. Reads:
// indices. Writes: degree, zero before, by atomics. Time: O(nnz / threads).
KERNEL count_exactly(const Index* __restrict__ indices, long long nnz, Bits* degree) {
    for (long long p = thread_index(); p < nnz; p += thread_count()) add(degree + indices[p], 1u);
}
// Reads: exact degrees. Writes: degree, own entry, up to `most`.
KERNEL narrow(long long n_cols, const Bits* __restrict__ exact, Bits most, Byte* degree) {
    for (long long c = thread_index(); c < n_cols; c += thread_count())
        degree[c] = static_cast<Byte>(exact[c] < most ? exact[c] : most);
}

// ---- Rare columns. The k-th by number is k.
// How many before each word of bits, once they are summed. Reads: rare. Writes: before, own entry.
KERNEL count_rare(Index words, const Bits* __restrict__ rare, Index* before) {
    for (Index w = thread_index(); w < words; w += thread_count())
        before[w + 1] = count_bits(rare[w]);
}

struct RareColumns {
    const Bits* rare;
    const Index* before;      // rare columns, by word
    Index *entries, *number;  // of theirs: the place in the lists, the number of the column
    long long room;
    long long* found;  // entries, those that found no room included
};

// Lists the entries of rare columns. Reads: indices, rare, before. Writes: entries, number, found,
// which is zero before. Time: O(nnz / threads).
KERNEL list_rare(long long nnz, const Index* __restrict__ indices, RareColumns s) {
    list_rare_entries(nnz, indices, s.rare, s.found, [&](long long at, long long p, Index j) {
        if (at >= s.room) return;
        const Bits below = s.rare[j >> 5] & ((1u << (j & 31)) - 1);
        s.entries[at] = static_cast<Index>(p);
        s.number[at] = s.before[j >> 5] + count_bits(below);
    });
}

// The lists of rare columns: their rows, sought here, where all threads have one to seek. Reads:
// indptr, entries, number; the place of each entry in its list, where the lists begin. Writes:
// lists, each entry once. Time: O(n log(n_rows) / threads).
KERNEL group_rare(Index n, Index n_rows, const Index* __restrict__ indptr, RareColumns s,
                  const Index* __restrict__ place, const Index* __restrict__ begin, Index* lists) {
    for (Index p = thread_index(); p < n; p += thread_count())
        lists[begin[s.number[p]] + place[p]] =
            static_cast<Index>(row_of(indptr, n_rows, s.entries[p]));
}

// Matches rare columns as their own matching does. Reads: rare, before, mate, by number. Writes:
// both mates, matched (own word), how many stay free.
KERNEL adopt_rare(Index words, RareColumns s, const Index* __restrict__ mate, Index* row_mate,
                  Index* col_mate, Bits* matched, Index* free) {
    Index left = 0;
    for (Index w = thread_index(); w < words; w += thread_count()) {
        Index number = s.before[w];
        for (int k = 0; k < 32; ++k) {
            if (!(s.rare[w] >> k & 1)) continue;
            const Index j = w * 32 + k, i = mate[number++];
            if (i == UNMATCHED) {
                ++left;
                continue;
            }
            row_mate[i] = j;
            col_mate[j] = i;
            insert(matched, j);
        }
    }
    add_of_block(free, left);
}

// ---- Rows.
struct MinDegree {
    Csr lists;
    const Byte* degree;  // of a column
    Index *row_mate, *col_mate;
    Bits* matched;
};

// Rows of `above` + 1 to `upto` entries, each by one thread. Reads: lists, degree. Writes: matched,
// by atomics; mates of its pairs. Time: O(nnz / threads), times attempts where another was first.
KERNEL choose(Index n_rows, MinDegree s, Index above, Index upto, int bits, unsigned seed) {
    for (long long t = thread_index(); t < stretches(n_rows) * STRETCH; t += thread_count()) {
        const Index i = visited(t, n_rows, bits, seed);
        if (i == UNMATCHED) continue;
        const Index begin = s.lists.indptr[i], size = s.lists.indptr[i + 1] - begin;
        if (size <= above || size > upto || s.row_mate[i] != UNMATCHED) continue;  // own entry
        const Index* const list = s.lists.indices.data + begin;
        const unsigned draw = seed ^ static_cast<unsigned>(i);
        while (true) {
            const Wide best = least(s.matched, s.degree, list, size, 0, 1, draw);
            if (best == ~Wide(0)) break;
            const Index j = list[best & 0xFFFFFFFF];
            if (!claim(s.matched, j)) continue;
            s.row_mate[i] = j;
            s.col_mate[j] = i;
            break;
        }
    }
}

// A free row by one warp, window by window of its list. All lanes must call.
DEVICE void choose_by_warp(const MinDegree& s, Index i, Index size, unsigned seed) {
    const Index* const list = s.lists.indices.data + s.lists.indptr[i];
    const unsigned draw = seed ^ static_cast<unsigned>(i);
    for (Index at = 0; at < size;) {
        const Index part = size - at < WINDOW ? size - at : WINDOW;
        const Wide best =
            least_in_warp(least(s.matched, s.degree, list + at, part, lane_in_warp(), WARP, draw));
        if (best == ~Wide(0)) {
            at += WINDOW;
            continue;
        }
        const Index j = list[at + static_cast<Index>(best & 0xFFFFFFFF)];
        bool mine = false;
        if (lane_in_warp() == 0 && claim(s.matched, j)) {
            s.row_mate[i] = j;
            s.col_mate[j] = i;
            mine = true;
        }
        if (ballot(mine)) return;
    }
}

// Rows with more than `above` and at most `upto` entries, each by one warp, which looks at as
// many rows as it has lanes at a time. As `choose`.
KERNEL choose_long(Index n_rows, MinDegree s, Index above, Index upto, int bits, unsigned seed) {
    const long long warps = thread_count() / WARP;
    for (long long t = thread_index() / WARP * WARP; t < stretches(n_rows) * STRETCH;
         t += warps * WARP) {
        const Index mine = visited(t + lane_in_warp(), n_rows, bits, seed);
        const Index length =
            mine != UNMATCHED ? s.lists.indptr[mine + 1] - s.lists.indptr[mine] : 0;
        Bits rows = ballot(length > above && length <= upto && s.row_mate[mine] == UNMATCHED);
        for (int lane = 0; rows; rows &= rows - 1) {
            while (!(rows >> lane & 1)) ++lane;
            choose_by_warp(s, broadcast(mine, lane), broadcast(length, lane), seed);
        }
    }
}
