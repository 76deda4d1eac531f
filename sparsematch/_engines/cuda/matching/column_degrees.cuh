// How many rows the columns have, in bytes, which columns are rare: have the fewest entries, and
// the choice among the columns of a list.
//
// Bytes of all columns stay cached. They are hints: nothing that has to be right depends on them.
// RARE: entries up to which columns are counted apart.
#pragma once

#define WINDOW 128  // entries of a long list among which the least is chosen

typedef unsigned char Byte;

// The column of fewest rows not taken among `size` entries of a list, which this lane shares:
// degree, number drawn for the pair, entry; all ones if none. nullptr: all degrees are equal.
template <class Size>
DEVICE Wide least(const Bits* taken, const Byte* degree, const Index* list, Size size, int lane,
                  int lanes, unsigned seed) {
    Wide best = ~Wide(0);
    for (Size k = lane; k < size; k += lanes) {
        const Index j = load_constant(list + k);
        if (has(taken, j)) continue;
        const Wide rows = degree ? load_constant(degree + j) : 0;
        const Wide draw = scatter(static_cast<unsigned>(j) ^ seed) & 0xFFF;
        const Wide key = rows << 44 | draw << 32 | static_cast<unsigned>(k);
        if (key < best) best = key;
    }
    return best;
}

// How many rows a column has, up to about `most`, a byte each. Many threads that count the same
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
    make_set(rare, n_cols, nullptr, [&](long long j) { return degree[j] <= upto; });
}

// The row of the p-th entry, of n rows.
template <class Pointer> DEVICE long long row_of(Pointer indptr, long long n, long long p) {
    return first_not_below(indptr, 0ll, n, p + 1) - 1;
}

// Calls put(place, p, column) for the entries p of rare columns, which it counts, each with a place
// of its own. All threads of a block together. Time: O(nnz / threads).
template <class Put>
DEVICE void list_rare_entries(long long nnz, const Index* indices, const Bits* rare,
                              long long* found, Put put) {
    place_all(
        nnz, found, [&](long long p) { return is_in(rare, indices[p]); },
        [&](long long at, long long p) { put(at, p, indices[p]); });
}
