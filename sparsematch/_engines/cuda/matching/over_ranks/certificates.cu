// Is a matching over several GPUs valid, and maximal: each checks its own rows and columns.
#include "core/device.cuh"
#include "core/ranks.cuh"

// A vertex, and one that claims to be matched with it.
struct alignas(8) Pair {
    Index vertex, partner;
};

// The first thread that finds something wrong writes it to found[1] and [2], and sets found[0].
DEVICE void find(long long* found, Index first, Index second) {
    if (compare_and_swap(found, 0ll, 1ll)) return;
    found[1] = first;
    found[2] = second;
}

// Whether the mates of own vertices are matched with them; mates of other ranks are sent there.
// Reads: mates.
KERNEL check_mates(Owners own, const Index* mate, Owners others, const Index* their_mate,
                   SendBuffers out, long long* found) {
    for (long long k = thread_index(); k < own.end - own.begin; k += thread_count()) {
        const Index v = static_cast<Index>(own.begin + k), w = mate[k];
        if (w == UNMATCHED) continue;
        if (!owns(others, w)) send(out, owner(others, w), Pair{w, v});
        else if (their_mate[w - others.begin] != v) find(found, v, w);
    }
}
// The same for the mates of vertices of other ranks.
KERNEL check_arrived(const Pair* arrived, long long n, Owners own, const Index* mate,
                     long long* found) {
    for (long long k = thread_index(); k < n; k += thread_count())
        if (mate[arrived[k].vertex - own.begin] != arrived[k].partner)
            find(found, arrived[k].partner, arrived[k].vertex);
}

// Whether each pair of an own row is an entry; a warp for each row. Reads: lists, row_mate.
KERNEL find_entries(const long long* indptr, const Index* indices, Owners rows,
                    const Index* row_mate, long long* found) {
    for (long long r = thread_index() / WARP; r < rows.end - rows.begin;
         r += thread_count() / WARP) {
        const Index mate = row_mate[r];
        bool here = mate == UNMATCHED;
        for (long long from = indptr[r]; from < indptr[r + 1] && !ballot(here); from += WARP) {
            const long long p = from + lane_in_warp();
            here = p < indptr[r + 1] && indices[p] == mate;
        }
        if (!ballot(here) && lane_in_warp() == 0)
            find(found, static_cast<Index>(rows.begin + r), mate);
    }
}

// An entry of a free own row in a column without its bit of `matched`; a warp for each row.
KERNEL free_pair(const long long* indptr, const Index* indices, Owners rows, const Index* row_mate,
                 const Bits* matched, long long* found) {
    for (long long r = thread_index() / WARP; r < rows.end - rows.begin;
         r += thread_count() / WARP) {
        if (row_mate[r] != UNMATCHED) continue;
        for (long long p = indptr[r] + lane_in_warp(); p < indptr[r + 1]; p += WARP)
            if (!is_in(matched, indices[p]))
                find(found, static_cast<Index>(rows.begin + r), indices[p]);
    }
}
