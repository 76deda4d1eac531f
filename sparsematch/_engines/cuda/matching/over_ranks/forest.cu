// Alternating forests over several GPUs, and the augmentation along their paths: what one GPU does
// between two exchanges.
//
// Azad, Buluc (IPDPS 2016), Algorithms 2 to 4, with the grafting of Azad, Buluc, Pothen (IPDPS
// 2015, Algorithm 3), top down. A rank owns consecutive rows, with their lists, and consecutive
// columns. A level is: expand the own frontier, which claims columns; the owner of a column gives
// it to the tree that claims it first, and sends the mate on to the owner of that row; there it is
// in the next frontier. Between two own vertices nothing is sent.
// Invariants: a bit of `seen` is set for every column in a tree, as far as known here, and for own
// columns it decides; a column is claimed once from here, and adopted once, so that each sends one
// letter to each rank at most; a tree whose bit of `done` is set has its path and is not expanded.
#include "core/device.cuh"
#include "core/ranks.cuh"

#if LANES > WARP  // on the host
#undef LANES
#define LANES WARP
#endif

#define UNROLL 4
#define NO_LEAF (static_cast<Index>((Wide(1) << (8 * sizeof(Index) - 1)) - 1))

// A column for a tree, by the row that it is reached from, and the mate that this row has.
struct alignas(16) Claim {
    Index col, row, root, before;
};
// A row in a tree; with ~root in its place: this tree has its path. A walker at a column; a row
// and its new mate.
struct alignas(8) Step {
    Index row, root;
};
// What is known of a column in a tree: the row that it was reached from, the mate that this row had
// then, its root. Together, as they are written together, at random.
struct alignas(16) Node {
    Index parent, before, root, unused;
};
// A part of a list that is too long for a few lanes: its row's place in the queue, and which.
struct Part {
    long long at, number;
};

// What is counted. The frontier is queue[begin] .. queue[end - 1], and the next one grows from
// there to `tail`.
struct Progress {
    long long begin, end, tail, parts, again, found, edges, paths, path_edges;
};

struct Forest {
    const long long* indptr;
    const Index* indices;
    Index *row_mate, *col_mate;  // of own vertices
    Node* nodes;                 // of own columns
    Bits *seen, *done;           // of all columns; of all roots
    Index* leaf;                 // of all roots: the own column that ends the path
    Step* queue;                 // own rows in trees, level by level
    Part* parts;
    Owners rows, cols;
    Outbox claims, steps;
    Progress* progress;
};

// ---- Growth.
// The free rows that have entries become roots. Reads: row_mate, indptr. Writes: queue, tail.
KERNEL plant(Forest f) {
    for (long long r = thread_index(); r < f.rows.end - f.rows.begin; r += thread_count()) {
        if (f.row_mate[r] != UNMATCHED || f.indptr[r] == f.indptr[r + 1]) continue;
        const long long at = draw_number(&f.progress->tail, 0ll);
        f.queue[at] = Step{static_cast<Index>(f.rows.begin + r), static_cast<Index>(at)};
    }
}
// Numbers the roots over all ranks: `first` belong to those before.
KERNEL number_roots(Forest f, long long first) {
    for (long long k = thread_index(); k < f.progress->tail; k += thread_count())
        f.queue[k].root += static_cast<Index>(first);
}

DEVICE void forward(const Forest& f, const Step& step) {
    if (owns(f.rows, step.row)) push(f.queue, &f.progress->tail, step, true);
    else post(f.steps, owner(f.rows, step.row), step);
}

// Puts an own column, whose bit this thread has set, into a tree. The first that finds a path for
// a tree tells the others.
DEVICE void adopt(const Forest& f, const Claim& by) {
    const long long c = by.col - f.cols.begin;
    f.nodes[c] = Node{by.row, by.before, by.root, 0};
    const Index mate = f.col_mate[c];
    if (mate != UNMATCHED) {
        if (!has(f.done, by.root)) forward(f, Step{mate, by.root});
        return;
    }
    if (!claim(f.done, by.root)) return;
    f.leaf[by.root] = by.col;
    add(&f.progress->found, 1ll);
    for (int to = 0; to < f.steps.ranks; ++to)
        if (to != f.steps.rank) post(f.steps, to, Step{~by.root, by.root});
}

