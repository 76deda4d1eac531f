// The least cost of each column: where the duals of an assignment begin.
#pragma once

#include <algorithm>
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

}  // namespace sparsematch
