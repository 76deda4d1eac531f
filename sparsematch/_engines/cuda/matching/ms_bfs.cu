// Breadth-first search from all free rows at once, until no augmenting path is left: one kernel,
// whose blocks wait for each other on the device.
//
// Azad, Buluc, Pothen (IEEE TPDS 28, 2017), multi-source search with vertex-disjoint trees. A phase
// grows a tree from every free row; a column belongs to the tree that set its bit first, so trees
// share no vertex and all paths found in a phase are applied at once, without repair. A row whose
// tree has its path is not expanded any more. Grafting, top-down: after a deep phase the trees
// without a path stay, and all their rows are expanded again. Macros: LOCKSTEP, whether a level
// begins when the last one is complete, as in apfb: then a frontier of a few entries is left to the
// first block, blocks that share a narrow one wait for each other after every level, and a phase
// ends when nothing is left to visit; WIDTH, slots of a row that stand in a row of their own, 0:
// all lists are read from indices; LANES, threads of a warp that share a row; UNROLL, entries that
// a thread reads at once; PART, entries of a long list that make an entry of the frontier.
// Invariant: the mates are a valid matching whenever all blocks stand at the barrier between
// phases.
#include "core/device.cuh"
#include "matching/ms_bfs.cuh"

DEVICE void prefetch_row(const Search& s, Index row) {
    prefetch(WIDTH ? s.slots + static_cast<long long>(row) * WIDTH : s.indptr + row);
}

// Short lists: mates are read while the claims are under way. In long ones most claims fail.
#define AT_ONCE (WIDTH > 0 && WIDTH <= 8)

// Claims columns for a tree. Who is not eager tests first: that spares atomics where most columns
// are taken, and costs a wait. Safe: one atomic gives the bit to one tree, which alone writes the
// link; a root's leaf is set by one compare-and-swap.
template <bool EAGER, int N, class Sink>
DEVICE void visit(const Search& s, const Entry& at, const Index (&list)[N], Sink& sink) {
    bool wanted[N], claimed[N];
    Index mate[N];
    for (int k = 0; k < N; ++k)  // a bit that is not seen yet is found out by the claim
        wanted[k] = list[k] >= 0 &&
                    (EAGER || !(load_old(s.visited + (list[k] >> 5)) >> (list[k] & 31) & 1));
    for (int k = 0; k < N; ++k) {
        claimed[k] = wanted[k] && claim(s.visited, list[k]);
        mate[k] = (AT_ONCE ? wanted[k] : claimed[k]) ? s.col_mate[list[k]] : NONE;
    }
    for (int k = 0; k < N; ++k) {
        bool ends = false;
        if (claimed[k]) {
            if (mate[k] != NONE) prefetch_row(s, mate[k]);
            s.link[list[k]] = Link{at.row, at.column, at.root, 0};
            if (mate[k] == NONE) ends = compare_and_swap(s.leaf + at.root, NONE, list[k]) == NONE;
        }
        sink.found += count_bits(ballot(ends));
        Entry next = {mate[k], list[k], at.root, 0};
        const bool linked = WIDTH && list[k] < MORE;
        if (linked) next = Entry{at.row, at.column, at.root, list[k]};
        sink.put(next, linked || (claimed[k] && mate[k] != NONE));
    }
}

// The part of a list that an entry stands for, beyond the slots; a first part sees to it that the
// others follow.
template <bool EAGER, class Sink>
DEVICE void visit_list(const Search& s, const Entry& at, bool wanted, unsigned turn, Sink& sink) {
    if (!ballot(wanted)) return;
    const int lane = lane_in_warp() % LANES;
    const Index* from = s.indices;
    Index left = 0, parts = 0;
    if (wanted) {
        const Index begin = s.indptr[at.row] + (WIDTH ? WIDTH - 1 : 0) + at.part * PART;
        left = s.indptr[at.row + 1] - begin;
        if (at.part == 0) parts = (left - 1) / PART;
        if (left > PART) left = PART;
        from += begin;
    }
    for (Index part = 1 + lane; ballot(part <= parts); part += LANES)
        sink.put(Entry{at.row, at.column, at.root, part}, part <= parts);
    const int offset =
        static_cast<int>(scatter(static_cast<unsigned>(at.row) ^ turn)) & (LANES * UNROLL - 1);
    for (Index base = 0; ballot(base < left); base += LANES * UNROLL) {
        Index list[UNROLL];
        if (base + LANES * UNROLL < left) prefetch(from + base + LANES * UNROLL + lane);
        for (int k = 0; k < UNROLL; ++k) {
            const Index p = base + ((k * LANES + lane) ^ offset);
            list[k] = p < left ? from[p] : NONE;
        }
        visit<EAGER>(s, at, list, sink);
    }
}

