// Strong components of the square part, each before those that it leads to. A row leads to the rows
// matched to its columns.
//
// 1. peel: rows that nothing leads to, and rows that lead nowhere, are blocks of their own, in the
// order of their removal (Kahn,
//    Communications of the ACM 5, 1962; the trimming of McLendon et al., J. Parallel Distrib.
//    Comput. 65, 2005).
// 2. zones: what a pivot reaches and is reached from is its component; before it comes what leads
// to it, behind it what does
//    neither, then what it leads to (Fleischer, Hendrickson, Pinar, IPDPS workshops 2000).
// 3. pieces.cu: small pieces of the rest, which no entry joins, by depth-first search, one in each
// block of threads. Before 2 where
//    peeling leaves few rows.
// 4. spread, collect (rest_components.cu): each of the others takes the largest number that leads
// to it; a row that keeps
//    its own and what it is reached from under this number are a component, the first of those with
//    it (Orzan, PhD thesis,
//    Amsterdam 2004).
// Invariant: the label of a row is where in the order its segment begins, or its block when that is
// known; segments are split in place, so labels of different segments never change their order.
#include "core/device.cuh"
#include "core/level_queue.cuh"

struct Lists {
    const Index *indptr, *indices;
};

// Reads: the mates, the coarse parts. Writes: label of its own row: 0 in the square part, -1 and -2
// in the horizontal and the vertical one; the bits of the square part, by atomics; how many rows it
// has; from_row of the others.
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
        claim(rows_in, i);
        claim(cols_in, j);
        ++mine;
    }
    add_of_block(n_square, mine);
}

// Reads: both kinds of lists. Writes, by atomic addition: how many entries lead from each row of
// the square part to another, and to each, the latter under the number of its column. Time: O(nnz /
// threads).
KERNEL degrees(Index n_rows, const Index* __restrict__ row_indptr,
               const Index* __restrict__ row_indices, const Index* __restrict__ col_indptr,
               const Index* __restrict__ col_indices, const Index* __restrict__ row_mate,
               const Bits* rows_in, const Bits* cols_in, Index* from_row, Index* to_col,
               int shift) {
    const Index lanes = static_cast<Index>(1) << shift;
    for (long long t = thread_index(); t < static_cast<long long>(n_rows) << shift;
         t += thread_count()) {
        const Index i = static_cast<Index>(t >> shift), lane = static_cast<Index>(t & (lanes - 1));
        if (!has(rows_in, i)) continue;
        const Index j = row_mate[i];
        Index from = 0, to = 0;
        for (Index p = row_indptr[i] + lane; p < row_indptr[i + 1]; p += lanes)
            from += row_indices[p] != j && has(cols_in, row_indices[p]);
        for (Index p = col_indptr[j] + lane; p < col_indptr[j + 1]; p += lanes)
            to += col_indices[p] != i && has(rows_in, col_indices[p]);
        if (from) add(from_row + i, from);
        if (to) add(to_col + j, to);
    }
}

enum { CREW = 512 };  // threads of a block at most

// Looks at what the rows of a level lead to, or come from if `major` has their columns.
// lower(entry): the row that is removed now.
template <class Lower>
DEVICE void remove_level(const Lists& lists, const Levels& q, Index width, const Index* major,
                         Share share, int shift, Sink& sink, Lower lower) {
    const long long lanes = 1ll << shift, jobs = static_cast<long long>(width) << shift;
    if (share.count == 0) return;
    for (long long t = share.index; ballot(t < jobs); t += share.count) {
        Index p = 0, last = 0;
        if (t < jobs) {
            const Index i = load(q.queue + q.begin + (t >> shift)), v = major ? major[i] : i;
            p = lists.indptr[v] + static_cast<Index>(t & (lanes - 1)), last = lists.indptr[v + 1];
        }
        for (; ballot(p < last); p += static_cast<Index>(lanes)) {
            const Index k = p < last ? lower(lists.indices[p]) : UNMATCHED;
            sink.put(k, k != UNMATCHED);
        }
    }
    sink.flush(sink.n);
}

