// Queues that the lanes of a warp, or the warps of a block, fill together.
#pragma once

// Appends by whole warps: each collects as many values as it has lanes before it reserves places.
// `staged` is in shared memory, 2 * WARP of the warp's own; all lanes must call.
template <class T> struct WarpQueue {
    T *values, *staged;
    Index* count;
    int n;

    DEVICE void put(const T& value, bool wanted) {
        const Bits who = ballot(wanted);
        if (wanted) staged[n + count_lanes_before(who)] = value;
        n += count_bits(who);
        if (n >= WARP) flush(WARP);
    }
    DEVICE void flush() { flush(n); }
    DEVICE void flush(int size) {
        sync_warp();
        n -= size;
        Index first = 0;
        if (lane_in_warp() == 0 && size) first = add(count, static_cast<Index>(size));
        first = broadcast(first, 0);
        // own place
        if (lane_in_warp() < size) values[first + lane_in_warp()] = staged[n + lane_in_warp()];
        sync_warp();
    }
};

// Values fill the block's shared memory, then a queue in global memory. All lanes must call.
template <class T, int CAPACITY> struct BlockQueue {
    T *buffer, *values;
    int* near;  // values of the block, those that found no room included
    Index* count;

    DEVICE void put(const T& value, bool wanted) {
        const Bits who = ballot(wanted);
        if (!who) return;
        int first = 0;
        if (lane_in_warp() == 0) first = add(near, count_bits(who));
        const int at = broadcast(first, 0) + count_lanes_before(who);
        if (!wanted) return;
        if (at < CAPACITY) buffer[at] = value;  // own place
        else push(values, count, value, true);
    }
};
