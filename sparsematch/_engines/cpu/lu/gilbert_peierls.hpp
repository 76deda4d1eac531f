// The numerical block triangular factorisation: L U = P B for each diagonal block B of a plan, the
// entries above kept as they are, and the same again for new values with the same pivots.
//
// Gilbert, Peierls, Sparse partial pivoting in time proportional to arithmetic operations (SIAM J.
// Sci. Stat. Comput. 9, 1988); Eisenstat, Liu, Exploiting structural symmetry in a sparse partial
// pivoting code (SISC 14, 1993) for pruning: the search for column k's pattern need not follow an
// entry of column j of L below the first row that is in column j of both L and U^T. A pivot stays
// on the diagonal, where the order put it, unless it is small beside the largest of its column.
// Each block is equilibrated first (equilibration.hpp), so that the sizes of its entries can be
// compared. Where entries grow too much all the same, the diagonal is preferred less, in the end
// not at all: partial pivoting.
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
#include "lu/equilibration.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/symbolic.hpp"

namespace sparsematch {

enum class Outcome { done, singular, unstable, fill_exceeded, stopped };

constexpr const char* name(Outcome outcome) {
    switch (outcome) {
        case Outcome::done:
            return "done";
        case Outcome::singular:
            return "singular";
        case Outcome::unstable:
            return "unstable";
        case Outcome::fill_exceeded:
            return "fill_exceeded";
        default:
            return "stopped";
    }
}

template <class Index, class Value>
class BlockLU {
  public:
    // Share of the largest in its column below which an old pivot is replaced by a new one.
    static constexpr double refactor_tolerance = 1e-3;
    // Entries of U beside those of the equilibrated block, above which the diagonal is preferred
    // less: some four of sixteen digits are lost, which a step of refinement brings back.
    static constexpr double growth_limit = 1e4;

    explicit BlockLU(const BlockPlan<Index>& plan)
        : plan(plan), l_start(size() + 1), l_end(size()), u_start(size() + 1), pivot(size(), 1),
          row_of(size()), upper_row(plan.upper_row), upper(plan.upper_row.size()),
          growth(static_cast<std::size_t>(plan.n_blocks()), 1), place_(size()) {}

    // Factorises with new pivots, chosen by the values: the diagonal if it is at least `preference`
    // times the largest of its column. After `singular` and `fill_exceeded`, `trouble` is the block
    // where.
    Outcome factorise(const Value* a, double preference, RunContext& run) {
        WorkCounter counter(run);
        l_row.clear(), l.clear(), u_row.clear(), u.clear();
        const auto room = static_cast<std::size_t>(plan.expected_entries);
        l_row.reserve(room), l.reserve(room), u_row.reserve(room), u.reserve(room);
        preference_ = preference;
        if (!equilibration.of(plan, a, counter)) return Outcome::stopped;
        return factorise_from(0, 0, a, counter);
    }

