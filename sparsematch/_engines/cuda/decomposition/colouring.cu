// Strong components of what peeling and the pivot have left, all segments of it at a time: see
// strong_components.cu, 4.
#include "core/device.cuh"
#include "core/level_queue.cuh"

// A bijection on [0, 2^bits) that leaves no order, so that chains of components break up in few
// rounds.
DEVICE Index colour_of(Index k, int bits) {
    const Wide mask = (1ull << bits) - 1;
    Wide x = static_cast<Wide>(k) * 0x9e3779b97f4a7c15ull & mask;
    x ^= x >> (bits + 1) / 2;
    return static_cast<Index>(x * 0xd1342543de82ef95ull & mask);
}

// Writes: the colour of each row of the list, and that it is in the queue.
KERNEL paint(Index n, const Index* __restrict__ list, int bits, Index* colour, Index* queued) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        colour[list[k]] = colour_of(k, bits);  // own entry: a row is in the list once
        queued[list[k]] = 0;
    }
}

// Reads: the lists of the rows, labels. Writes: colours, by atomic maximum, until none would rise
// within its segment; queued, by exchange: whoever is first to name the coming level queues the
// row. Two queues take turns. Time: a barrier per level.
KERNEL __launch_bounds__(512)
    spread(Index n, const Index* __restrict__ list, const Index* __restrict__ indptr,
           const Index* __restrict__ indices, const Index* __restrict__ col_mate,
           const Bits* cols_in, const Index* __restrict__ label, Index* colour, Index* queued,
           Index* queue_0, Index* queue_1, Index* count, int shift, int* barrier) {
    const Index lanes = static_cast<Index>(1) << shift;
    Levels q{queue_1, count, 0, 0};
    Index width = n;
    while (width > 0) {
        clear_ahead(q);
        for (long long t = spread_index(); t < static_cast<long long>(width) << shift;
             t += thread_count()) {
            const Index i =
                q.level ? load((q.level & 1 ? queue_1 : queue_0) + (t >> shift)) : list[t >> shift];
            const Index mine = load(colour + i);
            for (Index p = indptr[i] + static_cast<Index>(t & (lanes - 1)); p < indptr[i + 1];
                 p += lanes) {
                const Index j = indices[p], k = has(cols_in, j) ? col_mate[j] : i;
                const bool rises = k != i && label[k] == label[i] && load(colour + k) < mine &&
                                   maximum(colour + k, mine) < mine;
                const Index coming = static_cast<Index>(q.level + 1);
                append(q, 0, k, rises && exchange(queued + k, coming) != coming);
            }
        }
        sync_grid(barrier);
        ++q.level;
        q.queue = q.level & 1 ? queue_0 : queue_1;  // of the level after
        width = width_of(q);
    }
}

// Reads: the lists of the columns, colours. Writes: found, by atomic claims: what leads to a row
// that has kept its own colour, under this colour. Time: O(nnz / threads), a barrier per level.
KERNEL __launch_bounds__(512)
    collect(Index n, const Index* __restrict__ list, int bits, const Index* __restrict__ indptr,
            const Index* __restrict__ indices, const Index* __restrict__ row_mate,
            const Bits* rows_in, const Index* __restrict__ colour, Bits* found, Index* queue,
            Index* count, int shift, int* barrier) {
    const Index lanes = static_cast<Index>(1) << shift;
    Levels q{queue, count, 0, 0};
    for (Index k = thread_index(); k < n; k += thread_count()) {
        const bool root = colour[list[k]] == colour_of(k, bits);
        if (root) claim(found, list[k]);
        push(queue, count, list[k], root);
    }
    sync_grid(barrier);
    while (const Index width = width_of(q)) {
        const Index end = q.begin + width;
        clear_ahead(q);
        for (long long t = spread_index(); t < static_cast<long long>(width) << shift;
             t += thread_count()) {
            const Index i = load(queue + q.begin + (t >> shift)), j = row_mate[i];
            for (Index p = indptr[j] + static_cast<Index>(t & (lanes - 1)); p < indptr[j + 1];
                 p += lanes) {
                const Index k = indices[p];
                append(
                    q, end, k,
                    has(rows_in, k) && colour[k] == colour[i] && !has(found, k) && claim(found, k));
            }
        }
        sync_grid(barrier);
        advance(q, width);
    }
}

// Reads: label, colour and whether its component is found, of each row of the list. Writes: the
// three in one number, so that sorting puts them in block order. A label and a colour have 31 bits:
// with more rows, no GPU would hold the matrix.
KERNEL keys(Index n, const Index* __restrict__ list, const Index* __restrict__ label,
            const Index* __restrict__ colour, const Bits* found, long long* key) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        const Index i = list[k];
        key[k] = static_cast<long long>(label[i]) << 32 | static_cast<long long>(colour[i]) << 1 |
                 !has(found, i);
    }
}

// Reads: the rows in that order, their new labels. Writes: the labels; clears the bits of the rows
// whose component is known.
KERNEL relabel(Index n, const Index* __restrict__ list, const long long* __restrict__ key,
               const long long* __restrict__ place, const Index* __restrict__ row_mate,
               Index* label, Bits* rows_in, Bits* cols_in) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        const Index i = list[k];
        label[i] = static_cast<Index>(place[k]);  // own entry: a row is in the list once
        if (key[k] & 1) continue;
        bit_and(rows_in + (i >> 5), ~(1u << (i & 31)));
        bit_and(cols_in + (row_mate[i] >> 5), ~(1u << (row_mate[i] & 31)));
    }
}
