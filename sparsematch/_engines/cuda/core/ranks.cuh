// The vertices that each of several GPUs owns, and its send buffers for messages to the others.
#pragma once

// Rank r owns vertices starts[r] .. starts[r + 1] - 1, this one those from begin to end.
struct Owners {
    const long long* starts;
    long long begin, end;
};
DEVICE bool owns(const Owners& of, Index v) { return v >= of.begin && v < of.end; }
// Linear: ranks are few, and the starts are cached.
DEVICE int owner(const Owners& of, Index v) {
    int rank = 0;
    while (v >= of.starts[rank + 1]) ++rank;
    return rank;
}

// A send buffer of `capacity` messages per other rank; of a larger count the rest is not stored.
struct SendBuffers {
    Index* messages;
    long long* counts;  // by rank
    long long capacity;
    int rank, ranks;
};
template <class Message> DEVICE Message* buffer_for(const SendBuffers& out, int to) {
    const long long number = to > out.rank ? to - 1 : to;
    return reinterpret_cast<Message*>(out.messages) + number * out.capacity;
}
// Returns false if the buffer is full. Safe: slots are reserved by atomic additions.
template <class Message> DEVICE bool send(const SendBuffers& out, int to, const Message& message) {
    const long long slot = draw_number(out.counts, static_cast<long long>(to));
    if (slot >= out.capacity) return false;
    buffer_for<Message>(out, to)[slot] = message;
    return true;
}
// Sends N messages of each lane, to the ranks `to` (none if negative), with one atomic addition for
// each rank. Returns the messages that met a full buffer, a bit each.
template <int N, class Message>
DEVICE Bits send_each(const SendBuffers& out, const int (&to)[N], const Message (&messages)[N]) {
    Bits refused = 0;
    for (int rank = 0; rank < out.ranks; ++rank) {
        if (rank == out.rank) continue;
        bool wanted[N];
        long long slot[N];
        for (int k = 0; k < N; ++k) wanted[k] = to[k] == rank;
        draw_each(out.counts + rank, wanted, slot);
        Message* const buffer = buffer_for<Message>(out, rank);
        for (int k = 0; k < N; ++k) {
            if (!wanted[k]) continue;
            if (slot[k] < out.capacity) buffer[slot[k]] = messages[k];
            else refused |= 1u << k;
        }
    }
    return refused;
}

// Copies counts to pinned host memory, and clears the first `cleared` of them.
KERNEL report(long long* counts, int n, int cleared, long long* to) {
    for (long long k = thread_index(); k < n; k += thread_count()) {
        to[k] = counts[k];
        if (k < cleared) counts[k] = 0;
    }
}
