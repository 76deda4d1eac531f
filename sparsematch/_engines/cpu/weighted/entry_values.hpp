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

// Of some of the entries.
struct EntryValues {
    bool ascending = true;  // the columns of every row: no entry is there twice
    double least = std::numeric_limits<double>::infinity(), largest = 0;  // NaN: one is not finite

    void join(const EntryValues& other) {
        ascending = ascending && other.ascending;
        least = std::min(least, other.least);
        const bool keep = other.largest <= largest;  // false if either is NaN, and so is their sum
        largest = keep ? largest : other.largest + largest * 0;
    }
};

// Of the entries first to last - 1. Four at a time, as each of the three results waits for the one
// before it.
inline EntryValues write_magnitudes(const double* value, double* magnitude, std::size_t first,
                                    std::size_t last) {
    constexpr std::size_t lanes = 4;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double least[lanes] = {infinity, infinity, infinity, infinity}, largest[lanes] = {},
           not_finite[lanes] = {};  // NaN where an entry is not finite
    const auto read = [&](std::size_t p, std::size_t lane) {
        const double size = std::abs(value[p]);
        magnitude[p] = size;
        least[lane] = std::min(least[lane], size);
        largest[lane] = std::max(largest[lane], size);
        not_finite[lane] += size * 0;
    };
    std::size_t p = first;
    for (; p + lanes <= last; p += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) read(p + lane, lane);
    for (; p < last; ++p) read(p, 0);
    const double bad = not_finite[0] + not_finite[1] + not_finite[2] + not_finite[3];
    return {true, *std::min_element(least, least + lanes),
            *std::max_element(largest, largest + lanes) + bad};
}

// Whether the indices of every row ascend: the places where they do not are all between rows.
template <class Index>
bool ascends(const Csr<Index>& a, Index begin, Index end) {
    const Index first = a.indptr[begin], last = a.indptr[end];
    std::size_t falls = 0;
    for (Index p = first + 1; p < last; ++p) falls += a.indices[p] <= a.indices[p - 1];
    for (Index i = begin; i < end; ++i) {
        const Index p = a.indptr[i];
        if (p > first && p < a.indptr[i + 1]) falls -= a.indices[p] <= a.indices[p - 1];
    }
    return falls == 0;
}

// Writes the magnitudes of the entries, which may be the array that is read. Time: O(n_rows + nnz),
// one pass.
template <class Index>
EntryValues read_magnitudes(const Csr<Index>& a, const double* value, double* magnitude,
                            RunContext& run) {
    std::vector<EntryValues> found(static_cast<std::size_t>(run.team.size()));
    run.team.loop(a.n_rows, 1 << 10, [&](int rank, Index begin, Index end) {
        const auto first = static_cast<std::size_t>(a.indptr[begin]),
                   last = static_cast<std::size_t>(a.indptr[end]);
        EntryValues part = write_magnitudes(value, magnitude, first, last);
        part.ascending = ascends(a, begin, end);
        found[rank].join(part);
        run.flush(static_cast<std::int64_t>(last - first), rank);
    });
    EntryValues all;
    for (const EntryValues& part : found) all.join(part);
    return all;
}

}  // namespace sparsematch
