// How the blocks share a narrow frontier: policies of `levels_of_block`.
//
// A policy says how many blocks share the frontier, up to how many entries a block goes on by
// itself from n of its own, and after each level whether the round ends. `begin` and `ends` are
// called by all threads of the block, the latter behind its barrier.
#pragma once

// A block's counts while it goes on by itself, by level in rotation: entries that it pushed, paths
// that it found, whether to leave; one place and one sum for all threads.
struct BlockRound {
    int near[3];
    Index ended[3];
    bool leave[2];  // in rotation: a thread that lags still reads that of its level
    Index place;
    Wide sum;
};

// A vote of all blocks, in two words in rotation: in how many blocks the frontier goes on, in how
// many there is no room for it, and how many paths were found.
struct GridVote {
    enum { ALIVE = 12, CROWDED = 24, FOUND = 36, BLOCKS_MASK = 0xfff };
    Wide *word, *next;
    Wide before, before_next;  // the words when each was complete

    // By one thread of each block; waits for the others.
    DEVICE Wide cast(bool alive, bool crowded, Index found) const {
        const Wide mine = (Wide(alive) << ALIVE) + (Wide(crowded) << CROWDED) +
                          (static_cast<Wide>(found) << FOUND);
        return sum_over_grid(word, before, mine);
    }
    // By all threads, with what cast returned.
    DEVICE void advance(Wide sum) { *this = GridVote{next, word, before_next, before + sum}; }
};

// The end of a level: the entries of the next, and what they may be at most; paths still wanted.
struct LevelEnd {
    int level;
    Index n, most;
    Index& enough;
};

// Blocks go on with their parts until one has too much: it sets a word all read, all share again.
struct FreeRunning {
    static constexpr bool COUNTS_PATHS = false, IN_STEP = false;
    DEVICE static int blocks() { return block_count(); }
    DEVICE static Index most(Index n, const Limits&) { return 2 * n > ROOM ? 2 * n : ROOM; }
    DEVICE static void begin(BlockRound& block, const Tally* now, int level) {
        if (thread_in_block() == threads_in_block() - 1)
            block.leave[level & 1] = load(&now->crowded);
    }
    DEVICE static bool ends(BlockRound& block, Tally* now, const LevelEnd& at, GridVote&) {
        const bool crowded = at.n > at.most;
        if (crowded && thread_in_block() == 0) store(&now->crowded, static_cast<Index>(1));
        return crowded || block.leave[at.level & 1];
    }
};

// Lockstep: a level begins when all blocks have finished the last; they vote for another.
struct InStep {
    static constexpr bool COUNTS_PATHS = true, IN_STEP = true;
    DEVICE static int blocks() { return block_count(); }
    DEVICE static Index most(Index n, const Limits&) { return 2 * n > ROOM ? 2 * n : ROOM; }
    DEVICE static void begin(BlockRound&, const Tally*, int) {}
    DEVICE static bool ends(BlockRound& block, Tally*, const LevelEnd& at, GridVote& vote) {
        if (thread_in_block() == 0)
            block.sum = vote.cast(at.n, at.n > at.most, block.ended[at.level % 3]);
        sync_block();
        const Wide sum = block.sum;
        vote.advance(sum);
        at.enough -= static_cast<Index>(sum >> GridVote::FOUND);
        const bool alive = sum >> GridVote::ALIVE & GridVote::BLOCKS_MASK,
                   crowded = sum >> GridVote::CROWDED & GridVote::BLOCKS_MASK;
        return !alive || crowded || at.enough <= 0;
    }
};

// Lockstep with a few entries: the first block has them all.
struct FirstBlock {
    static constexpr bool COUNTS_PATHS = true, IN_STEP = false;
    DEVICE static int blocks() { return 1; }
    DEVICE static Index most(Index, const Limits& limits) { return limits.alone; }
    DEVICE static void begin(BlockRound&, const Tally*, int) {}
    DEVICE static bool ends(BlockRound& block, Tally*, const LevelEnd& at, GridVote&) {
        at.enough -= block.ended[at.level % 3];
        return at.n > at.most || at.enough <= 0;
    }
};
