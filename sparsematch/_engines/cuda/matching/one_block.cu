// Breadth-first search from all free rows by one block of threads: for matrices so small that a
// barrier of the grid, or another launch, would take longer than a level. As in ms_bfs.cu, a column
// belongs to the tree that claimed it first, and a tree ends with its first free column. All that
// is read more than once stands in shared memory, in numbers of 16 bits.
#include "core/device.cuh"

typedef unsigned short Short;

// No vertex: the largest number, which none has.
#define NONE static_cast<Short>(-1)

// A vertex stands in the queue once in a phase. Bits: columns that are matched, at first, then
// those that a phase has reached; roots that have met a free column.
struct Arrays {
    Index n_rows, n_cols;
    Short *indptr, *indices;
    Short *row_mate, *root, *leaf, *queue;  // of rows; leaf: of a root, the column it has met
    Short *col_mate, *parent;               // of columns; parent: the row that claimed it
    Bits *taken, *ended, *degrees;          // degrees: of two columns in a word
};

DEVICE Index words_of(Index n) { return n / 32 + 1; }

DEVICE Arrays arrays_in(Bits* near, Index n_rows, Index n_cols) {
    Bits *const ended = near + words_of(n_cols), *const degrees = ended + words_of(n_rows);
    Short* const rows = reinterpret_cast<Short*>(degrees + n_cols / 2 + 1);
    Short *const cols = rows + 4 * n_rows, *const indptr = cols + 2 * n_cols;
    Short *const root = rows + n_rows, *const leaf = root + n_rows, *const queue = leaf + n_rows;
    return {n_rows, n_cols, indptr, indptr + n_rows + 1, rows, root,
            leaf,   queue,  cols,   cols + n_cols,       near, ended,
            degrees};
}

// How many entries a column has; sums beyond 16 bits spoil the start, not the result.
DEVICE void count_degrees(const Arrays& a) {
    const Index nnz = a.indptr[a.n_rows];
    for (Index k = thread_in_block(); k < a.n_cols / 2 + 1; k += threads_in_block())
        a.degrees[k] = 0;
    sync_block();
    for (Index p = thread_in_block(); p < nnz; p += threads_in_block()) {
        const Index j = a.indices[p];
        add(a.degrees + (j >> 1), 1u << 16 * (j & 1));
    }
    sync_block();
}

// The free column of a row that has the fewest entries, if no more than `most` entries are free.
DEVICE Short least(const Arrays& a, Index i, int most) {
    Short best = NONE;
    int n = 0;
    unsigned fewest = 0;
    for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
        const Index j = a.indices[p];
        if (has(a.taken, j)) continue;
        if (++n > most) return NONE;
        const unsigned entries = a.degrees[j >> 1] >> 16 * (j & 1) & 0xffff;
        if (n == 1 || entries < fewest) best = static_cast<Short>(j), fewest = entries;
    }
    return best;
}

// Matches free rows, those with few free entries first: own row; a column by its bit.
DEVICE void start(const Arrays& a) {
    count_degrees(a);
    for (int turn = 0; turn < 7; ++turn) {
        const int most = turn < 3 ? 1 : turn < 5 ? 2 : turn < 6 ? 3 : 0x7fffffff;
        for (Index i = thread_in_block(); i < a.n_rows; i += threads_in_block()) {
            while (a.row_mate[i] == NONE) {
                const Short j = least(a, i, most);
                if (j == NONE) break;
                if (!claim(a.taken, j)) continue;
                a.col_mate[j] = static_cast<Short>(i);
                a.row_mate[i] = j;
            }
        }
        sync_block();
    }
}

// A level: where the next one is queued, how many there are, how many paths were found.
struct Level {
    Short* next;
    int *width, *found;
};

// Visits the list of a queued row, which `lanes` threads share. Safe: the thread that claims a
// column queues its mate, and a root's leaf is set once.
DEVICE void visit(const Arrays& a, Short i, int lane, int lanes, const Level& level) {
    const Short root = a.root[i];
    const Index end = a.indptr[i + 1];
    for (Index p = a.indptr[i] + lane; p < end; p += lanes) {
        // what does not depend on each other is loaded at a time: tree and entry, bit and mate
        const Index j = a.indices[p];
        if (has(a.ended, root)) break;
        const bool seen = has(a.taken, j);
        const Short next = a.col_mate[j];
        if (seen || !claim(a.taken, j)) continue;
        a.parent[j] = i;
        if (next != NONE) {
            a.root[next] = root;
            push(level.next, level.width, next, true);
        } else if (claim(a.ended, root)) {
            a.leaf[root] = static_cast<Short>(j);
            add(level.found, 1);
        }
    }
}