// Expands the entries of a frontier, a few by each warp at a time; `warp` of `warps` that share
// them.
template <bool EAGER, class Sink>
DEVICE void expand(const Search& s, const Entry* from, Index count, Index warp, Index warps,
                   unsigned turn, Sink& sink) {
    const int lane = lane_in_warp() % LANES;
    const Index step = warps * (WARP / LANES);
    Index e = warp * (WARP / LANES) + lane_in_warp() / LANES;
    Entry soon = {0, 0, 0, 0};
    if (e < count) soon = from[e];
    for (Index base = warp * (WARP / LANES); base < count; base += step) {
        const Entry at = soon;
        bool wanted = e < count;
        e += step;
        if (e < count) {
            soon = from[e];
            if (!EAGER) prefetch_row(s, soon.row);
        }
#if WIDTH
        Index list[WIDTH / LANES];
        const bool slots = wanted && at.part <= 0;
        const Index* row =
            s.slots + static_cast<long long>(at.part < 0 ? LINK(at.part) : at.row) * WIDTH;
        const int offset =
            static_cast<int>(scatter(static_cast<unsigned>(at.row) ^ turn)) & (WIDTH - 1);
        for (int k = 0; k < WIDTH / LANES; ++k)
            list[k] = slots ? row[(k * LANES + lane) ^ offset] : NONE;
        const bool more = wanted && (at.part > 0 || (at.part == 0 && row[WIDTH - 1] == MORE));
        if (wanted && load(s.leaf + at.root) != NONE) {
            wanted = false;
            for (int k = 0; k < WIDTH / LANES; ++k) list[k] = NONE;
        }
        visit<EAGER>(s, at, list, sink);
        visit_list<EAGER>(s, at, wanted && more, turn, sink);
#else
        wanted = wanted && load(s.leaf + at.root) == NONE;
        visit_list<EAGER>(s, at, wanted, turn, sink);
#endif
    }
}

// One level of a wide frontier, by the whole grid.
DEVICE Index level_of_grid(const Search& s, const Entry* from, Index count, Entry* to,
                           Index* pushed, unsigned turn, unsigned char* memory) {
    const Index warp = block_index() * warps_in_block() + warp_in_block(),
                warps = block_count() * warps_in_block();
    Queue sink = {to, reinterpret_cast<Entry*>(memory) + warp_in_block() * STAGED, pushed, 0, 0};
    expand<false>(s, from, count, warp, warps, turn, sink);
    sink.flush(sink.n);
    return sink.found;
}

