// Running sums, and the largest of many numbers: all blocks of a launch together.
//
// Each block has a stretch. It adds up its numbers; when all have, it begins with the sum of the
// stretches before its own (reduce-then-scan; Blelloch, Prefix sums and their applications, 1990).
// Macro: THREADS of a block.
#include "core/device.cuh"

enum { EACH = 8 };  // numbers of a thread at a time

// Sums over the threads before this one. All threads of the block; the last gets the whole sum.
DEVICE Index sum_before(Index mine, Index& all) {
    SHARED Index sums[2][THREADS];
    int from = 0;
    sums[0][thread_in_block()] = mine;
    sync_block();
    for (int step = 1; step < threads_in_block(); step *= 2, from ^= 1) {
        const Index own = sums[from][thread_in_block()];
        sums[from ^ 1][thread_in_block()] =
            thread_in_block() < step ? own : own + sums[from][thread_in_block() - step];
        sync_block();
    }
    all = sums[from][threads_in_block() - 1];
    const Index before = sums[from][thread_in_block()] - mine;
    sync_block();  // the next call writes what is read here
    return before;
}

// Reads and writes: values, each of which becomes the sum of those up to it; of_blocks: room
// for one of each block. Time: O(n / threads + blocks).
KERNEL __launch_bounds__(THREADS)
    running_sum(long long n, Index* values, Index* of_blocks, int* barrier) {
    const long long tile = static_cast<long long>(EACH) * threads_in_block();
    const long long stretch = (n / tile / block_count() + 1) * tile;
    const long long begin = stretch * block_index(),
                    end = begin + stretch < n ? begin + stretch : n;
    Index mine = 0, sum = 0;
    for (long long k = begin + thread_in_block(); k < end; k += threads_in_block())
        mine += values[k];
    sum_before(mine, sum);
    if (thread_in_block() == 0) store(of_blocks + block_index(), sum);
    sync_grid(barrier);
    mine = 0;
    for (int k = thread_in_block(); k < block_index(); k += threads_in_block())
        mine += load(of_blocks + k);
    Index so_far;
    sum_before(mine, so_far);
    for (long long base = begin; base < end; base += tile) {
        const long long first = base + static_cast<long long>(EACH) * thread_in_block();
        Index own[EACH], added = 0;
        for (int k = 0; k < EACH; ++k) own[k] = added += first + k < end ? values[first + k] : 0;
        const Index before = so_far + sum_before(added, sum);
        for (int k = 0; k < EACH; ++k)
            if (first + k < end) values[first + k] = before + own[k];
        so_far += sum;
    }
}

// Reads: values. Writes: best, zero at the launch, by atomics; where: the place of the largest, the
// first of equals, or 0 if none is positive. Time: O(n / threads).
KERNEL __launch_bounds__(THREADS)
    largest(Index n, const Index* __restrict__ values, Wide* best, long long* where, int* barrier) {
    Wide mine = 0;
    for (Index k = thread_index(); k < n; k += thread_count()) {
        if (values[k] <= 0) continue;
        const Wide key = static_cast<Wide>(values[k]) << 32 | (0xffffffffu - static_cast<Bits>(k));
        if (key > mine) mine = key;
    }
    mine = ~least_in_warp(~mine);
    if (mine && lane_in_warp() == 0) maximum(best, mine);
    sync_grid(barrier);
    if (thread_index() == 0) {
        const Wide key = load(best);
        *where = key ? static_cast<long long>(0xffffffffu - static_cast<Bits>(key)) : 0;
    }
}
