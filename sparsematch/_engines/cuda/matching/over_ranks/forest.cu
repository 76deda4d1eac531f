// Alternating forests over GPUs, and augmentation along paths: kernels of a GPU between exchanges.
//
// Azad, Buluc (IPDPS 2016), Algorithms 2 to 4, with the grafting of Azad, Buluc, Pothen (IPDPS
// 2015, Algorithm 3), top down. A rank owns consecutive rows, with their lists, and consecutive
// columns; every rank has the mates of all columns. So a row that is expanded claims the mates of
// its columns: a level is one exchange, of claims sent to the owners of these rows, where each row
// joins the tree of the first claim. A column without a mate ends a path: its owner assigns it to
// one tree. Between own vertices nothing is sent.
// Invariants: a rank claims a column once, its bit of `seen`; a row is in one tree, its bit of
// `reached`, and a free column in one, its bit of `given`, which its owner sets. A tree in `ended`
// has a path. A tree in `done` is not expanded: it has a path, or a pending claim on another rank's
// column, until the ranks agree at the end of the level. A claim is refused only if another tree
// has the column, so a phase without a path has expanded all rows. A tree may have further paths on
// other ranks: one is chosen before the augmentation.
#include "core/device.cuh"
#include "core/ranks.cuh"

#define UNROLL 4  // entries that a thread reads together
#define EACH 4    // claims that it processes together
#define STAGED ((EACH + 1) * WARP)
#define NO_LEAF (static_cast<Index>((Wide(1) << (8 * sizeof(Index) - 1)) - 1))

// A tree claims a row, reached from its parent; or, ~col in its place, a column without mate.
struct Claim {
    Index row, parent, root;
};
// A row in a tree; a row and its new mate.
struct alignas(8) Step {
    Index row, with;
};
// A part of a list too long for a few lanes: the place of its row in the queue, and its number.
struct Part {
    long long at, number;
};

// Counters. The frontier is queue[begin] .. queue[end - 1], the next one ends before `tail`.
struct Progress {
    long long parts, again, pending, begin, end, tail, changes, found, edges, paths, path_edges;
};

struct Forest {
    const long long* indptr;
    const Index* indices;
    Index *row_mate, *parent;  // of own rows
    Index* col_mate;           // of all columns
    Bits *reached, *given;     // of own rows, of own columns
    Bits* seen;                // of all columns
    Bits *ended, *done;        // of all roots
    Index *leaf, *above;       // of all roots: the own column that ends the path, the row before it
    Step *queue, *changes;     // own rows in trees, level by level; new pairs of own rows
    Part* parts;
    Owners rows, cols;
    SendBuffers claims, followers;
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

// A claim on an own column without a mate: ends the path of a tree that has none.
DEVICE void end_path(const Forest& f, const Claim& by) {
    const Index c = ~by.row - static_cast<Index>(f.cols.begin);
    if (has(f.ended, by.root) || !claim(f.given, c) || !claim(f.ended, by.root)) return;
    insert(f.done, by.root);
    f.leaf[by.root] = ~by.row;
    f.above[by.root] = by.parent;
    add(&f.progress->found, 1ll);
}

// A column that a row at a place of the queue has claimed for its tree.
struct Found {
    Index col, row, root;
    long long at;
};
// The columns that a warp has claimed, processed as soon as there are EACH for each lane: their
// loads are in flight together, and one atomic addition each reserves slots in the queue and in the
// send buffers for all of them; all warps add to the same few counters.
struct Claims {
    const Forest& f;
    Found* staged;  // in shared memory, STAGED of the warp's own
    int n;

    // All lanes must call it.
    DEVICE void put(const Found& found, bool wanted) {
        const Bits who = ballot(wanted);
        if (!who) return;
        if (wanted) staged[n + count_lanes_before(who)] = found;
        n += count_bits(who);
        if (n >= EACH * WARP) process(EACH * WARP);
    }
    DEVICE void flush() { process(n); }

