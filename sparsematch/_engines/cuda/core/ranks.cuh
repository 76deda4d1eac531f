// The vertices that each of several GPUs owns, and what one sends to the others.
#pragma once

// Rank r owns vertices starts[r] .. starts[r + 1] - 1, this one those from begin to end.
struct Owners {
    const long long* starts;
    long long begin, end;
};
DEVICE bool owns(const Owners& of, Index v) { return v >= of.begin && v < of.end; }
// Ranks are few, and the starts are in the cache.
DEVICE int owner(const Owners& of, Index v) {
    int rank = 0;
    while (v >= of.starts[rank + 1]) ++rank;
    return rank;
}

// A box for each other rank, with room for so many letters. A count may exceed it: the letters
// beyond were not posted.
struct Outbox {
    Index* letters;
    long long* counts;  // by rank
    long long room;
    int rank, ranks;
};
// Returns whether there was room. Safe: places are given out by atomic additions.
template <class Letter>
DEVICE bool post(const Outbox& out, int to, const Letter& letter) {
    const long long at = draw_number(out.counts, static_cast<long long>(to));
    if (at >= out.room) return false;
    const long long box = to > out.rank ? to - 1 : to;
    reinterpret_cast<Letter*>(out.letters)[box * out.room + at] = letter;
    return true;
}
// N letters of each lane, to the ranks `to` (none where that is negative), with one atomic addition
// for each rank. Returns which of them found no room, a bit each.
template <int N, class Letter>
DEVICE Bits post_each(const Outbox& out, const int (&to)[N], const Letter (&letters)[N]) {
    Bits left = 0;
    for (int rank = 0; rank < out.ranks; ++rank) {
        if (rank == out.rank) continue;
        bool wanted[N];
        long long at[N];
        for (int k = 0; k < N; ++k) wanted[k] = to[k] == rank;
        draw_each(out.counts + rank, wanted, at);
        Letter* const box =
            reinterpret_cast<Letter*>(out.letters) + (rank > out.rank ? rank - 1 : rank) * out.room;
        for (int k = 0; k < N; ++k) {
            if (!wanted[k]) continue;
            if (at[k] < out.room) box[at[k]] = letters[k];
            else left |= 1u << k;
        }
    }
    return left;
}
