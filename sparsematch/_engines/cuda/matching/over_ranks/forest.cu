// Alternating forests over several GPUs, and the augmentation along their paths: what one GPU does
// between two exchanges.
//
// Azad, Buluc (IPDPS 2016), Algorithms 2 to 4, with the grafting of Azad, Buluc, Pothen (IPDPS
// 2015, Algorithm 3), top down. A rank owns consecutive rows, with their lists, and consecutive
// columns; every rank has the mates of all columns. So a row that is expanded claims the mates of
// its columns: a level is one exchange, of claims to the owners of these rows, which put each in
// the tree that claims it first. A column without a mate ends a path: its owner gives it to one
// tree. Between own vertices nothing is sent.
// Invariants: a column is claimed once from each rank, its bit of `seen`; a row is in one tree, its
// bit of `reached`, and a free column in one, its bit of `given`, which its owner decides; a tree
// whose bit of `done` is set has its path and is not expanded. It may have another on another rank:
// one is chosen before the augmentation.
#include "core/device.cuh"
#include "core/ranks.cuh"

#if LANES > WARP  // on the host
#undef LANES
#define LANES WARP
#endif

#define UNROLL 4
#define NO_LEAF (static_cast<Index>((Wide(1) << (8 * sizeof(Index) - 1)) - 1))

// A tree claims a row, reached from its parent; or, with ~col in the place of the row, a column
// without a mate; or, without a parent, has found its path.
struct Claim {
    Index row, parent, root;
};
// A row in a tree; a row and its new mate.
struct alignas(8) Step {
    Index row, with;
};
// A part of a list that is too long for a few lanes: its row's place in the queue, and which.
struct Part {
    long long at, number;
};

// What is counted. The frontier is queue[begin] .. queue[end - 1], and the next one grows from
// there to `tail`.
struct Progress {
    long long parts, again, begin, end, tail, changes, found, edges, paths, path_edges;
};

struct Forest {
    const long long* indptr;
    const Index* indices;
    Index *row_mate, *parent;  // of own rows
    Index* col_mate;           // of all columns
    Bits *reached, *given;     // of own rows, of own columns
    Bits *seen, *done;         // of all columns, of all roots
    Index *leaf, *above;       // of all roots: the own column that ends the path, the row before it
    Step *queue, *changes;     // own rows in trees, level by level; new pairs of own rows
    Part* parts;
    Owners rows, cols;
    Outbox claims, walkers;
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
        f.queue[k].with += static_cast<Index>(first);
}

// Own rows are claimed, those of N that are wanted. Safe: whoever sets a row's bit writes its
// parent and puts it in the queue.
template <int N>
DEVICE void reach(const Forest& f, const Claim (&by)[N], const bool (&wanted)[N]) {
    bool mine[N];
    Step steps[N];
    for (int k = 0; k < N; ++k) {
        const Index r = by[k].row - static_cast<Index>(f.rows.begin);
        mine[k] = wanted[k] && !has(f.reached, r) && claim(f.reached, r);
        steps[k] = Step{by[k].row, by[k].root};
        if (mine[k]) f.parent[r] = by[k].parent;
    }
    push_each(f.queue, &f.progress->tail, steps, mine);
}
// An own column without a mate is claimed: it ends the path of a tree that has none. Others are
// told where there is room: they might find another one.
DEVICE void end_path(const Forest& f, const Claim& by) {
    const Index c = ~by.row - static_cast<Index>(f.cols.begin);
    if (has(f.done, by.root) || !claim(f.given, c) || !claim(f.done, by.root)) return;
    f.leaf[by.root] = ~by.row;
    f.above[by.root] = by.parent;
    add(&f.progress->found, 1ll);
    for (int to = 0; to < f.claims.ranks; ++to)
        if (to != f.claims.rank) post(f.claims, to, Claim{by.root, UNMATCHED, by.root});
}

// Claims what is behind N columns, those that are wanted; returns whether the box of an owner was
// full: then nothing has happened to its column. Atomics and reads of all are under way together.
template <int N>
DEVICE bool visit(const Forest& f, const Index (&cols)[N], const bool (&wanted)[N],
                  const Step& from) {
    bool claimed[N], near[N];
    Index mate[N];
    Claim by[N];
    int to[N];
    for (int k = 0; k < N; ++k) claimed[k] = wanted[k] && claim(f.seen, cols[k]);
    for (int k = 0; k < N; ++k) mate[k] = claimed[k] ? f.col_mate[cols[k]] : UNMATCHED;
    for (int k = 0; k < N; ++k) {
        const bool ends = mate[k] == UNMATCHED;
        const Owners& owners = ends ? f.cols : f.rows;
        const Index target = ends ? cols[k] : mate[k];
        const bool own = owns(owners, target);
        by[k] = Claim{ends ? ~cols[k] : mate[k], from.row, from.with};
        near[k] = claimed[k] && own && !ends;
        to[k] = claimed[k] && !own ? owner(owners, target) : -1;
        if (claimed[k] && own && ends) end_path(f, by[k]);
    }
    reach(f, by, near);
    const Bits full = post_each(f.claims, to, by);
    for (int k = 0; k < N; ++k)
        if (full >> k & 1) remove(f.seen, cols[k]);
    return full;
}

