// Karp-Sipser: match columns and rows of degree one while they are found (always right), then pick.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981), from the lists of the rows
// alone. A column counts its residual rows, and adds them up, which gives the last one's number
// when one is left: both in one word, so that they change together. Matching a column of degree one
// removes its row and lowers the degrees of the row's other columns: a thread follows such a chain.
// Rows of degree one are found by a few passes over the rows. Invariants: a row belongs to the
// thread that sets its bit, `removed`, and then a column to the one that sets its bit, `matched`;
// neither is cleared. The word of a column counts every residual row, and some that are not: its
// last row may be removed, which the claim on the row finds out.
#include "core/device.cuh"
#include "matching/start_common.cuh"

// Entries of a list: with more a thread takes too long to lower the columns' words; read at a time.
enum { LONG = 1024, AT_ONCE = 4 };

struct KarpSipser {
    Csr lists;
    Index *row_mate, *col_mate;
    // of a column: 2^32 times the sum of its rows, which may overflow, and how many they are
    Wide* residual;
    Bits *matched, *removed;
    unsigned seed;
};

// What a row adds to the words of its columns. With 2^32 rows, no GPU would hold the matrix.
DEVICE Wide word_of(Index i) { return static_cast<Wide>(i) << 32 | 1; }
DEVICE unsigned rows_left(Wide residual) { return static_cast<unsigned>(residual); }

// `fewest` of a row that has more free columns than are asked for.
#define TOO_MANY (static_cast<Index>(-2))

// A row's free column with the fewest residual rows, if it has 1 to `most` free columns.
DEVICE Index fewest(const KarpSipser& s, Index i, Index most) {
    const Index first = s.lists.indptr[i], degree = s.lists.indptr[i + 1] - first;
    Index at = drawn_below(degree, i, s.seed), best = UNMATCHED, n = 0;
    unsigned least = 0;
    for (Index base = 0; base < degree && n < LONG; base += AT_ONCE) {
        Index j[AT_ONCE];
        bool free[AT_ONCE];
        unsigned left[AT_ONCE];
        for (int u = 0; u < AT_ONCE; ++u) {
            j[u] = base + u < degree ? s.lists.indices[first + at] : UNMATCHED;
            if (++at >= degree) at = 0;
        }
        for (int u = 0; u < AT_ONCE; ++u) free[u] = j[u] != UNMATCHED && !has(s.matched, j[u]);
        for (int u = 0; u < AT_ONCE; ++u)
            left[u] = free[u] && most > 1 ? rows_left(load(s.residual + j[u])) : 0;
        for (int u = 0; u < AT_ONCE; ++u) {
            if (!free[u] || j[u] == best) continue;
            if (++n > most) return TOO_MANY;
            if (best == UNMATCHED || left[u] < least) best = j[u], least = left[u];
        }
    }
    return best;
}

// Matches a row that this thread owns with column j, or with another if that has just been claimed;
// lowers the words of its other columns. Returns one that is left with one row, if there is any.
DEVICE Index match_row(const KarpSipser& s, Index i, Index j) {
    const Index first = s.lists.indptr[i], last = s.lists.indptr[i + 1];
    while (j != UNMATCHED && !claim(s.matched, j)) j = fewest(s, i, last - first);
    if (j != UNMATCHED) s.row_mate[i] = j, s.col_mate[j] = i;
    Index next = UNMATCHED;
    for (Index p = first; p < last && last - first <= LONG; p += AT_ONCE) {
        Index k[AT_ONCE];
        bool free[AT_ONCE];
        Wide before[AT_ONCE];
        for (int u = 0; u < AT_ONCE; ++u) k[u] = p + u < last ? s.lists.indices[p + u] : j;
        for (int u = 0; u < AT_ONCE; ++u)
            free[u] = k[u] != j && k[u] != UNMATCHED && !has(s.matched, k[u]);
        for (int u = 0; u < AT_ONCE; ++u)
            before[u] = free[u] ? add(s.residual + k[u], Wide(0) - word_of(i)) : 0;
        for (int u = 0; u < AT_ONCE; ++u)
            if (rows_left(before[u]) == 2) next = k[u];
    }
    return next;
}

// Matches column j if it has one residual row, and what then has one, and so on.
DEVICE void follow(const KarpSipser& s, Index j) {
    while (j != UNMATCHED) {
        const Wide residual = load(s.residual + j);
        const Index i = static_cast<Index>(residual >> 32);
        if (rows_left(residual) != 1 || has(s.matched, j) || !claim(s.removed, i)) return;
        j = match_row(s, i, j);
    }
}

// Reads: lists, row_mate. Writes: residual, zero before, by atomic addition. 2^shift threads share
// a list. Time: O(nnz / threads).
KERNEL count(Index n_rows, const Index* __restrict__ indptr, const Index* __restrict__ indices,
             const Index* __restrict__ row_mate, Wide* residual, int shift) {
    for_shared(n_rows, shift, [&](Index i, Index lane, Index lanes) {
        if (row_mate[i] != UNMATCHED) return;
        for (Index p = indptr[i] + lane; p < indptr[i + 1]; p += lanes)
            add(residual + indices[p], word_of(i));
    });
}

// Columns of degree one. Reads: lists. Writes: mates of pairs that it made, residual, matched,
// removed. Time: O(nnz / threads), and the longest chain.
KERNEL columns(Index n_cols, KarpSipser s) {
    for (Index j = thread_index(); j < n_cols; j += thread_count()) follow(s, j);
}

// Rows with up to `most` free columns are matched with that of fewest residual rows; those without
// any are removed as well. Reads and writes as `columns`.
KERNEL rows(Index n_rows, KarpSipser s, Index most, int bits) {
    for (long long t = thread_index(); t < stretches(n_rows) * STRETCH; t += thread_count()) {
        const Index i = visited(t, n_rows, bits, s.seed);
        if (i == UNMATCHED || has(s.removed, i)) continue;
        const Index j = fewest(s, i, most);
        if (j != TOO_MANY && claim(s.removed, i) && j != UNMATCHED) follow(s, match_row(s, i, j));
    }
}

// Rows that are removed, columns that are matched or have no residual row: after degrees of one
// alone some maximum matching has the pairs made so far, and no others there. Reads: residual,
// matched, removed. Writes: both sets, own words. Time: O((n_rows + n_cols) / threads).
KERNEL list_finished(Index n_rows, Index n_cols, KarpSipser s, Bits* rows, Bits* columns) {
    make_set(rows, n_rows, s.removed, [](long long) { return false; });
    make_set(columns, n_cols, s.matched,
             [&](long long j) { return rows_left(s.residual[j]) == 0; });
}
