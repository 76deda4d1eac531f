// What the starts share: a bit for each column that has a mate, an order of the rows. STRETCH:
// neighbouring rows that are visited in their own order.
#pragma once

// The columns that are matched at the beginning. Reads: col_mate. Writes: matched, own word.
// Time: O(n_cols / threads).
KERNEL mark(Index n_cols, const Index* __restrict__ col_mate, Bits* matched) {
    make_set(matched, n_cols, nullptr, [&](long long j) { return col_mate[j] != UNMATCHED; });
}

// Stretches of rows that a warp reads together, in an order without trace of theirs: drift needs 2.
DEVICE long long stretches(Index n_rows) {
    return (static_cast<long long>(n_rows) + STRETCH - 1) / STRETCH;
}
// The t-th row of this order, or none.
DEVICE Index visited(long long t, Index n_rows, int bits, unsigned seed) {
    const Index from =
        shuffle(static_cast<Index>(t / STRETCH), static_cast<Index>(stretches(n_rows)), bits, seed);
    const long long i = static_cast<long long>(from) * STRETCH + t % STRETCH;
    return i < n_rows ? static_cast<Index>(i) : UNMATCHED;
}
