// Connected components: rows and columns that entries join, by union and find.
//
// Union and find as in union_find.cuh; two entries of each list first, so that most of the others
// have nothing left to join (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity
// computation via subgraph sampling, IPDPS 2018). Vertices are the rows, then the columns. FIRST:
// entries that are joined at first; LONG: entries above which a list is left to a whole block.
#include "core/device.cuh"
#include "core/union_find.cuh"

// The first entries of each list: they make most one tree. Writes: up. Time: O(n_major / threads).
KERNEL join_first(Index n_major, const Index* __restrict__ indptr,
                  const Index* __restrict__ indices, long long major_offset, long long minor_offset,
                  long long* up) {
    for (Index k = thread_index(); k < n_major; k += thread_count()) {
        const Index end = indptr[k + 1] - indptr[k] > FIRST ? indptr[k] + FIRST : indptr[k + 1];
        for (Index p = indptr[k]; p < end; ++p)
            join(up, major_offset + k, minor_offset + indices[p]);
    }
}

// Writes: of each vertex its root.
KERNEL flatten(long long n, long long* up) {
    for (long long v = thread_index(); v < n; v += thread_count()) store(up + v, root_of(up, v));
}

// Entries begin, begin + step, ... below end: most minors are under the root already.
DEVICE void join_list(long long* up, long long v, const Index* indices, Index begin, Index end,
                      Index step, long long minor_offset) {
    if (begin >= end) return;
    for (long long root = find(up, v); begin < end; begin += step) {
        const long long w = minor_offset + indices[begin];
        if (load(up + w) != root) root = join(up, root, w);
    }
}

// The others. Reads: the lists, of majors that 2^shift neighbouring threads share. Writes: up; the
// majors with very many entries. Time: O(nnz / threads + LONG / 2^shift).
KERNEL join_others(Index n_major, const Index* __restrict__ indptr,
                   const Index* __restrict__ indices, long long major_offset,
                   long long minor_offset, int shift, long long* up, Index* long_majors,
                   Index* n_long) {
    for_shared(n_major, shift, [&](Index k, Index lane, Index lanes) {
        const Index begin = indptr[k], end = indptr[k + 1];
        if (end - begin <= LONG)
            join_list(up, major_offset + k, indices, begin + FIRST + lane, end, lanes,
                      minor_offset);
        else if (lane == 0) long_majors[add(n_long, static_cast<Index>(1))] = k;
    });
}

// The same for majors with very many entries, a block each. Time: O(entries / threads of a block).
KERNEL join_long(const Index* __restrict__ indptr, const Index* __restrict__ indices,
                 long long major_offset, long long minor_offset, long long* up,
                 const Index* __restrict__ long_majors, const Index* __restrict__ n_long) {
    for (Index r = block_index(); r < *n_long; r += block_count()) {
        const Index k = long_majors[r], begin = indptr[k] + FIRST + thread_in_block();
        join_list(up, major_offset + k, indices, begin, indptr[k + 1],
                  static_cast<Index>(threads_in_block()), minor_offset);
    }
}

// Writes: one where a root stands, else zero (own entry).
KERNEL roots(long long n, const long long* __restrict__ up, Index* is_root) {
    for (long long v = thread_index(); v < n; v += thread_count()) is_root[v] = up[v] == v;
}

// Reads: the trees, the running number of roots. Writes: the label of its own vertex.
KERNEL label(long long n, long long* up, const Index* __restrict__ number, Index* labels) {
    for (long long v = thread_index(); v < n; v += thread_count())
        labels[v] = number[find(up, v)] - 1;
}
