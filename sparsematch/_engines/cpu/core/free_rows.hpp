// The rows that a search can start from: unmatched, and not empty.
#pragma once

#include <algorithm>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

template <class Index>
std::vector<Index> free_rows(const Csr<Index>& a, const Matching<Index>& m) {
    constexpr Index stretch = 64;  // rows skipped at once where all are matched
    std::vector<Index> rows;
    for (Index begin = 0, size; begin < a.n_rows; begin += size) {
        size = std::min(a.n_rows - begin, stretch);
        if (!any_free(m.row_mate + begin, size)) continue;
        std::size_t n = rows.size();
        rows.resize(n + size + 1);
        for (Index i = begin; i < begin + size; ++i) {
            rows[n] = i;  // branch-free selection (decision 0005)
            n += (m.row_mate[i] == UNMATCHED<Index>)&(a.degree(i) > 0);
        }
        rows.resize(n);
    }
    return rows;
}

// Drops the rows that have been matched, keeping the order; returns how many are left of the first
// n.
template <class Index>
std::size_t keep_free(std::vector<Index>& rows, std::size_t n, const Matching<Index>& m) {
    return std::remove_if(rows.begin(), rows.begin() + n,
                          [&](Index i) { return m.row_mate[i] != UNMATCHED<Index>; }) -
           rows.begin();
}

}  // namespace sparsematch
