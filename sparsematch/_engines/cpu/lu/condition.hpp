// The condition of a diagonal block, as it is scaled, or by a product, by a few solves: Hager,
// Condition estimates (SIAM J. Sci. Stat. Comput. 5, 1984); Higham, FORTRAN codes for estimating
// the one-norm of a real or complex matrix (ACM TOMS 14, 1988), Algorithm 4.1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "lu/equilibration.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {

inline constexpr double roundoff = 50 * 0x1p-52;  // SINGULAR of tolerances.py

template <class Value> Value sign(Value v) {
    const double size = std::abs(v);
    return size > 0 ? v / size : Value(1);
}
template <class Value> bool is_smaller(Value a, Value b) { return std::abs(a) < std::abs(b); }

// The 1-norm of an inverse, from below: solve(adjoint) writes to the n numbers of x the solution
// with them on the right, or that of the adjoint. Infinite where one is not finite.
template <class Value, class Solve> class InverseNorm {
  public:
    InverseNorm(Value* x, std::int64_t n, const Solve& solve) : x_(x), n_(n), solve_(solve) {}

    double get() {
        const double found = n_ <= most_solves ? largest_column() : estimate();
        return std::isfinite(found) ? found : infinity;
    }

  private:
    static constexpr int max_steps = 5, most_solves = 2 * max_steps + 1;

    double largest_column() {
        double most = 0;
        for (std::int64_t c = 0; c < n_; ++c) {
            const double sum = solve_unit(c);
            if (!std::isfinite(sum)) return sum;
            most = std::max(most, sum);
        }
        return most;
    }
    double estimate() {
        const auto n = static_cast<double>(n_);
        std::fill(x_, x_ + n_, Value(1 / n));
        double best = solved();
        std::int64_t before = -1;
        for (int step = 0; step < max_steps; ++step) {
            std::transform(x_, x_ + n_, x_, sign<Value>);
            solve_(true);
            const auto j = std::max_element(x_, x_ + n_, is_smaller<Value>) - x_;
            if (j == before) break;
            before = j;
            const double sum = solve_unit(j);
            if (sum <= best) break;
            best = sum;
        }
        // which the steps above may miss by exact cancellation
        for (std::int64_t c = 0; c < n_; ++c)
            x_[c] = (c % 2 ? -1.0 : 1.0) * (1 + static_cast<double>(c) / (n - 1));
        const double alternating = 2 * solved() / (3 * n);
        return best >= alternating ? best : alternating;
    }
    double solve_unit(std::int64_t c) {
        std::fill(x_, x_ + n_, Value(0));
        x_[c] = 1;
        return solved();
    }
    double solved() {
        solve_(false);
        double sum = 0;
        for (std::int64_t c = 0; c < n_; ++c) sum += std::abs(x_[c]);
        return sum;
    }

    Value* const x_;
    const std::int64_t n_;
    const Solve& solve_;
};

