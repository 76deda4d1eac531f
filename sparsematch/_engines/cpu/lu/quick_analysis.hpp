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
#include "lu/equilibration.hpp"
#include "lu/markowitz.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/quick_form.hpp"
#include "lu/symbolic.hpp"

namespace sparsematch {

template <class Index>
struct QuickAnalysis {
    SquareForm<Index> form;  // empty: no perfect matching is at hand, or zeros are refused
    ValueNorms norms;
    std::unique_ptr<BlockPlan<Index>> plan;  // null: another diagonal is wanted
    bool is_triangular = true;               // what the planner has found of the form
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

// Orders blocks of a matrix by Markowitz' search, rows scaled as a factorisation does.
template <class Index, class Value>
OrderByValues<Index> order_by_markowitz(const Value* values, RunContext& run) {
    return [values, &run](const BlockColumns<Index>& block, const MarkowitzLimits& limits,
                          Index* rows, Index* cols, double* stored) {
        const Index nnz = block.start[block.n];
        std::vector<double> factor(static_cast<std::size_t>(block.n), 0);
        for (Index p = 0; p < nnz; ++p) {
            double& most = factor[block.row[p]];
            most = std::max(most, largest_part(values[block.place[p]]));
        }
        for (double& f : factor) f = shared_factor(-exponent_of(f));
        std::vector<Value> scaled(static_cast<std::size_t>(nnz));
        for (Index p = 0; p < nnz; ++p) scaled[p] = values[block.place[p]] * factor[block.row[p]];
        WorkCounter counter(run);
        return Markowitz<Index, Value>().run(block.n, block.start, block.row, scaled.data(), limits,
                                             rows, cols, stored, counter);
    };
}

// a: the columns of a square matrix. Given: its form, if it is not empty; else the mates of its
// rows, if they are not null; else neither. make_plan, exchange: whether a plan is wanted, and may
// be left out for another diagonal. Zeros among the values end it if they are refused. Time: O(n +
// nnz), the matching, and the orderings.
template <class Index, class Value>
QuickAnalysis<Index> quick_analysis(const Csr<Index>& a, const Value* values,
                                    SquareForm<Index> given, const Index* row_mate, bool make_plan,
                                    bool exchange, bool refuse_zeros, const AnalysisLimits& limits,
                                    RunContext& run) {
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
                                      : quick.match(limits.scans * (a.n_rows + a.nnz()));
        if (matched && !run.stopped()) form = quick.form();
        if (form.starts.empty()) return out;
    }
    out.is_triangular = !checks_invariants || is_certified(a, form, run);
    if (!out.is_triangular) return out;
    if (!make_plan) return out;
    const Foresee<Index> foresee = [&](const BlockPlan<Index>& plan, Index k, const Index* place) {
        if (!std::isfinite(out.norms.norm)) return PivotOutlook::unsure;
        const Index first = plan.starts[k];
        const Index few_rows = exchange ? static_cast<Index>(limits.few_rows) : a.n_rows;
        return pivot_outlook(a, values, place, plan.col_perm.data() + first, first, plan.size(k),
                             few_rows);
    };
    OrderByValues<Index> by_values;
    if (exchange && std::isfinite(out.norms.norm))
        by_values = order_by_markowitz<Index>(values, run);
    Planner<Index> planner(a, form, nullptr, &foresee, exchange, limits, run, std::move(by_values));
    auto plan = std::make_unique<BlockPlan<Index>>(planner.make());
    out.is_triangular = planner.is_triangular();
    if (!planner.wants_exchange()) out.plan = std::move(plan);
    return out;
}

}  // namespace sparsematch