    // New numbers with the same pivots, up to the first column whose pivot has become too small
    // beside it; from there on new pivots. A block whose entries grow beyond the limit gets new
    // ones at once.
    Outcome refactorise(const Value* a, RunContext& run) {
        WorkCounter counter(run);
        if (!equilibration.of(plan, a, counter)) return Outcome::stopped;
        for (Index k = 0; k < plan.n_blocks(); ++k) {
            trouble = k;
            if (plan.external[k] > 0) continue;
            const Outcome outcome = plan.size(k) == 1 ? one_by_one(k, a) : replay(k, counter);
            if (outcome == Outcome::unstable) return resume(k, a, counter);
            if (outcome != Outcome::done) return outcome;
        }
        return finish(a, counter);
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
    Equilibration<Index, Value> equilibration;
    std::vector<double> growth;  // of each block: the largest entry of U over that of the block
    // The factor of the row that is the c-th pivot row.
    std::vector<double> pivot_row_factor;
    Index trouble = 0;

  private:
    static constexpr Index no_column = -1;
    static constexpr std::int64_t no_place = -1;
    static constexpr double no_limit = std::numeric_limits<double>::infinity();

    // New pivots from a column of a block on; those before stay.
    Outcome factorise_from(Index first_block, Index column, const Value* a, WorkCounter& counter) {
        for (Index k = first_block; k < plan.n_blocks(); ++k) {
            trouble = k;
            const bool small = plan.size(k) == 1;
            if (small || plan.external[k] > 0) skip(k);
            const Outcome outcome = plan.external[k] > 0 ? Outcome::done
                                    : small              ? one_by_one(k, a)
                                                         : block(k, column, counter);
            if (outcome != Outcome::done) return outcome;
            column = 0;
        }
        l_start[size()] = static_cast<std::int64_t>(l.size()),
        u_start[size()] = static_cast<std::int64_t>(u.size());
        for (std::size_t p = 0; p < upper_row.size(); ++p) upper_row[p] = place_[plan.upper_row[p]];
        return finish(a, counter);
    }
    Outcome finish(const Value* a, WorkCounter& counter) {
        for (std::size_t p = 0; p < upper.size(); ++p) upper[p] = a[plan.upper_from[p]];
        pivot_row_factor.resize(size());
        for (std::size_t c = 0; c < size(); ++c)
            pivot_row_factor[c] = equilibration.row_factor[row_of[c]];
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
        return v == Value(0) ? Outcome::singular : Outcome::done;
    }

    // New pivots from this column on; where entries grow too much, from the first column on and
    // with less preference for the diagonal.
    Outcome block(Index k, Index column, WorkCounter& counter) {
        begin(k);
        const auto l_before = column ? l_start[first_] : static_cast<std::int64_t>(l.size()),
                   u_before = column ? u_start[first_] : static_cast<std::int64_t>(u.size());
        if (column == 0) grown_ = 0;
        for (double preference = preference_;;) {
            const bool last = column == 0 && preference >= 1;
            const Outcome outcome =
                eliminate_columns(column, preference, last ? no_limit : limit_,
                                  static_cast<double>(l_before + u_before), counter);
            growth[k] = grown_ / largest_;
            if (outcome == Outcome::done) return outcome;
            clear_x();
            if (outcome != Outcome::unstable) return outcome;
            if (column == 0) preference = std::min(10 * preference, 1.0);
            column = 0, grown_ = 0;
            l_row.resize(l_before), l.resize(l_before), u_row.resize(u_before), u.resize(u_before);
        }
    }
    Outcome eliminate_columns(Index column, double preference, double limit, double before,
                              WorkCounter& counter) {
        prepare();
        restore_rows(column);
        const double* most = plan.most.data() + first_;
        for (Index c = column; c < m_; ++c) {
            reach(c);
            const std::int64_t work = eliminate(c);
            if (!choose_pivot(c, preference)) return Outcome::singular;
            if (grown_ > limit) return Outcome::unstable;
            prune(c);
            if (static_cast<double>(l.size() + u.size()) - before > most[c])
                return Outcome::fill_exceeded;
            if (!counter.add(work)) return Outcome::stopped;
        }
        for (auto p = l_start[first_]; p < static_cast<std::int64_t>(l.size()); ++p)
            l_row[p] = done_[l_row[p]];
        for (Index r = 0; r < m_; ++r)
            row_of[first_ + done_[r]] = first_ + r, place_[first_ + r] = first_ + done_[r];
        return Outcome::done;
    }
    void begin(Index k) {
        first_ = plan.starts[k], m_ = plan.size(k);
        largest_ = equilibration.largest[k] > 0 ? equilibration.largest[k] : 1;
        limit_ = growth_limit * largest_;
    }
    // Rows as they were when the columns before this one were finished: counted within the block.
    void restore_rows(Index column) {
        const auto row = [this](Index c) { return row_of[first_ + c] - first_; };
        if (column == 0) return;
        for (Index c = 0; c < column; ++c) pivot_row_[c] = row(c), done_[row(c)] = c;
        for (auto p = l_start[first_]; p < static_cast<std::int64_t>(l.size()); ++p)
            l_row[p] = row(l_row[p]);
    }

    void prepare() {
        const auto m = static_cast<std::size_t>(m_);
        done_.assign(m, no_column), mark_.assign(m, no_column), x_.assign(m, Value(0)),
            pivot_row_.resize(m);
        path_.resize(m), next_.resize(m), order_.resize(m), pruned_.assign(m, no_place);
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
        if (done_[r] == no_column) return candidates_.push_back(r);
        Index depth = 0;
        enter(depth, done_[r]);
        while (depth >= 0) {
            const Index j = path_[depth];
            const auto end = pruned_[j] == no_place ? l_end[first_ + j] : pruned_[j];
            bool deeper = false;
            while (next_[depth] < end) {
                const Index s = l_row[next_[depth]++];
                if (mark_[s] == c) continue;
                mark_[s] = c;
                if (done_[s] == no_column) {
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
    std::int64_t eliminate(Index c) {
        std::int64_t work = m_ > 16 ? m_ / 16 : 1;
        for (auto p = plan.inner_start[first_ + c]; p < plan.inner_start[first_ + c + 1]; ++p)
            x_[plan.inner_row[p]] += equilibration.inner[p];
        u_start[first_ + c] = static_cast<std::int64_t>(u.size());
        for (Index t = top_; t < m_; ++t) {
            const Index j = order_[t];
            const Value v = std::exchange(x_[pivot_row_[j]], Value(0));
            u_row.push_back(j), u.push_back(v);
            grown_ = std::max(grown_, magnitude(v));
            const auto end = l_end[first_ + j];
            for (auto p = l_start[first_ + j]; p < end; ++p) x_[l_row[p]] -= l[p] * v;
            work += end - l_start[first_ + j];
        }
        return work;
    }

    bool choose_pivot(Index c, double preference) {
        double best = 0;
        Index row = no_column;
        for (const Index r : candidates_)
            if (const double v = magnitude(x_[r]); v > best) best = v, row = r;
        if (row == no_column) return false;
        if (mark_[c] == c && done_[c] == no_column && magnitude(x_[c]) >= preference * best)
            row = c;
        const Value v = x_[row];
        pivot[first_ + c] = v, pivot_row_[c] = row, done_[row] = c;
        grown_ = std::max(grown_, magnitude(v));
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
            if (pruned_[j] != no_place ||
                std::find(l_row.begin() + from, l_row.begin() + end, row) == l_row.begin() + end)
                continue;
            auto head = from, tail = end;
            while (head < tail) {
                if (done_[l_row[head]] != no_column) ++head;
                else --tail, std::swap(l_row[head], l_row[tail]), std::swap(l[head], l[tail]);
            }
            pruned_[j] = tail;
        }
    }

    // Stops at the first column whose pivot is too small (stop_), or where entries grow too much
    // (stop_ = 0).
    Outcome replay(Index k, WorkCounter& counter) {
        begin(k), grown_ = 0;
        x_.assign(static_cast<std::size_t>(m_), Value(0));
        const Index* place = place_.data() + first_;
        for (Index c = first_; c < first_ + m_; ++c) {
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p)
                x_[place[plan.inner_row[p]] - first_] += equilibration.inner[p];
            std::int64_t work = 1;
            for (auto q = u_start[c]; q < u_start[c + 1]; ++q) {
                const Index j = u_row[q];
                const Value v = std::exchange(x_[j], Value(0));
                u[q] = v;
                grown_ = std::max(grown_, magnitude(v));
                const auto end = l_end[first_ + j];
                for (auto p = l_start[first_ + j]; p < end; ++p) x_[l_row[p]] -= l[p] * v;
                work += end - l_start[first_ + j];
            }
            if (!replay_pivot(c)) return clear_x(), stop_ = c - first_, Outcome::unstable;
            if (!(grown_ <= limit_)) return clear_x(), stop_ = 0, Outcome::unstable;
            if (!counter.add(work)) return clear_x(), Outcome::stopped;
        }
        growth[k] = grown_ / largest_;
        return Outcome::done;
    }
    bool replay_pivot(Index c) {
        const Value v = std::exchange(x_[c - first_], Value(0));
        double best = 0;
        for (auto p = l_start[c]; p < l_end[c]; ++p) best = std::max(best, magnitude(x_[l_row[p]]));
        if (!(magnitude(v) > 0) || magnitude(v) < refactor_tolerance * best) return false;
        pivot[c] = v;
        grown_ = std::max(grown_, magnitude(v));
        for (auto p = l_start[c]; p < l_end[c]; ++p)
            l[p] = std::exchange(x_[l_row[p]], Value(0)) / v;
        return true;
    }

    Index first_ = 0, m_ = 0, top_ = 0, stop_ = 0;  // stop_: the column of a pivot too small
    double preference_ = diagonal_preference;
    double largest_ = 1, limit_ = 0;  // of the block: its largest entry, and what U may come to
    double grown_ = 0;                // the largest entry of U
    std::vector<Value> x_;
    std::vector<Index> place_, done_, mark_, pivot_row_, path_, order_, candidates_;
    std::vector<std::int64_t> next_, pruned_;
};

}  // namespace sparsematch