    // Behind a column is a row, reached if it is an own one and in no tree yet, or the end of a
    // path. Claims on other ranks' rows and columns are sent; one on a column makes the tree
    // pending. If a send buffer is full, the column is released, and the row marked, its number
    // inverted, to be expanded again. Safe: the thread that sets a row's bit links and queues it.
    DEVICE void process(int size) {
        sync_warp();
        n -= size;
        Found found[EACH];
        Index mate[EACH];
        Claim by[EACH];
        Step steps[EACH];
        bool mine[EACH], own[EACH], reached[EACH];
        int to[EACH];
        for (int k = 0; k < EACH; ++k) {
            const int at = k * WARP + lane_in_warp();
            mine[k] = at < size;
            found[k] = staged[mine[k] ? n + at : 0];
        }
        for (int k = 0; k < EACH; ++k) mate[k] = mine[k] ? f.col_mate[found[k].col] : UNMATCHED;
        for (int k = 0; k < EACH; ++k) {
            const bool ends = mate[k] == UNMATCHED;
            own[k] = ends ? owns(f.cols, found[k].col) : owns(f.rows, mate[k]);
            const Index r = mate[k] - static_cast<Index>(f.rows.begin);
            reached[k] = mine[k] && own[k] && !ends && claim(f.reached, r);
            by[k] = Claim{ends ? ~found[k].col : mate[k], found[k].row, found[k].root};
            steps[k] = Step{mate[k], found[k].root};
        }
        for (int k = 0; k < EACH; ++k) {
            if (reached[k]) f.parent[mate[k] - f.rows.begin] = found[k].row;
            const bool ends = mine[k] && mate[k] == UNMATCHED;
            if (ends && has(f.ended, found[k].root)) {  // the tree has found another path since
                remove(f.seen, found[k].col);
                mine[k] = false;
            }
            if (mine[k] && own[k] && ends) end_path(f, by[k]);
            to[k] = -1;
            if (mine[k] && !own[k])
                to[k] = ends ? owner(f.cols, found[k].col) : owner(f.rows, mate[k]);
        }
        push_each(f.queue, &f.progress->tail, steps, reached);
        const Bits full = send_each(f.claims, to, by);
        bool pending = false;
        for (int k = 0; k < EACH; ++k) {
            if (full >> k & 1) {
                remove(f.seen, found[k].col);
                store(&f.queue[found[k].at].row, static_cast<Index>(~found[k].row));
                store(&f.progress->again, 1ll);
            } else if (to[k] >= 0 && mate[k] == UNMATCHED) {
                insert(f.done, found[k].root);
                pending = true;
            }
        }
        if (pending) store(&f.progress->pending, 1ll);
        sync_warp();
    }
};
#define CLAIMS(name)                                                                    \
    alignas(16) SHARED unsigned char staged[STAGED * (THREADS / WARP) * sizeof(Found)]; \
    Claims name = {f, reinterpret_cast<Found*>(staged) + warp_in_block() * STAGED, 0}

// Visits entries from, from + step, ... below `to`; all lanes must call it. Loads and atomics of
// several entries are in flight together.
DEVICE void visit_list(const Forest& f, const Step& row, long long at, long long from, long long to,
                       long long step, Claims& claims) {
    for (; ballot(from < to); from += UNROLL * step) {
        Index list[UNROLL];
        bool claimed[UNROLL];
        for (int k = 0; k < UNROLL; ++k)
            list[k] = from + k * step < to ? f.indices[from + k * step] : UNMATCHED;
        for (int k = 0; k < UNROLL; ++k)
            claimed[k] = list[k] >= 0 && !(load_old(f.seen + (list[k] >> 5)) >> (list[k] & 31) & 1);
        for (int k = 0; k < UNROLL; ++k) claimed[k] = claimed[k] && claim(f.seen, list[k]);
        for (int k = 0; k < UNROLL; ++k)
            claims.put(Found{list[k], row.row, row.with, at}, claimed[k]);
    }
}

// Expands the frontier, or (`again`) its rows that met a full buffer, whose numbers are inverted.
// The next row of the warp is prefetched. Reads: lists, mates. Writes: seen, trees, queue, send
// buffers; parts of long lists. Safe: a place of the frontier is written by the warp of its row.
KERNEL expand(Forest f, bool again) {
    CLAIMS(claims);
    const long long begin = f.progress->begin, end = f.progress->end, step = thread_count() / LANES;
    const int lane = lane_in_warp() % LANES;
    long long scanned = 0, at = begin + thread_index() / LANES;
    Step soon = {0, 0};
    if (at < end) soon = f.queue[at];
    for (; ballot(at < end); at += step) {
        Step row = soon;
        bool wanted = at < end;
        if (at + step < end) {
            soon = f.queue[at + step];
            if (soon.row >= 0) prefetch(f.indptr + (soon.row - f.rows.begin));
        }
        const bool marked = row.row < 0;
        if (marked) row.row = ~row.row;
        if (again) {
            wanted &= marked;
            sync_warp();
            if (wanted && lane == 0) f.queue[at].row = row.row;
            sync_warp();
        }
        wanted = wanted && !has(f.done, row.with);
        long long from = 0, to = 0;
        if (wanted)
            from = f.indptr[row.row - f.rows.begin], to = f.indptr[row.row - f.rows.begin + 1];
        if (to - from > LONG) {
            if (lane == 0) {
                const long long n = (to - from - 1) / LONG + 1, first = add(&f.progress->parts, n);
                for (long long part = 0; part < n; ++part) f.parts[first + part] = Part{at, part};
            }
            from = to = 0;
        }
        if (lane == 0) scanned += to - from;
        visit_list(f, row, at, from + lane, to, LANES, claims);
    }
    claims.flush();
    add_of_block(&f.progress->edges, scanned);
}
// The lists that `expand` has cut, a warp for each part, unless the tree has found a path since.
KERNEL expand_parts(Forest f) {
    CLAIMS(claims);
    const long long n = f.progress->parts;
    long long scanned = 0;
    for (long long p = thread_index() / WARP; p < n; p += thread_count() / WARP) {
        const Part part = f.parts[p];
        Step row = {load(&f.queue[part.at].row), f.queue[part.at].with};
        // uniform over the warp
        if (broadcast(static_cast<int>(has(f.done, row.with)), 0)) continue;
        if (row.row < 0) row.row = ~row.row;  // another part has met a full buffer
        const long long r = row.row - f.rows.begin, end = f.indptr[r + 1],
                        from = f.indptr[r] + part.number * LONG,
                        to = end - from > LONG ? from + LONG : end;
        if (lane_in_warp() == 0) scanned += to - from;
        visit_list(f, row, part.at, from + lane_in_warp(), to, WARP, claims);
    }
    claims.flush();
    add_of_block(&f.progress->edges, scanned);
}

// Claims of other ranks. Writes: trees, queue.
KERNEL receive(Forest f, const Claim* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Claim by = arrived[k];
        if (by.row < 0) {
            end_path(f, by);
            continue;
        }
        const Index r = by.row - static_cast<Index>(f.rows.begin);
        const bool mine = !has(f.reached, r) && claim(f.reached, r);
        if (mine) f.parent[r] = by.parent;
        push(f.queue, &f.progress->tail, Step{by.row, by.root}, mine);
    }
}
// Union of the trees with a path over all ranks, of `words` words each: no claim is pending then.
KERNEL agree(Forest f, const Bits* others, long long words, int count) {
    for (long long w = thread_index(); w < words; w += thread_count()) {
        Bits bits = f.ended[w];
        for (int k = 0; k < count; ++k) bits |= others[k * words + w];
        f.ended[w] = f.done[w] = bits;
    }
}
// The rows queued since the last level become the frontier.
KERNEL advance(Forest f) {
    if (thread_index()) return;
    f.progress->begin = f.progress->end;
    f.progress->end = f.progress->tail;
}

// ---- Augmentation: each path from its leaf to its root, as far as this rank owns the rows.
// Safe: trees are disjoint, so a row is on one path.
DEVICE void follow(const Forest& f, Step step) {
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
    if (step.row != UNMATCHED) send(f.followers, owner(f.rows, step.row), step);
}
// Paths whose leaves are own columns.
KERNEL follow_from_leaves(Forest f, long long n_roots) {
    for (long long root = thread_index(); root < n_roots; root += thread_count())
        if (f.leaf[root] != NO_LEAF && owns(f.cols, f.leaf[root]))
            follow(f, Step{f.above[root], f.leaf[root]});
}
// Paths that reach this rank.
KERNEL follow_arrived(Forest f, const Step* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) follow(f, arrived[k]);
}
// New pairs, of this rank or another. Writes: col_mate.
KERNEL set_columns(Forest f, const Step* pairs, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count())
        f.col_mate[pairs[k].with] = pairs[k].row;
}

// ---- Between phases. Grafting: trees without a path stay, and all their rows are expanded again;
// without it only their roots stay. Writes: the queue, from tail 0 on; reached, all zero before;
// kept, a bit for each column that is matched with one of these rows, all zero before.
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
