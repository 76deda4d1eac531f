// Assignment of least total cost: every row is matched to a column of its own.
//
// Which of the steps below wins differs by a hundred on matrices of one size, and none of them is
// right for all; what they share is a state (AssignmentState): feasible duals, and a matching along
// entries whose reduced cost is 0. So each is run within a budget, in passes over the matrix, and
// leaves to the next what it has found:
//   1. duals that fit rows and columns, and row reduction (initial_duals, row_reduction);
//   2. searches from one row after the other, while they are short (path_search);
//   3. where they are not, the same from other duals;
//   4. searches from all free rows together (path_forest), and where that is expected to take many
//      rounds an auction (auction) and short searches first.
// The result is exact whichever steps have run: the duals prove it.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "weighted/assignment_state.hpp"
#include "weighted/auction.hpp"
#include "weighted/initial_duals.hpp"
#include "weighted/path_forest.hpp"
#include "weighted/path_search.hpp"
#include "weighted/row_reduction.hpp"

namespace sparsematch {

template <class Index>
class Assignment {
  public:
    Assignment(const Csr<Index>& a, const double* cost, double* u, RunContext& run)
        : s_(a, cost, u, run) {}

    // Reads: the matrix, n_rows <= n_cols, and a cost for each entry. Writes: mates and duals.
    // Returns whether every row is matched; free columns, if there are more columns than rows, then
    // have the largest v. Time: O(n_rows nnz log n_cols) at worst, rarely.
    bool solve(Matching<Index> m, double* v) {
        const bool feasible = start() && search();
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

    // Columns first; where that leaves many rows, geometric means if these leave fewer.
    bool start() {
        auto timer = s_.run.time("start");
        std::fill_n(s_.u, s_.a.n_rows, 0.0);
        if (!fit_duals(s_)) return false;
        const std::size_t left = s_.free.size();
        if (!reduce_rows(s_)) return false;
        if (!has_alternatives() || s_.free.size() <= many()) return true;
        Saved saved = set_aside();
        if (!means_of_rows(s_) || !fit_duals(s_)) return false;
        if (4 * s_.free.size() < 3 * left) return reduce_rows(s_);
        restore(saved);
        return true;
    }
    std::size_t many() const { return static_cast<std::size_t>(s_.a.n_rows) / 32; }
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
        for (auto& c : s_.col) c = {0, s_.infinity, UNMATCHED<Index>, UNMATCHED<Index>};
        for (Index& j : s_.col_of) j = UNMATCHED<Index>;
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
        const std::size_t before = s_.free.size();
        if (!short_searches()) return false;
        const bool failed = 2 * s_.free.size() > before && before > 0;
        if (failed && has_alternatives() && !rows_first()) return false;
        return s_.free.empty() || all_together();
    }

    bool short_searches() {
        constexpr std::int64_t passes = 8;  // a quarter of what an auction and its search take
        return PathSearch<Index>(s_).match_free_rows(passes * s_.pass());
    }

    // Rows first, where searches may be far shorter (sums over systems of interior points: 40
    // times), or not: the start that leaves fewer rows is kept.
    bool rows_first() {
        Saved saved = set_aside();
        if (!least_of_rows(s_) || !fit_duals(s_) || !reduce_rows(s_) || !short_searches())
            return false;
        if (s_.free.size() > saved.free.size()) restore(saved);
        return true;
    }

    // Rounds from all free rows, until they are matched. After each, what the rest will take if
    // rounds go on to match the same share of the rows, against what an auction takes.
    bool all_together() {
        constexpr double auction_passes = 30;  // and the searches after it: 20 to 35 measured
        PathForest<Index> forest(s_);
        for (bool may_auction = !s_.wide(); !s_.free.empty();) {
            const auto before = static_cast<double>(s_.free.size());
            const std::int64_t start = s_.work;
            if (!forest.round()) return false;
            const auto after = static_cast<double>(s_.free.size());
            const double rounds = std::log(std::max(after, 1.0)) / std::log(before / after);
            const double rest = rounds * static_cast<double>(s_.work - start);
            if (!may_auction || rest < auction_passes * static_cast<double>(s_.pass())) continue;
            may_auction = false;
            if (!Auction<Index>(s_).run() || !short_searches()) return false;
        }
        return true;
    }

    State s_;
};

}  // namespace sparsematch
