// The permutations of a block form: rows by group, columns by mates, behind those without.
//
// Counting sort. Invariant: a row has a number of its own in its group, given out by an atomic
// addition; so the rows of a group come in no particular order.
#include "core/device.cuh"

struct BlockOrder {
    ReadOnly<Index> group, place, begin, row_mate, col_mate;
    Index *row_perm, *col_perm;
};

// Reads: groups. Writes: count, zero before, by atomic addition; place of each row in its group.
KERNEL tally(Index n_rows, const Index* __restrict__ group, Index* count, Index* place) {
    for (Index i = thread_index(); i < n_rows; i += thread_count())
        place[i] = draw_number(count, group[i]);
}

// Where blocks begin: rows, n - 2 given; columns, unmatched ones in the first. Writes: own entries.
KERNEL bound_blocks(Index n, Index n_rows, Index n_cols, Index n_free, Index* rows, Index* cols) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        if (k == n - 1) rows[k] = n_rows;
        cols[k] = k == 0 ? 0 : k == n - 1 ? n_cols : rows[k] + n_free;
    }
}

// Reads: groups, places, where the n_square + 3 groups begin, mates. Writes: the permutations, each
// entry once; bounds: the rows before the square part, the vertical one, the unmatched ones.
KERNEL permute(Index n_rows, Index n_cols, Index n_square, BlockOrder o, Index* n_free,
               Index* bounds) {
    const Index rank = o.begin[n_square + 2];
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const Index at = o.begin[o.group[i]] + o.place[i], j = o.row_mate[i];
        o.row_perm[at] = i;  // a place of its own
        if (j != UNMATCHED) o.col_perm[n_cols - rank + at] = j;
    }
    if (rank < n_cols)
        list_all(n_cols, o.col_perm, n_free, [&](Index j) { return o.col_mate[j] == UNMATCHED; });
    if (thread_index() == 0)
        bounds[0] = o.begin[1], bounds[1] = o.begin[n_square + 1], bounds[2] = rank;
}
