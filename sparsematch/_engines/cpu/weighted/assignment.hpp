// Assignment of least total cost: every row is matched to a column of its own.
//
// Which of the steps below wins differs by a hundred on matrices of one size, and none of them is
// right for all; what they share is a state (AssignmentState): feasible duals, and a matching along
// entries whose reduced cost is 0. So each is run within a budget, in passes over the matrix, and
// leaves to the next what it has found:
//   1. duals that fit rows and columns, and row reduction (initial_duals, row_reduction);
//   2. searches from one row after the other: a few passes of them, then while they are short
//      (path_search); where costs are tied and these match few, a largest matching along entries
//      whose reduced cost is 0 (tight_matching);
//   3. where they are not, the same from other duals;
//   4. searches from all free rows together (path_forest), where costs are tied with such matchings
//      in between, and where that is expected to take many rounds an auction (auction) and short
//      searches first.
// The result is exact whichever steps have run: the duals prove it.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "matching/cheap.hpp"
#include "matching/hopcroft_karp.hpp"
#include "weighted/assignment_state.hpp"
#include "weighted/auction.hpp"
#include "weighted/initial_duals.hpp"
#include "weighted/path_forest.hpp"
#include "weighted/path_search.hpp"
#include "weighted/resume.hpp"
#include "weighted/row_reduction.hpp"
#include "weighted/short_auction.hpp"
#include "weighted/tight_matching.hpp"

namespace sparsematch {

// In passes over the matrix: what searches one by one may take before all rows search together, and
// what is expected of an auction and the searches after it. An auction and its searches took 20 to
// 35 passes on random, lognormal and mesh matrices of 300,000 rows.
struct AssignmentLimits {
    double short_searches = 16, auction = 30;
    // For matrices like one that needed long searches (product_batch).
    bool auction_first = false;
};

template <class Index>
class Assignment {
  public:
    Assignment(const Csr<Index>& a, const double* cost, double* u, const AssignmentLimits& limits,
               RunContext& run)
        : s_(a, cost, u, run), limits_(limits) {}

    // Reads: the matrix, n_rows <= n_cols, and a cost for each entry. Writes: mates and duals.
    // Returns whether every row is matched; free columns, if there are more columns than rows, then
    // have the largest v. warm: row mates and v hold those of a matrix with similar costs. Time:
    // O(n_rows nnz log n_cols) at worst, rarely.
    bool solve(Matching<Index> m, double* v, bool warm = false) {
        const bool feasible = start(warm ? m.row_mate : nullptr, v) && search();
        for (Index j = 0; j < s_.a.n_cols; ++j) {
            m.col_mate[j] = s_.col[j].mate;
            v[j] = s_.col[j].v;
        }
        std::copy(s_.col_of.begin(), s_.col_of.end(), m.row_mate);
        return feasible;
    }

  private:
    using State = AssignmentState<Index>;

    // What a start has found, set aside while another one is tried.
    struct Saved {
        Buffer<typename State::Column> col;
        Buffer<Index> col_of;
        Buffer<double> u;
        std::vector<Index> free;
    };

    // What is given to begin with, unless columns first leave hardly a row; else these, or, if half
    // a pass of row reduction leaves many as well, geometric means if they leave fewer.
    bool start(const Index* row_mate, const double* v) {
        auto timer = s_.run.time("start");
        const bool resumed = row_mate && resume(s_, row_mate, v);
        fitted_ = s_.free.size();
        if (resumed && fitted_ <= some()) return reduce_rows(s_, 4);
        Saved given;
        if (row_mate) given = set_aside();
        if (!fit_duals(s_, true)) return false;
        fitted_ = s_.free.size();
        if (resumed && fitted_ > few()) {
            restore(given);
            return reduce_rows(s_, 4);
        }
        if (!has_alternatives()) return reduce_rows(s_, 4);
        if (limits_.auction_first && fitted_ > some()) return auction_first();
        if (!reduce_rows(s_, 0.5)) return false;
        if (s_.free.size() > many()) {
            Saved saved = set_aside();
            if (!means_of_rows(s_) || !fit_duals(s_)) return false;
            if (4 * s_.free.size() > 3 * fitted_) restore(saved);
            else fitted_ = s_.free.size();
        }
        return reduce_rows(s_, 3);
    }
    // Rows: beginning elsewhere costs half as much again at worst where fitted duals leave few (one
    // in 50 of an admittance matrix of 25,000 rows), and spares four fifths where these need long
    // searches (one in 130 of a circuit of 12,675).
    std::size_t few() const { return static_cast<std::size_t>(s_.a.n_rows) / 256; }
    // Rows: means cost five passes. Interior-point systems and meshes in bad units, which gain,
    // leave 22 and 38% here; interior-point systems, meshes and bands that do not, at most 20%.
    std::size_t many() const { return static_cast<std::size_t>(s_.a.n_rows) / 5; }
    // Rows, as of many: a start that leaves fewer is not worth another one.
    std::size_t some() const { return static_cast<std::size_t>(s_.a.n_rows) / 8; }
    // Duals that fit the prices of a short auction.
    bool auction_first() {
        Buffer<Index> first(s_.a.n_rows);
        return short_auction(s_) && row_minima(s_, first.data()) && fit_duals(s_) &&
               reduce_rows(s_, 4);
    }
    // Columns of a wide matrix start from 0; ties are ties by any duals.
    bool has_alternatives() const { return !s_.wide() && s_.n_tied <= s_.a.n_rows / 2; }

