// The analysis of a first factorisation in one call: a small matrix is factorised faster than an
// interpreter makes the calls one by one. The steps have their own headers: diagonal or cheap
// matching, single-source searches for the rest, strong components, checks of the values, a plan.
//
// The matrix comes by columns: what other packages call a row is a column here, and block lower
// triangular is block upper.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "decomposition/block_form_check.hpp"
#include "decomposition/block_permutation.hpp"
#include "decomposition/dulmage_mendelsohn.hpp"
#include "lu/equilibration.hpp"
#include "lu/markowitz.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/symbolic.hpp"
#include "matching/cheap.hpp"
#include "matching/diagonal.hpp"
#include "matching/single_source_bfs.hpp"

namespace sparsematch {

// A perfect matching of a square matrix within limits, and its block form.
template <class Index>
class QuickForm {
  public:
    QuickForm(const Csr<Index>& columns, RunContext& run)
        : a_(columns), run_(run), mates_(2 * static_cast<std::size_t>(a_.n_rows), UNMATCHED<Index>),
          m_{mates_.data(), mates_.data() + a_.n_rows} {}

    // Matches every column. Up to few_entries, searches run to the end; up to many_entries, they
    // stop after ten scans of each entry; beyond, only the diagonal is tried. False: there is no
    // perfect matching, or none was found within these limits. Time: O(nnz), or O(n nnz) of few
    // entries.
    bool match(std::int64_t few_entries, std::int64_t many_entries) {
        if (match_diagonal(a_, m_)) return true;
        if (a_.nnz() > many_entries) return false;
        cheap<Index>(a_, nullptr, m_, CheapOptions{}, run_);
        if (is_perfect()) return true;
        if (a_.nnz() > few_entries) {
            RunContext brief(run_.team, {.edge_limit = 10 * static_cast<std::int64_t>(a_.nnz())});
            single_source_bfs<Index>(a_, nullptr, m_, NoOptions{}, brief);
        } else {
            single_source_bfs<Index>(a_, nullptr, m_, NoOptions{}, run_);
        }
        return is_perfect();
    }
    // The mates of the user's rows. False: not all are matched.
    bool adopt_matching(const Index* row_mate) {
        for (Index i = 0; i < a_.n_cols; ++i)
            if (row_mate[i] != UNMATCHED<Index>) m_.match(row_mate[i], i);
        return is_perfect();
    }

    // The blocks, rows ascending within each. Time: O(n + nnz).
    SquareForm<Index> form() {
        const auto n = static_cast<std::size_t>(a_.n_rows);
        std::vector<Index> group(n), label(n);
        const Index n_blocks = block_labels<Index>(a_, nullptr, m_, group.data(), run_);
        if (run_.stopped()) return {};
        for (Index j = 0; j < a_.n_rows; ++j) label[m_.row_mate[j]] = n_blocks - group[j];
        SquareForm<Index> out{std::move(group), std::vector<Index>(n),
                              std::vector<Index>(n_blocks + std::size_t{1})};
        sort_by_label(label.data(), a_.n_rows, n_blocks, out.row_perm.data(), out.starts.data());
        for (std::size_t k = 0; k < n; ++k) out.col_perm[k] = m_.col_mate[out.row_perm[k]];
        return out;
    }

  private:
    bool is_perfect() const {
        return std::find(m_.row_mate, m_.row_mate + a_.n_rows, UNMATCHED<Index>) ==
               m_.row_mate + a_.n_rows;
    }

    const Csr<Index>& a_;
    RunContext& run_;
    Buffer<Index> mates_;
    const Matching<Index> m_;  // of columns, as its rows, with rows
};

template <class Index>
struct QuickAnalysis {
    SquareForm<Index> form;  // empty: no perfect matching is at hand, or zeros are refused
    ValueNorms norms;
    std::int64_t n_weak = 0;                 // weak pivots
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
OrderByValues<Index> markowitz_order(const Value* values, RunContext& run) {
    return [values, &run](const BlockColumns<Index>& block, const MarkowitzLimits& limits,
                          Index* rows, Index* cols, double* stored) {
        const Index nnz = block.start[block.n];
        std::vector<double> factor(static_cast<std::size_t>(block.n), 0);
        for (Index p = 0; p < nnz; ++p) {
            double& most = factor[block.row[p]];
            most = std::max(most, largest_part(values[block.place[p]]));
        }
        for (double& f : factor) f = factor_for(f);
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
    QuickAnalysis<Index> out{std::move(given), {}, 0, nullptr, true};
    out.norms = value_norms(a.indptr, a.n_rows, values);
    if (refuse_zeros && out.norms.has_zeros) {
        out.form = {};
        return out;
    }
    SquareForm<Index>& form = out.form;
    if (form.starts.empty()) {
        QuickForm<Index> quick(a, run);
        const bool matched = row_mate ? quick.adopt_matching(row_mate)
                                      : quick.match(limits.few_entries, limits.many_entries);
        if (matched && !run.stopped()) form = quick.form();
        if (form.starts.empty()) return out;
    }
    out.is_triangular = !checks_invariants || is_certified(a, form, run);
    if (!out.is_triangular) return out;
    if (!make_plan) return out;
    Buffer<PivotOutlook> pivots(static_cast<std::size_t>(form.n_blocks()), PivotOutlook::unsure);
    const Index few_rows =
        exchange ? static_cast<Index>(limits.few_rows) : std::numeric_limits<Index>::max();
    OrderByValues<Index> by_values;
    if (std::isfinite(out.norms.norm)) {
        out.n_weak = weak_pivots(a, form, values, few_rows, pivots.data());
        if (exchange) by_values = markowitz_order<Index>(values, run);
    }
    Planner<Index> planner(a, form, nullptr, pivots.data(), exchange, limits, run,
                           std::move(by_values));
    auto plan = std::make_unique<BlockPlan<Index>>(planner.make());
    out.is_triangular = planner.is_triangular();
    if (!planner.wants_exchange()) out.plan = std::move(plan);
    return out;
}

}  // namespace sparsematch
