// The numerical block triangular factorisation: L U = P B for each diagonal block B of a plan, the
// entries above kept as they are, and the same again for new values with the same pivots.
//
// Gilbert, Peierls, Sparse partial pivoting in time proportional to arithmetic operations (SIAM J.
// Sci. Stat. Comput. 9, 1988); Eisenstat, Liu, Exploiting structural symmetry in a sparse partial
// pivoting code (SISC 14, 1993) for pruning: the search for column k's pattern need not follow an
// entry of column j of L below the first row that is in column j of both L and U^T. A pivot stays
// on the diagonal, where the order put it, unless it is small beside the largest of its column,
// rows scaled.
// Invariant: between columns the accumulator x_ is zero; rows of L are counted within the block, by
// pivot once it is finished.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/run_context.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/symbolic.hpp"

namespace sparsematch {

enum class Outcome { done, singular, unstable, fill_exceeded, stopped };

template <class Index, class Value>
class BlockLU {
  public:
    static constexpr double refactor_tolerance = 1e-3;

    explicit BlockLU(const BlockPlan<Index>& plan)
        : plan(plan), l_start(size() + 1), l_end(size()), u_start(size() + 1), pivot(size(), 1),
          row_of(size()), upper_row(plan.upper_row), upper(plan.upper_row.size()) {}

    // Factorises anew, pivots chosen by the values. After `singular` and `fill_exceeded`, `trouble`
    // is the block where.
    Outcome factorise(const Value* a, RunContext& run) {
        WorkCounter counter(run);
        l_row.clear(), l.clear(), u_row.clear(), u.clear();
        const auto room = static_cast<std::size_t>(plan.expected_entries);
        l_row.reserve(room), l.reserve(room), u_row.reserve(room), u.reserve(room);
        largest_u = 0;
        place_.resize(size()), pivot_scale_.resize(size());
        growth_.assign(static_cast<std::size_t>(plan.n_blocks()), 0);
        return factorise_from(0, 0, a, counter);
    }

    // New numbers with the same pivots, up to the first column whose pivot has become too small
    // beside it; from there on new pivots. A block whose entries have grown gets new ones at once.
    Outcome refactorise(const Value* a, RunContext& run) {
        WorkCounter counter(run);
        largest_u = 0;
        for (Index k = 0; k < plan.n_blocks(); ++k) {
            trouble = k;
            if (plan.external[k] > 0) continue;
            const double largest_before = largest_u;
            const Outcome outcome = plan.size(k) == 1 ? one_by_one(k, a) : replay(k, a, counter);
            if (outcome == Outcome::unstable) {
                if (stop_ == 0) largest_u = largest_before;
                return resume(k, a, counter);
            }
            if (outcome != Outcome::done) return outcome;
        }
        gather_upper(a);
        return Outcome::done;
    }

    std::size_t size() const { return static_cast<std::size_t>(plan.n); }
    std::int64_t entries() const { return static_cast<std::int64_t>(l.size() + u.size() + size()); }

    const BlockPlan<Index>& plan;
    // Column c: L below its unit diagonal, U above its diagonal, the diagonal of U.
    std::vector<std::int64_t> l_start, l_end, u_start;
    std::vector<Index> l_row, u_row;
    std::vector<Value> l, u, pivot;
    std::vector<Index> row_of;     // the row of the permuted matrix that is the c-th pivot row
    std::vector<Index> upper_row;  // as the plan's, rows counted by pivot
    std::vector<Value> upper;
    double largest_u = 0;
    Index trouble = 0;

  private:
    static constexpr Index none = -1;
    static constexpr std::int64_t none64 = -1;
    // Growth of entries, rows scaled, that is put up with, and how much more than with new pivots.
    static constexpr double growth_limit = 1e4, more_growth = 10;

    // New pivots from a column of a block on; those before stay.
    Outcome factorise_from(Index first_block, Index column, const Value* a, WorkCounter& counter) {
        for (Index k = first_block; k < plan.n_blocks(); ++k) {
            trouble = k;
            const bool small = plan.size(k) == 1;
            if (small || plan.external[k] > 0) skip(k);
            const Outcome outcome = plan.external[k] > 0 ? Outcome::done
                                    : small              ? one_by_one(k, a)
                                                         : block(k, column, a, counter);
            if (outcome != Outcome::done) return outcome;
            column = 0;
        }
        l_start[size()] = static_cast<std::int64_t>(l.size()),
        u_start[size()] = static_cast<std::int64_t>(u.size());
        for (std::size_t p = 0; p < upper_row.size(); ++p) upper_row[p] = place_[plan.upper_row[p]];
        gather_upper(a);
        return counter.add(0) ? Outcome::done : Outcome::stopped;
    }
    Outcome resume(Index k, const Value* a, WorkCounter& counter) {
        const Index c = plan.starts[k] + stop_;
        l_row.resize(l_start[c]), l.resize(l_start[c]);
        u_row.resize(u_start[c]), u.resize(u_start[c]);
        return factorise_from(k, stop_, a, counter);
    }

