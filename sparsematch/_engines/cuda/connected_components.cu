// Connected components: rows and columns that entries join, by union and find with compare-and-swap.
//
// Jaiganesh, Burtscher: A high-performance connected components implementation for GPUs (HPDC 2018). Vertices are the rows, then
// the columns. Invariant: up[v] <= v, so a root is the least of its tree, and trees are joined at their roots only.
#include "common.cuh"

// Halves the path on the way: every write replaces a pointer by one further up, in whatever order they come.
DEVICE long long find(long long* up, long long v) {
    long long u = load(up + v);
    while (u != v) {
        const long long next = load(up + u);
        if (next != u) store(up + v, next);
        v = u;
        u = next;
    }
    return v;
}

// Writes: each vertex is a tree by itself.
KERNEL plant(long long n, long long* up) {
    for (long long v = thread_index(); v < n; v += thread_count()) up[v] = v;
}

// Reads: the lists. Writes: up, by compare-and-swap on roots: the loser looks for the root again.
KERNEL join(Index n_major, const Index* __restrict__ indptr, const Index* __restrict__ indices, long long major_offset,
            long long minor_offset, int shift, long long* up) {
    const Index lanes = static_cast<Index>(1) << shift;
    for (long long t = thread_index(); t < static_cast<long long>(n_major) << shift; t += thread_count()) {
        const Index k = static_cast<Index>(t >> shift);
        for (Index p = indptr[k] + static_cast<Index>(t & (lanes - 1)); p < indptr[k + 1]; p += lanes) {
            long long a = find(up, major_offset + k), b = find(up, minor_offset + indices[p]);
            while (a != b) {
                if (a < b) {
                    const long long c = a;
                    a = b;
                    b = c;
                }
                if (compare_and_swap(up + a, a, b) == a) break;
                a = find(up, a);
                b = find(up, b);
            }
        }
    }
}

// Writes: one where a root stands, else zero (own entry).
KERNEL roots(long long n, const long long* __restrict__ up, Index* is_root) {
    for (long long v = thread_index(); v < n; v += thread_count()) is_root[v] = up[v] == v;
}

// Reads: the trees, the running number of roots. Writes: the label of its own vertex.
KERNEL label(long long n, long long* up, const Index* __restrict__ number, Index* labels) {
    for (long long v = thread_index(); v < n; v += thread_count()) labels[v] = number[find(up, v)] - 1;
}