// Claims a column; returns whether its owner's box was full: then nothing has happened.
DEVICE bool visit(const Forest& f, const Claim& by) {
    if (!claim(f.seen, by.col)) return false;
    if (owns(f.cols, by.col)) adopt(f, by);
    else if (!post(f.claims, owner(f.cols, by.col), by)) {
        remove(f.seen, by.col);
        return true;
    }
    return false;
}

// Visits entries from, from + step, ... below `to`; returns whether one has to be visited again.
DEVICE bool visit_list(const Forest& f, const Step& at, Index before, long long from, long long to,
                       long long step) {
    bool full = false;
    for (; from < to; from += UNROLL * step) {
        Index list[UNROLL];
        bool wanted[UNROLL];
        for (int k = 0; k < UNROLL; ++k)
            list[k] = from + k * step < to ? f.indices[from + k * step] : UNMATCHED;
        for (int k = 0; k < UNROLL; ++k)
            wanted[k] = list[k] >= 0 &&
                        !(load_old(f.seen + (list[k] >> 5)) >> (list[k] & 31) & 1);
        for (int k = 0; k < UNROLL; ++k)
            if (wanted[k]) full |= visit(f, Claim{list[k], at.row, at.root, before});
    }
    return full;
}

// Expands the frontier, or those of its rows that have met a full box, whose numbers are inverted.
// Reads: lists, mates. Writes: seen, trees, queue, boxes; parts of long lists. Safe: a bit is set
// by one atomic, and whoever has set it writes what belongs to the column; an own place of the
// queue is written by the lanes of one row.
KERNEL expand(Forest f, bool again) {
    const long long begin = f.progress->begin, end = f.progress->end;
    const int lane = lane_in_warp() % LANES;
    long long scanned = 0;
    for (long long base = begin + thread_index() / WARP * (WARP / LANES); base < end;
         base += thread_count() / LANES) {
        const long long k = base + lane_in_warp() / LANES;
        Step at = {0, 0};
        bool wanted = k < end;
        if (wanted) at = f.queue[k];
        if (again) {
            wanted &= at.row < 0;
            if (wanted) at.row = ~at.row;
            sync_warp();
            if (wanted && lane == 0) f.queue[k].row = at.row;
            sync_warp();
        }
        if (!wanted || has(f.done, at.root)) continue;
        const long long r = at.row - f.rows.begin, from = f.indptr[r], to = f.indptr[r + 1];
        if (to - from > LONG) {
            if (lane) continue;
            const long long n = (to - from - 1) / LONG + 1, first = add(&f.progress->parts, n);
            for (long long part = 0; part < n; ++part) f.parts[first + part] = Part{k, part};
            continue;
        }
        if (lane == 0) scanned += to - from;
        if (!visit_list(f, at, f.row_mate[r], from + lane, to, LANES)) continue;
        store(&f.queue[k].row, static_cast<Index>(~at.row));
        store(&f.progress->again, 1ll);
    }
    add_of_block(&f.progress->edges, scanned);
}
// The lists that `expand` has cut, a warp for each part.
KERNEL expand_parts(Forest f) {
    const long long n = f.progress->parts;
    long long scanned = 0;
    for (long long p = thread_index() / WARP; p < n; p += thread_count() / WARP) {
        const Part part = f.parts[p];
        Step at = {load(&f.queue[part.at].row), f.queue[part.at].root};
        if (at.row < 0) at.row = ~at.row;  // another part has met a full box
        const long long r = at.row - f.rows.begin, end = f.indptr[r + 1],
                        from = f.indptr[r] + part.number * LONG,
                        to = end - from > LONG ? from + LONG : end;
        if (lane_in_warp() == 0) scanned += to - from;
        if (!visit_list(f, at, f.row_mate[r], from + lane_in_warp(), to, WARP)) continue;
        store(&f.queue[part.at].row, static_cast<Index>(~at.row));
        store(&f.progress->again, 1ll);
    }
    add_of_block(&f.progress->edges, scanned);
}

