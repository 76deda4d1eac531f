// Breadth-first search from all free rows at once, until no augmenting path is left: one kernel,
// whose blocks wait for each other on the device.
//
// Azad, Buluc, Pothen (IEEE TPDS 28, 2017), multi-source search with vertex-disjoint trees, as
// docs/algorithms/ms_bfs.md has them. With LOCKSTEP no level begins before the last one is
// complete: the first block alone visits a frontier of few entries, blocks that share a narrow one
// wait for each other after every level, and a phase ends when nothing is left to visit.
// Invariant: between phases, with all blocks at the barrier, the mates are a valid matching.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "core/warp_queue.cuh"
#include "matching/ms_bfs.cuh"
#include "matching/ms_bfs_schedules.cuh"

// State of the launch, the same in all threads: round, vote, grid barrier; a block's shared memory.
struct Launch {
    LevelCounter<Tally> rounds;
    GridVote vote;
    int* barrier;
    unsigned char* memory;
    Index cost;  // of the levels and rounds, see Limits
};

DEVICE void prefetch_row(const MsBfs& s, Index row) {
    prefetch(WIDTH ? s.slots + static_cast<long long>(row) * WIDTH : s.indptr + row);
}

DEVICE Index row_of(const Entry& entry) { return entry.row < 0 ? ~entry.row : entry.row; }

// Short lists: mates are read while the claims are under way. In long ones most claims fail.
#define AT_ONCE (WIDTH > 0 && WIDTH <= 8)

// Claims columns for a tree; returns how many paths it found, for the warp. Unless EAGER it tests
// first: that spares atomics where most columns are visited, and costs a wait. Safe: one atomic
// gives the bit to one tree, which alone writes the link; a root's leaf is set by one
// compare-and-swap, and the thread that sets it also writes the link of the root's own column.
template <bool EAGER, int N, class Queue>
DEVICE Index visit(const MsBfs& s, const Origin& from, const Index (&list)[N], Queue& next) {
    Index found = 0;
    bool wanted[N], claimed[N];
    Index mate[N];
    Bits before[N];
    for (int k = 0; k < N; ++k)  // a newer bit is seen by the claim
        wanted[k] = list[k] >= 0 &&
                    (EAGER || !(load_old(s.visited + (list[k] >> 5)) >> (list[k] & 31) & 1));
    for (int k = 0; k < N; ++k) mate[k] = AT_ONCE && wanted[k] ? s.col_mate[list[k]] : UNMATCHED;
    // no result is tested before all are under way: else the compiler would wait for each
    for (int k = 0; k < N; ++k)
        before[k] = wanted[k] ? bit_or(s.visited + (list[k] >> 5), 1u << (list[k] & 31)) : ~0u;
    for (int k = 0; k < N; ++k) {
        claimed[k] = !(before[k] >> (list[k] & 31) & 1);
        if (!AT_ONCE && claimed[k]) mate[k] = s.col_mate[list[k]];
    }
    for (int k = 0; k < N; ++k) {
        bool ends = false;
        if (from.own != UNMATCHED && list[k] == from.own && s.col_mate[list[k]] == UNMATCHED &&
            compare_and_swap(s.leaf + from.root, UNMATCHED, list[k]) == UNMATCHED) {
            s.link[list[k]] = Link{from.mate, from.root};
            ends = true;
        }
        if (claimed[k] && mate[k] != UNMATCHED) {
            prefetch_row(s, mate[k]);
            s.link[list[k]] = Link{from.mate, from.root};
        } else if (claimed[k]) {
            // most of a hub's columns may be free: no swap where the load tells
            ends = load(s.leaf + from.root) == UNMATCHED &&
                   compare_and_swap(s.leaf + from.root, UNMATCHED, list[k]) == UNMATCHED;
            if (ends) s.link[list[k]] = Link{from.mate, from.root};
            else remove(s.visited, list[k]);  // for another tree: this one has a path already
        }
        found += count_bits(ballot(ends));
        const bool linked = WIDTH && list[k] < MORE;
        const Entry entry = {linked ? from.row : mate[k], from.root, list[k]};
        next.put(entry, linked || (claimed[k] && mate[k] != UNMATCHED));
    }
    return found;
}

