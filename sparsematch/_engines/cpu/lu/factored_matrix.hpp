// A matrix with its factorisation: what one call of an interpreter needs to factorise new values,
// or to solve, without looking anything up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
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
        // NaN as soon as an entry is not finite; each sum waits for its last addition
        double most[4] = {}, sum[4] = {};
        const auto add = [&](std::size_t p, int s) {
            const double size = largest_part(from[p]);
            most[s] = std::max(most[s], size), sum[s] += size * 0;
        };
        std::size_t p = 0;
        for (; p + 4 <= values.size(); p += 4)
            for (int s = 0; s < 4; ++s) add(p + s, s);
        for (; p < values.size(); ++p) add(p, 0);
        if (sum[0] + sum[1] + sum[2] + sum[3] != 0) return false;
        std::copy_n(from, values.size(), values.data());
        largest = *std::max_element(most, most + 4);
        return true;
    }
    // Preference: for the diagonal; below 0, the same pivots again.
    Outcome factorise(double preference, RunContext& run) {
        return preference < 0 ? lu.refactorise(values.data(), run)
                              : lu.factorise(values.data(), preference, run);
    }
    // As CheckedSolve does. Several threads may solve at once.
    bool solve(const Value* b, std::int64_t width, Value* x, double* errors,
               const ExternalSolve<Index, Value>& external, Side side, bool check,
               RunContext& run) const {
        auto room = room_.take();
        const bool done = CheckedSolve<Index, Value>(columns, values.data(), largest, lu, external,
                                                     side, check, *room)
                              .solve(b, width, x, errors, run);
        if (width == 1) room_.give_back(std::move(room));  // of several it would be large
        return done;
    }
    // Entries that a solve passes, about.
    std::int64_t work() const {
        return std::max(lu.entries(), lu.plan.expected_entries) + columns.nnz() + columns.n_rows;
    }

    const Csr<Index> columns;
    BlockLU<Index, Value> lu;
    std::vector<Value> values;
    double largest = 0;  // absolute value of a part

  private:
    mutable Kept<SolveRoom<Value>> room_;
};

}  // namespace sparsematch