    // Columns without L and U: those of 1 x 1 blocks, and of blocks left to an external solver.
    void skip(Index k) {
        for (Index c = plan.starts[k]; c < plan.starts[k + 1]; ++c) {
            row_of[c] = place_[c] = c;
            l_start[c] = l_end[c] = static_cast<std::int64_t>(l.size());
            u_start[c] = static_cast<std::int64_t>(u.size());
        }
    }
    Outcome one_by_one(Index k, const Value* a) {
        const Index c = plan.starts[k];
        Value v = 0;
        for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p)
            v += a[plan.inner_from[p]];
        pivot[c] = v;
        largest_u = std::max(largest_u, magnitude(v));
        return v == Value(0) ? Outcome::singular : Outcome::done;
    }
    void gather_upper(const Value* a) {
        for (std::size_t p = 0; p < upper.size(); ++p) upper[p] = a[plan.upper_from[p]];
    }

    Outcome block(Index k, Index column, const Value* a, WorkCounter& counter) {
        first_ = plan.starts[k], m_ = plan.size(k), grown_ = 0;
        prepare(a);
        const double* most = plan.most.data() + first_;
        const std::size_t before = column ? l_start[first_] + u_start[first_] : l.size() + u.size();
        take_up(column);
        for (Index c = column; c < m_; ++c) {
            reach(c);
            const std::int64_t work = eliminate(c, a);
            if (!choose_pivot(c)) return clear_x(), Outcome::singular;
            prune(c);
            if (static_cast<double>(l.size() + u.size() - before) > most[c])
                return clear_x(), Outcome::fill_exceeded;
            if (!counter.add(work)) return clear_x(), Outcome::stopped;
        }
        for (auto p = l_start[first_]; p < static_cast<std::int64_t>(l.size()); ++p)
            l_row[p] = done_[l_row[p]];
        for (Index r = 0; r < m_; ++r) {
            row_of[first_ + done_[r]] = first_ + r, place_[first_ + r] = first_ + done_[r];
            pivot_scale_[first_ + done_[r]] = scale_[r];
        }
        growth_[k] = column ? std::max(growth_[k], grown_) : grown_;
        return Outcome::done;
    }
    // Rows as they were when the columns before this one were finished: counted within the block.
    void take_up(Index column) {
        const auto row = [this](Index c) { return row_of[first_ + c] - first_; };
        if (column == 0) return;
        for (Index c = 0; c < column; ++c) pivot_row_[c] = row(c), done_[row(c)] = c;
        for (auto p = l_start[first_]; p < static_cast<std::int64_t>(l.size()); ++p)
            l_row[p] = row(l_row[p]);
    }

    void prepare(const Value* a) {
        const auto m = static_cast<std::size_t>(m_);
        done_.assign(m, none), mark_.assign(m, none), x_.assign(m, Value(0)), scale_.assign(m, 0),
            pivot_row_.resize(m);
        path_.resize(m), next_.resize(m), order_.resize(m), pruned_.assign(m, none64);
        for (auto p = plan.inner_start[first_]; p < plan.inner_start[first_ + m_]; ++p) {
            double& largest = scale_[plan.inner_row[p]];
            largest = std::max(largest, magnitude(a[plan.inner_from[p]]));
        }
        for (double& s : scale_) s = s > 0 ? 1 / s : 1;
    }
    void clear_x() { std::fill(x_.begin(), x_.end(), Value(0)); }

    // Which columns of L column c needs, in topological order (order_[top_...]), and which rows may
    // become its pivot.
    void reach(Index c) {
        top_ = m_;
        candidates_.clear();
        for (auto p = plan.inner_start[first_ + c]; p < plan.inner_start[first_ + c + 1]; ++p)
            if (const Index r = plan.inner_row[p]; mark_[r] != c) visit(r, c);
    }
    void visit(Index r, Index c) {
        mark_[r] = c;
        if (done_[r] == none) return candidates_.push_back(r);
        Index depth = 0;
        enter(depth, done_[r]);
        while (depth >= 0) {
            const Index j = path_[depth];
            const auto end = pruned_[j] == none64 ? l_end[first_ + j] : pruned_[j];
            bool deeper = false;
            while (next_[depth] < end) {
                const Index s = l_row[next_[depth]++];
                if (mark_[s] == c) continue;
                mark_[s] = c;
                if (done_[s] == none) {
                    candidates_.push_back(s);
                } else {
                    enter(++depth, done_[s]), deeper = true;
                    break;
                }
            }
            if (!deeper) order_[--top_] = j, --depth;
        }
    }
    void enter(Index depth, Index j) { path_[depth] = j, next_[depth] = l_start[first_ + j]; }

    // x becomes column c after elimination by the columns before it; those rows go to U.
    std::int64_t eliminate(Index c, const Value* a) {
        std::int64_t work = m_ > 16 ? m_ / 16 : 1;
        for (auto p = plan.inner_start[first_ + c]; p < plan.inner_start[first_ + c + 1]; ++p)
            x_[plan.inner_row[p]] += a[plan.inner_from[p]];
        u_start[first_ + c] = static_cast<std::int64_t>(u.size());
        for (Index t = top_; t < m_; ++t) {
            const Index j = order_[t];
            const Value v = std::exchange(x_[pivot_row_[j]], Value(0));
            u_row.push_back(j), u.push_back(v);
            largest_u = std::max(largest_u, magnitude(v));
            grown_ = std::max(grown_, magnitude(v) * scale_[pivot_row_[j]]);
            const auto end = l_end[first_ + j];
            for (auto p = l_start[first_ + j]; p < end; ++p) x_[l_row[p]] -= l[p] * v;
            work += end - l_start[first_ + j];
        }
        return work;
    }