// Visits entries from, from + step, ... below `to`; returns whether one has to be visited again.
DEVICE bool visit_list(const Forest& f, const Step& at, long long from, long long to,
                       long long step) {
    bool full = false;
    for (; from < to; from += UNROLL * step) {
        Index list[UNROLL];
        bool wanted[UNROLL];
        for (int k = 0; k < UNROLL; ++k)
            list[k] = from + k * step < to ? f.indices[from + k * step] : UNMATCHED;
        for (int k = 0; k < UNROLL; ++k)
            wanted[k] = list[k] >= 0 && !(load_old(f.seen + (list[k] >> 5)) >> (list[k] & 31) & 1);
        full |= visit(f, list, wanted, at);
    }
    return full;
}

// Expands the frontier, or those of its rows that have met a full box, whose numbers are inverted.
// Reads: lists, mates. Writes: seen, trees, queue, boxes; parts of long lists. Safe: an own place
// of the queue is written by the lanes of one row.
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
        if (!wanted || has(f.done, at.with)) continue;
        const long long r = at.row - f.rows.begin, from = f.indptr[r], to = f.indptr[r + 1];
        if (to - from > LONG) {
            if (lane) continue;
            const long long n = (to - from - 1) / LONG + 1, first = add(&f.progress->parts, n);
            for (long long part = 0; part < n; ++part) f.parts[first + part] = Part{k, part};
            continue;
        }
        if (lane == 0) scanned += to - from;
        if (!visit_list(f, at, from + lane, to, LANES)) continue;
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
        Step at = {load(&f.queue[part.at].row), f.queue[part.at].with};
        if (at.row < 0) at.row = ~at.row;  // another part has met a full box
        const long long r = at.row - f.rows.begin, end = f.indptr[r + 1],
                        from = f.indptr[r] + part.number * LONG,
                        to = end - from > LONG ? from + LONG : end;
        if (lane_in_warp() == 0) scanned += to - from;
        if (!visit_list(f, at, from + lane_in_warp(), to, WARP)) continue;
        store(&f.queue[part.at].row, static_cast<Index>(~at.row));
        store(&f.progress->again, 1ll);
    }
    add_of_block(&f.progress->edges, scanned);
}

// What others claim. Writes: trees, queue, boxes.
KERNEL receive(Forest f, const Claim* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Claim by = arrived[k];
        if (by.parent == UNMATCHED) insert(f.done, by.root);
        else if (by.row < 0) end_path(f, by);
        else reach(f, {by}, {true});
    }
}
// What has been put in the queue is the frontier.
KERNEL advance(Forest f) {
    if (thread_index()) return;
    f.progress->begin = f.progress->end;
    f.progress->end = f.progress->tail;
}
// Counts to where the host reads them; the first `cleared` of them begin anew.
KERNEL report(long long* counts, int n, int cleared, long long* to) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        to[k] = counts[k];
        if (k < cleared) counts[k] = 0;
    }
}

// ---- Augmentation: each path from its leaf to its root, row by row.
// Safe: trees are disjoint, so a row is on one path.
DEVICE void walk(const Forest& f, Step step) {
    long long edges = 0;
    while (owns(f.rows, step.row)) {
        const long long r = step.row - f.rows.begin;
        const Index before = f.row_mate[r];
        f.row_mate[r] = step.with;
        push(f.changes, &f.progress->changes, step, true);
        ++edges;
        if (before == UNMATCHED) {
            add(&f.progress->paths, 1ll);
            step.row = UNMATCHED;
            break;
        }
        ++edges;
        step = Step{f.parent[r], before};
    }
    add(&f.progress->path_edges, edges);
    if (step.row != UNMATCHED) post(f.walkers, owner(f.rows, step.row), step);
}
// From the leaves that are own columns.
KERNEL walk_from_leaves(Forest f, long long n_roots) {
    for (long long root = thread_index(); root < n_roots; root += thread_count())
        if (f.leaf[root] != NO_LEAF && owns(f.cols, f.leaf[root]))
            walk(f, Step{f.above[root], f.leaf[root]});
}
KERNEL walk_on(Forest f, const Step* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) walk(f, arrived[k]);
}
// New pairs, of this rank or another. Writes: col_mate.
KERNEL set_columns(Forest f, const Step* pairs, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count())
        f.col_mate[pairs[k].with] = pairs[k].row;
}

// ---- Between phases. Grafting: what is in a tree without a path stays, and all its rows are
// expanded anew; or else only its root stays.
// Writes: the queue, from tail 0 on; reached, all zero before; kept, a bit for each column that is
// matched with one of these rows, all zero before.
KERNEL retain(Forest f, const Step* old, long long n_old, bool graft, Bits* kept) {
    for (long long k = thread_index(); k < n_old; k += thread_count()) {
        const Step step = old[k];
        const Index r = step.row - static_cast<Index>(f.rows.begin), mate = f.row_mate[r];
        if (f.leaf[step.with] != NO_LEAF || (!graft && mate != UNMATCHED)) continue;
        push(f.queue, &f.progress->tail, step, true);
        insert(f.reached, r);
        if (mate != UNMATCHED) insert(kept, mate);
    }
}
// Koenig's cover: matched rows that are in no tree, and columns that are matched with one that is.
// `covered` is set for matched own rows before, `kept` is that of all ranks.
KERNEL cover(Forest f, const Bits* kept, bool* covered_rows, bool* covered_cols) {
    for (long long k = thread_index(); k < f.progress->tail; k += thread_count())
        covered_rows[f.queue[k].row - f.rows.begin] = false;
    for (long long c = thread_index(); c < f.cols.end - f.cols.begin; c += thread_count())
        covered_cols[c] = is_in(kept, static_cast<Index>(f.cols.begin + c));
}
