// What is checked of the values of a matrix before they become costs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

struct EntryValues {
    bool ascending = true;  // the columns of every row: no entry is there twice
    double least = std::numeric_limits<double>::infinity(), largest = 0;  // NaN: one is not finite
};

// Writes the magnitudes of the entries, which may be the array that is read. Time: O(n_rows + nnz),
// one pass.
template <class Index>
EntryValues read_magnitudes(const Csr<Index>& a, const double* value, double* magnitude,
                            RunContext& run) {
    std::vector<EntryValues> found(static_cast<std::size_t>(run.team.size()));
    run.team.loop(a.n_rows, 1 << 13, [&](int rank, Index begin, Index end) {
        WorkCounter counter(run, rank);
        auto [ascending, least, largest] = found[rank];
        double not_finite = 0;  // NaN where an entry is not finite
        for (Index i = begin; i < end && counter.add(a.degree(i)); ++i) {
            Index before = -1;
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
                const double size = std::abs(value[p]);
                magnitude[p] = size;
                least = std::min(least, size), largest = std::max(largest, size);
                not_finite += size * 0;
                ascending &= before < a.indices[p];
                before = a.indices[p];
            }
        }
        found[rank] = {ascending, least, largest + not_finite};
    });
    EntryValues all;
    for (const EntryValues& part : found) {
        all.ascending &= part.ascending;
        all.least = std::min(all.least, part.least);
        all.largest =
            part.largest > all.largest || std::isnan(part.largest) ? part.largest : all.largest;
        if (std::isnan(all.largest)) break;
    }
    return all;
}

}  // namespace sparsematch
