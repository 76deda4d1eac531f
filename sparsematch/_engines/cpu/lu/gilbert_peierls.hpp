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
// not at all. Where that does not help, or a block seems to have no inverse, it is scaled by the
// transversal of the largest product of these values.
// A column without a pivot may wait until its block is finished: an entry is added to it then, in
// a row that no other column has taken, and the factors are those of the bordered matrix. Such a
// column of L has no entries, so the sweeps never need its row before the others have reached it.
// The pattern of the factors is fixed between two choices of pivots: the columns of U and of the
// entries above the blocks are one list, rows counted by pivot. New values need no search.
// Invariant: between columns the accumulator x_ is zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/run_context.hpp"
#include "lu/block_plan.hpp"
#include "lu/by_values.hpp"
#include "lu/equilibration.hpp"
#include "lu/frontal_lu.hpp"
#include "lu/growing_array.hpp"
#include "lu/kept.hpp"
#include "lu/pivot_checks.hpp"

namespace sparsematch {

// What is known of rows and columns while pivots are chosen.
template <class Index> struct PivotWorkspace {
    static constexpr Index no_column = -1;
    // A row: the last column whose pattern it is in, and the column that it is the pivot of.
    struct Row {
        Index seen_by = no_column, pivot_of = no_column;
    };
    struct Visit {
        std::int64_t begin, end;  // entries that are still to be followed
        Index column;
    };

    void prepare(std::size_t n) {
        rows.assign(n, Row{}), is_pruned.assign(n, 0);
        const auto grow = [n](auto&... list) {
            ((list = list.size() < n ? std::decay_t<decltype(list)>(n) : std::move(list)), ...);
        };
        grow(followed, path, order, candidates);
    }

    std::vector<Row> rows;
    std::vector<char> is_pruned;  // of columns of L
    Buffer<Visit> path;
    Buffer<Index> followed, order, candidates;  // followed: entries of a column of L by a search
};

// An entry that was added, in the places and the units of the matrix.
template <class Index, class Value> struct AddedEntry {
    Index row, col;
    Value value;
};

// Of each entry of the blocks, its row by pivots; of each pivot row, its entries in the block.
template <class Index> struct Located {
    std::once_flag made;
    std::vector<Index> place, col, row_start, row_entry, row_col;
};

// What was found when a block was last asked for its condition.
struct AskedBlock {
    double least_pivot = 0;  // as a share of the largest entry
    bool in_doubt = false;
};

template <class Index, class Value> class BlockLU {
  public:
    // Share of the largest in its column below which an old pivot is replaced by a new one: less
    // than new ones may have. Some six of sixteen digits may be lost, which a step of refinement
    // brings back; at 1e-3, power flows of small angles choose new ones in half of their steps.
    static constexpr double refactor_tolerance = 1e-6;
    // Entries of U beside those of the equilibrated block, above which the diagonal is preferred
    // less: some six of sixteen digits are lost, which a step of refinement brings back.
    static constexpr double growth_limit = 1e6;

    explicit BlockLU(const BlockPlan<Index>& plan)
        : plan(plan), l_start(size() + 1), u_start(size() + 1), pivot(size(), 1),
          inverse(size(), 1), row_of(size()), pivot_row_factor(size(), 1),
          growth(static_cast<std::size_t>(plan.n_blocks()), 1), leads_(size()), x_(size()) {}

    // Factorises with new pivots, chosen by the values: the diagonal if it is at least `preference`
    // times the largest of its column. `trouble` is the block that is singular or has filled up.
    Outcome factorise(const Value* a, double preference, RunContext& run) {
        WorkCounter counter(run);
        l_row.clear(), l.clear(), u_row.clear(), u.clear();
        const auto room = static_cast<std::size_t>(plan.expected_entries - plan.in_fronts);
        l_row.make_room(room), l.make_room(room);
        u_row.make_room(room + n_upper()), u.make_room(room + n_upper());
        preference_ = preference, added.clear(), seemed_singular.clear();
        if (!equilibration.of(plan, a, counter)) return Outcome::stopped;
        return factorise_from(0, 0, a, counter);
    }

    // New numbers with the same pivots, up to the first column whose pivot has become too small
    // beside it, then new pivots; at once in a block whose entries grow beyond the limit.
    Outcome refactorise(const Value* a, RunContext& run) {
        WorkCounter counter(run);
        seemed_singular.clear();
        if (!equilibration.again(plan, a, counter)) return Outcome::stopped;
        all_by_fronts(0, false, counter);
        for (Index k = 0; k < plan.n_blocks(); ++k) {
            trouble = k;
            const Outcome outcome = !has_columns(k) ? without_l(k, false, a)
                                    : plan.kernel[k] == Kernel::fronts
                                        ? by_fronts(k, false, a, counter)
                                        : replay(k, a, counter);
            if (outcome == Outcome::unstable) return resume(k, a, counter);
            if (outcome != Outcome::done) return outcome;
        }
        return counter.add(0) ? Outcome::done : Outcome::stopped;
    }

    // Of what is solved with, or of its transpose: the side of the right-hand sides, and that of
    // the solutions. By pivots, where each is in the user's order, and the factor that scales it.
    struct End {
        const Index* place;
        const double* factor;
    };
    std::pair<End, End> ends(bool plain) const {
        const End rows{user_row.data(), pivot_row_factor.data()},
            cols{plan.col_perm.data(), equilibration.col_factor.data()};
        return plain ? std::pair(rows, cols) : std::pair(cols, rows);
    }
    std::size_t size() const { return static_cast<std::size_t>(plan.n); }
    std::size_t n_upper() const { return plan.upper_row.size(); }
    std::int64_t entries() const {
        std::size_t more = 0;
        for (const auto& [k, by] : fronts) more += by.entries();
        return static_cast<std::int64_t>(l.size() + u.size() - n_upper() + size() + more);
    }
    // Of one block that is factorised here.
    double entries_of(Index k) const {
        const Index first = plan.starts[k], end = plan.starts[k + 1];
        if (plan.kernel[k] == Kernel::fronts)
            return static_cast<double>(fronts.at(k).entries() + end - first);
        return static_cast<double>(l_start[end] - l_start[first] + u_start[end] - u_start[first] -
                                   plan.upper(first, end) + plan.size(k));
    }
    // Where column c of U ends, and what is above its block begins.
    std::int64_t u_end(Index c) const { return u_start[c + 1] - plan.upper(c, c + 1); }

    // Whether scaling has lost nothing of the values, which it has not where they are middling.
    bool has_values() const { return equilibration.is_middling_throughout; }
    // Then these, by the user's columns. Time: O(n + nnz).
    std::vector<Value> values() const {
        std::vector<Value> out(plan.inner_row.size() + n_upper());
        const auto unscaled = [](Value v, double factor) { return v * (1 / factor); };
        for (Index k = 0; k < plan.n_blocks(); ++k) {
            const bool single = plan.size(k) == 1 && !plan.is_external(k);
            for (Index first = plan.starts[k], c = first; c < plan.starts[k + 1]; ++c) {
                const double factor = equilibration.col_factor[c];
                plan.each_inner(c, [&](Index p, Index to) {
                    const double row = equilibration.row_factor[first + plan.inner_row[p]];
                    out[to] = unscaled(single ? pivot[c] : equilibration.inner[p], row * factor);
                });
                auto q = u_end(c);
                for (Index p = plan.upper(c), end = plan.upper(c + 1); p < end; ++p, ++q)
                    out[plan.upper_from[p]] = unscaled(u[q], pivot_row_factor[u_row[q]] * factor);
            }
        }
        return out;
    }

    // Once for all values by the same pivots, when it is first asked for. Several threads may.
    const Located<Index>& located() const {
        std::call_once(located_->made, [this] { locate_entries(*located_); });
        return *located_;
    }

    const BlockPlan<Index>& plan;
    // Share of a block's largest entry up to which no number is a pivot but an entry is added; if
    // it is 0, none is, and the block is singular.
    double no_pivot = 0;
    std::vector<AddedEntry<Index, Value>> added;
    std::map<Index, FrontalLU<Index, Value>> fronts;  // blocks that have no columns of L and U here
    // Column c: L below its unit diagonal; U above its diagonal up to u_end(c), then what is above
    // the block; the diagonal of U. Rows are counted within the matrix, by pivot.
    std::vector<std::int64_t> l_start, u_start;
    GrowingArray<Index> l_row, u_row;
    GrowingArray<Value> l, u;
    std::vector<Value> pivot, inverse;  // of each its inverse
    std::vector<AskedBlock> asked;      // of several rows, by condition.hpp
    // The row that is the c-th pivot row: of the permuted matrix, and of the user's.
    std::vector<Index> row_of, user_row;
    std::vector<double> pivot_row_factor;  // its factor
    Equilibration<Index, Value> equilibration;
    std::vector<double> growth;  // of each block: the largest entry of U over that of the block
    Index trouble = 0;
    std::vector<Index> seemed_singular;  // blocks, before they were scaled by a product

  private:
    using Workspace = PivotWorkspace<Index>;
    using Row = typename Workspace::Row;
    static constexpr Index no_column = Workspace::no_column;
    // Rows from which on a pair pays: to find it, and to see it, takes as long as some products.
    static constexpr Index least_paired = 5;
    static constexpr double tiny = 0x1p-1000;  // the inverse of what is smaller may be no double

    // New pivots from a column of a block on; those before stay.
    Outcome factorise_from(Index first_block, Index column, const Value* a, WorkCounter& counter) {
        std::optional<BorrowedWorkspace<Workspace>> workspace(size() + plan.inner_row.size());
        search_ = &**workspace;
        search_->prepare(size());
        for (Index c = 0; c < column; ++c) search_->rows[row_of[c]].pivot_of = c;
        all_by_fronts(first_block, true, counter);
        for (Index k = first_block; k < plan.n_blocks(); ++k) {
            trouble = k;
            const Outcome outcome = !has_columns(k) ? without_l(k, true, a)
                                    : plan.kernel[k] == Kernel::fronts
                                        ? by_fronts(k, true, a, counter)
                                        : block(k, std::max(column, plan.starts[k]), a, counter);
            if (outcome != Outcome::done) return outcome;
        }
        l_start[size()] = static_cast<std::int64_t>(l.size()),
        u_start[size()] = static_cast<std::int64_t>(u.size());
        workspace.reset();
        user_row.resize(size());
        for (std::size_t c = 0; c < size(); ++c) user_row[c] = plan.row_perm[row_of[c]];
        l_row.trim(), l.trim(), u_row.trim(), u.trim();
        located_ = std::make_unique<Located<Index>>();
        return counter.add(0) ? Outcome::done : Outcome::stopped;
    }
    Outcome resume(Index k, const Value* a, WorkCounter& counter) {
        cut(l_start[stop_], u_start[stop_]);
        return factorise_from(k, stop_, a, counter);
    }

    // Leaves this much of L and U.
    void cut(std::int64_t l_end, std::int64_t u_end) {
        l_row.set_size(l_end), l.set_size(l_end), u_row.set_size(u_end), u.set_size(u_end);
    }

    // Whether a block has columns of L and U, here or in fronts.
    bool has_columns(Index k) const { return !plan.is_external(k) && plan.size(k) > 1; }
    using FrontJob = typename FrontTeam<Index, Value>::Job;
    FrontJob front_job(Index k, bool fresh) {
        begin(k);
        auto& block = fronts.try_emplace(k, plan, k).first->second;
        PivotRule rule{fresh, fresh ? preference_ : refactor_tolerance, limit_};
        if (fresh) rule.most_entries = end_ - first_ + plan.overrun[k] * plan.predicted[end_ - 1];
        return {&block, equilibration.inner.data() + plan.inner_start[first_], rule};
    }
    // All blocks by fronts, from one on: new pivots, or new numbers by the same.
    void all_by_fronts(Index from, bool fresh, WorkCounter& counter) {
        std::vector<FrontJob> jobs;
        for (auto it = plan.fronts.lower_bound(from); it != plan.fronts.end(); ++it)
            jobs.push_back(front_job(it->first, fresh));
        if (!jobs.empty()) front_team_.factorise(jobs, counter.run());
    }
    // What came out of that; with other pivots where these will not do.
    Outcome by_fronts(Index k, bool fresh, const Value* a, WorkCounter& counter) {
        auto& run = counter.run();
        FrontJob job = front_job(k, fresh);
        auto& block = *job.block;
        if (run.stopped()) return Outcome::stopped;
        Outcome outcome = block.end(run.team);
        while (fresh && find_other_rule(outcome, a, job.rule, run)) {
            front_team_.factorise({job}, run);
            if (run.stopped()) return Outcome::stopped;
            outcome = block.end(run.team);
        }
        growth[k] = block.grown / largest_;
        if (outcome != Outcome::done) return stop_ = first_, outcome;
        for (Index c = first_; c < end_; ++c) {
            row_of[c] = first_ + block.row_of[c - first_];
            if (fresh) search_->rows[row_of[c]].pivot_of = c;
            pivot[c] = block.pivot[c - first_], inverse[c] = Value(1) / pivot[c];
        }
        set_row_factors();
        for (Index c = first_; c < end_; ++c)
            if (fresh) append_upper_only(c, a);
            else update_upper(c, a);
        return Outcome::done;
    }

    // Columns without L: those of 1 x 1 blocks, and of blocks left to an external solver.
    Outcome without_l(Index k, bool fresh, const Value* a) {
        const Outcome outcome = pivot_of_one(k, a);
        for (Index c = plan.starts[k]; c < plan.starts[k + 1]; ++c) {
            row_of[c] = c, pivot_row_factor[c] = 1;
            if (fresh) search_->rows[c].pivot_of = c, append_upper_only(c, a);
            else update_upper(c, a);
        }
        return outcome;
    }
    void append_upper_only(Index c, const Value* a) {
        l_start[c] = static_cast<std::int64_t>(l.size());
        u_start[c] = static_cast<std::int64_t>(u.size());
        append_upper(c, a);
    }
    Outcome pivot_of_one(Index k, const Value* a) {
        if (plan.is_external(k)) return Outcome::done;
        const Index c = plan.starts[k];
        plan.each_inner(c, [&](Index, Index from) { pivot[c] = a[from]; });
        const double size = largest_part(pivot[c]);
        const double factor = size < tiny ? shared_factor(most_exponent) : 1;
        pivot[c] *= factor, equilibration.col_factor[c] = factor;
        inverse[c] = Value(1) / pivot[c];
        return pivot[c] == Value(0) ? Outcome::singular : Outcome::done;
    }

    // What is above the block, by the rows' pivots, which are all chosen.
    void append_upper(Index c, const Value* a) {
        const Index begin = plan.upper(c), end = plan.upper(c + 1);
        if (begin == end) return;
        const auto more = static_cast<std::size_t>(end - begin);
        u_row.make_room(more), u.make_room(more);
        const double factor = equilibration.col_factor[c];
        for (auto p = begin; p < end; ++p) {
            const Index r = search_->rows[plan.upper_row[p]].pivot_of;
            u_row.push(r),
                u.push(scaled_upper(a[plan.upper_from[p]], pivot_row_factor[r] * factor));
        }
    }
    Value scaled_upper(Value from, double factor) {
        const Value v = from * factor;
        equilibration.is_middling_throughout &= is_middling(largest_part(v)) | (from == Value(0));
        return v;
    }
    void update_upper(Index c, const Value* a) {
        if (plan.upper(c, c + 1) == 0) return;
        Index p = plan.upper(c);
        const double factor = equilibration.col_factor[c];
        for (auto q = u_end(c), end = u_start[c + 1]; q < end; ++p, ++q)
            u[q] = scaled_upper(a[plan.upper_from[p]], pivot_row_factor[u_row[q]] * factor);
    }

    // New pivots from this column on; where entries grow too much, from the first column on and
    // with less preference for the diagonal.
    Outcome block(Index k, Index column, const Value* a, WorkCounter& counter) {
        begin(k);
        const bool afresh = column == first_;
        const auto l_before = afresh ? static_cast<std::int64_t>(l.size()) : l_start[first_],
                   u_before = afresh ? static_cast<std::int64_t>(u.size()) : u_start[first_];
        if (afresh) grown_ = 0;
        l_start[first_] = l_before, u_start[first_] = u_before;
        for (PivotRule rule{true, preference_, limit_};;) {
            const Outcome outcome = eliminate_columns(column, rule, a, counter);
            growth[k] = grown_ / largest_;
            if (outcome == Outcome::done) return outcome;
            clear_x();
            const bool from_first = column > first_ && outcome == Outcome::unstable;
            if (!from_first && !find_other_rule(outcome, a, rule, counter.run())) return outcome;
            column = first_, grown_ = 0;
            std::fill(search_->rows.begin() + first_, search_->rows.begin() + end_, Row{});
            std::fill(search_->is_pruned.begin() + first_, search_->is_pruned.begin() + end_, 0);
            cut(l_before, u_before);
        }
    }
    // Where entries grew too much, or no pivot was left. False: there is none.
    bool find_other_rule(Outcome outcome, const Value* a, PivotRule& rule, RunContext& run) {
        const bool grew = outcome == Outcome::unstable;
        if (rule.most_growth == infinity || !(grew || outcome == Outcome::singular)) return false;
        const bool is_last = !grew || rule.least >= 1;
        rule.least = is_last ? 1 : std::min(10 * rule.least, 1.0);
        if (!is_last) return true;
        if (!grew) seemed_singular.push_back(trouble);
        const auto rows = product_exponents(plan, trouble, a, true, run);
        if (!rows.empty()) equilibration.scale(plan, trouble, a, rows.data());
        begin(trouble), rule.most_growth = infinity;
        return true;
    }
    Outcome eliminate_columns(Index column, const PivotRule& rule, const Value* a,
                              WorkCounter& counter) {
        restore_rows(column);
        waiting_.clear();
        const auto before = l_start[first_] + u_start[first_] - plan.upper(first_);
        const double loose = rule.least > diagonal_preference ? rule.least : loose_preference;
        const double overrun = plan.overrun[trouble];
        double stored = 0;
        for (Index c = column; c < end_; ++c) {
            reach(c);
            const std::int64_t work = eliminate(c);
            if (choose_pivot(c, stored > plan.predicted[c] ? loose : rule.least)) prune(c);
            else if (no_pivot > 0) wait(c);
            else return Outcome::singular;
            if (grown_ > rule.most_growth) return Outcome::unstable;
            store_l(c);
            stored = static_cast<double>(static_cast<std::int64_t>(l.size() + u.size()) -
                                         plan.upper(c) - before);
            if (stored > end_ - first_ + overrun * plan.predicted[c]) return Outcome::fill_exceeded;
            append_upper(c, a);
            if (!counter.add(work)) return Outcome::stopped;
        }
        add_entries();
        for (auto p = l_start[first_]; p < static_cast<std::int64_t>(l.size()); ++p)
            l_row[p] = search_->rows[l_row[p]].pivot_of;
        set_row_factors();
        return Outcome::done;
    }
    void begin(Index k) {
        first_ = plan.starts[k], end_ = dense_from_ = plan.starts[k + 1];
        if (const auto dense = plan.dense.find(k); dense != plan.dense.end())
            dense_from_ -= dense->second;
        largest_ = equilibration.largest[k] > 0 ? equilibration.largest[k] : 1;
        limit_ = growth_limit * largest_;
    }
    void set_row_factors() {
        for (Index c = first_; c < end_; ++c)
            pivot_row_factor[c] = equilibration.row_factor[row_of[c]];
    }
    // Rows as they were when the columns before this one were finished.
    void restore_rows(Index column) {
        if (column == first_) return;
        std::fill(leads_.begin() + first_, leads_.begin() + column, 0);
        for (auto p = l_start[first_]; p < static_cast<std::int64_t>(l.size()); ++p)
            l_row[p] = row_of[l_row[p]];
        for (Index c = first_; c < column; ++c)
            search_->followed[c] = static_cast<Index>(l_start[c + 1] - l_start[c]);
    }

    void clear_x() { std::fill(x_.begin() + first_, x_.begin() + end_, Value(0)); }

    // Which columns of L column c needs, in topological order (order[top_...]), and which rows may
    // become its pivot; x becomes the column.
    void reach(Index c) {
        top_ = plan.n, n_candidates_ = 0;
        for (auto p = plan.inner_start[c], end = plan.inner_start[c + 1]; p < end; ++p) {
            const Index r = first_ + plan.inner_row[p];
            x_[r] = equilibration.inner[p];
            Row& row = search_->rows[r];
            if (row.seen_by == c) continue;
            row.seen_by = c;
            if (row.pivot_of == no_column) search_->candidates[n_candidates_++] = r;
            else search(row.pivot_of, c);
        }
    }
    void search(Index root, Index c) {
        Row* const rows = search_->rows.data();
        const Index *const followed = search_->followed.data(), *const l_rows = l_row.data();
        const auto all_of = [&](Index column) -> typename Workspace::Visit {
            return {l_start[column], l_start[column] + followed[column], column};
        };
        auto* visit = search_->path.data();
        *visit = all_of(root);
        while (true) {
            auto next = visit->begin;
            Index child = no_column;
            for (const auto end = visit->end; next < end && child == no_column; ++next) {
                Row& row = rows[l_rows[next]];
                if (row.seen_by == c) continue;
                row.seen_by = c, child = row.pivot_of;
                if (child == no_column) search_->candidates[n_candidates_++] = l_rows[next];
            }
            if (child != no_column) {
                visit->begin = next;
                *++visit = all_of(child);
                continue;
            }
            search_->order[--top_] = visit->column;
            if (visit == search_->path.data()) return;
            --visit;
        }
    }

    // x becomes column c after elimination by the columns before it; those rows go to U.
    std::int64_t eliminate(Index c) {
        const Index m = end_ - first_;
        std::int64_t work = m > 16 ? m / 16 : 1;
        u_start[c] = static_cast<std::int64_t>(u.size());
        const auto more = static_cast<std::size_t>(plan.n - top_);
        u_row.make_room(more), u.make_room(more);
        double grown = grown_;
        for (Index t = top_; t < plan.n; ++t) {
            const Index j = search_->order[t];
            const Value v = std::exchange(x_[row_of[j]], Value(0));
            u_row.push(j), u.push(v);
            grown = std::max(grown, magnitude(v));
            work += l_start[j + 1] - l_start[j];
            if (leads_[j] && t + 1 < plan.n && search_->order[t + 1] == j + 1) {
                const Value w = take_second(j, row_of[j + 1], v);
                u_row.push(j + 1), u.push(w), ++t;
                grown = std::max(grown, magnitude(w));
                subtract_pair(j, v, w);
            } else {
                subtract_l(j, v);
            }
        }
        grown_ = grown;
        return work;
    }
    void subtract_l(Index j, Value v) {
        Value* const x = x_.data();
        const Index* const row = l_row.data();
        const Value* const value = l.data();
        for (auto p = l_start[j], end = l_start[j + 1]; p < end; ++p)
            x[row[p]] -= product(value[p], v);
    }

    // Of two columns of a pair, j and j + 1, the second's multiplier, of which the row is given.
    Value take_second(Index j, Index row, Value v) {
        return std::exchange(x_[row], Value(0)) - product(l[l_start[j]], v);
    }
    // Both at once: half of the indices, and half of x, are read.
    void subtract_pair(Index j, Value v, Value w) {
        Value* const x = x_.data();
        const Index* const row = l_row.data() + l_start[j + 1];
        const Value* const first = l.data() + l_start[j] + 1;
        const Value* const second = l.data() + l_start[j + 1];
        for (std::int64_t p = 0, n = l_start[j + 2] - l_start[j + 1]; p < n; ++p)
            x[row[p]] = x[row[p]] - product(first[p], v) - product(second[p], w);
    }

    bool choose_pivot(Index c, double preference) {
        const Index *const candidates = search_->candidates.data(), *const last =
                                                                        candidates + n_candidates_;
        Value* const x = x_.data();
        double best = 0;
        Index row = no_column;
        for (const Index* r = candidates; r < last; ++r)
            if (const double v = magnitude(x[*r]); v > best) best = v, row = *r;
        if (row >= dense_from_ && preference < 1) {  // only where all others are tiny
            double most = loose_preference * best;
            for (const Index* r = candidates; r < last; ++r)
                if (const double v = magnitude(x[*r]); *r < dense_from_ && v > most)
                    best = most = v, row = *r;
        }
        if (row == no_column || best <= no_pivot * largest_) return false;
        if (search_->rows[c].seen_by == c && search_->rows[c].pivot_of == no_column &&
            magnitude(x[c]) >= preference * best)
            row = c;
        else
            for (const Index* r = candidates; r < last; ++r)
                if (*r < row && magnitude(x[*r]) >= std::max(off_diagonal, preference) * best)
                    row = *r;
        const Value v = x[row];
        pivot[c] = v, inverse[c] = Value(1) / v;
        row_of[c] = row, search_->rows[row].pivot_of = c;
        grown_ = std::max(grown_, magnitude(v));
        return true;
    }
    // Leaves a column without a pivot for the end of its block, and what it has left: rounding.
    void wait(Index c) {
        for (Index k = 0; k < n_candidates_; ++k) x_[search_->candidates[k]] = Value(0);
        n_candidates_ = 0;
        pivot[c] = largest_, inverse[c] = Value(1) / pivot[c];
        row_of[c] = no_column;
        waiting_.push_back(c);
    }
    // An entry for each column that waits, in the rows that are no pivots: they are as many.
    void add_entries() {
        Index row = first_;
        for (const Index c : waiting_) {
            while (row < end_ && search_->rows[row].pivot_of != no_column) ++row;
            SPARSEMATCH_ASSERT(row < end_);
            row_of[c] = row, search_->rows[row].pivot_of = c;
            const double factor = equilibration.row_factor[row] * equilibration.col_factor[c];
            added.push_back({plan.row_perm[row], plan.col_perm[c], pivot[c] / factor});
        }
    }
    // The candidates but the pivot, in the order of the column before if that has the same.
    void store_l(Index c) {
        const Index row = row_of[c];
        const auto count = static_cast<std::size_t>(n_candidates_);
        l_start[c] = static_cast<std::int64_t>(l.size());
        if (count > 1) l_row.make_room(count - 1), l.make_room(count - 1);
        leads_[c] = 0;
        const bool second = follows(c);
        if (second) leads_[c - 1] = 1;
        const Index* const rows =
            second ? l_row.data() + l_start[c - 1] : search_->candidates.data();
        for (std::size_t k = 0; k < count; ++k) {
            const Index r = rows[k];
            if (r != row) l_row.push(r), l.push(product(x_[r], inverse[c]));
            x_[r] = Value(0);
        }
        l_start[c + 1] = static_cast<std::int64_t>(l.size());
        search_->followed[c] = static_cast<Index>(l_start[c + 1] - l_start[c]);
    }
    // Whether the column before has the same rows, this pivot first, and is free to lead a pair.
    bool follows(Index c) const {
        const Index j = c - 1;
        if (n_candidates_ < least_paired || j < first_ || (j > first_ && leads_[j - 1]) ||
            !search_->is_pruned[j])
            return false;
        return l_start[c] - l_start[j] == n_candidates_ && l_row[l_start[j]] == row_of[c] &&
               search_->followed[j] == 1;
    }

    // Columns of L with the new pivot row, whose row of U has an entry in column c: pivots first.
    void prune(Index c) {
        const Index row = row_of[c];
        for (Index t = top_; t < plan.n; ++t) {
            const Index j = search_->order[t];
            const auto from = l_start[j], end = l_start[j + 1];
            if (search_->is_pruned[j] ||
                std::find(l_row.data() + from, l_row.data() + end, row) == l_row.data() + end)
                continue;
            auto head = from, tail = end;
            while (head < tail) {
                if (search_->rows[l_row[head]].pivot_of != no_column) ++head;
                else exchange_entries(j, head, --tail);
            }
            search_->followed[j] = static_cast<Index>(tail - from), search_->is_pruned[j] = 1;
        }
    }

    // Two entries of column j of L; the leader of a pair remains in the order of the other.
    void exchange_entries(Index j, std::int64_t p, std::int64_t q) {
        std::swap(l_row[p], l_row[q]), std::swap(l[p], l[q]);
        if (j == first_ || !leads_[j - 1]) return;
        const auto shift = l_start[j - 1] + 1 - l_start[j];
        std::swap(l_row[p + shift], l_row[q + shift]), std::swap(l[p + shift], l[q + shift]);
    }

    void locate_entries(Located<Index>& to) const {
        auto& [made, place, col, row_start, row_entry, row_col] = to;
        std::vector<Index> pivot_of(size());
        for (Index c = 0; c < plan.n; ++c) pivot_of[row_of[c]] = c;
        place.resize(plan.inner_row.size()), col.resize(place.size());
        for (Index k = 0; k < plan.n_blocks(); ++k)
            for (auto p = plan.inner_start[plan.starts[k]],
                      end = plan.inner_start[plan.starts[k + 1]];
                 p < end; ++p)
                place[p] = pivot_of[plan.starts[k] + plan.inner_row[p]];
        row_start.assign(size() + 2, 0), row_entry.resize(place.size());
        row_col.resize(place.size());
        for (const Index r : place) ++row_start[r + 2];
        std::partial_sum(row_start.begin(), row_start.end(), row_start.begin());
        for (Index c = 0; c < plan.n; ++c)
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p) {
                const Index q = row_start[place[p] + 1]++;
                col[p] = c, row_entry[q] = p, row_col[q] = c;
            }
    }
    // Stops at the first column whose pivot is too small (stop_), or where entries grow too much
    // (stop_ is the first of the block).
    Outcome replay(Index k, const Value* a, WorkCounter& counter) {
        begin(k), grown_ = 0;
        set_row_factors();
        double grown = 0;
        Value* const x = x_.data();
        const Index* const place = located().place.data();
        for (Index c = first_; c < end_; ++c) {
            for (auto p = plan.inner_start[c], end = plan.inner_start[c + 1]; p < end; ++p)
                x[place[p]] = equilibration.inner[p];
            std::int64_t work = 1;
            for (auto q = u_start[c], end = u_end(c); q < end; ++q) {
                const Index j = u_row[q];
                const Value v = std::exchange(x[j], Value(0));
                u[q] = v;
                grown = std::max(grown, magnitude(v));
                work += l_start[j + 1] - l_start[j];
                if (leads_[j] && q + 1 < end && u_row[q + 1] == j + 1) {
                    const Value w = u[++q] = take_second(j, j + 1, v);
                    grown = std::max(grown, magnitude(w));
                    subtract_pair(j, v, w);
                } else {
                    subtract_l(j, v);
                }
            }
            grown_ = grown;
            if (!replay_pivot(c)) return clear_x(), stop_ = c, Outcome::unstable;
            if (!((grown = grown_) <= limit_)) return clear_x(), stop_ = first_, Outcome::unstable;
            update_upper(c, a);
            if (!counter.add(work)) return clear_x(), Outcome::stopped;
        }
        growth[k] = grown_ / largest_;
        return Outcome::done;
    }
    bool replay_pivot(Index c) {
        const Value v = std::exchange(x_[c], Value(0)), by = Value(1) / v;
        const auto begin = l_start[c], end = l_start[c + 1];
        double best = 0;
        for (auto p = begin; p < end; ++p) {
            const Value below = std::exchange(x_[l_row[p]], Value(0));
            best = std::max(best, magnitude(below));
            l[p] = product(below, by);
        }
        if (!(magnitude(v) > 0) || magnitude(v) < refactor_tolerance * best) return false;
        pivot[c] = v, inverse[c] = by;
        grown_ = std::max(grown_, magnitude(v));
        return true;
    }

    // Of the block: its columns; that of a pivot too small; the first of the dense rows at its end.
    Index first_ = 0, end_ = 0, stop_ = 0, top_ = 0, dense_from_ = 0;
    double preference_ = diagonal_preference;
    double largest_ = 1, limit_ = 0;  // of the block: its largest entry, and what U may come to
    double grown_ = 0;                // the largest entry of U
    Index n_candidates_ = 0;
    std::vector<Index> waiting_;   // columns of the block
    Workspace* search_ = nullptr;  // while pivots are chosen
    FrontTeam<Index, Value> front_team_;
    std::unique_ptr<Located<Index>> located_;
    // Of a column of L: whether it and the next are a pair, with the same rows in the same order
    // but for the next one's pivot, which comes first.
    std::vector<char> leads_;
    std::vector<Value> x_;
};

}  // namespace sparsematch