// A few levels of a narrow frontier: each block goes on with what it finds itself, and puts back
// what is left. A block that has more than it can do at once says so, and all share again. IN_STEP,
// a level begins when all blocks are through the last one: they vote whether there is another. In
// lockstep it also ends when `enough` trees have a path.
template <bool IN_STEP>
DEVICE Index levels_of_block(const Search& s, const Entry* from, Index count, Entry* to, Round* now,
                             unsigned turn, const Limits& limits, Index enough, Index* deep,
                             Votes& votes, unsigned char* memory) {
    SHARED int near[3];
    SHARED Index ended[3];
    SHARED bool leave[2];  // by turns: who is late still reads the one of its level
    SHARED Index place;
    SHARED Wide sum;
    // the first has it all, or each a part
    const int blocks = LOCKSTEP && !IN_STEP ? 1 : block_count();
    const Index begin =
        block_index() < blocks
            ? static_cast<Index>(static_cast<long long>(count) * block_index() / blocks)
            : 0;
    const Index end =
        block_index() < blocks
            ? static_cast<Index>(static_cast<long long>(count) * (block_index() + 1) / blocks)
            : 0;
    Entry* buffers = reinterpret_cast<Entry*>(memory);
    for (int k = thread_in_block(); k < 3; k += threads_in_block()) near[k] = 0, ended[k] = 0;
    from += begin;
    Index n = end - begin, found = 0;
    Index most = 2 * n > ROOM ? 2 * n : ROOM;
    if (LOCKSTEP && !IN_STEP) most = limits.alone;
    if (most >= CAPACITY) most = CAPACITY - 1;
    sync_block();
    for (int level = 0; level < limits.stay && (IN_STEP || n); ++level) {
        Entry* buffer = buffers + (level & 1) * CAPACITY;
        Nearby sink = {buffer, to, near + level % 3, &now->pushed, 0};
        if (!LOCKSTEP && thread_in_block() == threads_in_block() - 1)
            leave[level & 1] = load(&now->crowded);
        expand<true>(s, from, n, warp_in_block(), warps_in_block(), turn + level, sink);
        found += sink.found;
        if (LOCKSTEP && sink.found && lane_in_warp() == 0) add(ended + level % 3, sink.found);
        sync_block();
        *deep = level + 1;
        n = near[level % 3] < CAPACITY ? near[level % 3] : CAPACITY;
        if (LOCKSTEP && !IN_STEP) enough -= ended[level % 3];
        if (IN_STEP && thread_in_block() == 0) sum = take(votes, n, n > most, ended[level % 3]);
        if (thread_in_block() == 0)
            // read by all before the last barrier
            near[(level + 2) % 3] = 0, ended[(level + 2) % 3] = 0;
        from = buffer;
        if (IN_STEP) {
            sync_block();
            const Wide all = sum;
            close(votes, all);
            enough -= static_cast<Index>(all >> FOUND);
            if (!(all >> ALIVE & 0xfff) || all >> CROWDED & 0xfff || enough <= 0) break;
        } else if (LOCKSTEP) {
            if (n > most || enough <= 0) break;
        } else {
            if (n > most && thread_in_block() == 0) store(&now->crowded, static_cast<Index>(1));
            if (n > most || leave[level & 1]) break;
        }
    }
    sync_block();
    if (thread_in_block() == 0 && n) place = add(&now->pushed, n);
    sync_block();
    for (Index e = thread_in_block(); e < n; e += threads_in_block()) to[place + e] = from[e];
    return found;
}

// Begins a phase: the trees that found a path let their columns go, and all rows of the others are
// the frontier again, as they may have neighbours among them; without grafting, the others let go
// too, and only their roots stay.
DEVICE void plant(const Search& s, Index n_cols, Index n_roots, bool graft, Index* pushed,
                  unsigned char* memory) {
    const Index warp = block_index() * warps_in_block() + warp_in_block(),
                warps = block_count() * warps_in_block();
    Queue sink = {s.queue, reinterpret_cast<Entry*>(memory) + warp_in_block() * STAGED, pushed, 0,
                  0};
    for (Index w = warp; w < n_cols / 32 + 1; w += warps) {
        const Bits old = load(s.visited + w);
        if (!old) continue;
        Bits kept = 0;
        for (int first = 0; first < 32; first += WARP) {
            const Index j = w * 32 + first + lane_in_warp();
            const Index root = graft && old >> (first + lane_in_warp()) & 1 ? s.link[j].root : NONE;
            const bool stays = root != NONE && s.leaf[root] == NONE;
            kept |= ballot(stays) << first;
            sink.put(Entry{stays ? s.col_mate[j] : NONE, j, root, 0}, stays);
        }
        // own word of the warp, which has read it
        if (lane_in_warp() == 0) store(s.visited + w, kept);
    }
    for (Index base = thread_index() - lane_in_warp(); base < n_roots; base += thread_count()) {
        const Index r = base + lane_in_warp();
        const bool free = r < n_roots && s.leaf[r] == NONE;
        sink.put(Entry{free ? s.roots[r] : NONE, NONE, r, 0}, free);
    }
    sink.flush(sink.n);
}

