// Whether the arrays of a view are consistent; whether this is a matching, whether it is maximal:
// from one pass over rows, columns and entries.
#include "core/device.cuh"

// Reads: indptr, those of the `size` indices that it bounds. Writes: report, in host memory, zero
// at the launch: whether something is wrong, and the number of entries. All that write the first
// write the same. Time: O((n_major + nnz) / threads).
KERNEL check(Index n_major, Index n_minor, Index size, const Index* __restrict__ indptr,
             const Index* __restrict__ indices, long long* report) {
    enum { AT_ONCE = 8 };  // loads of a thread
    const Index nnz = indptr[n_major], end = nnz < size ? nnz : size;
    const long long step = thread_count();
    bool wrong = indptr[0] != 0 || nnz < 0 || nnz > size;
    for (long long base = thread_index(); base < n_major; base += AT_ONCE * step)
        for (int u = 0; u < AT_ONCE; ++u) {
            const long long k = base + u * step;
            wrong |= k < n_major && indptr[k] > indptr[k + 1];
        }
    for (long long base = thread_index(); base < end; base += AT_ONCE * step) {
        Index j[AT_ONCE];
        for (int u = 0; u < AT_ONCE; ++u)
            j[u] = base + u * step < end ? indices[base + u * step] : 0;
        for (int u = 0; u < AT_ONCE; ++u) wrong |= j[u] < 0 || j[u] >= n_minor;
    }
    if (wrong) store(report, 1ll);
    if (thread_index() == 0) report[1] = nnz;  // read after the launch only
}

// Reads: the lists and both mates, which are within range. Writes: first, by atomic minimum, where
// the first flaw is: 2 v if major v and its mate disagree, 2 v + 1 if their pair is no entry, 2
// n_major + j if minor j and its mate disagree. Time: O(nnz / threads + degree).
KERNEL wrong_pair(Index n_major, Index n_minor, const Index* __restrict__ indptr,
                  const Index* __restrict__ indices, const Index* __restrict__ major_mate,
                  const Index* __restrict__ minor_mate, long long* first) {
    for (long long t = thread_index(); t < static_cast<long long>(n_major) + n_minor;
         t += thread_count()) {
        if (t >= n_major) {
            const Index j = static_cast<Index>(t - n_major), v = minor_mate[j];
            if (v != UNMATCHED && major_mate[v] != j) minimum(first, 2ll * n_major + j);
            continue;
        }
        const Index v = static_cast<Index>(t), j = major_mate[v], last = indptr[v + 1];
        if (j == UNMATCHED) continue;
        Index p = indptr[v];
        while (p < last && indices[p] != j) ++p;
        if (minor_mate[j] != v) minimum(first, 2ll * v);
        else if (p == last) minimum(first, 2ll * v + 1);
    }
}

// Reads: the lists of the free majors, both mates. Writes: pair, of some entry whose ends are both
// free, by the thread that wins the first number, -1 before. Time: O(nnz / threads).
KERNEL free_pair(Index n_major, const Index* __restrict__ indptr, const Index* __restrict__ indices,
                 const Index* __restrict__ major_mate, const Index* __restrict__ minor_mate,
                 Index* pair) {
    for (Index v = thread_index(); v < n_major; v += thread_count()) {
        if (major_mate[v] != UNMATCHED) continue;
        for (Index p = indptr[v]; p < indptr[v + 1]; ++p)
            if (minor_mate[indices[p]] == UNMATCHED) {
                // the winner's own
                if (compare_and_swap(pair, UNMATCHED, v) == UNMATCHED) pair[1] = indices[p];
                break;
            }
    }
}