template <class Index, class Value> class BlockCondition {
  public:
    // k: a block that is factorised here; x: room for as many numbers as the matrix has rows.
    BlockCondition(const BlockLU<Index, Value>& lu, Index k, std::vector<Value>& x)
        : lu_(lu), k_(k), first_(lu.plan.starts[k]), end_(lu.plan.starts[k + 1]), x_(x) {
        x_.resize(lu.size());
    }

    // The reciprocal condition in the 1-norm, from above, usually within a factor of 3; 0 where a
    // solution is not finite. Where it is at roundoff, that by the transversal of the largest
    // product, if that is better. Time: at most 11 solves, mostly 5; exact up to as many rows.
    double reciprocal(RunContext& run) {
        const auto by = [this](bool adjoint) { solve(adjoint); };
        const double condition =
            norm() * InverseNorm<Value, decltype(by)>(x_.data() + first_, end_ - first_, by).get();
        const double found = condition > 0 ? 1 / condition : 0;
        if (found >= roundoff || !row_.empty() || !scale_by_product(run)) return found;
        return std::max(found, reciprocal(run));
    }

    // An estimate by one solve with the block and one with its adjoint: no less than the reciprocal
    // condition, and of its order where a random right-hand side has a part of what grows most.
    double suspicion() {
        std::uint64_t state = 1;
        for (Index c = first_; c < end_; ++c) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            const double size = 0.5 + static_cast<double>(state >> 33) * 0x1p-31;
            x_[c] = state >> 32 & 1 ? -size : size;
        }
        const double first = solve(false) / (end_ - first_);
        Value *const x = x_.data() + first_, *const end = x_.data() + end_;
        std::transform(x, end, x, sign<Value>);
        solve(true);
        const double second = std::abs(*std::max_element(x, end, is_smaller<Value>)),
                     condition = norm() * std::max(first, second);
        return std::isfinite(condition) && condition > 0 ? 1 / condition : 0;
    }

  private:
    double norm() const {
        double most = 0;
        const Index* const place = row_.empty() ? nullptr : lu_.located().place.data();
        for (Index c = first_; c < end_; ++c) {
            double sum = 0;
            for (auto p = lu_.plan.inner_start[c]; p < lu_.plan.inner_start[c + 1]; ++p)
                sum += std::abs(lu_.equilibration.inner[p]) * factor(row_, place ? place[p] : 0);
            most = std::max(most, sum * factor(col_, c));
        }
        return most;
    }
    double factor(const std::vector<double>& side, Index place) const {
        return side.empty() ? 1 : side[place - first_];
    }
    // False: that has no transversal without zeros.
    bool scale_by_product(RunContext& run) {
        const auto& plan = lu_.plan;
        const Value* const inner = lu_.equilibration.inner.data();
        const auto rows = product_exponents(plan, k_, inner, false, run);
        for (Index c = first_; c < end_ && !rows.empty(); ++c) {
            int all = no_exponent;
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p)
                all = std::max(all, exponent_of(largest_part(inner[p])) + rows[plan.inner_row[p]]);
            row_.push_back(shared_factor(rows[lu_.row_of[c] - first_]));
            col_.push_back(shared_factor(-all));
        }
        return !rows.empty();
    }
    // Solves in place; returns the 1-norm.
    double solve(bool adjoint) {
        const ExternalSolve<Index, Value> none;
        const auto &before = adjoint ? col_ : row_, &after = adjoint ? row_ : col_;
        for (Index c = first_; c < end_; ++c) x_[c] /= factor(before, c);
        TriangularSolve<Index, Value, 1>(lu_, none, x_.data())
            .solve_block(k_, adjoint ? Side::adjoint : Side::plain);
        double sum = 0;
        for (Index c = first_; c < end_; ++c) sum += std::abs(x_[c] /= factor(after, c));
        return sum;
    }

    const BlockLU<Index, Value>& lu_;
    const Index k_, first_, end_;
    std::vector<Value>& x_;
    std::vector<double> row_, col_;  // factors of rows, by pivots, and of columns; none are all 1
};

// The blocks of several rows whose condition is to be estimated, each with whether it was the last
// time, too: with a pivot below a share of the largest entry of the block, or by a suspicion. A
// block is asked again once its least pivot, as a share of the largest entry, has changed by a
// factor of two: new values that change no pivot by as much are those of another step of the same
// model. Where duals have made pivots large, columns may have units that differ by more digits than
// there are, which no pivot shows. Time: O(n), and of larger blocks, if they are asked, two solves.
template <class Index, class Value>
std::vector<std::pair<Index, bool>> blocks_in_doubt(BlockLU<Index, Value>& lu, double share) {
    // up to which no inverse is large whose pivots are not small, and what is far from singular
    constexpr Index few_rows = 16;
    constexpr double no_doubt = 1e-12, most_doubt = 1e-4;
    std::vector<std::pair<Index, bool>> out;
    std::vector<Value> x;
    std::size_t asked = 0;
    for (Index k = 0; k < lu.plan.n_blocks(); ++k) {
        if (lu.plan.is_external(k) || lu.plan.size(k) == 1) continue;
        if (asked == lu.asked.size()) lu.asked.emplace_back();
        double least = infinity, limit = no_doubt;
        if (lu.equilibration.is_seeded[k]) {
            const double* const factors = lu.equilibration.col_factor.data();
            const auto [low, high] =
                std::minmax_element(factors + lu.plan.starts[k], factors + lu.plan.starts[k + 1]);
            limit = std::clamp(no_doubt * (*high / *low), no_doubt, most_doubt);
        }
        for (Index c = lu.plan.starts[k]; c < lu.plan.starts[k + 1]; ++c)
            least = std::min(least, magnitude(lu.pivot[c]));
        const double now = least / lu.equilibration.largest[k];
        AskedBlock& last = lu.asked[asked++];
        const bool is_known = now > last.least_pivot / 2 && now < last.least_pivot * 2;
        const bool in_doubt =
            now < share ||
            (is_known ? last.in_doubt
                      : lu.plan.size(k) > few_rows &&
                            BlockCondition<Index, Value>(lu, k, x).suspicion() < limit);
        if (in_doubt) out.emplace_back(k, is_known && last.in_doubt);
        if (!is_known) last.least_pivot = now;
        last.in_doubt = in_doubt;
    }
    return out;
}

}  // namespace sparsematch
