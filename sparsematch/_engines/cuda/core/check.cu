// Whether the arrays of a view are consistent; what is wrong is looked for on a copy in host
// memory.
#include "core/device.cuh"

// Reads: indptr, those of the `size` indices that it bounds. Writes: report, in host memory, zero
// at the launch: whether something is wrong, and the number of entries. All that write the first
// write the same.
// Time: O((n_major + nnz) / threads).
KERNEL check(Index n_major, Index n_minor, Index size, const Index* __restrict__ indptr,
             const Index* __restrict__ indices, long long* report) {
    const Index nnz = indptr[n_major], end = nnz < size ? nnz : size;
    bool wrong = indptr[0] != 0 || nnz < 0 || nnz > size;
    for (long long k = thread_index(); k < n_major; k += thread_count())
        wrong |= indptr[k] > indptr[k + 1];
    for (long long p = thread_index(); p < end; p += thread_count()) {
        const Index j = indices[p];
        wrong |= j < 0 || j >= n_minor;
    }
    if (wrong) store(report, 1ll);
    if (thread_index() == 0) report[1] = nnz;  // read after the launch only
}
