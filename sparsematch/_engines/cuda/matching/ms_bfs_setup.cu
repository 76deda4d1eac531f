// What ms_bfs prepares by launches of their own: roots, and lists in rows of slots.
//
// A module of its own: the search compiles beside it. Macros WIDTH, LANES, LINKED as in ms_bfs.cuh.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "matching/ms_bfs.cuh"
#include "matching/start_common.cuh"

// Finished vertices, see ByProducts of the registry: no search needs them; nullptr: none is known.
struct Finished {
    const Bits *rows, *columns;
};

DEVICE bool may_be_root(const Index* indptr, const Index* row_mate, const Finished& finished,
                        Index i) {
    return row_mate[i] == UNMATCHED && indptr[i] != indptr[i + 1] &&
           !(finished.rows && is_in(finished.rows, i));
}

// How many rows that have entries are free, and how many columns; finished ones aside. Reads:
// indptr, mates. Time: O((n_rows + n_cols) / threads).
KERNEL count_free(Index n_rows, Index n_cols, Finished finished, const Index* __restrict__ indptr,
                  const Index* __restrict__ row_mate, const Index* __restrict__ col_mate,
                  Control* control) {
    Index rows = 0, columns = 0;
    for (Index i = thread_index(); i < n_rows; i += thread_count())
        rows += may_be_root(indptr, row_mate, finished, i);
    for (Index j = thread_index(); j < n_cols; j += thread_count())
        columns += col_mate[j] == UNMATCHED && !(finished.columns && is_in(finished.columns, j));
    add_of_block(&control->free_rows, rows);
    add_of_block(&control->free_columns, columns);
}

// The rows that `count_free` counts, stretches of them in a shuffled order. Reads: indptr,
// row_mate. Writes: roots and leaf, places that the block reserved. Time: O(n_rows / threads).
KERNEL collect(Index n_rows, int bits, unsigned seed, Finished finished,
               const Index* __restrict__ indptr, const Index* __restrict__ row_mate, Index* roots,
               Index* leaf, Control* control) {
    constexpr int EACH = 8;
    const long long size = threads_in_block() * EACH;
    for (long long base = block_index() * size; base < stretches(n_rows) * STRETCH;
         base += block_count() * size) {
        Index mine[EACH];
        int n = 0;
        for (int k = 0; k < EACH; ++k) {
            const long long t = base + k * threads_in_block() + thread_in_block();
            mine[k] = t < stretches(n_rows) * STRETCH ? visited(t, n_rows, bits, seed) : UNMATCHED;
            if (mine[k] >= 0 && !may_be_root(indptr, row_mate, finished, mine[k]))
                mine[k] = UNMATCHED;
            n += mine[k] >= 0;
        }
        Index at = reserve(&control->n_roots, n);
        for (int k = 0; k < EACH; ++k)
            if (mine[k] >= 0) {
                roots[at] = mine[k];
                leaf[at++] = UNMATCHED;
            }
    }
}

// Columns no tree may enter at first: finished; if `own`, those free as the rows of their number,
// each for that row's tree. Reads: mates. Writes: visited, own word. Time: O(n_cols / threads).
KERNEL close_columns(Index n_cols, Finished finished, bool own, const Index* __restrict__ row_mate,
                     const Index* __restrict__ col_mate, Bits* visited) {
    make_set(visited, n_cols, finished.columns, [&](long long v) {
        return own && row_mate[v] == UNMATCHED && col_mate[v] == UNMATCHED;
    });
}

#if WIDTH
// The rows of slots that a list needs beside its first.
DEVICE Index linked_rows(Index degree) { return degree > WIDTH ? (degree - 2) / (WIDTH - 2) : 0; }
#endif

// Reserves the linked rows of each list, unless too many; links the first. All blocks together.
// Reads: indptr. Writes: last slot of own rows, where some are linked. Time: O(n_rows / threads).
KERNEL link_rows(Index n_rows, const Index* __restrict__ indptr, Index* slots, Control* control) {
#if WIDTH
    for (long long base = static_cast<long long>(block_index()) * threads_in_block(); base < n_rows;
         base += thread_count()) {
        const long long i = base + thread_in_block();
        const Index linked = i < n_rows ? linked_rows(indptr[i + 1] - indptr[i]) : 0,
                    mine = linked <= LINKED ? linked : 0;
        const Index at = reserve(&control->n_linked, static_cast<int>(mine));
        if (mine) slots[i * WIDTH + WIDTH - 1] = LINK(n_rows + at);
    }
#endif
}

// The rows of slots, as ms_bfs.cuh draws them; links to the first linked rows stand there already.
// Reads: indptr, indices. Writes: slots, own entry. Time: O((n_rows * WIDTH + nnz) / threads).
KERNEL spread(Index n_rows, const Index* __restrict__ indptr, const Index* __restrict__ indices,
              Index* slots) {
#if WIDTH
    enum { FOURS = WIDTH / 4 };  // of a row; a thread writes one at a time
    struct alignas(16) Four {
        Index slot[4];
    };
    for (long long t = thread_index(); t < static_cast<long long>(n_rows) * FOURS;
         t += thread_count()) {
        const Index slot = static_cast<Index>(t % FOURS) * 4, begin = indptr[t / FOURS],
                    degree = indptr[t / FOURS + 1] - begin, linked = linked_rows(degree);
        const bool is_last = slot + 4 == WIDTH, is_linked = linked && linked <= LINKED;
        Four four;
        for (int u = 0; u < 4; ++u)
            four.slot[u] = slot + u < degree ? indices[begin + slot + u] : UNMATCHED;
        if (is_last && linked > LINKED) four.slot[3] = MORE;
        if (!is_last || !is_linked) reinterpret_cast<Four*>(slots)[t] = four;
        else
            for (int u = 0; u < 3; ++u) slots[4 * t + u] = four.slot[u];
        if (!is_linked) continue;
        const Index more = LINK(slots[t / FOURS * WIDTH + WIDTH - 1]);
        for (Index r = 0; r < linked; ++r)
            for (int u = 0; u < 4; ++u) {
                const Index p = WIDTH - 1 + r * (WIDTH - 2) + slot + u,
                            next = 2 * r + 1 + slot + u - (WIDTH - 2);
                Index* at = slots + static_cast<long long>(more + r) * WIDTH + slot + u;
                if (slot + u < WIDTH - 2) *at = p < degree ? indices[begin + p] : UNMATCHED;
                else *at = next < linked ? LINK(more + next) : UNMATCHED;
            }
    }
#endif
}