// An entry's part of a list, beyond the slots; a first part queues the others. Returns paths found.
template <bool EAGER, class Queue>
DEVICE Index visit_list(const MsBfs& s, const Origin& at, Index part, bool wanted, unsigned turn,
                        Queue& next) {
    if (!ballot(wanted)) return 0;
    const int lane = lane_in_warp() % LANES;
    const Index* from = s.indices;
    Index left = 0, parts = 0, found = 0;
    if (wanted) {
        const Index begin = s.indptr[at.row] + (WIDTH ? WIDTH - 1 : 0) + part * PART;
        left = s.indptr[at.row + 1] - begin;
        if (part == 0) parts = (left - 1) / PART;
        if (left > PART) left = PART;
        from += begin;
    }
    for (Index other = 1 + lane; ballot(other <= parts); other += LANES)
        next.put(Entry{~at.row, at.root, other}, other <= parts);
    const int offset =
        static_cast<int>(scatter(static_cast<unsigned>(at.row) ^ turn)) & (LANES * UNROLL - 1);
    for (Index base = 0; ballot(base < left); base += LANES * UNROLL) {
        Index list[UNROLL];
        if (base && left && load(s.leaf + at.root) != UNMATCHED) left = 0;
        if (base + LANES * UNROLL < left) prefetch(from + base + LANES * UNROLL + lane);
        for (int k = 0; k < UNROLL; ++k) {
            const Index p = base + ((k * LANES + lane) ^ offset);
            list[k] = p < left ? from[p] : UNMATCHED;
        }
        found += visit<EAGER>(s, at, list, next);
    }
    return found;
}

// Expands a frontier's entries, a few by a warp at a time; `warp` of `warps`. Returns paths found.
template <bool EAGER, class Queue>
DEVICE Index expand(const MsBfs& s, const Entry* from, Index count, Index warp, Index warps,
                    unsigned turn, bool own, Queue& next) {
    const int lane = lane_in_warp() % LANES;
    const Index step = warps * (WARP / LANES);
    Index e = warp * (WARP / LANES) + lane_in_warp() / LANES;
    Index found = 0;
    Entry soon = {0, 0, UNMATCHED};
    if (e < count) soon = from[e];
    for (Index base = warp * (WARP / LANES); base < count; base += step) {
        const Entry entry = soon;
        const Index part = entry.row < 0 ? entry.at : 0;
        const bool has_mate = part == 0 && entry.at >= UNMATCHED;
        Origin at = {row_of(entry), entry.at, entry.root, UNMATCHED};
        bool wanted = e < count;
        if (wanted && !has_mate) at.mate = s.row_mate[at.row];
        if (wanted && own) at.own = s.roots[at.root];
        e += step;
        if (e < count) {
            soon = from[e];
            if (!EAGER) prefetch_row(s, row_of(soon));
        }
#if WIDTH
        Index list[WIDTH / LANES];
        const bool slots = wanted && part == 0;
        const Index* row =
            s.slots + static_cast<long long>(has_mate ? at.row : LINK(entry.at)) * WIDTH;
        const int offset =
            static_cast<int>(scatter(static_cast<unsigned>(at.row) ^ turn)) & (WIDTH - 1);
        for (int k = 0; k < WIDTH / LANES; ++k)
            list[k] = slots ? row[(k * LANES + lane) ^ offset] : UNMATCHED;
        const bool more = wanted && (part > 0 || (has_mate && row[WIDTH - 1] == MORE));
        if (wanted && load(s.leaf + at.root) != UNMATCHED) {
            wanted = false;
            for (int k = 0; k < WIDTH / LANES; ++k) list[k] = UNMATCHED;
        }
        found += visit<EAGER>(s, at, list, next);
        found += visit_list<EAGER>(s, at, part, wanted && more, turn, next);
#else
        wanted = wanted && load(s.leaf + at.root) == UNMATCHED;
        found += visit_list<EAGER>(s, at, part, wanted, turn, next);
#endif
    }
    return found;
}

DEVICE WarpQueue<Entry> warp_queue(Entry* values, Index* count, unsigned char* memory) {
    return {values, reinterpret_cast<Entry*>(memory) + warp_in_block() * STAGED, count, 0};
}

