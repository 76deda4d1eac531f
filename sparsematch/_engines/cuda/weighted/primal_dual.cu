// Phases to an exact assignment: row duals, entries of reduced cost 0, distances from free rows.
//
// Kuhn: The Hungarian method for the assignment problem (Naval Res. Logist. Quart. 2, 1955), with
// all free rows at once: between two calls of `distances` a maximum matching of the tight entries
// is found by the engines for patterns.
// Invariant: u is the least cost less v of each row, so no reduced cost is below 0; pairs are kept
// only where theirs is at most `keep`.
#include "core/device.cuh"
#include "weighted/costs.cuh"
#include "weighted/rounds.cuh"

struct Duals {
    double *u, *v;
    Index *row_mate, *col_mate;
};

struct Spread {
    Index *queue, *stamp;  // rows of this round and the next; the round in which a row is queued
    long long* distance;   // of columns: doubles by their bits, which keep the order
    long long* nearest;    // of a free column, by its bits
};

// What a sweep over the columns counts: free ones within the radius, any beyond it.
struct Tally {
    Wide reached, beyond;
};

// Kept from launch to launch.
struct Levels {
    Wide count[3];  // rows of a round
    Tally tallies[3];
    Wide round, sweep, done, scanned;
    double radius;  // up to which rows are scanned
    int barrier[2];
};

// Reads: costs, v. Writes: u; pairs that are worse than `keep` are parted; of each row the number
// of tight entries, which are pairs and those with a reduced cost up to `tight`. Safe: everything
// of a row by one lane, the column of a pair has no other. Time: O(nnz / threads).
KERNEL row_minima(Index n_rows, Costs a, Duals d, double tight, double keep, int shift,
                  Index* count) {
    for_groups(n_rows, shift, thread_index(), thread_count(),
               [&](long long k, int lane, int lanes) {
                   double least = INFINITE, own = INFINITE;
                   Index begin = 0, end = 0, mate = UNMATCHED;
                   if (k >= 0) begin = a.indptr[k], end = a.indptr[k + 1], mate = d.row_mate[k];
                   for (Index p = begin + lane; p < end; p += lanes) {
                       const Index j = a.indices[p];
                       const double h = a.cost[p] - d.v[j];
                       if (h < least) least = h;
                       if (j == mate) own = h;
                   }
                   least = least_of(least, lanes);
                   own = least_of(own, lanes);
                   const bool kept = mate != UNMATCHED && own - least <= keep;
                   Index n = 0;
                   for (Index p = begin + lane; p < end; p += lanes) {
                       const Index j = a.indices[p];
                       n += a.cost[p] - d.v[j] - least <= tight || (kept && j == mate);
                   }
                   n = sum_of(n, lanes);
                   if (k < 0 || lane) return;
                   d.u[k] = least;
                   count[k] = n;
                   if (mate != UNMATCHED && !kept) {
                       d.row_mate[k] = UNMATCHED;
                       d.col_mate[mate] = UNMATCHED;
                   }
               });
}

// Lists the tight entries. `end`: where each list begins, moved to where it ends, atomically.
KERNEL list_tight(Index n_rows, Costs a, Duals d, double tight, int shift, Index* end,
                  Index* listed) {
    for_groups(n_rows, shift, thread_index(), thread_count(),
               [&](long long k, int lane, int lanes) {
                   if (k < 0) return;
                   const Index last = a.indptr[k + 1], mate = d.row_mate[k];
                   const double u = d.u[k];
                   for (Index p = a.indptr[k] + lane; p < last; p += lanes) {
                       const Index j = a.indices[p];
                       if (a.cost[p] - d.v[j] - u <= tight || j == mate)
                           listed[add(end + k, static_cast<Index>(1))] = j;
                   }
               });
}

// What a scan may reach: beyond the radius a sweep; if `prune`, up to the nearest free column.
struct Reach {
    double radius;
    bool prune;
};

