// What the search of ms_bfs is made of: the graph as it reads it, a frontier's entries, and where
// new ones go.
#pragma once

#define NONE (static_cast<Index>(-1))
// in the last slot of a row: the rest of its list is long, and stands in indices
#define MORE (static_cast<Index>(-2))
// in a slot: the list goes on in the k-th row of slots; it is its own inverse
#define LINK(k) (static_cast<Index>(-3) - (k))
// rows of slots that a list may have beside its first
#define LINKED 15

#ifndef WIDTH  // what a driver that asks for nothing gets
#define LOCKSTEP 0
#define WIDTH 0
#define LANES 8
#define UNROLL 2
#define ROOM 128
#define PART 128
#define THREADS 512
#define BLOCKS 1
#endif
#if LANES > WARP  // on the host
#undef LANES
#define LANES WARP
#endif

// How a column was reached: from a row, which itself was reached by its mate, NONE if it is a root;
// and in which tree.
struct alignas(16) Link {
    Index row, column, root, unused;
};

// A row of the frontier: how it was reached, its tree, and what part of its list comes next: 0, the
// first; a LINK, a row of slots; else a part of a long list.
struct alignas(16) Entry {
    Index row, column, root, part;
};

// What the blocks tell each other in one round between two barriers.
struct Round {
    Index pushed, found, crowded, deep;
};

struct Control {
    Round rounds[3];  // taken in turn: one is written, one was read, one is made zero
    Index n_roots, free_columns;
    Index phases, levels, found, edges;
    long long ticks[4];
    Wide votes[2];
};

// When a frontier is narrow, in entries for each block; how many levels a block then goes on alone;
// and at how many eighths of the depth at which it found its last path a phase ends, 0: with the
// level that finds one. In lockstep, up to how many entries are left to the first block, and narrow
// ones are shared by all.
struct Limits {
    int narrow, stay, patience, alone;
};

struct Search {
    const Index *indptr, *indices, *slots, *roots;
    Index *row_mate, *col_mate;
    Bits* visited;
    Link* link;
    Index* leaf;
    Entry* queue;
    Control* control;
};

// Shared memory, used in one way at a time: entries that a warp collects, or two frontiers of a
// block.
#define MEMORY 32768
#define STAGED (2 * WARP)
#define CAPACITY static_cast<int>(MEMORY / 2 / sizeof(Entry))

// New entries go to the queue in memory, by whole warps: each collects as many as it has lanes.
struct Queue {
    Entry *entries, *staged;
    Index* count;
    int n;
    Index found;

    DEVICE void put(const Entry& entry, bool wanted) {
        const Bits who = ballot(wanted);
        if (wanted) staged[n + count_lanes_before(who)] = entry;
        n += count_bits(who);
        if (n >= WARP) flush(WARP);
    }
    DEVICE void flush(int size) {
        sync_warp();
        n -= size;
        Index first = 0;
        if (lane_in_warp() == 0 && size) first = add(count, static_cast<Index>(size));
        first = broadcast(first, 0);
        // own place
        if (lane_in_warp() < size) entries[first + lane_in_warp()] = staged[n + lane_in_warp()];
        sync_warp();
    }
};

// New entries stay with the block as long as there is room.
struct Nearby {
    Entry *buffer, *entries;
    int* near;
    Index* count;
    Index found;

    DEVICE void put(const Entry& entry, bool wanted) {
        const Bits who = ballot(wanted);
        if (!who) return;
        int first = 0;
        if (lane_in_warp() == 0) first = add(near, count_bits(who));
        const int at = broadcast(first, 0) + count_lanes_before(who);
        if (!wanted) return;
        if (at < CAPACITY) buffer[at] = entry;  // own place
        else push(entries, count, entry, true);
    }
};

// What a block brings to a vote, and what they bring together: in how many blocks the frontier goes
// on, in how many there is no room for it, and how many paths were found.
enum { ALIVE = 12, CROWDED = 24, FOUND = 36 };

// The two words of a vote in turn, and what stood there when each was complete.
struct Votes {
    Wide *word, *next;
    Wide before, before_next;
};

// One thread of each block calls take; all threads then call close with what it returned.
DEVICE Wide take(const Votes& votes, bool alive, bool crowded, Index found) {
    const Wide mine =
        (Wide(alive) << ALIVE) + (Wide(crowded) << CROWDED) + (static_cast<Wide>(found) << FOUND);
    return sum_over_grid(votes.word, votes.before, mine);
}
DEVICE void close(Votes& votes, Wide sum) {
    votes = Votes{votes.next, votes.word, votes.before_next, votes.before + sum};
}

// Adds what the block's warps found to the round, and waits for all blocks; `found` is the same in
// all lanes of a warp.
DEVICE void end_round(Control* control, Index round, Index found, Index deep, int* barrier) {
    SHARED Index sum;
    if (thread_in_block() == 0) sum = 0;
    sync_block();
    if (found && lane_in_warp() == 0) add(&sum, found);
    sync_block();
    if (thread_in_block() == 0 && sum) add(&control->rounds[round % 3].found, sum);
    if (thread_in_block() == 0 && deep) maximum(&control->rounds[round % 3].deep, deep);
    // was read a round ago
    if (thread_index() == 0) control->rounds[(round + 1) % 3] = Round{0, 0, 0, 0};
    sync_grid(barrier);
}

// Applies the paths found, each by one thread: trees share no vertex, so no other thread has to do
// with these columns.
DEVICE void augment(const Search& s, Index n_roots) {
    for (Index r = thread_index(); r < n_roots; r += thread_count()) {
        Index j = s.leaf[r];
        if (j < 0) continue;
        s.leaf[r] = MORE;  // done
        while (j != NONE) {
            const Link link = s.link[j];
            s.col_mate[j] = link.row;
            s.row_mate[link.row] = j;
            j = link.column;
        }
    }
}

// Where the time goes, as the first thread sees it: 0 planting, 1 wide levels, 2 narrow levels, 3
// augmenting.
DEVICE void clock(Control* control, int kind, long long& since) {
    if (thread_index() != 0) return;
    const long long now = ticks();
    control->ticks[kind] += now - since;
    since = now;
}
