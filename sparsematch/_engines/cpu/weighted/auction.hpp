// Duals that are nearly the best ones, by an auction with scaling.
//
// Free rows bid, first come, first served: a row takes its best column and lowers that column's
// dual (raises its price) until the second best is better by an increment; the row displaced bids
// again. The smaller the increment, the better the duals and the longer the auction: so levels with
// increments from large to small, each begun with the duals of the one before it and with the pairs
// that are within the new increment of their row's best.
// Bertsekas: Auction algorithms for network flow problems: a tutorial introduction (Comput. Optim.
// Appl. 1, 1992). Names: prices are -v. The result is no more than a start: so a level leaves its
// last rows, which would bid longest, and has a budget, and any increments will do.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "weighted/assignment_state.hpp"
#include "weighted/initial_duals.hpp"

namespace sparsematch {

template <class Index> class Auction {
  public:
    // Begins with the duals at hand.
    explicit Auction(AssignmentState<Index>& s)
        : s_(s), v_(s.a.n_cols), rings_(static_cast<std::size_t>(s.run.team.size())) {
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
            double least = infinity;
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

    // The rows of one worker that are free: first come, first served.
    struct Ring {
        Buffer<Index> rows;
        std::size_t head = 0, n = 0;

        // The k-th of those that wait, or the last.
        Index& operator[](std::size_t k) {
            const std::size_t place = head + k;
            return rows[place < rows.size() ? place : place - rows.size()];
        }
        void push(Index i) { (*this)[n++] = i; }
        Index pop() {
            const Index i = rows[head];
            if (++head == rows.size()) head = 0;
            --n;
            return i;
        }
    };

    // Frees the rows whose column is not within the increment of their best, and lists the free.
    bool take_apart() {
        s_.run.team.share_out(s_.a.n_rows, [&](int rank, Index begin, Index end) {
            Ring& own = rings_[rank];
            if (own.rows.size() == 0) own.rows = Buffer<Index>(end - begin);
            own.head = own.n = 0;
            WorkCounter counter(s_.run, rank);
            for (Index i = begin; i < end && counter.add(s_.a.degree(i)); ++i) {
                double least = infinity, mates = infinity;
                const Index mate = s_.col_of[i];
                for (Index p = s_.a.indptr[i]; p < s_.a.indptr[i + 1]; ++p) {
                    const Index j = s_.a.indices[p];
                    const double h = s_.cost[p] - v_[j];
                    least = std::min(least, h);
                    mates = j == mate ? h : mates;
                }
                if (mates > least + increment_) {
                    if (mate != UNMATCHED<Index>) s_.col[mate].mate = UNMATCHED<Index>;
                    s_.col_of[i] = UNMATCHED<Index>;
                    own.push(i);
                }
            }
        });
        return !s_.run.stopped();
    }

    // Until hardly a row is left, or the budget is spent: in lognormal and mesh matrices of 300,000
    // rows some 50 of 300 that a level leaves need searches through half of the matrix.
    bool bid() {
        const int n_workers = s_.run.team.size();
        const std::int64_t budget = most_passes * s_.pass() / n_workers;
        const auto few = static_cast<std::size_t>(s_.a.n_rows / 16384 / n_workers);
        std::atomic<std::int64_t> work{0};
        s_.run.team.each([&](int rank) {
            Ring& own = rings_[rank];
            WorkCounter counter(s_.run, rank);
            std::int64_t spent = 0;
            while (own.n > few && spent < budget) {
                prefetch(own);
                const Index i = own.pop(), scan = s_.a.degree(i) + 1;
                const Index displaced = outbid(i, rank);
                if (displaced != UNMATCHED<Index>) own.push(displaced);
                spent += scan;
                if (!counter.add(scan)) return;
            }
            work += spent;
        });
        s_.work += work;
        return !s_.run.stopped();
    }

    // Matches row i to its best column. Returns the row displaced, if any.
    Index outbid(Index i, int rank) {
        for (;;) {
            const auto [best, first, second] =
                s_.offer(i, [this](Index j) -> double& { return v_[j]; });
            // Rows that share their only column raise its price in turn: beyond doubles, if costs
            // are near the largest. They cannot all be matched.
            if (best == UNMATCHED<Index>) return best;
            const Index j = s_.a.indices[best];
            if (!s_.claim(j, rank)) continue;
            // a bid in the meantime may be higher
            const double v = v_[j],
                         lead = second < infinity ? second - (s_.cost[best] - v) : alone_;
            Index displaced = i;
            if (lead >= 0) poke(v_[j], v - (lead + increment_)), displaced = s_.displace(i, j);
            s_.release(j);
            if (displaced != i) return displaced;
        }
    }

    // The rows that bid next: where they are, then their entries, then the prices of these.
    void prefetch(Ring& own) const {
        const auto ahead = [&](std::size_t k) { return own[std::min(k, own.n - 1)]; };
        SPARSEMATCH_PREFETCH(&s_.a.indptr[ahead(12)]);
        const Index begin = s_.a.indptr[ahead(8)], i = ahead(4);
        SPARSEMATCH_PREFETCH(&s_.a.indices[begin]);
        SPARSEMATCH_PREFETCH(&s_.cost[begin]);
        const Index* row = s_.a.indices + s_.a.indptr[i];
        for (Index k = 0; k < std::min<Index>(8, s_.a.degree(i)); ++k)
            SPARSEMATCH_PREFETCH(&v_[row[k]]);
    }

    AssignmentState<Index>& s_;
    Buffer<double> v_;  // of columns, side by side
    std::vector<Ring> rings_;
    double quartile_[3] = {0, 0, 0};
    double increment_ = 0, alone_ = 0;  // of a bid; of that of a row with one column, beyond it
};

// Augmenting row reduction: a free row takes its best column, whose dual is lowered until the
// second best is as good; the row displaced is next. An auction with increments 0. Where both are
// equal from the start, the row displaced waits for the next round. Jonker, Volgenant: A shortest
// augmenting path algorithm for dense and sparse linear assignment problems (Computing 38, 1987).
// Returns the row that is free now, if any. strictly: the best column was better than the second.
template <class Index>
Index reduce_row(AssignmentState<Index>& s, Index i, int rank, bool& strictly) {
    for (;;) {
        const auto value = [&](Index p) { return s.cost[p] - peek(s.col[s.a.indices[p]].v); };
        auto [best, first, second] = s.offer(i, [&s](Index j) -> double& { return s.col[j].v; });
        SPARSEMATCH_ASSERT(best != UNMATCHED<Index>);  // duals were fitted: no row is empty
        if (first == second && peek(s.col[s.a.indices[best]].mate) != UNMATCHED<Index>)
            for (Index p = best + 1; p < s.a.indptr[i + 1]; ++p)
                if (value(p) == first) {
                    best = p;
                    break;
                }
        const Index j = s.a.indices[best];
        if (!s.claim(j, rank)) continue;
        auto& col = s.col[j];
        first = value(best);
        Index displaced = i;
        const bool outbid = first > second;  // meanwhile
        strictly = first < second && second < infinity;
        if (!outbid) s.u[i] = strictly ? second : first;
        if (strictly) poke(col.v, col.v - (second - first));
        if (strictly || (!outbid && col.mate == UNMATCHED<Index>)) displaced = s.displace(i, j);
        s.release(j);
        if (!outbid) return displaced;
    }
}

// Three rounds over the free rows, within a budget. Where the matrix is not in the second-level
// cache, several chains of displaced rows in turn, so that what the next row of each needs is
// fetched meanwhile: 0.4 to 0.9 of the time. One by one they may leave fewer rows. False: stopped.
template <class Index> bool reduce_rows(AssignmentState<Index>& s, std::int64_t budget) {
    // Two rows that want one column displace each other until its dual has made up for what their
    // other columns lack: a long chain waits for the next round.
    constexpr int most_displaced = 16;
    constexpr std::size_t most_chains = 8;
    constexpr std::int64_t in_cache = 1 << 16;  // rows and entries
    const std::size_t n_chains = s.pass() < in_cache ? 1 : most_chains, last = n_chains - 1;
    struct Chain {
        Index i = UNMATCHED<Index>;
        int n = 0;  // rows so far
    };
    const std::int64_t quantum = s.shared ? 1 << 10 : 0;  // work told to the others together
    std::vector<std::vector<Index>> waiting(s.run.team.size());
    std::atomic<std::int64_t> work{0};
    for (int round = 0; round < 3 && !s.free.empty(); ++round) {
        for (auto& rows : waiting) rows.clear();
        s.run.team.even_loop(
            s.free.size(), 16, 256, [&](int rank, std::size_t begun, std::size_t end) {
                WorkCounter counter(s.run, rank);
                std::int64_t spent = 0;  // and not told yet
                Chain chains[most_chains];
                for (std::size_t k = 0, idle = 0; idle < n_chains; ++k) {
                    auto& [i, n] = chains[k & last];
                    if (i != UNMATCHED<Index> &&
                        (n++ == most_displaced || work.load(std::memory_order_relaxed) >= budget))
                        waiting[rank].push_back(std::exchange(i, UNMATCHED<Index>));
                    if (i != UNMATCHED<Index>) {
                        bool strictly;
                        const Index displaced = reduce_row(s, i, rank, strictly);
                        spent += s.a.degree(i) + 1;
                        if (spent > quantum)
                            work.fetch_add(std::exchange(spent, 0), std::memory_order_relaxed);
                        if (!counter.add(s.a.degree(i) + 1)) return;
                        if (displaced != UNMATCHED<Index> && !strictly)
                            waiting[rank].push_back(displaced);
                        i = strictly ? displaced : UNMATCHED<Index>;
                    }
                    if (i == UNMATCHED<Index> && begun < end) i = s.free[begun++], n = 0;
                    idle = i == UNMATCHED<Index> ? idle + 1 : 0;
                    s.prefetch(i, chains[(k + 5) & last].i, chains[(k + 2) & last].i);
                }
                work += spent;
            });
        s.free.clear();
        for (const auto& rows : waiting) s.free.insert(s.free.end(), rows.begin(), rows.end());
        if (s.run.stopped()) return false;
    }
    s.work += work;
    return true;
}

}  // namespace sparsematch
