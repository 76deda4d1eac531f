// The analysis of a first factorisation in one call: a small matrix is factorised faster than an
// interpreter makes the calls one by one. The steps have their own headers: the block form, checks
// of the values, a plan.
//
// The matrix comes by columns: what other packages call a row is a column here, and block lower
// triangular is block upper.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "decomposition/block_form_check.hpp"
#include "lu/by_values.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/quick_form.hpp"
#include "lu/symbolic.hpp"

namespace sparsematch {

template <class Index>
struct QuickAnalysis {
    SquareForm<Index> form;  // empty: no perfect matching is at hand, or zeros are refused
    ValueNorms norms;
    std::unique_ptr<BlockPlan<Index>> plan;
    bool is_triangular = true;  // what the planner has found of the form
};

// Whether a form is the block triangular form of a matrix, which comes by columns; its rows and
// columns are all matched. Time: O(n + nnz).
template <class Index>
bool is_certified(const Csr<Index>& a, const SquareForm<Index>& form, RunContext& run) {
    const Index n = a.n_rows, n_blocks = form.n_blocks();
    std::vector<Index> col_mate(n), row_mate(n), col_block(n), row_block(n);
    for (Index k = 0; k < n_blocks; ++k)
        for (Index c = form.starts[k]; c < form.starts[k + 1]; ++c) {
            const Index i = form.row_perm[c], j = form.col_perm[c];
            col_mate[j] = i, row_mate[i] = j;
            col_block[j] = row_block[i] = n_blocks - 1 - k;
        }
    const Matching<Index> m{col_mate.data(), row_mate.data()};
    return BlockFormCheck<Index>(a, m, col_block.data(), row_block.data(), n_blocks).holds(run);
}

// How often a first search for a matching scans each entry, on average.
inline constexpr std::int64_t most_scans = 10;

// a: the columns of a square matrix. Given: its form, if it is not empty; else the mates of its
// rows, if they are not null; else neither. failures: as Planner has them. Zeros among the values
// end it if they are refused. Time: O(n + nnz), the matching, and what the planner looks for.
template <class Index, class Value>
QuickAnalysis<Index> quick_analysis(const Csr<Index>& a, const Value* values,
                                    SquareForm<Index> given, const Index* row_mate,
                                    const signed char* failures, bool refuse_zeros,
                                    const Policy& policy, RunContext& run) {
    QuickAnalysis<Index> out{std::move(given), {}, nullptr, true};
    out.norms = value_norms(a.indptr, a.n_rows, values);
    if (refuse_zeros && out.norms.has_zeros) {
        out.form = {};
        return out;
    }
    SquareForm<Index>& form = out.form;
    if (form.starts.empty()) {
        QuickForm<Index> quick(a, run);
        const bool matched = row_mate ? quick.adopt_matching(row_mate)
                                      : quick.match(most_scans * (a.n_rows + a.nnz()));
        if (matched && !run.stopped()) form = quick.form();
        if (form.starts.empty()) return out;
    }
    out.is_triangular = !checks_invariants || is_certified(a, form, run);
    if (!out.is_triangular) return out;
    const ValuesOf<Index, Value> of_blocks(values, run);
    Planner<Index> planner(a, form, std::isfinite(out.norms.norm) ? &of_blocks : nullptr, failures,
                           policy, run);
    out.plan = std::make_unique<BlockPlan<Index>>(planner.make());
    out.is_triangular = planner.is_triangular();
    return out;
}

}  // namespace sparsematch