    bool choose_pivot(Index c) {
        double best = 0;
        Index row = none;
        for (const Index r : candidates_)
            if (const double v = magnitude(x_[r]) * scale_[r]; v > best) best = v, row = r;
        if (row == none) return false;
        if (mark_[c] == c && done_[c] == none &&
            magnitude(x_[c]) * scale_[c] >= diagonal_preference * best)
            row = c;
        const Value v = x_[row];
        pivot[first_ + c] = v, pivot_row_[c] = row, done_[row] = c;
        largest_u = std::max(largest_u, magnitude(v));
        grown_ = std::max(grown_, magnitude(v) * scale_[row]);
        l_start[first_ + c] = static_cast<std::int64_t>(l.size());
        for (const Index r : candidates_) {
            if (r != row) l_row.push_back(r), l.push_back(x_[r] / v);
            x_[r] = Value(0);
        }
        l_end[first_ + c] = static_cast<std::int64_t>(l.size());
        return true;
    }

    // Columns of L that hold the new pivot row, and whose row of U has an entry in column c: rows
    // that are pivots come first.
    void prune(Index c) {
        const Index row = pivot_row_[c];
        for (Index t = top_; t < m_; ++t) {
            const Index j = order_[t];
            const auto from = l_start[first_ + j], end = l_end[first_ + j];
            if (pruned_[j] != none64 ||
                std::find(l_row.begin() + from, l_row.begin() + end, row) == l_row.begin() + end)
                continue;
            auto head = from, tail = end;
            while (head < tail) {
                if (done_[l_row[head]] != none) ++head;
                else --tail, std::swap(l_row[head], l_row[tail]), std::swap(l[head], l[tail]);
            }
            pruned_[j] = tail;
        }
    }

    Outcome replay(Index k, const Value* a, WorkCounter& counter) {
        first_ = plan.starts[k], m_ = plan.size(k), grown_ = 0;
        x_.assign(static_cast<std::size_t>(m_), Value(0));
        const Index* place = place_.data() + first_;
        const double* scale = pivot_scale_.data() + first_;
        double given = 0;
        for (Index c = first_; c < first_ + m_; ++c) {
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p) {
                const Index r = place[plan.inner_row[p]] - first_;
                x_[r] += a[plan.inner_from[p]];
                given = std::max(given, magnitude(a[plan.inner_from[p]]) * scale[r]);
            }
            std::int64_t work = 1;
            for (auto q = u_start[c]; q < u_start[c + 1]; ++q) {
                const Index j = u_row[q];
                const Value v = std::exchange(x_[j], Value(0));
                u[q] = v;
                largest_u = std::max(largest_u, magnitude(v));
                grown_ = std::max(grown_, magnitude(v) * scale[j]);
                const auto end = l_end[first_ + j];
                for (auto p = l_start[first_ + j]; p < end; ++p) x_[l_row[p]] -= l[p] * v;
                work += end - l_start[first_ + j];
            }
            if (!replay_pivot(c)) return clear_x(), stop_ = c - first_, Outcome::unstable;
            if (!counter.add(work)) return clear_x(), Outcome::stopped;
        }
        const double limit = std::max(growth_limit, more_growth * growth_[k]);
        return grown_ > limit * given ? (stop_ = 0, Outcome::unstable) : Outcome::done;
    }
    bool replay_pivot(Index c) {
        const double* scale = pivot_scale_.data() + first_;
        const Value v = std::exchange(x_[c - first_], Value(0));
        double best = 0;
        for (auto p = l_start[c]; p < l_end[c]; ++p)
            best = std::max(best, magnitude(x_[l_row[p]]) * scale[l_row[p]]);
        if (!(magnitude(v) > 0) || magnitude(v) * scale[c - first_] < refactor_tolerance * best)
            return false;
        pivot[c] = v;
        largest_u = std::max(largest_u, magnitude(v));
        grown_ = std::max(grown_, magnitude(v) * scale[c - first_]);
        for (auto p = l_start[c]; p < l_end[c]; ++p)
            l[p] = std::exchange(x_[l_row[p]], Value(0)) / v;
        return true;
    }

    Index first_ = 0, m_ = 0, top_ = 0, stop_ = 0;  // stop_: the column of a pivot too small
    double grown_ = 0;                              // the largest entry of U, rows scaled
    std::vector<double> growth_;                    // the same of each block, pivots being new
    std::vector<Value> x_;
    std::vector<double> scale_, pivot_scale_;
    std::vector<Index> place_, done_, mark_, pivot_row_, path_, order_, candidates_;
    std::vector<std::int64_t> next_, pruned_;
};

}  // namespace sparsematch
