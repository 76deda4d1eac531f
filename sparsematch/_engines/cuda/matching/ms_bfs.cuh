// Of the search of ms_bfs: the graph as it reads it, entries of a frontier, what is counted.
//
// Macros: LOCKSTEP, whether a level begins when the last is complete, as in apfb; WIDTH, slots of a
// row standing in a row of their own, 0: lists are read from indices; LANES, threads of a warp that
// share a row; UNROLL, entries read by a thread at once; PART, entries of a long list that make an
// entry of the frontier; ROOM, entries of its own frontier that are not too many for a block;
// LINKED, rows of slots a list may have past its first; THREADS of a block, BLOCKS of a processor.
//
// Rows of slots, here with WIDTH 8; row i of the matrix is row i of the slots:
//
//     up to 8 entries     | j | j | j | j | j | -1 | -1 | -1      |
//     more entries        | j | j | j | j | j | j  | j  | LINK(k) |
//     in linked row k     | j | j | j | j | j | j  | LINK | LINK  |
//     too many            | j | j | j | j | j | j  | j  | MORE    |   the rest: in indices
//
// The linked rows of row i follow each other, LINKED of them at most, where it has reserved them
// behind the first rows of all. The r-th links the (2 r + 1)-th and the (2 r + 2)-th: a binary
// tree, so that all are reached in few levels. Row 0 of them is linked by the first; -1: no link.
#pragma once

// in the last slot of a row: the rest of its list is long, and stands in indices
#define MORE (static_cast<Index>(-2))
// in a slot: the list goes on in the k-th row of slots; it is its own inverse
#define LINK(k) (static_cast<Index>(-3) - (k))

// How a column was reached: from another's mate, or, UNMATCHED, from a root; and in which tree.
struct alignas(2 * sizeof(Index)) Link {
    Index before, root;
};

// A row of the frontier, its tree, and its mate, UNMATCHED if it is a root. Or what else of its
// list comes next, in place of the mate: a LINK; if the row is complemented, a part of a long list.
struct Entry {
    Index row, root, at;
};

// What reaches columns: a row, its mate, tree; the only free column it may end in, UNMATCHED: any.
struct Origin {
    Index row, mate, root, own;
};

// What the blocks count in one round between two barriers: entries of the next frontier, paths,
// whether a block has more than it can do at once, levels.
struct Tally {
    Index pushed, found, crowded, deep;
};

// Zero at the first launch.
struct Control {
    Tally rounds[3];
    Index free_rows, free_columns, n_roots, n_linked;
    Index phases, levels, found, stopped;
    Wide votes[2];
};

// `narrow`: entries a block up to which blocks go on by themselves, `stay` levels at most.
// `depth_eighths`: of the depth of its last path, at which a phase ends; 0: with the level that
// finds one. `graft`: levels of a phase from which its trees are kept. `alone`: entries up to which
// the first block has the frontier to itself, in lockstep. A level costs 1, and 1 more for every
// `wide` entries, a round 1; after a cost of `allowance` the host finishes the search. In a first
// phase of `own_levels`, 0: none, a tree ends in the column of its root's number or not at all;
// these columns are in `visited` then. `left`: free columns, which no matching has, with no more of
// which the search ends.
struct Limits {
    int narrow, stay, depth_eighths, graft, alone, wide, allowance, own_levels;
    Index left;
};

struct MsBfs {
    const Index *indptr, *indices, *slots, *roots;
    Index *row_mate, *col_mate;
    const Bits* finished;  // columns that no search needs to enter; nullptr: there are none
    Bits* visited;         // at first, the finished ones, and those that are for their own trees
    Link* link;
    Index* leaf;  // of a root: the free column that its tree has met
    Entry* queue;
    Control* control;
};

// Shared memory, one at a time: entries that a warp collects, or two frontiers of a block.
#define MEMORY 32768
#define STAGED (2 * WARP)
#define CAPACITY static_cast<int>(MEMORY / 2 / sizeof(Entry))

// A round by all blocks: a frontier, where the next one goes, what draws the order of the lists,
// how many trees more are to have a path, whether each only in the column of its root.
struct Frontier {
    const Entry* from;
    Index count;
    Entry* to;
    unsigned turn;
    Index enough;
    bool own;
};

// What a block has done in a round: paths, by warp; levels.
struct Done {
    Index found, deep;
};

// Adds what warps found to the round, and waits for all blocks; `found` is the same in a warp.
DEVICE void end_round(LevelCounter<Tally>& rounds, const Done& done, int* barrier) {
    SHARED Index sum;
    Tally* now = rounds.written();
    if (thread_in_block() == 0) sum = 0;
    sync_block();
    if (done.found && lane_in_warp() == 0) add(&sum, done.found);
    sync_block();
    if (thread_in_block() == 0 && sum) add(&now->found, sum);
    if (thread_in_block() == 0 && done.deep) maximum(&now->deep, done.deep);
    if (thread_index() == 0) *rounds.following() = Tally{0, 0, 0, 0};
    sync_grid(barrier);
    ++rounds.turn;
}

// Applies the paths found, each by one thread: trees share no vertex, so no other thread reads or
// writes these columns. A thread that is done with its path goes on with its next, whatever the
// others of its warp are at: the longest path of a warp is waited for once.
DEVICE void augment(const MsBfs& s, Index n_roots) {
    Index j = UNMATCHED, before = UNMATCHED, root = UNMATCHED;
    for (long long r = thread_index();;) {
        for (; j < 0 && r < n_roots; r += thread_count()) {
            j = s.leaf[r];
            if (j < 0) continue;
            s.leaf[r] = MORE;  // done
            root = s.roots[r];
            before = s.link[j].before;
        }
        if (j < 0) break;
        // both loads under way at once: a step of a path takes the time of one
        const Index next = before == UNMATCHED ? UNMATCHED : s.link[before].before,
                    row = before == UNMATCHED ? root : s.col_mate[before];
        s.col_mate[j] = row;
        s.row_mate[row] = j;
        j = before;
        before = next;
    }
}
