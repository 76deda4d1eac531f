// Breadth-first search from all free rows by one block of threads: for matrices so small that a
// barrier of the grid, or another launch, would take longer than a level.
//
// As in ms_bfs.cu, a column belongs to the tree that claimed it first, and a tree ends with its
// first free column. Phases go on until one finds nothing.
// Macros: ROOM, numbers that shared memory holds; THREADS of the block.
#include "core/device.cuh"

// Six arrays, in shared memory if they fit. A vertex stands in the queue once in a phase.
struct Arrays {
    Index *row_mate, *root, *leaf, *queue;  // of rows; leaf: of a root, the column it has met
    Index *col_mate, *parent;               // of columns; parent: the row that claimed it
};

DEVICE Arrays arrays_in(Index* memory, Index n_rows, Index n_cols) {
    return {memory,
            memory + n_rows,
            memory + 2 * n_rows,
            memory + 3 * n_rows,
            memory + 4 * n_rows,
            memory + 4 * n_rows + n_cols};
}

// Matches free rows with free columns, each with the first that it gets: own row; a column by
// compare-and-swap.
DEVICE void start(const Arrays& a, Index n_rows, const Csr& lists) {
    for (Index i = thread_in_block(); i < n_rows; i += threads_in_block()) {
        const Index end = lists.indptr[i + 1];
        for (Index p = lists.indptr[i]; a.row_mate[i] == UNMATCHED && p < end; ++p) {
            const Index j = lists.indices[p];
            if (load(a.col_mate + j) == UNMATCHED &&
                compare_and_swap(a.col_mate + j, UNMATCHED, i) == UNMATCHED)
                a.row_mate[i] = j;
        }
    }
    sync_block();
}

// Visits the list of a queued row; 2^shift neighbouring threads share it. Returns the paths found.
// Safe: the thread that claims a column queues its mate, and a root's leaf is set once.
DEVICE Index visit(const Arrays& a, const Csr& lists, Index i, Index lane, int shift, Index* tail) {
    const Index root = a.root[i], end = lists.indptr[i + 1];
    Index found = 0;
    for (Index p = lists.indptr[i] + lane; p < end; p += static_cast<Index>(1) << shift) {
        if (load(a.leaf + root) != UNMATCHED) break;
        const Index j = lists.indices[p];
        if (load(a.parent + j) != UNMATCHED ||
            compare_and_swap(a.parent + j, UNMATCHED, i) != UNMATCHED)
            continue;
        const Index next = a.col_mate[j];
        if (next == UNMATCHED) {
            found += compare_and_swap(a.leaf + root, UNMATCHED, j) == UNMATCHED;
            continue;
        }
        a.root[next] = root;
        a.queue[add(tail, static_cast<Index>(1))] = next;
    }
    return found;
}

// Applies the path of each root: trees share no vertex.
DEVICE void augment(const Arrays& a, Index n_roots) {
    for (Index k = thread_in_block(); k < n_roots; k += threads_in_block()) {
        Index j = a.leaf[a.queue[k]];
        while (j != UNMATCHED) {
            const Index i = a.parent[j], before = a.row_mate[i];
            a.col_mate[j] = i;
            a.row_mate[i] = j;
            j = before;
        }
    }
    sync_block();
}

// One phase. Returns the paths found; levels: one more for each.
DEVICE Index phase(const Arrays& a, Index n_rows, Index n_cols, const Csr& lists, int shift,
                   Index& levels) {
    SHARED Index tail, found;
    if (thread_in_block() == 0) tail = found = 0;
    for (Index j = thread_in_block(); j < n_cols; j += threads_in_block()) a.parent[j] = UNMATCHED;
    sync_block();
    for (Index i = thread_in_block(); i < n_rows; i += threads_in_block()) {
        if (a.row_mate[i] != UNMATCHED || lists.indptr[i] == lists.indptr[i + 1]) continue;
        a.root[i] = i;
        a.leaf[i] = UNMATCHED;
        a.queue[add(&tail, static_cast<Index>(1))] = i;
    }
    sync_block();
    const Index n_roots = tail;
    sync_block();  // before the first level appends
    Index begin = 0, end = n_roots;
    while (begin < end) {
        Index mine = 0;
        for (Index t = thread_in_block(); t < (end - begin) << shift; t += threads_in_block())
            mine += visit(a, lists, a.queue[begin + (t >> shift)],
                          t & ((static_cast<Index>(1) << shift) - 1), shift, &tail);
        if (mine) add(&found, mine);
        ++levels;
        sync_block();
        begin = end;
        end = tail;
        sync_block();  // before the next level appends
    }
    const Index total = found;
    if (total) augment(a, n_roots);
    sync_block();  // before the next phase clears the counts
    return total;
}

// Reads: lists. Writes: both mates; report: phases, levels, paths. memory: nullptr if the arrays
// fit into ROOM. Time: O(phases * nnz / threads + levels).
KERNEL __launch_bounds__(THREADS)
    one_block(Index n_rows, Index n_cols, Csr lists, Index* row_mate, Index* col_mate, int shift,
              Index* memory, Index* report) {
    SHARED Index near[ROOM];
    const bool fits =
        4 * static_cast<long long>(n_rows) + 2 * static_cast<long long>(n_cols) <= ROOM;
    const Arrays a = arrays_in(fits ? near : memory, n_rows, n_cols);
    for (Index i = thread_in_block(); i < n_rows; i += threads_in_block())
        a.row_mate[i] = row_mate[i];
    for (Index j = thread_in_block(); j < n_cols; j += threads_in_block())
        a.col_mate[j] = col_mate[j];
    sync_block();
    start(a, n_rows, lists);
    Index phases = 0, levels = 0, paths = 0, found;
    do {
        found = phase(a, n_rows, n_cols, lists, shift, levels);
        paths += found;
        ++phases;
    } while (found);
    for (Index i = thread_in_block(); i < n_rows; i += threads_in_block())
        row_mate[i] = a.row_mate[i];
    for (Index j = thread_in_block(); j < n_cols; j += threads_in_block())
        col_mate[j] = a.col_mate[j];
    if (thread_in_block() == 0) report[0] = phases, report[1] = levels, report[2] = paths;
}
