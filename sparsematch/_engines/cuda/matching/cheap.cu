// Cheap start: each free row is matched with a free column, its first or one drawn at random.
//
// Duff, Kaya, Ucar (ACM TOMS 38, 2011), simple greedy, without order. Invariant: a column is
// claimed by one atomic on its bit, never released, and its row alone writes both mates; a row
// gives up only after it has seen all its columns matched. At random, stretches of rows come in a
// shuffled order too: where both follow a mesh, free rows and free columns end up far apart.
#include "core/device.cuh"
#include "matching/start_common.cuh"

enum { AT_ONCE = 4 };  // entries that are read at a time

// Reads: indptr, indices; row_mate if warm. Writes: matched, by atomics; mates of pairs that it
// made. Time: O(nnz / threads + degree).
KERNEL cheap(Index n_rows, const Index* __restrict__ indptr, const Index* __restrict__ indices,
             Index* row_mate, Index* col_mate, Bits* matched, bool warm, bool at_random, int bits,
             unsigned seed) {
    for (long long t = thread_index(); t < stretches(n_rows) * STRETCH; t += thread_count()) {
        const Index i = at_random ? visited(t, n_rows, bits, seed) : static_cast<Index>(t);
        if (i == UNMATCHED || i >= n_rows) continue;
        if (warm && row_mate[i] != UNMATCHED) continue;  // own entry: no other thread writes it
        const Index begin = indptr[i], degree = indptr[i + 1] - begin;
        const unsigned draw = at_random ? scatter(static_cast<unsigned>(i) ^ seed) : 0;
        Index at = degree > 1 ? (draw >> 1) % static_cast<unsigned>(degree) : 0;
        bool done = false;
        // most columns are free at first
        for (Index base = 0, step = 1; base < degree && !done; base += step, step = AT_ONCE) {
            Index j[AT_ONCE];
            bool free[AT_ONCE];
            for (int u = 0; u < AT_ONCE; ++u) {
                j[u] = u < step && base + u < degree ? indices[begin + at] : UNMATCHED;
                if (u >= step) continue;
                if (draw & 1) at = at ? at - 1 : degree - 1;
                else if (++at >= degree) at = 0;
            }
            for (int u = 0; u < AT_ONCE; ++u) free[u] = j[u] != UNMATCHED && !has(matched, j[u]);
            for (int u = 0; u < AT_ONCE; ++u) {
                if (done || !free[u] || !claim(matched, j[u])) continue;
                col_mate[j[u]] = i;
                row_mate[i] = j[u];
                done = true;
            }
        }
    }
}
