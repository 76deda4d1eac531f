// What a proof by duals reads of each row: the least reduced cost, and the value of the pair.
#include "core/device.cuh"
#include "weighted/costs.cuh"

// Reads: costs, duals of columns. Writes: of each row the least of their differences. Time: O(nnz /
// threads).
KERNEL least_reduced(Index n_rows, Costs a, const double* __restrict__ v, int shift,
                     double* found) {
    for_groups(n_rows, shift, thread_index(), thread_count(),
               [&](long long k, int lane, int lanes) {
                   double least = INFINITE;
                   if (k >= 0)
                       for (Index p = a.indptr[k] + lane; p < a.indptr[k + 1]; p += lanes) {
                           const double h = a.cost[p] - v[a.indices[p]];
                           if (h < least) least = h;
                       }
                   least = least_of(least, lanes);
                   if (k >= 0 && lane == 0) found[k] = least;
               });
}

// Reads: values, mates of rows. Writes: of each row the value of its pair, 0 if it has none. Time:
// O(nnz / threads).
KERNEL pair_values(Index n_rows, Costs a, const Index* __restrict__ mate, int shift,
                   double* found) {
    for_groups(n_rows, shift, thread_index(), thread_count(),
               [&](long long k, int lane, int lanes) {
                   double own = INFINITE;
                   if (k >= 0 && mate[k] != UNMATCHED)
                       for (Index p = a.indptr[k] + lane; p < a.indptr[k + 1]; p += lanes)
                           if (a.indices[p] == mate[k]) own = a.cost[p];
                   own = least_of(own, lanes);
                   if (k >= 0 && lane == 0) found[k] = mate[k] == UNMATCHED ? 0.0 : own;
               });
}