// The rows of a round scan their entries. Safe: distances fall by atomics; a row is queued once a
// round, by an exchange. Returns the entries scanned.
DEVICE Wide scan(const Costs& a, const Duals& d, const Spread& s, const Round& r,
                 const Reach& reach, int shift) {
    const long long within = static_cast<long long>(as_bits(reach.radius));
    const Index turn = static_cast<Index>(r.number + 1);
    Wide scanned = 0;
    for_groups(r.count, shift, r.first, r.threads, [&](long long k, int lane, int lanes) {
        if (k < 0) return;
        const Index i = load(r.rows + k), mate = d.row_mate[i], end = a.indptr[i + 1];
        const long long bound = load(s.nearest);
        const double own = mate == UNMATCHED
                               ? 0.0
                               : as_number(static_cast<Wide>(load(s.distance + mate))),
                     u = d.u[i];
        for (Index p = a.indptr[i] + lane; p < end; p += lanes) {
            const Index j = a.indices[p];
            const double reduced = a.cost[p] - d.v[j] - u;
            const long long to =  // rounding may not shorten a path, or it would have no end
                static_cast<long long>(as_bits(reduced > 0 ? own + reduced : own));
            if (to >= bound || to >= load(s.distance + j)) continue;
            if (minimum(s.distance + j, to) <= to) continue;
            const Index owner = d.col_mate[j];
            if (owner == UNMATCHED && reach.prune) minimum(s.nearest, to);
            if (owner == UNMATCHED || to > within) continue;
            push(r.next, r.n_next, owner, exchange(s.stamp + owner, turn) != turn);
        }
        if (lane == 0) scanned += static_cast<Wide>(end - a.indptr[i]);
    });
    return scanned;
}

// Queues the rows whose columns lie beyond one radius and within another; a thread for each column.
DEVICE void sweep(Index n_cols, const Duals& d, const Spread& s, double from, double to,
                  Index* next, Wide* n_next, Tally* tally) {
    Wide reached = 0, beyond = 0;
    for (Wide j = thread_index(); j < n_cols; j += thread_count()) {
        const double at = as_number(static_cast<Wide>(load(s.distance + j)));
        if (!(at < INFINITE)) continue;
        const Index owner = d.col_mate[j];
        reached += owner == UNMATCHED && at <= from;
        beyond += at > from;
        push(next, n_next, owner, owner != UNMATCHED && at > from && at <= to);
    }
    add_of_block(&tally->reached, reached);
    add_of_block(&tally->beyond, beyond);
}

// Shortest distances from free rows, up to the least radius tried with `enough` free columns within
// it; each is twice the last. If `prune`, up to the nearest of these. `limit` rounds in all: each
// scans the rows whose column came nearer in the last one. Time: O(scanned / threads + rounds).
KERNEL __launch_bounds__(512, 2) distances(Index n_rows, Costs a, Duals d, Spread s, Wide enough,
                                           bool prune, int shift, Wide limit, Levels* control) {
    Wide round = load(&control->round), turn = load(&control->sweep), scanned = 0, done = 0;
    Wide count = load(&control->count[round % 3]);
    Reach reach = {load(&control->radius), prune};
    while (!done) {
        do_rounds(control, s.queue, n_rows, 0, limit, round, count,
                  [&](const Round& r) { scanned += scan(a, d, s, r, reach, shift); });
        if (count) break;
        Tally *const tally = &control->tallies[turn % 3], *const following =
                                                              &control->tallies[(turn + 1) % 3];
        // a round of its own: it adds to another count than the one that others have yet to read
        if (thread_index() == 0) {
            store(&following->reached, static_cast<Wide>(0));
            store(&following->beyond, static_cast<Wide>(0));
            store(&control->count[(round + 2) % 3], static_cast<Wide>(0));
        }
        sweep(n_rows, d, s, reach.radius, 2 * reach.radius, s.queue + (~round & 1) * n_rows,
              &control->count[(round + 1) % 3], tally);
        sync_grid(control->barrier);
        ++round;
        ++turn;
        done = load(&tally->reached) >= enough || load(&tally->beyond) == 0;
        count = load(&control->count[round % 3]);
        if (!done) reach.radius *= 2;
    }
    add_of_block(&control->scanned, scanned);
    if (thread_index()) return;
    control->round = round;
    control->sweep = turn;
    control->radius = reach.radius;
    control->done = done;
}

// Columns nearer than `far` go down by what is missing to it. Safe: a write of its own.
KERNEL lower(Index n_cols, Duals d, Spread s, double far) {
    for (Wide j = thread_index(); j < n_cols; j += thread_count()) {
        const double at = as_number(static_cast<Wide>(s.distance[j]));
        if (at < far) d.v[j] -= far - at;
    }
}
