// Transpose: the lists of the minors, from those of the majors.
//
// Counting sort in two passes. Invariant: an entry has a place of its own among those of its minor, given out by an atomic
// addition; so the entries of a list come in no particular order, which no reader relies on.
#include "common.cuh"

// Reads: indices. Writes: counts, zero before, by atomic addition; place: of each entry among those of its minor (own entry).
// Time: O(nnz / threads).
KERNEL count(Index nnz, const Index* __restrict__ indices, Index* counts, Index* place) {
    for (Index p = thread_index(); p < nnz; p += thread_count()) place[p] = add(counts + indices[p], static_cast<Index>(1));
}

// Reads: the lists of the majors, the place of each entry, where the list of each minor begins. Writes: the lists of the
// minors, each entry once. 2^shift neighbouring threads share a major. Time: O(nnz / threads + degree / 2^shift).
KERNEL fill(Index n_major, const Index* __restrict__ indptr, const Index* __restrict__ indices, const Index* __restrict__ place,
            const Index* __restrict__ begin, Index* transposed, int shift) {
    const long long lanes = 1ll << shift;
    for (long long t = thread_index(); t < static_cast<long long>(n_major) << shift; t += thread_count()) {
        const Index v = static_cast<Index>(t >> shift);
        for (Index p = indptr[v] + static_cast<Index>(t & (lanes - 1)); p < indptr[v + 1]; p += static_cast<Index>(lanes))
            transposed[begin[indices[p]] + place[p]] = v;  // a place of its own
    }
}
