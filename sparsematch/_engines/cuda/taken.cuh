// What the starts share: a bit for each column that has a mate.
#pragma once

// The columns that a matching to begin with has taken. Reads: col_mate. Writes: taken, own word. Time: O(n_cols / threads).
KERNEL mark(Index n_cols, const Index* __restrict__ col_mate, Bits* taken) {
    for (Index w = thread_index(); w < n_cols / 32 + 1; w += thread_count()) {
        Bits bits = 0;
        for (int k = 0; k < 32 && w * 32 + k < n_cols; ++k) bits |= static_cast<Bits>(col_mate[w * 32 + k] != UNMATCHED) << k;
        taken[w] = bits;
    }
}