// One level of a wide frontier, by the whole grid.
DEVICE Done level_of_grid(const MsBfs& s, const Frontier& f, const Launch& launch) {
    const Index warp = block_index() * warps_in_block() + warp_in_block(),
                warps = block_count() * warps_in_block();
    Tally* now = launch.rounds.written();
    WarpQueue<Entry> next = warp_queue(f.to, &now->pushed, launch.memory);
    const Index found = expand<false>(s, f.from, f.count, warp, warps, f.turn, f.own, next);
    next.flush();
    return {found, 1};
}

// A few levels of a narrow frontier: each block goes on with what it finds itself, in shared
// memory, and puts back what is left. Schedule: a policy of ms_bfs_schedules.cuh.
template <class Schedule>
DEVICE Done levels_of_block(const MsBfs& s, const Frontier& f, const Limits& limits,
                            Launch& launch) {
    SHARED BlockRound block;
    const int blocks = Schedule::blocks();
    const long long mine = block_index() < blocks ? block_index() : blocks;
    const Index begin = static_cast<Index>(f.count * mine / blocks),
                end = mine < blocks ? static_cast<Index>(f.count * (mine + 1) / blocks) : begin;
    Entry* const buffers = reinterpret_cast<Entry*>(launch.memory);
    Tally* const now = launch.rounds.written();
    for (int k = thread_in_block(); k < 3; k += threads_in_block())
        block.near[k] = 0, block.ended[k] = 0;
    const Entry* from = f.from + begin;
    Index n = end - begin, most = Schedule::most(n, limits), enough = f.enough;
    if (most >= CAPACITY) most = CAPACITY - 1;
    Done done = {0, 0};
    sync_block();
    const int stay = f.own ? limits.own_levels : limits.stay;
    for (int level = 0; level < stay && (Schedule::IN_STEP || n); ++level) {
        Entry* const buffer = buffers + (level & 1) * CAPACITY;
        BlockQueue<Entry, CAPACITY> next = {buffer, f.to, block.near + level % 3, &now->pushed};
        Schedule::begin(block, now, level);
        const Index found = expand<true>(s, from, n, warp_in_block(), warps_in_block(),
                                         f.turn + level, f.own, next);
        done.found += found;
        if (Schedule::COUNTS_PATHS && found && lane_in_warp() == 0)
            add(block.ended + level % 3, found);
        sync_block();
        done.deep = level + 1;
        n = block.near[level % 3] < CAPACITY ? block.near[level % 3] : CAPACITY;
        if (thread_in_block() == 0)
            // read by all before the last barrier
            block.near[(level + 2) % 3] = 0, block.ended[(level + 2) % 3] = 0;
        from = buffer;
        if (Schedule::ends(block, now, LevelEnd{level, n, most, enough}, launch.vote)) break;
    }
    sync_block();
    if (thread_in_block() == 0 && n) block.place = add(&now->pushed, n);
    sync_block();
    for (Index e = thread_in_block(); e < n; e += threads_in_block())
        f.to[block.place + e] = from[e];
    return done;
}

// Begins a phase: the trees that found a path release their columns, and all rows of the others are
// the frontier again, as they may have neighbours among them; without grafting, the others release
// theirs too, and only their roots stay. Before the first phase there is nothing to release.
DEVICE void plant(const MsBfs& s, Index n_cols, Index n_roots, bool first, bool graft,
                  const Launch& launch) {
    const Index warp = block_index() * warps_in_block() + warp_in_block(),
                warps = block_count() * warps_in_block();
    WarpQueue<Entry> next = warp_queue(s.queue, &launch.rounds.written()->pushed, launch.memory);
    for (Index w = first ? n_cols : warp; w < n_cols / 32 + 1; w += warps) {
        const Bits old = load(s.visited + w);
        if (!old) continue;
        const Bits finished = s.finished ? s.finished[w] : 0, of_trees = old & ~finished;
        Bits kept = finished;
        for (int part = 0; part < 32; part += WARP) {
            const Index j = w * 32 + part + lane_in_warp();
            const bool in_tree = graft && of_trees >> (part + lane_in_warp()) & 1;
            const Index root = in_tree ? s.link[j].root : UNMATCHED;
            const bool stays = root != UNMATCHED && s.leaf[root] == UNMATCHED;
            kept |= ballot(stays) << part;
            next.put(Entry{stays ? s.col_mate[j] : UNMATCHED, root, j}, stays);
        }
        // own word of the warp, which has read it
        if (lane_in_warp() == 0) store(s.visited + w, kept);
    }
    for (Index base = thread_index() - lane_in_warp(); base < n_roots; base += thread_count()) {
        const Index r = base + lane_in_warp();
        const bool free = r < n_roots && s.leaf[r] == UNMATCHED;
        next.put(Entry{free ? s.roots[r] : UNMATCHED, r, UNMATCHED}, free);
    }
    next.flush();
}

