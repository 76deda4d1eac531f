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