// Grows the trees from `count` entries at the head of the queue, round by round, until all are
// stuck, or `enough` have a path, or the phase has become so deep since it last found one that the
// rest is left to the next. Returns how many have a path.
DEVICE Index grow(const Search& s, const Limits& limits, Index count, Index enough, unsigned turn,
                  Index& round, Index& level, int* barrier, Votes& votes, unsigned char* memory,
                  long long& since) {
    Index begin = 0, found = 0, last = 0;
    while (count) {
        const bool alone = LOCKSTEP && count <= limits.alone;
        const bool narrow = alone || count <= static_cast<Index>(limits.narrow) * block_count();
        Round* now = &s.control->rounds[round % 3];
        const Entry* from = s.queue + begin;
        Entry* to = s.queue + begin + count;
        const unsigned draw = scatter(turn + static_cast<unsigned>(level));
        const Index rest = enough - found;
        Index deep = !narrow, mine;
        if (!narrow) mine = level_of_grid(s, from, count, to, &now->pushed, draw, memory);
        else if (LOCKSTEP && !alone)
            mine = levels_of_block<true>(s, from, count, to, now, draw, limits, rest, &deep, votes,
                                         memory);
        else
            mine = levels_of_block<false>(s, from, count, to, now, draw, limits, rest, &deep, votes,
                                          memory);
        end_round(s.control, round++, mine, deep, barrier);
        clock(s.control, narrow ? 2 : 1, since);
        begin += count;
        count = load(&now->pushed);
        level += load(&now->deep);
        const Index more = load(&now->found);
        if (more) last = level;
        found += more;
        if (found >= enough) break;
        if (!LOCKSTEP && found && level * 8 >= last * limits.patience + 64) break;
    }
    return found;
}

// Reads: indptr, indices, slots, roots, free_columns. Writes: mates, visited, link, leaf, queue,
// control.
// Time: O(phases * nnz / threads + levels).
KERNEL __launch_bounds__(THREADS, BLOCKS)
    search(Index n_cols, const Index* indptr, const Index* indices, const Index* slots,
           const Index* roots, Index* row_mate, Index* col_mate, Bits* visited, Index* link,
           Index* leaf, Index* queue, Index* control_words, int* barrier, unsigned seed, int narrow,
           int stay, int patience, int graft, int alone) {
    alignas(16) SHARED unsigned char memory[MEMORY];
    Control* control = reinterpret_cast<Control*>(control_words);
    Entry* entries = reinterpret_cast<Entry*>(queue);
    Link* links = reinterpret_cast<Link*>(link);
    const Search s = {indptr,  indices, slots, roots,   row_mate, col_mate,
                      visited, links,   leaf,  entries, control};
    const Limits limits = {narrow, stay, patience, alone};
    const Index n_roots = control->n_roots;
    const Index most = n_roots < control->free_columns ? n_roots : control->free_columns;
    Index round = 0, total = 0, levels = 0, phase = 0, level = 0;
    long long since = ticks();
    Votes votes = {control->votes, control->votes + 1, 0, 0};
    while (total < most) {
        Round* now = &control->rounds[round % 3];
        plant(s, n_cols, n_roots, phase > 0 && level >= graft, &now->pushed, memory);
        end_round(control, round++, 0, 0, barrier);
        clock(control, 0, since);
        level = 0;
        const unsigned turn = scatter(seed + static_cast<unsigned>(phase++));
        const Index enough = patience ? most - total : 1;
        const Index found = grow(s, limits, load(&now->pushed), enough, turn, round, level, barrier,
                                 votes, memory, since);
        levels += level;
        total += found;
        if (!found) break;
        augment(s, n_roots);
        sync_grid(barrier);
        clock(control, 3, since);
    }
    if (thread_index() != 0) return;
    control->phases = phase;
    control->levels = levels;
    control->found = total;
}

