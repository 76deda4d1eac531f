// The condition of a diagonal block, as it is scaled, by a few solves.
//
// Hager, Condition estimates (SIAM J. Sci. Stat. Comput. 5, 1984); Higham, FORTRAN codes for
// estimating the one-norm of a real or complex matrix (ACM TOMS 14, 1988), Algorithm 4.1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lu/triangular_solve.hpp"

namespace sparsematch {

template <class Index, class Value>
class BlockCondition {
  public:
    // k: a block that is factorised here.
    BlockCondition(const BlockLU<Index, Value>& lu, Index k)
        : lu_(lu), k_(k), first_(lu.plan.starts[k]), end_(lu.plan.starts[k + 1]), x_(lu.size()) {}

    // The reciprocal condition in the 1-norm, from above, usually within a factor of 3; 0 where a
    // solution is not finite. Time: at most 11 solves, mostly 5; exact up to as many rows.
    double reciprocal() {
        const double condition = norm() * inverse_norm();
        return condition > 0 ? 1 / condition : 0;
    }

  private:
    static constexpr int max_steps = 5, most_solves = 2 * max_steps + 1;

    double norm() const {
        double most = 0;
        for (Index c = first_; c < end_; ++c) {
            double sum = 0;
            for (auto p = lu_.plan.inner_start[c]; p < lu_.plan.inner_start[c + 1]; ++p)
                sum += std::abs(lu_.equilibration.inner[p]);
            most = std::max(most, sum);
        }
        return most;
    }
    double inverse_norm() {
        const double found = end_ - first_ <= most_solves ? largest_column() : estimate();
        return std::isfinite(found) ? found : std::numeric_limits<double>::infinity();
    }
    double largest_column() {
        double most = 0;
        for (Index c = first_; c < end_; ++c) {
            const double sum = solve_unit(c);
            if (!std::isfinite(sum)) return sum;
            most = std::max(most, sum);
        }
        return most;
    }
    double estimate() {
        const double n = end_ - first_;
        std::fill(x_.begin() + first_, x_.begin() + end_, Value(1 / n));
        double best = solve(false);
        Index before = -1;
        for (int step = 0; step < max_steps; ++step) {
            for (Index c = first_; c < end_; ++c) {
                const double size = std::abs(x_[c]);
                x_[c] = size > 0 ? x_[c] / size : Value(1);
            }
            solve(true);
            const auto larger = [](Value a, Value b) { return std::abs(a) < std::abs(b); };
            const auto j = static_cast<Index>(
                std::max_element(x_.begin() + first_, x_.begin() + end_, larger) - x_.begin());
            if (j == before) break;
            before = j;
            const double sum = solve_unit(j);
            if (sum <= best) break;
            best = sum;
        }
        // which the steps above may miss by exact cancellation
        for (Index c = first_; c < end_; ++c)
            x_[c] = ((c - first_) % 2 ? -1.0 : 1.0) * (1 + (c - first_) / (n - 1));
        const double alternating = 2 * solve(false) / (3 * n);
        return best >= alternating ? best : alternating;
    }
    double solve_unit(Index c) {
        std::fill(x_.begin() + first_, x_.begin() + end_, Value(0));
        x_[c] = 1;
        return solve(false);
    }
    // Solves in place; returns the 1-norm.
    double solve(bool adjoint) {
        const ExternalSolve<Index, Value> none;
        TriangularSolve<Index, Value, 1>(lu_, none, x_.data())
            .solve_block(k_, adjoint ? Side::adjoint : Side::plain);
        double sum = 0;
        for (Index c = first_; c < end_; ++c) sum += std::abs(x_[c]);
        return sum;
    }

    const BlockLU<Index, Value>& lu_;
    const Index k_, first_, end_;
    std::vector<Value> x_;
};

}  // namespace sparsematch