// Columns that others claim. Writes: seen, trees, queue, boxes.
KERNEL receive(Forest f, const Claim* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Claim by = arrived[k];
        if (!has(f.seen, by.col) && claim(f.seen, by.col)) adopt(f, by);
    }
}
// Rows that others have reached, and trees that have their path.
KERNEL append(Forest f, const Step* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Step step = arrived[k];
        if (step.row < 0) insert(f.done, ~step.row);
        else push(f.queue, &f.progress->tail, step, true);
    }
}

// Empties boxes: of claims, and if all is sent of steps; then the next frontier is expanded.
KERNEL advance(Forest f, bool claims_only) {
    if (thread_index()) return;
    for (int to = 0; to < f.claims.ranks; ++to) f.claims.counts[to] = 0;
    f.progress->parts = f.progress->again = 0;
    if (claims_only) return;
    for (int to = 0; to < f.steps.ranks; ++to) f.steps.counts[to] = 0;
    f.progress->begin = f.progress->end;
    f.progress->end = f.progress->tail;
}
// Counts to where the host reads them.
KERNEL report(const long long* counts, int n, long long* to) {
    for (long long k = thread_index(); k < n; k += thread_count()) to[k] = counts[k];
}

// ---- Augmentation: each path from its leaf to its root, column by column.
DEVICE void walk(const Forest& f, Index col) {
    long long edges = 0;
    do {
        const long long c = col - f.cols.begin;
        const Index row = f.nodes[c].parent;
        f.col_mate[c] = row;
        if (owns(f.rows, row)) f.row_mate[row - f.rows.begin] = col;
        col = f.nodes[c].before;
        edges += col == UNMATCHED ? 1 : 2;
    } while (col != UNMATCHED && owns(f.cols, col));
    add(&f.progress->path_edges, edges);
    if (col == UNMATCHED) add(&f.progress->paths, 1ll);
    else post(f.steps, owner(f.cols, col), Step{col, 0});
}
// From the leaves that are own columns; of the other ranks' another was chosen. Safe: trees are
// disjoint.
KERNEL walk_from_leaves(Forest f, long long n_roots) {
    for (long long root = thread_index(); root < n_roots; root += thread_count())
        if (f.leaf[root] != NO_LEAF && owns(f.cols, f.leaf[root])) walk(f, f.leaf[root]);
}
KERNEL walk_on(Forest f, const Step* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) walk(f, arrived[k].row);
}
// Tells rows of other ranks their new mates: a column on a path is matched with its parent.
KERNEL settle(Forest f) {
    for (long long c = thread_index(); c < f.cols.end - f.cols.begin; c += thread_count()) {
        const Index col = static_cast<Index>(f.cols.begin + c);
        const Index row = is_in(f.seen, col) ? f.nodes[c].parent : UNMATCHED;
        if (row == UNMATCHED || f.col_mate[c] != row) continue;
        if (!owns(f.rows, row)) post(f.steps, owner(f.rows, row), Step{row, col});
    }
}
KERNEL set_rows(Forest f, const Step* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count())
        f.row_mate[arrived[k].row - f.rows.begin] = arrived[k].root;
}

// ---- Grafting: what is in a tree without a path stays, and all its rows are expanded anew.
// Writes: kept, a bit for each column, all zero before; tail, which is 0 before, and the queue.
KERNEL retain(Forest f, const Step* old, long long n_old, Bits* kept) {
    for (long long c = thread_index(); c < f.cols.end - f.cols.begin; c += thread_count()) {
        const Index col = static_cast<Index>(f.cols.begin + c);
        if (is_in(f.seen, col) && f.leaf[f.nodes[c].root] == NO_LEAF) insert(kept, col);
    }
    for (long long k = thread_index(); k < n_old; k += thread_count()) {
        const Step step = old[k];
        push(f.queue, &f.progress->tail, step, f.leaf[step.root] == NO_LEAF);
    }
}

// ---- Koenig's cover: matched rows that are in no tree, and columns that are in one.
// `rows` is set for matched rows before.
KERNEL uncover_rows(Forest f, bool* rows) {
    for (long long k = thread_index(); k < f.progress->tail; k += thread_count())
        rows[f.queue[k].row - f.rows.begin] = false;
}
KERNEL cover_columns(Forest f, bool* cols) {
    for (long long c = thread_index(); c < f.cols.end - f.cols.begin; c += thread_count())
        cols[c] = is_in(f.seen, static_cast<Index>(f.cols.begin + c));
}