// How many columns are free. Reads: col_mate. Time: O(n_cols / threads).
KERNEL count_free(Index n_cols, const Index* __restrict__ col_mate, Index* control_words) {
    SHARED int free;
    if (thread_in_block() == 0) free = 0;
    sync_block();
    int mine = 0;
    for (Index j = thread_index(); j < n_cols; j += thread_count()) mine += col_mate[j] == NONE;
    if (mine) add(&free, mine);
    sync_block();
    if (thread_in_block() == 0 && free)
        add(&reinterpret_cast<Control*>(control_words)->free_columns, static_cast<Index>(free));
}

// The free rows that have entries, in an order that has nothing to do with their numbers. Reads:
// indptr, row_mate.
// Writes: roots and leaf, places that the block took by one addition. Time: O(n_rows / threads).
KERNEL collect(Index n_rows, int bits, unsigned seed, const Index* __restrict__ indptr,
               const Index* __restrict__ row_mate, Index* roots, Index* leaf,
               Index* control_words) {
    SHARED int taken;
    SHARED Index first;
    constexpr int EACH = 8;
    const long long size = threads_in_block() * EACH;
    for (long long base = block_index() * size; base < n_rows; base += block_count() * size) {
        if (thread_in_block() == 0) taken = 0;
        sync_block();
        Index mine[EACH];
        int n = 0;
        for (int k = 0; k < EACH; ++k) {
            const long long t = base + k * threads_in_block() + thread_in_block();
            mine[k] = t < n_rows ? shuffle(static_cast<Index>(t), n_rows, bits, seed) : NONE;
            if (mine[k] >= 0 &&
                (row_mate[mine[k]] != NONE || indptr[mine[k]] == indptr[mine[k] + 1]))
                mine[k] = NONE;
            n += mine[k] >= 0;
        }
        Index at = add(&taken, n);
        sync_block();
        if (thread_in_block() == 0)
            first =
                add(&reinterpret_cast<Control*>(control_words)->n_roots, static_cast<Index>(taken));
        sync_block();
        at += first;
        for (int k = 0; k < EACH; ++k)
            if (mine[k] >= 0) {
                roots[at] = mine[k];
                leaf[at++] = NONE;
            }
    }
}

// The first entries of each list, WIDTH to a row of slots. What does not fit follows in LINKED rows
// of slots at most, each with the links of two others in its last slots, or stays in indices. Those
// rows begin where no other list has any, at n_rows + indptr[i] / (WIDTH - 2). Reads: indptr,
// indices. Writes: slots, own entry. Time: O((n_rows * WIDTH + nnz) / threads).
KERNEL spread(Index n_rows, const Index* __restrict__ indptr, const Index* __restrict__ indices,
              Index* slots) {
#if WIDTH
    for (long long t = thread_index(); t < static_cast<long long>(n_rows) * WIDTH;
         t += thread_count()) {
        const Index i = static_cast<Index>(t / WIDTH), slot = static_cast<Index>(t % WIDTH);
        const Index begin = indptr[i], degree = indptr[i + 1] - begin,
                    more = n_rows + begin / (WIDTH - 2);
        const Index linked = degree > WIDTH ? (degree - 2) / (WIDTH - 2) : 0;
        if (slot < WIDTH - 1 || !linked) slots[t] = slot < degree ? indices[begin + slot] : NONE;
        else slots[t] = linked > LINKED ? MORE : LINK(more);
        if (linked > LINKED) continue;
        for (Index k = 0; k < linked; ++k) {
            const Index p = WIDTH - 1 + k * (WIDTH - 2) + slot,
                        next = 2 * k + 1 + slot - (WIDTH - 2);
            Index* at = slots + static_cast<long long>(more + k) * WIDTH + slot;
            if (slot < WIDTH - 2) *at = p < degree ? indices[begin + p] : NONE;
            else *at = next < linked ? LINK(more + next) : NONE;
        }
    }
#endif
}
