// Strong components of the square part, sources first. A row leads to the rows of its columns.
//
// Trimming (Kahn, Communications of the ACM 5, 1962; McLendon et al., J. Parallel Distrib. Comput.
// 65, 2005), forward-backward search (Fleischer, Hendrickson, Pinar, IPDPS workshops 2000; the
// searches are multi_pivot.cu's), small_components.cu, colouring.cu: the steps of
// docs/algorithms/block_triangular_form.md.
// Invariant: the label of a row is where in the order its segment begins, or its block when that is
// known; segments are split in place, so labels of different segments never change their order.
#include "core/device.cuh"
#include "core/level_queue.cuh"
#include "core/warp_queue.cuh"

// Reads: mates, coarse parts. Writes: label of own row: 0 in the square part, -1 and -2 in the
// horizontal and vertical one; bits of the square part, by atomics; its size; from_row of others.
KERNEL __launch_bounds__(512)
    square_part(Index n_rows, const Index* __restrict__ row_mate, const Bits* vertical_cols,
                const Bits* horizontal_rows, Index* label, Index* from_row, Bits* rows_in,
                Bits* cols_in, Index* n_square) {
    Index mine = 0;
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const Index j = row_mate[i];
        label[i] = has(horizontal_rows, i) ? -1 : j == UNMATCHED || has(vertical_cols, j) ? -2 : 0;
        if (label[i] < 0) {
            from_row[i] = -1;  // never the pivot
            continue;
        }
        insert(rows_in, i);
        insert(cols_in, j);
        ++mine;
    }
    add_of_block(n_square, mine);
}

// Reads: both kinds of lists. Writes, by atomic addition: how many entries lead from each row of
// the square part to another, and to each, the latter by its column. Time: O(nnz / threads).
KERNEL degrees(Index n_rows, Csr rows, Csr cols, const Index* __restrict__ row_mate,
               const Bits* rows_in, const Bits* cols_in, Index* from_row, Index* to_col,
               int shift) {
    for_shared(n_rows, shift, [&](Index i, Index lane, Index lanes) {
        if (!has(rows_in, i)) return;
        const Index j = row_mate[i];
        Index from = 0, to = 0;
        for (Index p = rows.indptr[i] + lane; p < rows.indptr[i + 1]; p += lanes)
            from += rows.indices[p] != j && has(cols_in, rows.indices[p]);
        for (Index p = cols.indptr[j] + lane; p < cols.indptr[j + 1]; p += lanes)
            to += cols.indices[p] != i && has(rows_in, cols.indices[p]);
        if (from) add(from_row + i, from);
        if (to) add(to_col + j, to);
    });
}

struct Trim {
    Csr rows, cols;
    ReadOnly<Index> row_mate, col_mate;
    const Bits* rows_in;
    Index *from_row, *to_col;  // entries left: of a row; of what leads to a row, by its column
    Bits* removed;             // rows
    Index *first_queue, *last_queue;
    Index* widths;    // three of each queue
    Index* removals;  // of both
    int shift;        // 2^shift neighbouring threads share a list
};

// Goes through what the rows of a level lead to, or come from if `lists` are those of the columns
// that `major` has for them. lower(entry): the row that is removed now.
template <class Major, class Lower>
DEVICE void remove_level(const Csr& lists, const LevelQueue& q, Index width, Half half, int shift,
                         WarpQueue<Index>& next, Major major, Lower lower) {
    const long long lanes = 1ll << shift, jobs = static_cast<long long>(width) << shift;
    if (half.count == 0) return;
    next.values = q.values + q.begin + width;
    next.count = q.widths.written();
    for (long long t = half.index; ballot(t < jobs); t += half.count) {
        Index p = 0, last = 0;
        if (t < jobs) {
            const Index v = major(load(q.values + q.begin + (t >> shift)));
            p = lists.indptr[v] + static_cast<Index>(t & (lanes - 1)), last = lists.indptr[v + 1];
        }
        for (; ballot(p < last); p += static_cast<Index>(lanes)) {
            const Index k = p < last ? lower(lists.indices[p]) : UNMATCHED;
            next.put(k, k != UNMATCHED);
        }
    }
    next.flush();
}

// The rows that nothing leads to, and the others that lead nowhere.
DEVICE void trim_first_level(const Trim& s, Index n_rows, WarpQueue<Index>& to_first,
                             WarpQueue<Index>& to_last) {
    for (long long i = thread_index(); ballot(i < n_rows); i += thread_count()) {
        const bool in = i < n_rows && has(s.rows_in, static_cast<Index>(i)),
                   no_way_to = in && s.to_col[s.row_mate[i]] == 0;
        const bool no_way_from = in && !no_way_to && s.from_row[i] == 0;
        // own bit: its row is this thread's
        if (no_way_to || no_way_from) insert(s.removed, static_cast<Index>(i));
        to_first.put(static_cast<Index>(i), no_way_to);
        to_last.put(static_cast<Index>(i), no_way_from);
    }
    to_first.flush();
    to_last.flush();
}