// One round: a wide frontier by the grid, a narrow one by the schedule of its kind.
DEVICE void run_round(const MsBfs& s, const Frontier& f, const Limits& limits, Launch& launch) {
    const bool alone = LOCKSTEP && f.count <= limits.alone;
    const bool narrow = alone || f.count <= static_cast<Index>(limits.narrow) * block_count();
    Done done;
    if (!narrow) done = level_of_grid(s, f, launch);
#if LOCKSTEP
    else if (alone) done = levels_of_block<FirstBlock>(s, f, limits, launch);
    else done = levels_of_block<InStep>(s, f, limits, launch);
#else
    else done = levels_of_block<FreeRunning>(s, f, limits, launch);
#endif
    end_round(launch.rounds, done, launch.barrier);
}

// Grows trees from `count` entries at the head of the queue, round by round. It ends when no tree
// can grow, when `enough` trees have an augmenting path, when the phase has gone deeper since the
// last one was found than its limits let it (the next phase does the rest), or when the allowance
// is used up. Returns the number of trees with a path, and in `level` the number of levels.
DEVICE Index grow(const MsBfs& s, const Limits& limits, Index count, Index enough, unsigned turn,
                  bool own, Index& level, Launch& launch) {
    Index begin = 0, found = 0, last = 0;
    while (count) {
        const Tally* now = launch.rounds.written();
        const Entry* from = s.queue + begin;
        const unsigned draw = scatter(turn + static_cast<unsigned>(level));
        const Frontier f = {from, count, s.queue + begin + count, draw, enough - found, own};
        run_round(s, f, limits, launch);
        begin += count;
        count = load(&now->pushed);
        level += load(&now->deep);
        launch.cost += 1 + load(&now->deep) * (1 + f.count / limits.wide);
        const Index more = load(&now->found);
        if (more) last = level;
        found += more;
        if (found >= enough || launch.cost > limits.allowance) break;
        if (own && level >= limits.own_levels) break;
        if (!LOCKSTEP && found && level * 8 >= last * limits.depth_eighths + 64) break;
    }
    return found;
}

// Reads: indptr, indices, slots, roots, free_columns. Writes: mates, visited, link, leaf, queue,
// control. Time: O(phases * nnz / threads + levels).
KERNEL __launch_bounds__(THREADS, BLOCKS)
    search(Index n_cols, MsBfs s, Limits limits, unsigned seed, int* barrier) {
    alignas(16) SHARED unsigned char memory[MEMORY];
    Control* control = s.control;
    const Index n_roots = control->n_roots;
    const Index ends = control->free_columns - limits.left, most = n_roots < ends ? n_roots : ends;
    Index total = 0, levels = 0, phase = 0, level = 0;
    Launch launch = {
        {control->rounds, 0}, {control->votes, control->votes + 1, 0, 0}, barrier, memory, 0};
    while (total < most && launch.cost <= limits.allowance) {
        const Tally* now = launch.rounds.written();
        const bool own = limits.own_levels && phase == 0;
        plant(s, n_cols, n_roots, phase == 0, level >= limits.graft, launch);
        end_round(launch.rounds, Done{0, 0}, barrier);
        level = 0;
        const unsigned turn = scatter(seed + static_cast<unsigned>(phase++));
        const Index enough = limits.depth_eighths ? most - total : 1;
        const Index found = grow(s, limits, load(&now->pushed), enough, turn, own, level, launch);
        levels += level;
        total += found;
        if (!found && !own && launch.cost <= limits.allowance) break;
        augment(s, n_roots);
        sync_grid(barrier);
    }
    if (thread_index() != 0) return;
    control->phases = phase;
    control->levels = levels;
    control->found = total;
    control->stopped = total < most && launch.cost > limits.allowance;
}
