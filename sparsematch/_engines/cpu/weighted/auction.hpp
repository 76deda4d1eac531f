// Duals that are nearly the best ones, by an auction with scaling.
//
// Free rows bid, first come, first served: a row takes its best column and lowers that column's
// dual (raises its price) until the second best is better by an increment; the row displaced bids
// again. The smaller the increment, the better the duals and the longer the auction: so levels with
// increments from large to small, each begun with the duals of the one before it and with the pairs
// that are within the new increment of their row's best.
// Bertsekas: Auction algorithms for network flow problems: a tutorial introduction (Comput. Optim.
// Appl. 1, 1992). Names: prices are -v. The result is a start for an exact algorithm, nothing more:
// so a level leaves its last rows, which would bid longest, and has a budget, and any increments
// will do.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "weighted/assignment_state.hpp"
#include "weighted/initial_duals.hpp"

namespace sparsematch {

template <class Index>
class Auction {
  public:
    // Begins with the duals at hand.
    explicit Auction(AssignmentState<Index>& s) : s_(s), v_(s.a.n_cols), waiting_(s.a.n_rows) {
        for (Index j = 0; j < s_.a.n_cols; ++j) v_[j] = s_.col[j].v;
        find_quartiles();
    }

    // Increments from 1/16 to 1/4096 of a typical reduced cost: on random, lognormal and mesh
    // matrices neither more levels nor other increments came out ahead by a tenth.
    static constexpr int all_levels = 5;

    // Whether most reduced costs are of a size that the increments suit: where their quartiles are
    // further apart, as in sums over units of 12 orders (1e7; lognormal values 63), most rows are
    // free again, and searches without it take a third of the time.
    bool worthwhile() const { return quartile_[2] <= 0x1p16 * quartile_[0]; }

    // Of a square matrix. Writes duals that are feasible, and the pairs with a reduced cost of 0;
    // the other rows are free. False: a row has no entries, or the run was stopped. Workspace: a
    // double a column, an index a row. Time: at most levels times most_passes + 1 passes.
    bool run(int levels) {
        const double typical = quartile_[1];
        increment_ = typical / 16, alone_ = 16 * typical;
        for (int level = 0; level < levels; ++level, increment_ /= 4) {
            s_.work += s_.pass();
            if (!take_apart() || !bid()) return false;
        }
        for (Index j = 0; j < s_.a.n_cols; ++j) s_.col[j].v = v_[j];
        Buffer<Index> first(s_.a.n_rows);
        return row_minima(s_, first.data()) && fit_duals(s_);
    }

  private:
    static constexpr std::int64_t most_passes = 8;

    // Those of the reduced costs of some four thousand rows, those near 0 left out.
    void find_quartiles() {
        std::vector<double> sample;
        const Index step = std::max<Index>(1, s_.a.n_rows / 4096);
        for (Index i = 0; i < s_.a.n_rows; i += std::min<Index>(step, s_.a.n_rows - i)) {
            const Index begin = s_.a.indptr[i], end = begin + std::min<Index>(64, s_.a.degree(i));
            double least = s_.infinity;
            for (Index p = begin; p < end; ++p)
                least = std::min(least, s_.cost[p] - v_[s_.a.indices[p]]);
            for (Index p = begin; p < end; ++p) {
                const double h = s_.cost[p] - v_[s_.a.indices[p]] - least;
                if (h > 0x1p-40 * std::max(std::abs(s_.cost[p]), std::abs(least)))
                    sample.push_back(h);
            }
        }
        const auto size = static_cast<std::ptrdiff_t>(sample.size());
        for (std::ptrdiff_t k = 0; k < 3 && size > 0; ++k) {
            const auto place = sample.begin() + size * (k + 1) / 4;
            std::nth_element(sample.begin(), place, sample.end());
            quartile_[k] = *place;
        }
    }

    // Frees the rows whose column is not within the increment of their best, and lists the free.
    bool take_apart() {
        head_ = n_waiting_ = 0;
        for (Index i = 0; i < s_.a.n_rows; ++i) {
            double least = s_.infinity, own = s_.infinity;
            const Index mate = s_.col_of[i];
            for (Index p = s_.a.indptr[i]; p < s_.a.indptr[i + 1]; ++p) {
                const Index j = s_.a.indices[p];
                const double h = s_.cost[p] - v_[j];
                least = std::min(least, h);
                own = j == mate ? h : own;
            }
            if (own > least + increment_) {
                if (mate != UNMATCHED<Index>) s_.col[mate].mate = UNMATCHED<Index>;
                s_.col_of[i] = UNMATCHED<Index>;
                wait(i);
            }
            if (!s_.counter.add(s_.a.degree(i))) return false;
        }
        return true;
    }

    // Until hardly a row is left, or the budget is spent: in lognormal and mesh matrices of 300,000
    // rows some 50 of 300 that a level leaves need searches through half of the matrix.
    bool bid() {
        const std::int64_t end = s_.work + most_passes * s_.pass();
        const Index few = s_.a.n_rows / 16384;
        while (n_waiting_ > few && s_.work < end) {
            prefetch();
            const Index i = waiting_[head_];
            if (++head_ == s_.a.n_rows) head_ = 0;
            --n_waiting_;
            const Index displaced = outbid(i);
            if (displaced != UNMATCHED<Index>) wait(displaced);
            if (!s_.scanned(i)) return false;
        }
        return true;
    }

