// Local max over several GPUs: the kernels of one GPU between two exchanges.
//
// The algorithm of local_max.cu on own vertices. Each rank stores all vertices' choices; changes
// are sent to all. So each knows which are matched, and its own vertices choose among the others.
// Invariant: after an exchange all ranks have the same choices, and the same bits of `taken`.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "core/ranks.cuh"
#include "graph/edge_order.cuh"

// A vertex and its choice.
struct alignas(8) Pair {
    Index vertex, choice;
};

// Vertices that are open, and that have lost their choice.
struct Progress {
    long long open, lost;
};

// Of all vertices the choice, and whether they are matched. Of own ones mates, and lists, numbered
// from the first own vertex: the open vertices, and those that have lost their choice.
struct Part {
    Index *choice, *mate;
    Bits* taken;
    Index *open, *next, *lost;
    Pair* changed;
    Progress* counts;
};

// Vertices that have lost their choice (`all`: all own ones) choose. Reads: the graph, taken.
// Writes: choice, own entries; changed; cuts. Resident, for long lists.
KERNEL choose_part(bool all, long long count, Adjacency g, Cuts cuts, Part s, Control* control) {
    const Index* const list = all ? nullptr : s.lost;
    const Free rule = {g, s.taken, s.choice};
    const Wide scanned = choose(g, rule, list, static_cast<Wide>(count), cuts, control->tallies);
    sync_grid(control->barrier);
    choose_long(g, rule, cuts, control->tallies, control->barrier);
    sync_grid(control->barrier);
    for (long long k = thread_index(); k < count; k += thread_count()) {
        const Index u = g.first + (list ? list[k] : static_cast<Index>(k));
        s.changed[k] = Pair{u, s.choice[u]};
    }
    add_of_block(&control->scanned, scanned);
    if (thread_index() == 0) control->tallies[0] = Tally{0, 0, 0, 0};
}

// Stores the choices of other ranks.
KERNEL update_choices(Part s, const Pair* arrived, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count())
        s.choice[arrived[k].vertex] = arrived[k].choice;
}
// Vertices that point at each other are matched: of two, at least one has changed its choice.
KERNEL mark_pairs(Part s, const Pair* changed, long long n) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        const Index v = changed[k].vertex, w = changed[k].choice;
        if (w < 0 || s.choice[w] != v) continue;
        insert(s.taken, v);
        insert(s.taken, w);
    }
}
// Partitions the open vertices (`all`: all own ones): matched; still open; still open without a
// choice. Writes: mate, lists. Safe: own entries.
KERNEL sort_open(Part s, bool all, long long count, Index first) {
    for (long long k = thread_index(); k < count; k += thread_count()) {
        const Index r = all ? static_cast<Index>(k) : s.open[k], u = first + r;
        const Index v = s.choice[u];
        const bool is_matched = is_in(s.taken, u);
        if (is_matched) s.mate[r] = v;
        const bool waits = !is_matched && v >= 0;
        push(s.next, &s.counts->open, r, waits);
        push(s.lost, &s.counts->lost, r, waits && is_in(s.taken, v));
    }
}
