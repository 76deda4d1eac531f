// A matrix with its factorisation: what one call of an interpreter needs to factorise new values,
// or to solve, without looking anything up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/csr.hpp"
#include "lu/checked_solve.hpp"
#include "lu/gilbert_peierls.hpp"
#include "lu/kept.hpp"

namespace sparsematch {

template <class Index, class Value>
class FactoredMatrix {
  public:
    // columns: the matrix by columns, which the caller keeps.
    FactoredMatrix(const BlockPlan<Index>& plan, const Csr<Index>& columns)
        : columns(columns), lu(plan), values(static_cast<std::size_t>(columns.nnz())) {}

    // Copies the values. False, and nothing is changed: one is not finite. Time: O(nnz).
    bool read(const Value* from) {
        constexpr std::size_t lanes = 4;  // independent of each other, so that none waits
        double sums[lanes] = {};          // NaN as soon as an entry is not finite
        const std::size_t whole = values.size() - values.size() % lanes;
        for (std::size_t p = 0; p < whole; p += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                sums[lane] += largest_part(from[p + lane]) * 0;
        for (std::size_t p = whole; p < values.size(); ++p) sums[0] += largest_part(from[p]) * 0;
        if (std::accumulate(sums, sums + lanes, 0.0) != 0) return false;
        std::copy_n(from, values.size(), values.data());
        return true;
    }
    // Preference: for the diagonal; below 0, the same pivots again.
    Outcome factorise(double preference, RunContext& run) {
        return preference < 0 ? lu.refactorise(values.data(), run)
                              : lu.factorise(values.data(), preference, run);
    }
    // As CheckedSolve does, nothing being measured without `check`. Several threads may solve at
    // once.
    bool solve(const Value* b, std::int64_t width, Value* x, double* errors,
               const ExternalSolve<Index, Value>& external, Side side, bool check,
               RunContext& run) const {
        auto room = room_.take();
        CheckedSolve<Index, Value> solver(columns, values.data(), lu, external, side, check, *room);
        const bool done = solver.solve(b, width, x, errors, run);
        if (width == 1 || width * columns.n_rows <= most_kept) room_.give_back(std::move(room));
        return done;
    }
    // Entries that a solve passes, about.
    std::int64_t work() const {
        return std::max(lu.entries(), lu.plan.expected_entries) + columns.nnz() + columns.n_rows;
    }

    const Csr<Index> columns;
    BlockLU<Index, Value> lu;
    std::vector<Value> values;

  private:
    static constexpr std::int64_t most_kept = std::int64_t{1} << 17;  // numbers of right-hand sides
    mutable Kept<SolveRoom<Value>> room_;
};

}  // namespace sparsematch
