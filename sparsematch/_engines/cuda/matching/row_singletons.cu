// Row singletons: rows with one free column are matched with it, which some maximum matching does
// as well; in a few passes, as others come down to one.
//
// The first rule of Karp, Sipser (FOCS 1981) for rows alone, from their lists: no degrees are
// counted. Invariant: a column is claimed by one atomic on its bit, and its row alone writes both
// mates. No column is ever released, so a row without a free column never has one again.
#include "core/device.cuh"

// Rows of more entries are not looked at: they are hardly ever left with one column.
enum { SHORT = 32 };

// One pass. Reads: lists. Writes: matched, by atomics; mates of pairs that it made; finished: rows
// that are matched or have no free column. Time: O(n_rows / threads).
KERNEL row_singletons(Index n_rows, const Index* __restrict__ indptr,
                      const Index* __restrict__ indices, Index* row_mate, Index* col_mate,
                      Bits* matched, Bits* finished) {
    for (long long base = thread_index() - lane_in_warp(); base < n_rows; base += thread_count()) {
        const long long t = base + lane_in_warp();
        const Index i = static_cast<Index>(t);
        bool ends = false;
        const Index begin = t < n_rows ? indptr[i] : 0, end = t < n_rows ? indptr[i + 1] : 0;
        if (t < n_rows && end - begin <= SHORT && !has(finished, i)) {
            Index only = UNMATCHED;
            int free = 0;
            for (Index p = begin; p < end && free < 2; ++p) {
                const Index j = indices[p];
                if (j == only || has(matched, j)) continue;
                only = j;
                ++free;
            }
            ends = free < 2;
            if (free == 1 && claim(matched, only)) {
                row_mate[i] = only;
                col_mate[only] = i;
            }
        }
        const Bits all = ballot(ends);
        if (lane_in_warp() == 0 && all) bit_or(finished + (base >> 5), all << (base & 31));
    }
}
