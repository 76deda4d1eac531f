// The coarse Dulmage-Mendelsohn parts, from a maximum matching: the vertical one is what
// alternating paths from free rows reach, the horizontal one what reaches a free column.
//
// Dulmage, Mendelsohn: Coverings of bipartite graphs (1958); Pothen, Fan (ACM TOMS 16, 1990).
#pragma once

#include <algorithm>

#include "core/certificates.hpp"
#include "core/csr.hpp"
#include "decomposition/limits.hpp"

namespace sparsematch {

// Settled: in a coarse part, or in a block of the square part that is already known.
struct CoarseParts {
    template <class Index>
    explicit CoarseParts(const Csr<Index>& a)
        : vertical_row(a.n_rows), horizontal_row(a.n_rows), horizontal_col(a.n_cols),
          settled_row(a.n_rows), settled_col(a.n_cols) {}
    Bitmap vertical_row, horizontal_row, horizontal_col, settled_row, settled_col;
};

// The horizontal part without the transpose: rows with an entry in a column of it, in passes over
// the rows that are left, as long as they find much. What they miss is left to depth-first search.
template <class Index>
void sweep_horizontal(const Csr<Index>& a, Matching<Index> m, CoarseParts& parts,
                      const BlockLimits& limits) {
    Bitmap &row = parts.horizontal_row, &col = parts.horizontal_col;
    std::size_t found = 0;
    for (Index j = 0; j < a.n_cols; ++j)
        if (m.col_mate[j] == UNMATCHED<Index>) {
            col.set(j);
            ++found;
        }
    const auto touches = [&](Index i) {
        return std::ranges::any_of(a.neighbours(i), [&](Index j) { return col.test(j); });
    };
    const auto pays = [&](std::size_t left) {
        return static_cast<double>(found) > limits.horizontal_gain * static_cast<double>(left);
    };
    for (std::size_t left = a.n_rows; found > 0 && pays(left); left -= found) {
        found = 0;
        for (Index i = 0; i < a.n_rows; ++i) {
            if (row.test(i) || parts.vertical_row.test(i) || !touches(i)) continue;
            row.set(i);
            col.set(m.row_mate[i]);
            ++found;
        }
    }
}

// Settles the vertical part, and the horizontal one as far as it is cheap to find.
template <class Index>
void settle_coarse_parts(const Csr<Index>& a, const Csr<Index>* t, Matching<Index> m,
                         CoarseParts& parts, const BlockLimits& limits, RunContext& run) {
    const auto timer = run.time("coarse parts");
    const bool rows = any_free(m.row_mate, a.n_rows), cols = any_free(m.col_mate, a.n_cols);
    const auto vertical = [&] {
        return search_from_free(a, m, parts.vertical_row, parts.settled_col, run, limits.frontier);
    };
    const auto horizontal = [&] {
        return search_from_free(*t, m.flipped(), parts.horizontal_col, parts.horizontal_row, run,
                                limits.frontier);
    };
    if (rows && cols && t) run_both(vertical, horizontal, run);
    else if (rows) run_alone(vertical(), run);
    else if (cols && t) run_alone(horizontal(), run);
    parts.settled_row.copy(parts.vertical_row);
    if (!cols) return;
    if (!t) sweep_horizontal(a, m, parts, limits);
    parts.settled_row.merge(parts.horizontal_row);
    parts.settled_col.merge(parts.horizontal_col);
}

}  // namespace sparsematch