// Reads: lists, mates, the square part. Writes: both counts, by atomic addition, those of others
// too, which nobody reads; removed, by atomic claims, so that a row goes to one of the queues;
// removals: how many are in each. Time: O(nnz / threads), a barrier per level.
KERNEL __launch_bounds__(CREW, 2)
    peel(Index n_rows, const Index* __restrict__ row_indptr, const Index* __restrict__ row_indices,
         const Index* __restrict__ col_indptr, const Index* __restrict__ col_indices,
         const Index* __restrict__ row_mate, const Index* __restrict__ col_mate,
         const Bits* __restrict__ rows_in, Index* from_row, Index* to_col, Bits* removed,
         Index* first_queue, Index* last_queue, Index* count, Index* removals, int shift,
         int* barrier) {
    SHARED Index staged[2][2 * CREW];
    const Lists rows = {row_indptr, row_indices}, cols = {col_indptr, col_indices};
    Levels first{first_queue, count, 0, 0}, last{last_queue, count + 3, 0, 0};
    const int own = warp_in_block() * 2 * WARP;
    Sink to_first = {first_queue, count, staged[0] + own, 0},
         to_last = {last_queue, count + 3, staged[1] + own, 0};
    for (long long i = thread_index(); ballot(i < n_rows); i += thread_count()) {
        const bool in = i < n_rows && has(rows_in, static_cast<Index>(i)),
                   no_way_to = in && to_col[row_mate[i]] == 0;
        const bool no_way_from = in && !no_way_to && from_row[i] == 0;
        // own bit: its row is this thread's
        if (no_way_to || no_way_from) claim(removed, static_cast<Index>(i));
        to_first.put(static_cast<Index>(i), no_way_to);
        to_last.put(static_cast<Index>(i), no_way_from);
    }
    to_first.flush(to_first.n);
    to_last.flush(to_last.n);
    sync_grid(barrier);
    for (;;) {
        const Index width[2] = {width_of(first), width_of(last)};
        if (width[0] + width[1] == 0) break;
        clear_ahead(first);
        clear_ahead(last);
        to_first.queue = first_queue + first.begin + width[0],
        to_first.count = count + (first.level + 1) % 3;
        to_last.queue = last_queue + last.begin + width[1],
        to_last.count = count + 3 + (last.level + 1) % 3;
        const bool both = width[0] && width[1];
        remove_level(
            rows, first, width[0], nullptr, share_of(0, both), shift, to_first, [&](Index j) {
                const Index k = col_mate[j];
                return add(to_col + j, UNMATCHED) == 1 && claim(removed, k) ? k : UNMATCHED;
            });
        remove_level(
            cols, last, width[1], row_mate, share_of(1, both), shift, to_last, [&](Index k) {
                return add(from_row + k, UNMATCHED) == 1 && claim(removed, k) ? k : UNMATCHED;
            });
        sync_grid(barrier);
        advance(first, width[0]);
        advance(last, width[1]);
    }
    if (thread_index() == 0) removals[0] = first.begin, removals[1] = last.begin;
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
        bit_and(rows_in + (i >> 5), ~(1u << (i & 31)));
        bit_and(cols_in + (row_mate[i] >> 5), ~(1u << (row_mate[i] & 31)));
    }
}

// Reads: what was reached each way. Writes: zone of its own row: 0 leads to the pivot, 1 is its
// component, 2 neither, 3 it leads there, 4 not in question; how many there are of each but the
// last.
KERNEL __launch_bounds__(512)
    zones(Index n_rows, const Index* __restrict__ row_mate, const Bits* rows_in,
          const Bits* ahead_cols, const Bits* behind_rows, signed char* zone, Index* count) {
    Index mine[4] = {0, 0, 0, 0};
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const bool in = has(rows_in, i), ahead = in && has(ahead_cols, row_mate[i]),
                   behind = in && has(behind_rows, i);
        zone[i] = !in ? 4 : ahead && behind ? 1 : behind ? 0 : ahead ? 3 : 2;
        for (int k = 0; k < 4; ++k) mine[k] += zone[i] == k;
    }
    for (int k = 0; k < 4; ++k) add_of_block(count + k, mine[k]);
}

// Reads: zones, where each begins. Writes: the labels; clears the bits of the rows whose component
// this is.
KERNEL split(Index n_rows, const Index* __restrict__ row_mate, const signed char* __restrict__ zone,
             const Index* __restrict__ start, Index* label, Bits* rows_in, Bits* cols_in) {
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const int k = zone[i];
        if (k < 4) label[i] = start[k];
        if (k != 1) continue;
        bit_and(rows_in + (i >> 5), ~(1u << (i & 31)));
        bit_and(cols_in + (row_mate[i] >> 5), ~(1u << (row_mate[i] & 31)));
    }
}

// Reads: labels, the rows in question. Writes, by atomics: the bits of one segment; from_row of its
// own row to -1 if it is in another, a copy of what the row has if not.
KERNEL pick(Index n_rows, const Index* __restrict__ row_mate, const Index* __restrict__ label,
            const Bits* rows_in, const Index* __restrict__ from_row, Index segment, Bits* rows,
            Bits* cols, Index* degree) {
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const bool in = has(rows_in, i) && label[i] == segment;
        degree[i] = in ? from_row[i] : -1;
        if (!in) continue;
        claim(rows, i);
        claim(cols, row_mate[i]);
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

// Reads: labels, the running sum of what `mark` wrote, and its end: how many blocks there are.
// Writes: the group of its own row.
KERNEL number(Index n_rows, const Index* __restrict__ row_mate, const Index* __restrict__ label,
              const Index* __restrict__ blocks, const Index* __restrict__ n_blocks, Index* group) {
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        const Index outside = label[i] == -1             ? 0
                              : row_mate[i] != UNMATCHED ? *n_blocks + 1
                                                         : *n_blocks + 2;
        group[i] = label[i] >= 0 ? blocks[label[i]] : outside;
    }
}
