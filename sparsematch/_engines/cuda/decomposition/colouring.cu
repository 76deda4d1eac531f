// Strong components by colouring, of what trimming and the pivot have left, all segments of it at a
// time: see strong_components.cu, 4.
#include "core/device.cuh"
#include "core/level_queue.cuh"

// What the rows lead to, or what leads to them: their lists, or those of their columns; the mates
// of what these name, and what of it is in question.
struct Arcs {
    Csr lists;
    ReadOnly<Index> mate;
    const Bits* inside;
    int shift;  // 2^shift neighbouring threads share a list
};

// A bijection on [0, 2^bits) that leaves no order, so that chains break up in few rounds.
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

// Reads: the rows' arcs, labels. Writes: colours, by atomic maximum, until none would rise within
// its segment; queued, by exchange: the first to name the next level queues the row. Two queues of
// n rows in rotation. Time: a barrier per level.
KERNEL __launch_bounds__(512)
    spread(Index n, const Index* __restrict__ list, Arcs arcs, const Index* __restrict__ label,
           Index* colour, Index* queued, Index* queues, Index* count, Allowance allowance,
           int* barrier) {
    LevelCost levels = level_cost(allowance);
    const Index lanes = static_cast<Index>(1) << arcs.shift;
    LevelQueue q = level_queue(queues + n, count);
    const Index* from = list;
    Index width = n;
    while (width > 0 && levels.allow(width)) {
        q.clear_following();
        const Index next = static_cast<Index>(q.widths.turn);
        for (long long t = spread_index(); t < static_cast<long long>(width) << arcs.shift;
             t += thread_count()) {
            const Index i = load(from + (t >> arcs.shift)), mine = load(colour + i);
            const Index end = arcs.lists.indptr[i + 1];
            for (Index p = arcs.lists.indptr[i] + static_cast<Index>(t & (lanes - 1)); p < end;
                 p += lanes) {
                const Index j = arcs.lists.indices[p], k = has(arcs.inside, j) ? arcs.mate[j] : i;
                const bool rises = k != i && label[k] == label[i] && load(colour + k) < mine &&
                                   maximum(colour + k, mine) < mine;
                q.append(0, k, rises && exchange(queued + k, next) != next);
            }
        }
        sync_grid(barrier);
        q.advance(0);
        width = q.width();
        from = q.values;
        q.values = q.values == queues ? queues + n : queues;
    }
    levels.finish();
}

// Reads: the lists of the columns, colours. Writes: found, by atomic claims: what leads to a row
// that has kept its own colour, under this colour. Time: O(nnz / threads), a barrier per level.
KERNEL __launch_bounds__(512) collect(Index n, const Index* __restrict__ list, int bits, Arcs arcs,
                                      const Index* __restrict__ colour, Bits* found, Index* queue,
                                      Index* count, Allowance allowance, int* barrier) {
    LevelCost levels = level_cost(allowance);
    const Index lanes = static_cast<Index>(1) << arcs.shift;
    LevelQueue q = level_queue(queue, count);
    for (Index k = thread_index(); k < n; k += thread_count()) {
        const bool root = colour[list[k]] == colour_of(k, bits);
        if (root) claim(found, list[k]);
        push(queue, count, list[k], root);
    }
    sync_grid(barrier);
    for (Index width = q.width(); width && levels.allow(width); width = q.width()) {
        const Index end = q.begin + width;
        q.clear_following();
        for (long long t = spread_index(); t < static_cast<long long>(width) << arcs.shift;
             t += thread_count()) {
            const Index i = load(queue + q.begin + (t >> arcs.shift)), j = arcs.mate[i];
            const Index last = arcs.lists.indptr[j + 1];
            for (Index p = arcs.lists.indptr[j] + static_cast<Index>(t & (lanes - 1)); p < last;
                 p += lanes) {
                const Index k = arcs.lists.indices[p];
                q.append(end, k,
                         has(arcs.inside, k) && colour[k] == colour[i] && !has(found, k) &&
                             claim(found, k));
            }
        }
        sync_grid(barrier);
        q.advance(width);
    }
    levels.finish();
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

// The list and its keys in the order of the keys. Writes: own entries.
KERNEL gather(Index n, const long long* __restrict__ order, const Index* __restrict__ list,
              const long long* __restrict__ key, Index* sorted_list, long long* sorted_key) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        sorted_list[k] = list[order[k]];
        sorted_key[k] = key[order[k]];
    }
}

// Reads: the rows and keys in that order. Writes: the labels: a segment begins where its label
// says, a part of it as many places later as there are rows of it before; clears the bits of the
// rows whose component is known, and lists the others.
KERNEL relabel(Index n, const Index* __restrict__ list, const long long* __restrict__ key,
               const Index* __restrict__ row_mate, Index* label, Bits* rows_in, Bits* cols_in,
               Index* left, Index* n_left) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        const Index i = list[k];
        const long long segment = key[k] >> 32;
        // own entry: a row is in the list once
        label[i] = static_cast<Index>(segment) +
                   first_not_below(key, static_cast<Index>(0), n, key[k]) -
                   first_not_below(key, static_cast<Index>(0), n, segment << 32);
        push(left, n_left, i, (key[k] & 1) != 0);
        if (key[k] & 1) continue;
        remove(rows_in, i);
        remove(cols_in, row_mate[i]);
    }
}