// Applies the path of each root that has one: trees share no vertex.
DEVICE void augment(const Arrays& a, int n_roots) {
    for (int k = thread_in_block(); k < n_roots; k += threads_in_block()) {
        const Short root = a.queue[k];
        Short j = has(a.ended, root) ? a.leaf[root] : NONE;
        while (j != NONE) {
            const Short i = a.parent[j], before = a.row_mate[i];
            a.col_mate[j] = i;
            a.row_mate[i] = j;
            j = before;
        }
    }
}

// Queues the free rows that have entries, and clears the bits.
DEVICE void plant(const Arrays& a, int* width) {
    for (Index k = thread_in_block(); k < words_of(a.n_cols) + words_of(a.n_rows);
         k += threads_in_block())
        a.taken[k] = 0;
    for (Index i = thread_in_block(); i < a.n_rows; i += threads_in_block()) {
        if (a.row_mate[i] != NONE || a.indptr[i] == a.indptr[i + 1]) continue;
        a.root[i] = static_cast<Short>(i);
        push(a.queue, width, static_cast<Short>(i), true);
    }
}

// What has been done so far. Every thread counts the same.
struct Account {
    int stopped, phases, levels, paths;
};

// One phase, of `depth` levels at most. Returns the paths found; none if there are more levels. As
// many threads as 2^shift share a list where the level has no more to do. The widths of levels are
// counted in three numbers in rotation, read, written and cleared: one barrier for each level.
DEVICE int phase(const Arrays& a, int shift, int depth, Account& done) {
    SHARED int widths[3], found;
    sync_block();  // all have read what the last phase found
    if (thread_in_block() == 0) widths[0] = widths[1] = widths[2] = found = 0;
    sync_block();
    plant(a, widths);
    sync_block();
    const int n_roots = widths[0];
    int begin = 0, turn = 0, n = n_roots;
    for (; n && turn < depth; ++turn, ++done.levels) {
        const Level level = {a.queue + begin + n, widths + (turn + 1) % 3, &found};
        if (thread_in_block() == 0) widths[(turn + 2) % 3] = 0;
        int share = shift;
        while (share && n << share > threads_in_block()) --share;
        const int lanes = 1 << share;
        for (int t = thread_in_block(); t < n << share; t += threads_in_block())
            visit(a, a.queue[begin + (t >> share)], t & (lanes - 1), lanes, level);
        sync_block();
        begin += n;
        n = *level.width;
    }
    ++done.phases;
    done.stopped = n > 0;
    const int total = done.stopped ? 0 : found;
    if (total) augment(a, n_roots);
    done.paths += total;
    return total;
}

// What a launch is given.
struct Work {
    ReadOnly<Index> indptr, indices;
    Index n_rows, n_cols;
    Index *row_mate, *col_mate;
    int shift, depth;
};

// All of it, from the mates in device memory, which may be a matching already, and back to them.
DEVICE void solve(const Arrays& a, const Work& w, Account& done) {
    for (Index k = thread_in_block(); k < words_of(a.n_cols); k += threads_in_block())
        a.taken[k] = 0;
    for (Index i = thread_in_block(); i <= a.n_rows; i += threads_in_block())
        a.indptr[i] = static_cast<Short>(w.indptr[i]);
    const Index nnz = w.indptr[a.n_rows];
    for (Index p = thread_in_block(); p < nnz; p += threads_in_block())
        a.indices[p] = static_cast<Short>(w.indices[p]);
    sync_block();
    for (Index i = thread_in_block(); i < a.n_rows; i += threads_in_block())
        a.row_mate[i] = static_cast<Short>(w.row_mate[i]);
    for (Index j = thread_in_block(); j < a.n_cols; j += threads_in_block()) {
        a.col_mate[j] = static_cast<Short>(w.col_mate[j]);
        if (w.col_mate[j] != UNMATCHED) insert(a.taken, j);
    }
    start(a);
    while (phase(a, w.shift, w.depth, done)) {
    }
    for (Index i = thread_in_block(); i < a.n_rows; i += threads_in_block())
        w.row_mate[i] = a.row_mate[i] == NONE ? UNMATCHED : static_cast<Index>(a.row_mate[i]);
    for (Index j = thread_in_block(); j < a.n_cols; j += threads_in_block())
        w.col_mate[j] = a.col_mate[j] == NONE ? UNMATCHED : static_cast<Index>(a.col_mate[j]);
}

// Reads: lists. Writes: mates; report, if any. Time: O(phases * nnz / threads + levels).
KERNEL __launch_bounds__(1024, 1) one_block(Work w, long long* report) {
    DYNAMIC_SHARED(near);
    Account done = {0, 0, 0, 0};
    solve(arrays_in(near, w.n_rows, w.n_cols), w, done);
    if (!report || thread_in_block()) return;
    const int counts[] = {done.stopped, done.phases, done.levels, done.paths};  // as one_block.py
    for (int k = 0; k < 4; ++k) report[k] = counts[k];
}
