// The rows that a search can start from: unmatched, and not empty.
#pragma once

#include <algorithm>
#include <vector>

#include "csr.hpp"

namespace sparsematch {

template <class Index>
std::vector<Index> free_rows(const Csr<Index>& a, const Matching<Index>& m) {
    const auto searchable = [&](Index i) { return (m.row_mate[i] == UNMATCHED<Index>)&(a.degree(i) > 0); };
    std::size_t n = 0;
    for (Index i = 0; i < a.n_rows; ++i) n += searchable(i);
    std::vector<Index> rows(n + 1);
    n = 0;
    for (Index i = 0; i < a.n_rows; ++i) {  // each is written, and stays if it is searchable: no branch to mispredict
        rows[n] = i;
        n += searchable(i);
    }
    rows.pop_back();
    return rows;
}

// Drops the rows that have been matched, keeping the order; returns how many are left of the first n.
template <class Index>
std::size_t keep_free(std::vector<Index>& rows, std::size_t n, const Matching<Index>& m) {
    return std::remove_if(rows.begin(), rows.begin() + n, [&](Index i) { return m.row_mate[i] != UNMATCHED<Index>; }) -
           rows.begin();
}

}  // namespace sparsematch
