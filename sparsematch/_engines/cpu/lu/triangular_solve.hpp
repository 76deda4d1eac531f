// Solving with a block triangular factorisation: blocks from the last to the first, L, then U with
// what stands above the block; for the transpose from the first to the last.
//
// The right-hand sides are the columns of x: entry (c, s) is x[c * W + s], c counted by pivot, and
// W is known when this is compiled, so that the loop over s becomes a few vector instructions. The
// permuted matrix is scaled alike, so sweeps see no factors; blocks of one entry are one sweep.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "lu/gilbert_peierls.hpp"

namespace sparsematch {

// The matrix, its transpose or its conjugate transpose, by the letters of BLAS.
enum class Side : char { plain = 'N', transposed = 'T', adjoint = 'H' };

template <class Value> Value conjugate(Value v) {
    if constexpr (std::is_same_v<Value, double>) return v;
    else return std::conj(v);
}

// Solves in place with an external block, of whose rows x has the first: solve(k, x, width, side).
template <class Index, class Value>
using ExternalSolve = std::function<void(Index, Value*, std::int64_t, Side)>;

// Of solutions that are left as they are.
struct NoRefinement {
    void keep_right(std::int64_t) {}
    void refine(std::int64_t) {}
};

template <class Index, class Value, int W> class TriangularSolve {
  public:
    TriangularSolve(const BlockLU<Index, Value>& lu, const ExternalSolve<Index, Value>& external,
                    Value* x)
        : lu_(lu), external_(external), x_(x) {}

    // Refinement sees the right-hand side and the solution of each block of several rows. False:
    // the run was stopped. Time: O(entries of L, U and above, times W), and refinement.
    template <class Refinement = NoRefinement>
    bool run(Side side, RunContext& run, Refinement&& refinement = {}) {
        WorkCounter counter(run);
        counter_ = &counter;
        if (side == Side::plain) plain(refinement);
        else if (side == Side::adjoint) transposed<true>(refinement);
        else transposed<false>(refinement);
        return !run.stopped();
    }
    // With one block as it was scaled. False: the run was stopped.
    bool solve_block(Index k, Side side) {
        const auto [first, end] = block(k);
        if (lu_.plan.is_external(k))
            return external_(k, x_ + static_cast<std::int64_t>(first) * W, W, side), true;
        if (lu_.plan.kernel[k] == Kernel::fronts)
            return solve_fronts(lu_.fronts.at(k), first, side);
        // where nothing is above any block, U ends where the next column begins
        return lu_.plan.upper_start.empty() ? solve_columns<true>(first, end, side)
                                            : solve_columns<false>(first, end, side);
    }

  private:
    static constexpr Index piece = 256;  // columns after which the work is counted

    std::pair<Index, Index> block(Index k) const {
        return {lu_.plan.starts[k], lu_.plan.starts[k + 1]};
    }
    template <bool WithUpper> bool solve_columns(Index first, Index end, Side side) {
        if (side == Side::plain) return solve_l(first, end) && solve_u<WithUpper>(first, end);
        return side == Side::adjoint
                   ? u_transposed<true, WithUpper>(first, end) && l_transposed<true>(first, end)
                   : u_transposed<false, WithUpper>(first, end) && l_transposed<false>(first, end);
    }
    template <class Refinement> void plain(Refinement& refinement) {
        const auto& plan = lu_.plan;
        for (Index k = plan.n_blocks(); k-- > 0;) {
            const Index end = plan.starts[k + 1];
            if (plan.size(k) == 1) {
                while (k > 0 && plan.size(k - 1) == 1) --k;
                if (!solve_u<true>(plan.starts[k], end)) return;
                continue;
            }
            if (!solve_refined(k, Side::plain, refinement)) return;
            for (Index c = plan.upper_start.empty() ? 0 : end; c-- > plan.starts[k];)
                scatter(c, lu_.u_end(c), lu_.u_start[c + 1], lu_.u_row.data(), lu_.u.data());
        }
    }
    template <bool Adjoint, class Refinement> void transposed(Refinement& refinement) {
        const auto& plan = lu_.plan;
        for (Index k = 0; k < plan.n_blocks(); ++k) {
            const Index first = plan.starts[k];
            if (plan.size(k) == 1) {
                while (k + 1 < plan.n_blocks() && plan.size(k + 1) == 1) ++k;
                if (!u_transposed<Adjoint, true>(first, plan.starts[k + 1])) return;
                continue;
            }
            for (Index c = first; c < plan.starts[k + 1]; ++c)
                gather<Adjoint>(c, lu_.u_end(c), lu_.u_start[c + 1], lu_.u_row.data(),
                                lu_.u.data());
            if (!solve_refined(k, Adjoint ? Side::adjoint : Side::transposed, refinement)) return;
        }
    }
    template <class Refinement> bool solve_refined(Index k, Side side, Refinement& refinement) {
        refinement.keep_right(k);
        if (!solve_block(k, side)) return false;
        refinement.refine(k);
        const auto [first, end] = block(k);
        return counter_->add(std::int64_t{lu_.plan.inner_start[end]} * W -
                             std::int64_t{lu_.plan.inner_start[first]} * W);
    }

    // Calls sweep(begin, end) on pieces of the columns, downwards or upwards, and counts what these
    // have in a list. False: the run was stopped.
    template <bool Down, class Sweep>
    bool by_pieces(Index first, Index end, const std::vector<std::int64_t>& start,
                   const Sweep& sweep) {
        while (first < end) {
            const Index m = std::min<Index>(piece, end - first);
            const Index begin = Down ? static_cast<Index>(end - m) : first;
            sweep(begin, static_cast<Index>(begin + m));
            if (counter_ && !counter_->add((start[begin + m] - start[begin] + m) * W)) return false;
            if constexpr (Down) end = begin;
            else first = begin + m;
        }
        return true;
    }

    bool solve_l(Index first, Index end) {
        return by_pieces<false>(first, end, lu_.l_start, [this](Index begin, Index stop) {
            for (Index c = begin; c < stop; ++c)
                scatter(c, lu_.l_start[c], lu_.l_start[c + 1], lu_.l_row.data(), lu_.l.data());
        });
    }
    // With_upper: and what is above the block.
    template <bool WithUpper> bool solve_u(Index first, Index end) {
        return by_pieces<true>(first, end, lu_.u_start, [this](Index begin, Index stop) {
            for (Index c = stop; c-- > begin;) {
                multiply(c, lu_.inverse[c]);
                scatter(c, lu_.u_start[c], WithUpper ? lu_.u_start[c + 1] : lu_.u_end(c),
                        lu_.u_row.data(), lu_.u.data());
            }
        });
    }
    template <bool Adjoint, bool WithUpper> bool u_transposed(Index first, Index end) {
        return by_pieces<false>(first, end, lu_.u_start, [this](Index begin, Index stop) {
            for (Index c = begin; c < stop; ++c) {
                gather<Adjoint>(c, lu_.u_start[c], WithUpper ? lu_.u_start[c + 1] : lu_.u_end(c),
                                lu_.u_row.data(), lu_.u.data());
                multiply(c, turned<Adjoint>(lu_.inverse[c]));
            }
        });
    }
    template <bool Adjoint> bool l_transposed(Index first, Index end) {
        return by_pieces<true>(first, end, lu_.l_start, [this](Index begin, Index stop) {
            for (Index c = stop; c-- > begin;)
                gather<Adjoint>(c, lu_.l_start[c], lu_.l_start[c + 1], lu_.l_row.data(),
                                lu_.l.data());
        });
    }

    // L by columns, U by rows, front by front. One right-hand side has the rows, or columns, of a
    // front side by side meanwhile, so that compilers make vector instructions of its loops, too.
    bool solve_fronts(const FrontalLU<Index, Value>& fronts, Index first, Side side) {
        constexpr Index few = 4;  // pivots, below which to bring rows together takes longer
        const bool plain = side == Side::plain, adjoint = side == Side::adjoint;
        const std::size_t n_fronts = fronts.factors.size();
        std::vector<Value> dense;
        std::int64_t work = 0;
        for (std::size_t turn = 0; turn < 2 * n_fronts; ++turn) {
            const bool down = turn < n_fronts, by_l = down == plain;
            const auto& of = fronts.factors[down ? turn : 2 * n_fronts - 1 - turn];
            const Index* const list = by_l ? of.rows : of.cols;
            const Index n = of.pivots, count = n + (by_l ? of.n_rows : of.n_cols);
            Value* const x = x_ + std::int64_t{first} * W;
            const bool is_dense = W == 1 && n >= few;
            if (is_dense) dense.resize(static_cast<std::size_t>(count));
            for (Index i = 0; is_dense && i < count; ++i) dense[i] = x[list[i]];
            TriangularSolve front(lu_, external_, is_dense ? dense.data() : x);
            const auto pivot = [&](Index i, const auto& behind) {
                const Index t = down ? i : n - 1 - i, left = count - t - 1;
                const Index at = is_dense ? t : list[t];
                const Value by = lu_.inverse[first + of.cols[t]];
                const Value* const value =
                    of.values + of.offset(t) + (by_l ? 0 : n - t - 1 + of.n_rows);
                if (!by_l && down) front.multiply(at, adjoint ? conjugate(by) : by);
                if (down && adjoint) front.template scatter<true>(at, 0, left, behind, value);
                else if (down) front.scatter(at, 0, left, behind, value);
                else if (adjoint) front.template gather<true>(at, 0, left, behind, value);
                else front.template gather<false>(at, 0, left, behind, value);
                if (!by_l && !down) front.multiply(at, by);
                work += left;
            };
            for (Index i = 0; i < n; ++i) {
                const Index next = (down ? i : n - 1 - i) + 1;
                if (is_dense) pivot(i, Behind{next});
                else pivot(i, list + next);
            }
            for (Index i = 0; is_dense && i < (down ? count : n); ++i) x[list[i]] = dense[i];
        }
        return !counter_ || counter_->add(work * W);
    }

    // Places one behind the other, as a list.
    struct Behind {
        Index first;
        std::int64_t operator[](std::int64_t p) const { return first + p; }
    };
    // Compilers make vector instructions of loops over s that only read, or only write, x.
    void multiply(Index c, Value by) {
        Value* const to = x_ + static_cast<std::int64_t>(c) * W;
        Value quotient[W];
        for (int s = 0; s < W; ++s) quotient[s] = product(to[s], by);
        for (int s = 0; s < W; ++s) to[s] = quotient[s];
    }
    // Subtracts from the rows of a column what that has there.
    template <bool Adjoint = false, class Rows>
    void scatter(Index c, std::int64_t p, std::int64_t end, Rows row, const Value* value) {
        Value from[W], left[W];
        for (int s = 0; s < W; ++s) from[s] = x_[static_cast<std::int64_t>(c) * W + s];
        for (; p < end; ++p) {
            Value* const to = x_ + static_cast<std::int64_t>(row[p]) * W;
            const Value weight = turned<Adjoint>(value[p]);
            for (int s = 0; s < W; ++s) left[s] = to[s] - product(weight, from[s]);
            for (int s = 0; s < W; ++s) to[s] = left[s];
        }
    }
    // Subtracts from a column what its rows have there.
    template <bool Adjoint, class Rows>
    void gather(Index c, std::int64_t p, std::int64_t end, Rows row, const Value* value) {
        constexpr int lanes = W == 1 ? 4 : 1;  // sums that do not wait for each other
        Value sum[lanes][W] = {};
        const auto take = [&](int lane, std::int64_t q) {
            const Value* const from = x_ + static_cast<std::int64_t>(row[q]) * W;
            const Value weight = turned<Adjoint>(value[q]);
            for (int s = 0; s < W; ++s) sum[lane][s] += product(weight, from[s]);
        };
        for (; p + lanes <= end; p += lanes)
            for (int lane = 0; lane < lanes; ++lane) take(lane, p + lane);
        for (; p < end; ++p) take(0, p);
        Value* const to = x_ + static_cast<std::int64_t>(c) * W;
        for (int lane = 1; lane < lanes; ++lane) sum[0][0] += sum[lane][0];
        for (int s = 0; s < W; ++s) to[s] -= sum[0][s];
    }
    template <bool Adjoint> static Value turned(Value v) {
        if constexpr (Adjoint) return conjugate(v);
        else return v;
    }

    const BlockLU<Index, Value>& lu_;
    const ExternalSolve<Index, Value>& external_;
    Value* x_;
    WorkCounter* counter_ = nullptr;  // of the run, if there is one
};

}  // namespace sparsematch
