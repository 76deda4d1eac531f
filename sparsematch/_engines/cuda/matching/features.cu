// What the choice of a start depends on, and whether any is needed: one pass over the lists.
#include "core/device.cuh"

// Zero at the launch. `single`: lists of one entry; `linked`: rows of slots that long lists need,
// see ms_bfs.cuh, `most` a list; `off_diagonal`: whether a list lacks the vertex of its own number;
// `squares`: the sum of the squares of the lengths; `first_shared`, `last_shared`: how many lists
// begin, or end, with a vertex with which another does, counted up to a few more than MAX_SHARED.
struct Features {
    Wide squares;
    long long linked;
    Index single, off_diagonal, first_shared, last_shared;
};

// Lists from this length on are not searched for a vertex.
#define LONG 1024

// Puts an end of a list in a set, and counts it if it is there already; when many are, no longer.
DEVICE void put_end(Bits* set, const Index* end, Index* shared) {
    if (load(shared) > MAX_SHARED) return;
    if (!claim(set, *end)) add(shared, static_cast<Index>(1));
}

// Reads: indptr; of indices the ends of the lists, the rest only as long as no list lacks its own
// number, and not at all unless `square`. Writes: f, firsts and lasts, which are empty at first, by
// atomics. Time: O(n / threads), O(nnz / threads) where the diagonal has no zero.
KERNEL features(Index n, Index square, int width, int most, const Index* __restrict__ indptr,
                const Index* __restrict__ indices, Features* f, Bits* firsts, Bits* lasts) {
    Wide squares = 0, linked = 0;
    Index single = 0;
    for (Index i = thread_index(); i < n; i += thread_count()) {
        const Index begin = indptr[i], size = indptr[i + 1] - begin;
        squares += static_cast<Wide>(size) * static_cast<Wide>(size);
        single += size == 1;
        const Index rows = width && size > width ? (size - 2) / (width - 2) : 0;
        linked += rows <= most ? rows : 0;
        if (size) put_end(firsts, indices + begin, &f->first_shared);
        if (size) put_end(lasts, indices + begin + size - 1, &f->last_shared);
        if (!square || load(&f->off_diagonal)) continue;
        bool found = false;
        if (size < LONG)
            for (Index p = begin; !found && p < begin + size; ++p) found = indices[p] == i;
        if (!found) store(&f->off_diagonal, static_cast<Index>(1));  // all write the same
    }
    add_of_block(&f->squares, squares);
    add_of_block(reinterpret_cast<Wide*>(&f->linked), linked);
    add_of_block(&f->single, single);
}

// Matches each major that has entries with the first, or the last, in its list: no two share it.
// Writes: both mates.
KERNEL match_ends(Index n, bool last, const Index* __restrict__ indptr,
                  const Index* __restrict__ indices, Index* major_mate, Index* minor_mate) {
    for (Index i = thread_index(); i < n; i += thread_count()) {
        const Index begin = indptr[i], end = indptr[i + 1];
        if (begin == end) continue;
        const Index j = indices[last ? end - 1 : begin];
        major_mate[i] = j;
        minor_mate[j] = i;
    }
}

// Matches each vertex with the one of its own number. Writes: both mates.
KERNEL match_diagonal(Index n, Index* major_mate, Index* minor_mate) {
    for (Index i = thread_index(); i < n; i += thread_count()) major_mate[i] = minor_mate[i] = i;
}
