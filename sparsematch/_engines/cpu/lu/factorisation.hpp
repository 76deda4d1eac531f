// A square matrix with its analysis and its factorisation: one object that is asked to go on as far
// as it can, and says what it lacks: read, analyse, factorise, solve.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "lu/by_values.hpp"
#include "lu/checked_solve.hpp"
#include "lu/condition.hpp"
#include "lu/entries.hpp"
#include "lu/gilbert_peierls.hpp"
#include "lu/kept.hpp"
#include "lu/square_form.hpp"
#include "lu/symbolic.hpp"
#include "matching/small_matching.hpp"

namespace sparsematch {

// What factorisations of one pattern have in common. It does not change once its plan is made.
template <class Index> struct Analysis {
    Entries<Index> entries;
    Policy policy;
    SquareForm<Index> form;
    History<Index> history;
    BlockPlan<Index> plan;
    int revision = 0;  // how many analyses it has replaced

    // The form, which is empty where the plan pairs its rows and columns alike, in another order.
    SquareForm<Index> block_form() const {
        if (!form.starts.empty()) return form;
        SquareForm<Index> out{plan.row_perm, plan.col_perm, plan.starts};
        sort_columns(out.starts, out.row_perm.data(), out.col_perm.data());
        return out;
    }
};

// How far a factorisation has come.
enum class State {
    done,
    unmatched,   // no perfect matching is at hand
    not_a_form,  // the form has entries below its blocks: the matching was wrong
    not_finite,  // a value is not
    not_zero,    // a value is not zero that was left out
    singular,    // the block `trouble` has no inverse
    stopped
};
constexpr const char* name(State state) {
    constexpr const char* names[] = {"done",     "unmatched", "not a form", "not finite",
                                     "not zero", "singular",  "stopped"};
    return names[static_cast<int>(state)];
}

template <class Index, class Value> class Factorisation {
  public:
    // How much pivots on the diagonal are preferred.
    Factorisation(std::shared_ptr<Analysis<Index>> analysis, double preference)
        : analysis(std::move(analysis)), preference_(preference) {}

    // Values in the order of the entries given, to be read until they are `kept`. Time: O(nnz).
    State read(const Value* given) {
        taken_ = analysis->entries.take(given, values, a_);
        return taken_ == Taken::all          ? State::done
               : taken_ == Taken::not_finite ? State::not_finite
                                             : State::not_zero;
    }
    // Copies the values where the factorisation does not have them, now that pivots are chosen and
    // the memory that this takes is free.
    State kept(State state) {
        const bool borrowed = a_ != values.data();
        if (!analysis->entries.are_columns()) return state;  // to make room again takes longer
        is_asked_ |= !restored_->values.empty();
        if (state == State::done && lu && lu->has_values() && !is_asked_)
            values = std::vector<Value>();  // which {} would not free
        else if (borrowed) values.assign(a_, a_ + columns().nnz());
        a_ = values.data();
        restored_ = std::make_unique<Restored>();
        return state;
    }
    // The values, by columns; from then on they are kept. Several threads may ask.
    const Value* current() const {
        if (!values.empty() || !lu) return values.data();
        std::call_once(restored_->made, [this] { restored_->values = lu->values(); });
        return restored_->values.data();
    }
    // The block form and a plan of it, by a perfect matching, which is looked for unless the mates
    // of the rows are given. The values at hand may count, if they are finite. Time: O(n + nnz),
    // the matching, and what the planner looks for.
    State analyse(const Index* row_mate, RunContext& run) {
        const Csr<Index> a = columns();
        LoneRun alone(run, 0);  // so that what is found does not depend on the number of workers
        std::vector<Index> mates;
        if (!row_mate) {
            mates.resize(2 * static_cast<std::size_t>(a.n_rows));
            const Matching<Index> m{mates.data() + a.n_rows, mates.data()};
            match_small(a, m, alone.run);
            if (run.stopped()) return State::stopped;
            if (any_free(m.row_mate, a.n_rows)) return State::unmatched;
            row_mate = m.col_mate;  // the core's columns are the user's rows
        }
        const bool whole = analysis->policy.whole;
        analysis->form = whole ? one_block(a, row_mate) : form_of_matching(a, row_mate, alone.run);
        mates = std::vector<Index>();  // which {} would not free
        if (run.stopped()) return State::stopped;
        if (checks_invariants && !whole && !is_certified(a, analysis->form, run))
            return State::not_a_form;
        return plan(run);
    }
    // All blocks but those that the plan leaves to others, by the same pivots as before where these
    // will do. A block that fills up is planned again, and all are once other values have come so
    // often that this pays.
    State factorise(RunContext& run) {
        if (taken_ != Taken::all) return State::not_finite;
        Outcome outcome = Outcome::unstable;
        if (std::exchange(has_pivots_, false)) {
            if (++repeated_ < patience_) outcome = lu->refactorise(a_, run);
            else if (const State state = reconsider(run); state != State::done) return state;
        }
        while (outcome != Outcome::done) {
            if (run.stopped()) return State::stopped;
            if (!lu) lu = std::make_unique<BlockLU<Index, Value>>(analysis->plan);
            lu->no_pivot = analysis->policy.no_pivot;
            outcome = lu->factorise(a_, preference_, run);
            if (outcome == Outcome::singular) return State::singular;
            if (outcome == Outcome::done) patience_ = patience();
            if (outcome != Outcome::fill_exceeded) continue;
            if (const State state = replan(lu->trouble, run); state != State::done) return state;
        }
        std::vector<Value> x;
        for (const Index k : lu->seemed_singular)
            if (BlockCondition<Index, Value>(*lu, k, x).reciprocal(run) < roundoff)
                return lu->trouble = k, State::singular;
        has_pivots_ = lu->added.empty();  // entries were added for these values, not for others
        return State::done;
    }
    // The values of another one.
    State repeat(const Factorisation& other, RunContext& run) {
        values.assign(other.current(), other.current() + columns().nnz()), a_ = values.data(),
                                                                           taken_ = other.taken_;
        return factorise(run);
    }
    // As CheckedSolve does, in place, measuring only with `check`; or, with the right-hand sides b,
    // what was not acceptable again. Several threads may solve at once.
    bool solve(Value* x, std::int64_t width, double* errors,
               const ExternalSolve<Index, Value>& external, Side side, bool check, RunContext& run,
               const Value* b = nullptr) const {
        auto workspace = workspace_.take();
        const Csr<Index> a = columns();
        const Value* const of = b ? current() : nullptr;  // without, they are not read
        CheckedSolve<Index, Value> solver(a, of, *lu, external, side, check, *workspace);
        const bool done =
            b ? solver.solve_widely(b, width, x, errors, run) : solver.solve(x, width, errors, run);
        if (width == 1 || width * a.n_rows <= most_kept) workspace_.give_back(std::move(workspace));
        return done;
    }

    // By how much an error is larger, beside these units of the solution, than a relative change of
    // the entries is where it has these sizes: Skeel's condition, estimated. Without sizes, both
    // are those of the scaling. Time: O(nnz), and as many solves as InverseNorm takes.
    double relative_condition(const double* size, const double* unit,
                              const ExternalSolve<Index, Value>& external, Side side,
                              RunContext& run) const {
        const Csr<Index> a = columns();
        const bool plain = side == Side::plain;
        std::vector<double> scaling(static_cast<std::size_t>(size ? 0 : a.n_rows));
        if (!size) {
            const auto [place, factor] = lu->ends(plain).second;
            for (Index c = 0; c < a.n_rows; ++c) scaling[place[c]] = factor[c];
            size = unit = scaling.data();
        }
        const Value* const own = current();
        std::vector<double> terms(static_cast<std::size_t>(a.n_rows), 0);
        for (Index c = 0; c < a.n_rows; ++c)
            for (Index p = a.indptr[c]; p < a.indptr[c + 1]; ++p) {
                const Index r = a.indices[p];
                terms[plain ? r : c] += std::abs(own[p]) * size[plain ? c : r];
            }
        std::vector<Value> x(terms.size());
        double error = 0;
        const auto by = [&](bool adjoint) {
            for (std::size_t k = 0; k < x.size(); ++k)
                x[k] = adjoint ? x[k] * terms[k] : x[k] / unit[k];
            solve(x.data(), 1, &error, external, adjoint == plain ? Side::plain : Side::adjoint,
                  false, run);
            for (std::size_t k = 0; k < x.size(); ++k)
                x[k] = adjoint ? x[k] / unit[k] : x[k] * terms[k];
        };
        return InverseNorm<Value, decltype(by)>(x.data(), a.n_rows, by).get();
    }

    Csr<Index> columns() const { return analysis->entries.columns(); }
    // Entries that a solve passes, about.
    std::int64_t work() const {
        const Csr<Index> a = columns();
        return std::max(lu ? lu->entries() : 0, analysis->plan.expected_entries) + a.nnz() +
               a.n_rows;
    }

    std::shared_ptr<Analysis<Index>> analysis;
    std::unique_ptr<BlockLU<Index, Value>> lu;
    std::vector<Value> values;  // by columns; empty where the factorisation has them

  private:
    static constexpr std::int64_t most_kept = std::int64_t{1} << 17;  // numbers of right-hand sides

    // The values, made from the scaled ones when they are asked for.
    struct Restored {
        std::once_flag made;
        std::vector<Value> values;
    };

    State plan(RunContext& run) {
        Analysis<Index>& of = *analysis;
        const Csr<Index> a = columns();
        LoneRun alone(run, 0);  // as above
        const ValuesOf<Index, Value> of_blocks(a_, alone.run);
        if (of.form.starts.empty()) of.form = of.block_form();
        Planner<Index> planner(a, of.form, taken_ == Taken::not_finite ? nullptr : &of_blocks,
                               of.history, of.policy, run);
        of.plan = planner.make();
        if (run.stopped()) return State::stopped;
        if (!planner.is_triangular()) return State::not_a_form;
        if (planner.pairs_as_form()) of.form = {};
        return State::done;
    }
    // Plans by what is known now; others go on with the analysis that there was.
    State plan_again(History<Index> history, RunContext& run) {
        lu.reset();
        analysis = std::make_shared<Analysis<Index>>(*analysis);
        analysis->history = std::move(history), ++analysis->revision;
        return plan(run);
    }
    // Another way for a block that has filled up.
    State replan(Index block, RunContext& run) {
        const auto& chosen = analysis->plan.chosen;
        History<Index> history = analysis->history;
        history.times_of(block, chosen.contains(block) ? chosen.at(block) : Way{}) = infinity;
        return plan_again(std::move(history), run);
    }
    // Other ways for all blocks, by the entries that their factors have.
    State reconsider(RunContext& run) {
        History<Index> history = analysis->history;
        history.repeated = repeated_;
        for (const auto& [k, way] : analysis->plan.chosen)
            if (is_own(way.kernel)) history.times_of(k, way) = lu->entries_of(k) / way.by_pattern;
        return plan_again(std::move(history), run);
    }
    // How often other values are to come before it pays to look for other ways, or to go back to
    // one that is known: at least four times as often as the last time.
    double patience() const {
        double out = infinity;
        for (const auto& [k, way] : analysis->plan.chosen) {
            const double times = is_own(way.kernel) ? lu->entries_of(k) / way.fill : 1,
                         seconds = times * times * way.again;
            out = std::min(out, way.search / seconds);
            if (seconds > way.runner_up) out = std::min(out, way.spent / (seconds - way.runner_up));
        }
        return std::max(out, 4 * repeated_);
    }

    const double preference_;
    const Value* a_ = nullptr;         // the values, by columns
    Taken taken_ = Taken::not_finite;  // there are no values yet
    bool is_asked_ = false;            // whether values were asked for that were not kept
    mutable std::unique_ptr<Restored> restored_ = std::make_unique<Restored>();
    bool has_pivots_ = false;
    double repeated_ = 0;         // factorisations of other values
    double patience_ = infinity;  // and how many there are before other ways are looked for
    mutable Kept<SolveWorkspace<Value>> workspace_;
};

}  // namespace sparsematch