// Reads: lists, mates, the square part. Writes: both counts, by atomic addition, also those of rows
// removed, which are not read; removed, by atomic claims, so that a row goes to one of the queues;
// removals: how many are in each. Time: O(nnz / threads), a barrier per level.
KERNEL __launch_bounds__(THREADS, 2) trim(Index n_rows, Trim s, Allowance allowance, int* barrier) {
    LevelCost levels = level_cost(allowance);
    SHARED Index staged[2][2 * THREADS];
    LevelQueue first = level_queue(s.first_queue, s.widths),
               last = level_queue(s.last_queue, s.widths + 3);
    const int own = warp_in_block() * 2 * WARP;
    WarpQueue<Index> to_first = {s.first_queue, staged[0] + own, s.widths, 0},
                     to_last = {s.last_queue, staged[1] + own, s.widths + 3, 0};
    trim_first_level(s, n_rows, to_first, to_last);
    sync_grid(barrier);
    for (;;) {
        const Index width[2] = {first.width(), last.width()};
        if (width[0] + width[1] == 0 || !levels.allow(width[0] + width[1])) break;
        first.clear_following();
        last.clear_following();
        const bool both = width[0] && width[1];
        remove_level(
            s.rows, first, width[0], half_of(0, both), s.shift, to_first, [](Index i) { return i; },
            [&](Index j) {
                const Index k = s.col_mate[j];
                return add(s.to_col + j, UNMATCHED) == 1 && claim(s.removed, k) ? k : UNMATCHED;
            });
        remove_level(
            s.cols, last, width[1], half_of(1, both), s.shift, to_last,
            [&](Index i) { return s.row_mate[i]; },
            [&](Index k) {
                return add(s.from_row + k, UNMATCHED) == 1 && claim(s.removed, k) ? k : UNMATCHED;
            });
        sync_grid(barrier);
        first.advance(width[0]);
        last.advance(width[1]);
    }
    levels.finish();
    if (thread_index() == 0) s.removals[0] = first.begin, s.removals[1] = last.begin;
}

// Reads: the two queues. Writes: the labels of their rows; clears their bits; from_row to -1, so
// that none becomes the pivot.
KERNEL settle(Index n_first, Index n_last, Index n_square, const Index* __restrict__ first,
              const Index* __restrict__ last, const Index* __restrict__ row_mate, Index* label,
              Bits* rows_in, Bits* cols_in, Index* from_row) {
    for (Index p = thread_index(); p < n_first + n_last; p += thread_count()) {
        const bool behind = p >= n_first;
        const Index i = behind ? last[p - n_first] : first[p];
        // own entry: a row is in one queue once
        label[i] = behind ? n_square - 1 - (p - n_first) : p;
        from_row[i] = -1;
        remove(rows_in, i);
        remove(cols_in, row_mate[i]);
    }
}

// Reads: from_row. Writes: best, zero at the launch, by atomics; pivot: the row with the most
// entries left, the first of equals, or 0. Time: O(n_rows / threads).
KERNEL __launch_bounds__(THREADS) find_pivot(Index n_rows, const Index* __restrict__ from_row,
                                             Wide* best, long long* pivot, int* barrier) {
    Wide mine = 0;
    for (Index k = thread_index(); k < n_rows; k += thread_count()) {
        if (from_row[k] <= 0) continue;
        const Wide key =
            static_cast<Wide>(from_row[k]) << 32 | (0xffffffffu - static_cast<Bits>(k));
        if (key > mine) mine = key;
    }
    mine = ~least_in_warp(~mine);
    if (mine && lane_in_warp() == 0) maximum(best, mine);
    sync_grid(barrier);
    const Wide key = load(best);
    if (thread_index() == 0) *pivot = key ? 0xffffffffu - static_cast<Bits>(key) : 0;
}

// Reads: what was reached forward and backward. Writes: class of its own row: 0 leads to the pivot,
// 1 is its component, 2 neither, 3 it leads there, 4 not in question; how many of 0 to 3.
KERNEL __launch_bounds__(512)
    classify(Index n_rows, const Index* __restrict__ row_mate, const Bits* rows_in,
             const Bits* ahead_cols, const Bits* behind_rows, signed char* of_row, Index* count) {
    Index mine[4] = {0, 0, 0, 0};
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const bool in = has(rows_in, i), ahead = in && has(ahead_cols, row_mate[i]),
                   behind = in && has(behind_rows, i);
        of_row[i] = !in ? 4 : ahead && behind ? 1 : behind ? 0 : ahead ? 3 : 2;
        for (int k = 0; k < 4; ++k) mine[k] += of_row[i] == k;
    }
    for (int k = 0; k < 4; ++k) add_of_block(count + k, mine[k]);
}

// Reads: classes, where each begins. Writes: the labels; clears the bits of the component's rows.
KERNEL split(Index n_rows, const Index* __restrict__ row_mate,
             const signed char* __restrict__ of_row, const Index* __restrict__ start, Index* label,
             Bits* rows_in, Bits* cols_in) {
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const int k = of_row[i];
        if (k < 4) label[i] = start[k];
        if (k != 1) continue;
        remove(rows_in, i);
        remove(cols_in, row_mate[i]);
    }
}

// Queues the rows in question; they become one segment unless `begin` is negative.
KERNEL list_rest(Index n_rows, const Bits* rows_in, Index begin, Index* label, Index* rest,
                 Index* n_rest) {
    list_all(n_rows, rest, n_rest, [&](Index i) {
        const bool in = has(rows_in, i);
        if (in && begin >= 0) label[i] = begin;  // own entry
        return in;
    });
}

// Reads: labels. Writes: one at each place where a block begins (all write the same).
KERNEL mark(Index n_rows, const Index* __restrict__ label, Index* begins) {
    for (Index i = thread_index(); i < n_rows; i += thread_count())
        if (label[i] >= 0 && load(begins + label[i]) == 0)
            store(begins + label[i], static_cast<Index>(1));
}

// Reads: labels, the running sum of `mark`, its end: how many blocks. Writes: own row's group.
KERNEL number(Index n_rows, const Index* __restrict__ row_mate, const Index* __restrict__ label,
              const Index* __restrict__ blocks, const Index* __restrict__ n_blocks, Index* group) {
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const Index outside = label[i] == -1             ? 0
                              : row_mate[i] != UNMATCHED ? *n_blocks + 1
                                                         : *n_blocks + 2;
        group[i] = label[i] >= 0 ? blocks[label[i]] : outside;
    }
}
