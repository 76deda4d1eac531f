// Levels of a search by a whole grid, with one barrier between them: what the threads count, a
// queue that grows level by level, and the threads of two searches at a time.
#pragma once

// What threads count from barrier to barrier, a Tally in three slots in rotation: one is written;
// the last is complete, read by threads that lag; the next is cleared. So a turn costs a barrier.
template <class Tally> struct LevelCounter {
    Tally* slots;  // three, zero at the launch
    int turn;

    DEVICE Tally* written() const { return slots + turn % 3; }
    DEVICE const Tally* complete() const { return slots + (turn + 2) % 3; }
    DEVICE Tally* following() const { return slots + (turn + 1) % 3; }
};

// The level that is read stands in the queue from `begin` on; the widths of the levels are counted.
struct LevelQueue {
    Index* values;
    LevelCounter<Index> widths;
    Index begin;

    DEVICE Index width() const { return load(widths.complete()); }
    // Puts a vertex in the next level, which begins at `end`, if the thread wants to: own place.
    DEVICE void append(Index end, Index v, bool wanted) const {
        push(values + end, widths.written(), v, wanted);
    }
    // One thread clears what is not read before the barrier after next.
    DEVICE void clear_following() const {
        if (thread_index() == 0) store(widths.following(), static_cast<Index>(0));
    }
    DEVICE void advance(Index width) {
        begin += width;
        ++widths.turn;
    }
};

// A queue whose first level is in place, its width in the first slot.
DEVICE LevelQueue level_queue(Index* values, Index* widths) { return {values, {widths, 1}, 0}; }

// What the levels of a call may cost, 1 each and 1 more for every `wide` vertices; `used` counts it
// over all its launches, nullptr: none. Where it is used up, the host does the work.
struct Allowance {
    Index* used;
    Index most, wide;
};

// What a launch has used of an allowance: the same in all threads, as `used` is written at the end.
struct LevelCost {
    const Allowance& allowance;
    Index used;

    // Counts a level; tells whether it may be done.
    DEVICE bool allow(Index width) {
        if (allowance.used) used += 1 + width / allowance.wide;
        return !allowance.used || used <= allowance.most;
    }
    DEVICE void finish() const {
        if (allowance.used && thread_index() == 0) store(allowance.used, used);
    }
};
DEVICE LevelCost level_cost(const Allowance& allowance) {
    return {allowance, allowance.used ? load(allowance.used) : 0};
}

// The threads that do one of two jobs: half of the blocks each while there are both, else all.
struct Half {
    long long index, count;
};
DEVICE Half half_of(int job, bool both) {
    if (!both || block_count() == 1) return {spread_index(), thread_count()};
    if ((block_index() & 1) != job) return {0, 0};
    const int blocks = (block_count() + 1 - job) / 2;
    return {spread_index(block_index() >> 1, blocks),
            static_cast<long long>(blocks) * threads_in_block()};
}
