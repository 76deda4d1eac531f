// A queue that grows level by level, written and read by a whole grid with one barrier between
// levels.
//
// Three numbers hold the widths of this level and the next, and the one after that is cleared
// meanwhile: whoever reads a width has passed the barrier behind its last change, and it changes
// again two barriers later only.
#pragma once

struct Levels {
    Index* queue;
    Index* count;  // the three
    Index begin;   // where this level begins in the queue
    int level;
};

DEVICE Index width_of(const Levels& q) { return load(q.count + q.level % 3); }
// Puts a vertex in the next level, which begins at `end`, if the thread wants to: a place of its
// own.
DEVICE void append(const Levels& q, Index end, Index v, bool wanted) {
    push(q.queue + end, q.count + (q.level + 1) % 3, v, wanted);
}
// One thread clears what nobody reads before the barrier after next.
DEVICE void clear_ahead(const Levels& q) {
    if (thread_index() == 0) store(q.count + (q.level + 2) % 3, static_cast<Index>(0));
}
DEVICE void advance(Levels& q, Index width) {
    q.begin += width;
    ++q.level;
}

// The threads that do one of two jobs: half of the blocks each while both are there to be done,
// else all.
struct Share {
    long long index, count;
};
DEVICE Share share_of(int job, bool both) {
    if (!both || block_count() == 1) return {spread_index(), thread_count()};
    if ((block_index() & 1) != job) return {0, 0};
    const int blocks = (block_count() + 1 - job) / 2;
    return {spread_index(block_index() >> 1, blocks),
            static_cast<long long>(blocks) * threads_in_block()};
}

// Appends to queues by whole warps: each collects as many values as it has lanes before it asks for
// places. `staged` is in shared memory, 2 * WARP of the warp's own; all lanes must call.
struct Sink {
    Index *queue, *count, *staged;
    int n;

    DEVICE void put(Index v, bool wanted) {
        const Bits who = ballot(wanted);
        if (!who) return;
        if (wanted) staged[n + count_lanes_before(who)] = v;
        n += count_bits(who);
        if (n >= WARP) flush(WARP);
    }
    DEVICE void flush(int size) {
        if (size == 0) return;
        sync_warp();
        n -= size;
        Index first = 0;
        if (lane_in_warp() == 0) first = add(count, static_cast<Index>(size));
        first = broadcast(first, 0);
        // own place
        if (lane_in_warp() < size) queue[first + lane_in_warp()] = staged[n + lane_in_warp()];
        sync_warp();
    }
};
