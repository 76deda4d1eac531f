// Where the duals of an assignment begin: the least cost of each column, and what is left of that
// of each row.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// One array for each of several parts of the entries, infinite where a column has none: the least
// of them all is to be taken. Up to four workers have a part each, for one array that they share
// would keep moving between their caches. Workspace: a double per column and part. Time: O(n_cols +
// nnz).
template <class Index>
std::vector<Buffer<double>> column_minima(const Csr<Index>& a, const double* cost,
                                          RunContext& run) {
    constexpr int most = 4;
    const int n_parts = std::min(run.team.size(), most);
    std::vector<Buffer<double>> least(n_parts);
    run.team.loop(n_parts, 1, [&](int rank, int part, int end) {
        WorkCounter counter(run, rank);
        for (; part < end; ++part) {
            least[part] = Buffer<double>(a.n_cols, std::numeric_limits<double>::infinity());
            const Index share = a.nnz() / n_parts, first = part * share,
                        last = part + 1 < n_parts ? first + share : a.nnz();
            for (Index p = first; p < last; ++p) {
                double& v = least[part][a.indices[p]];
                v = std::min(v, cost[p]);
            }
            counter.add(last - first);
        }
    });
    return least;
}

// Writes u, the least cost less dual(j) of each row, and `to`, the first column where it is found,
// inverted if there is another one. False if a row has no entries, or the run was stopped. Time:
// O(n_rows + nnz).
template <class Index, class Dual>
bool row_minima(const Csr<Index>& a, const double* cost, const Dual& dual, double* u, Index* to,
                RunContext& run) {
    std::atomic<bool> complete{true};
    run.team.loop(a.n_rows, 1 << 13, [&](int rank, Index begin, Index end) {
        WorkCounter counter(run, rank);
        for (Index i = begin; i < end; ++i) {
            double least = std::numeric_limits<double>::infinity();
            Index first = UNMATCHED<Index>;
            bool tied = false;
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
                const double h = cost[p] - dual(a.indices[p]);
                tied = (tied && h >= least) || h == least;
                if (h < least) least = h, first = a.indices[p];
            }
            u[i] = least;
            to[i] = tied ? ~first : first;
            if (first == UNMATCHED<Index>) complete.store(false, std::memory_order_relaxed);
            if (!counter.add(a.degree(i))) return;
        }
    });
    return complete && !run.stopped();
}

}  // namespace sparsematch
