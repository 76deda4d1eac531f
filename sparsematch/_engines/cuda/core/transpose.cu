// Transpose: the lists of the minors, from those of the majors.
//
// Counting sort in two passes. Invariant: an entry has a place of its own among those of its minor,
// given out by an atomic addition; so the entries of a list come in no particular order, which no
// reader relies on. LONG: entries above which a list is left to a whole block.
#include "core/device.cuh"

// Reads: indices. Writes: counts, zero before, by atomic addition; place: of each entry among those
// of its minor (own entry). Time: O(nnz / threads).
KERNEL count(Index nnz, const Index* __restrict__ indices, Index* counts, Index* place) {
    for (Index p = thread_index(); p < nnz; p += thread_count())
        place[p] = add(counts + indices[p], static_cast<Index>(1));
}

// Reads: the lists of the majors, the place of each entry, where the list of each minor begins.
// Writes: the lists of the minors, each entry once; the majors with very many entries. 2^shift
// neighbouring threads share a major. Time: O(nnz / threads + LONG / 2^shift).
KERNEL fill(Index n_major, const Index* __restrict__ indptr, const Index* __restrict__ indices,
            const Index* __restrict__ place, const Index* __restrict__ begin, Index* transposed,
            Index* long_majors, Index* n_long, int shift) {
    for_shared(n_major, shift, [&](Index v, Index lane, Index lanes) {
        const bool is_long = indptr[v + 1] - indptr[v] > LONG;
        if (is_long && lane == 0) long_majors[add(n_long, static_cast<Index>(1))] = v;
        for (Index p = indptr[v] + lane; p < indptr[v + 1] && !is_long; p += lanes)
            transposed[begin[indices[p]] + place[p]] = v;  // a place of its own
    });
}

// The same for majors with very many entries, a block each. Time: O(entries / threads of a block).
KERNEL fill_long(const Index* __restrict__ indptr, const Index* __restrict__ indices,
                 const Index* __restrict__ place, const Index* __restrict__ begin,
                 Index* transposed, const Index* __restrict__ long_majors,
                 const Index* __restrict__ n_long) {
    for (Index r = block_index(); r < *n_long; r += block_count()) {
        const Index v = long_majors[r];
        for (Index p = indptr[v] + thread_in_block(); p < indptr[v + 1]; p += threads_in_block())
            transposed[begin[indices[p]] + place[p]] = v;  // a place of its own
    }
}