    // Matches row i to its best column. Returns the row displaced, if any.
    Index outbid(Index i) {
        const auto [best, first, second] = s_.offer(i, [this](Index j) { return v_[j]; });
        // Rows that share their only column raise its price in turn: beyond doubles, if costs are
        // near the largest. They cannot all be matched.
        if (best == UNMATCHED<Index>) return best;
        v_[best] -= (second < s_.infinity ? second - first : alone_) + increment_;
        return s_.displace(i, best);
    }

    void wait(Index i) {
        const std::size_t place = static_cast<std::size_t>(head_) + n_waiting_++;
        waiting_[place < waiting_.size() ? place : place - waiting_.size()] = i;
    }

    // The rows that bid next: where they are, then their entries, then the prices of these.
    void prefetch() const {
        const auto ahead = [&](Index k) {
            const std::size_t place = static_cast<std::size_t>(head_) + std::min(k, n_waiting_ - 1);
            return waiting_[place < waiting_.size() ? place : place - waiting_.size()];
        };
        SPARSEMATCH_PREFETCH(&s_.a.indptr[ahead(12)]);
        const Index begin = s_.a.indptr[ahead(8)], i = ahead(4);
        SPARSEMATCH_PREFETCH(&s_.a.indices[begin]);
        SPARSEMATCH_PREFETCH(&s_.cost[begin]);
        const Index* row = s_.a.indices + s_.a.indptr[i];
        for (Index k = 0; k < std::min<Index>(8, s_.a.degree(i)); ++k)
            SPARSEMATCH_PREFETCH(&v_[row[k]]);
    }

    AssignmentState<Index>& s_;
    Buffer<double> v_;       // of columns, side by side
    Buffer<Index> waiting_;  // rows that are free: a ring
    Index head_ = 0, n_waiting_ = 0;
    double quartile_[3] = {0, 0, 0};
    double increment_ = 0, alone_ = 0;  // of a bid; of that of a row with one column, beyond it
};

// Augmenting row reduction: a free row is matched to its best column, whose dual is lowered until
// the second best is as good; the row displaced is next. It is an auction with increments of 0.
// Where best and second best are equal from the start, the row displaced waits for the next round.
// Jonker, Volgenant: A shortest augmenting path algorithm for dense and sparse linear assignment
// problems (Computing 38, 1987).
// Returns the row that is free now, if any. strictly: the best column was better than the second.
template <class Index>
Index reduce_row(AssignmentState<Index>& s, Index i, bool& strictly) {
    auto [best, first, second] = s.offer(i, [&s](Index j) { return s.col[j].v; });
    strictly = first < second && second < s.infinity;
    if (first == second && s.col[best].mate != UNMATCHED<Index>) {
        Index p = s.a.indptr[i];
        while (s.a.indices[p] == best || s.cost[p] - s.col[s.a.indices[p]].v != first) ++p;
        best = s.a.indices[p];
    }
    auto& col = s.col[best];
    s.u[i] = strictly ? second : first;
    if (strictly) col.v -= second - first;
    else if (col.mate != UNMATCHED<Index>) return i;
    return s.displace(i, best);
}

// Three rounds over the free rows, within a budget. Where the matrix is not in the second-level
// cache, several chains of displaced rows in turn, so that what the next row of each needs is
// fetched meanwhile: 0.4 to 0.9 of the time. One after the other they may leave fewer rows. False:
// stopped.
template <class Index>
bool reduce_rows(AssignmentState<Index>& s, std::int64_t budget) {
    // Two rows that want one column displace each other until its dual has made up for what their
    // other columns lack: a long chain waits for the next round.
    constexpr int most_displaced = 16;
    constexpr std::size_t most_chains = 8;
    const std::size_t n_chains = s.pass() < 1 << 16 ? 1 : most_chains, last = n_chains - 1;
    struct Chain {
        Index i = UNMATCHED<Index>;
        int n = 0;  // rows so far
    };
    const std::int64_t end = s.work + budget;
    std::vector<Index> waiting;
    for (int round = 0; round < 3 && !s.free.empty(); ++round) {
        waiting.clear();
        Chain chains[most_chains];
        std::size_t begun = 0;
        for (std::size_t k = 0, idle = 0; idle < n_chains; ++k) {
            auto& [i, n] = chains[k & last];
            if (i != UNMATCHED<Index> && (n++ == most_displaced || s.work >= end))
                waiting.push_back(std::exchange(i, UNMATCHED<Index>));
            if (i != UNMATCHED<Index>) {
                bool strictly;
                const Index displaced = reduce_row(s, i, strictly);
                if (!s.scanned(i)) return false;
                if (displaced != UNMATCHED<Index> && !strictly) waiting.push_back(displaced);
                i = strictly ? displaced : UNMATCHED<Index>;
            }
            if (i == UNMATCHED<Index> && begun < s.free.size()) i = s.free[begun++], n = 0;
            idle = i == UNMATCHED<Index> ? idle + 1 : 0;
            s.prefetch(i, chains[(k + 5) & last].i, chains[(k + 2) & last].i);
        }
        s.free.swap(waiting);
    }
    return true;
}

}  // namespace sparsematch