    Saved set_aside() {
        Saved saved{Buffer<typename State::Column>(s_.a.n_cols),
                    Buffer<Index>(s_.a.n_rows),
                    Buffer<double>(s_.a.n_rows),
                    {}};
        std::swap(saved.col, s_.col);
        std::swap(saved.col_of, s_.col_of);
        std::copy_n(s_.u, s_.a.n_rows, saved.u.data());
        saved.free.swap(s_.free);
        s_.unmatch_all();
        return saved;
    }
    void restore(Saved& saved) {
        std::swap(saved.col, s_.col);
        std::swap(saved.col_of, s_.col_of);
        std::copy_n(saved.u.data(), s_.a.n_rows, s_.u);
        saved.free.swap(s_.free);
    }

    bool search() {
        auto timer = s_.run.time("search");
        const bool tied = !s_.wide() && !has_alternatives();
        const std::size_t left = s_.free.size();
        if (tied && !PathSearch<Index>(s_).match_all(passes(0.5))) return false;
        // Where half a pass matches less than a quarter, ten leave most (random matrices of few
        // values: 75%); where more, as in interior-point systems, hardly any.
        const bool in_vain = tied && 4 * s_.free.size() > 3 * left;
        if (in_vain ? !match_all_tight(s_) : !any_searches() || !short_searches()) return false;
        if (s_.free.empty()) return true;
        if (!may_be_full()) return false;
        const bool failed = 2 * s_.free.size() > fitted_;
        if (failed && has_alternatives() && !rows_first()) return false;
        return s_.free.empty() || all_together(tied);
    }

    // False if rows are seen, in two passes, to be impossible to match, before much work is spent
    // in vain. The matching is a largest one then.
    bool may_be_full() {
        Buffer<Index> row_mate(s_.a.n_rows, UNMATCHED<Index>);
        Buffer<Index> col_mate(s_.a.n_cols, UNMATCHED<Index>);
        const Matching<Index> m{row_mate.data(), col_mate.data()};
        RunContext run(s_.run.team, {.edge_limit = 2 * s_.pass()});
        cheap<Index>(s_.a, nullptr, m, {}, run);
        hopcroft_karp<Index>(s_.a, nullptr, m, {}, run);
        if (run.exhausted() || !any_free(row_mate.data(), row_mate.size())) return true;
        std::swap(s_.col_of, row_mate);
        for (Index j = 0; j < s_.a.n_cols; ++j) s_.col[j].mate = col_mate[j];
        return false;
    }

    // Of any length. What a search that is put off has done is lost: that made real matrices
    // of ten thousand rows up to 1.6 times as slow, of which four passes match most. In wide ones
    // what follows helps little but with ties. More passes cost twice the time where one search is
    // long (sums over collocation).
    bool any_searches() {
        const double share = s_.wide() ? 0.5 : 0.25;
        return PathSearch<Index>(s_).match_all(passes(share * limits_.short_searches));
    }

    bool short_searches() {
        return PathSearch<Index>(s_).match_free_rows(passes(limits_.short_searches));
    }

    std::int64_t passes(double n) const {
        return static_cast<std::int64_t>(n * static_cast<double>(s_.pass()));
    }

    // Rows first, where searches may be far shorter (sums over systems of interior points: 40
    // times), or not: the start that leaves fewer rows is kept.
    bool rows_first() {
        Saved saved = set_aside();
        if (!least_of_rows(s_) || !fit_duals(s_) || !reduce_rows(s_, 4) || !short_searches())
            return false;
        if (s_.free.size() > saved.free.size()) restore(saved);
        return true;
    }

    // Rounds from all free rows, until they are matched; in a wide matrix while they match many, as
    // they do where there are ties. After each, where costs are tied, the largest matching by the
    // duals at hand, while that matches a quarter of the rows; and what the rest will take if
    // rounds go on to match the same share of the rows, against what an auction takes.
    bool all_together(bool tied) {
        PathForest<Index> forest(s_);
        bool may_auction = !s_.wide();
        while (!s_.free.empty()) {
            const auto before = static_cast<double>(s_.free.size());
            const std::int64_t start = s_.work;
            if (!forest.round()) return false;
            const std::size_t left = s_.free.size();
            if (tied && !match_all_tight(s_)) return false;
            tied = tied && s_.free.size() < left * 3 / 4;
            const auto after = static_cast<double>(s_.free.size());
            if (s_.wide() && after > before * 7 / 8) return PathSearch<Index>(s_).match_all();
            const double rounds = std::log(std::max(after, 1.0)) / std::log(before / after);
            // One by one they take hardly more than a pass each.
            const double rest = std::min(rounds * static_cast<double>(s_.work - start),
                                         1.5 * after * static_cast<double>(s_.pass()));
            if (!may_auction || rest < limits_.auction * static_cast<double>(s_.pass())) continue;
            may_auction = false;
            if (!Auction<Index>(s_).run() || !short_searches()) return false;
        }
        return true;
    }

    State s_;
    std::size_t fitted_ = 0;  // rows that fitted duals left free
    const AssignmentLimits limits_;
};

}  // namespace sparsematch
