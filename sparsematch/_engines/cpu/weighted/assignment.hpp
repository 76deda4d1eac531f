// Assignment of least total cost: every row is matched to a column of its own.
//
// Which of the steps below wins differs by a hundred on matrices of one size, and none is right for
// all; they share a state (AssignmentState): feasible duals, and a matching along entries whose
// reduced cost is 0. So each is run within a budget, and leaves what it found to the next:
//   1. duals that fit rows and columns, and row reduction (initial_duals, reduce_rows);
//   2. searches from one row after the other (path_search), while those to come are expected to
//      take less time than what else there is: where costs are tied a largest matching along
//      entries whose reduced cost is 0 (match_all_tight), then step 3; rows first; the blocks of
//      the pattern one by one, if there are several (assignment_blocks);
//   3. an auction, and short searches (auction); where costs are tied or the matrix is wide,
//      searches from all free rows together first (path_forest), with such matchings in between.
// The result is exact whichever steps have run: the duals prove it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/transpose.hpp"
#include "matching/karp_sipser/karp_sipser.hpp"
#include "matching/ms_bfs_graft.hpp"
#include "matching/pothen_fan.hpp"
#include "weighted/assignment_blocks.hpp"
#include "weighted/assignment_state.hpp"
#include "weighted/auction.hpp"
#include "weighted/initial_duals.hpp"
#include "weighted/path_forest.hpp"
#include "weighted/path_search.hpp"

namespace sparsematch {

// A maximum matching, from that at hand, or afresh: Karp-Sipser leaves few rows, which searches in
// depth match where paths are long and many (meshes), and searches from all rows where these scan
// the matrix again and again (random ones). Time: O(nnz), and phases, O(n_rows nnz) at worst.
template <class Index>
void match_pattern(const Csr<Index>& a, Matching<Index> m, bool afresh, RunContext& run) {
    if (!afresh) return ms_bfs_graft<Index>(a, nullptr, m, {}, run);
    constexpr std::int64_t passes = 10;  // of searches in depth
    std::fill_n(m.row_mate, a.n_rows, UNMATCHED<Index>);
    std::fill_n(m.col_mate, a.n_cols, UNMATCHED<Index>);
    const BuiltTranspose<Index> built(a, run);
    karp_sipser<Index>(a, &built.lists, m, {}, run);
    if (!any_free(m.row_mate, a.n_rows)) return;
    RunContext limited(run, passes * (std::int64_t{a.n_rows} + a.nnz()));
    pothen_fan<Index>(a, nullptr, m, {}, limited);
    run.flush(limited.edges(), 0);
    if (limited.exhausted()) ms_bfs_graft<Index>(a, &built.lists, m, {}, run);
}

// A largest matching along the entries whose reduced cost is 0: where costs take few values many
// entries have one, and of the paths of length 0 from free rows to free columns a round of shortest
// paths takes but one a tree. The others are what an algorithm for unweighted matchings finds, and
// far sooner: the primal step of the Hungarian method, Kuhn (Nav. Res. Logist. Q. 2, 1955).
// Keeps the duals, and in a wide matrix the matched columns: not afresh. False: stopped. Workspace:
// two indices for each such entry, three a vertex. Time: O(nnz), and match_pattern's on these.
template <class Index> bool match_all_tight(AssignmentState<Index>& s, bool afresh) {
    SPARSEMATCH_ASSERT(!afresh || !s.wide());  // only columns with the largest dual may be free
    const auto timer = s.run.time("ties");
    const auto& a = s.a;
    Buffer<Index> indptr(a.n_rows + 1, 0), col_mate(a.n_cols);
    // use(i, k, p): entry p is the k-th such entry of row i
    const auto each_row = [&](const auto& use) {
        s.run.team.loop(a.n_rows, 1 << 12, [&](int rank, Index begin, Index end) {
            WorkCounter counter(s.run, rank);
            for (Index i = begin; i < end && counter.add(a.degree(i) + 1); ++i) {
                Index k = 0;
                for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p)
                    if (a.indices[p] == s.col_of[i] || is_tight(s, i, p)) use(i, k++, p);
            }
        });
        s.work += s.pass();
    };
    each_row([&](Index i, Index k, Index) { indptr[i + 1] = k + 1; });
    if (s.run.stopped()) return false;  // not all are counted, and there is no room for the others
    for (Index i = 0; i < a.n_rows; ++i) indptr[i + 1] += indptr[i];
    Buffer<Index> indices(indptr[a.n_rows]);
    each_row([&](Index i, Index k, Index p) { indices[indptr[i] + k] = a.indices[p]; });
    if (s.run.stopped()) return false;
    for (Index j = 0; j < a.n_cols; ++j) col_mate[j] = s.col[j].mate;
    const Csr<Index> tight{a.n_rows, a.n_cols, indptr.data(), indices.data()};
    const std::int64_t before = s.run.edges();
    match_pattern<Index>(tight, {s.col_of.data(), col_mate.data()}, afresh, s.run);
    s.work += s.run.edges() - before;
    for (Index j = 0; j < a.n_cols; ++j) s.col[j].mate = col_mate[j];
    if (afresh) s.free.resize(a.n_rows), std::iota(s.free.begin(), s.free.end(), Index(0));
    std::erase_if(s.free, [&](Index i) { return s.col_of[i] != UNMATCHED<Index>; });
    return !s.run.stopped();
}

// What a step may take, and when it is worth it. Times are predicted ones, in nanoseconds for each
// row and entry of the matrix, so that steps of different kinds compare; a budget is the number of
// rows and entries whose scan takes as long. Name: definition; unit; evidence.
struct AssignmentPolicy {
    // All searches one by one, before an auction; ns.
    double searches = 900;
    // Time of an auction and the searches after it; ns; 130 to 600 on random, lognormal and mesh
    // matrices of 30,000 and 300,000 rows. Searches one by one end where the rest is predicted to
    // take longer, and the longer, the sooner: a prediction after little work is often too high, so
    // its product with the time spent must be above half the square of this. Without that a
    // flowsheet took 1.6 times as long; with 750 a mesh took 1.8 times.
    double auction = 300;
    // For matrices like one that needed long searches (product_batch).
    bool auction_first = false;

    // The scan of a row or an entry; ns; 2 where duals are fitted, which read in order; reduction
    // goes to the columns as well, searches (25 to 36) to rows and columns.
    static constexpr double reduction_scan = 8, search_scan = 30;

    // Row reduction; ns. The first part of it shows whether means may be worth their time.
    double reduction = 32, first_reduction = 4, last_reduction = 24;
    // A given start is kept if it leaves at most one row in this many free, or columns first leave
    // more than one in `few`; beginning elsewhere costs half as much again at worst where these
    // leave few (one in 50 of an admittance matrix of 25,000 rows), and spares four fifths where
    // they need long searches (one in 130 of a circuit of 12,675).
    std::size_t some = 8, few = 256;
    // Means, which take 10 ns, are tried if more than one row in this many is left; interior-point
    // systems and meshes in bad units, which gain, leave 22 and 38%; interior-point systems, meshes
    // and bands that do not, at most 20%. They are kept if they leave at most this share; rows.
    std::size_t many = 5;
    double means_gain = 0.75;

    // A largest matching by the duals at hand takes 40 to 150 ns; it is made where costs are tied
    // and searches are expected to take this long: in meshes they take two to four times as long.
    // Ties are what is left if it leaves at most this share of the rows: 0 in meshes, 0.34 in
    // random matrices of few values; 0.7 in a basis, which is solved row by row.
    double worth_tight = 200, tied_gain = 0.5;
    // Searches one by one, after which the time for the rest is predicted for the first time; ns;
    // how many times as long the next ones take. Of 12 matrices of 1,000 to 30,000 rows without
    // ties most were predicted within a factor of 2, a flowsheet at 3.7 times what it took.
    double first_searches = 15, longer = 1.5;
    // A maximum matching by the pattern, and its blocks, take 40 to 70 ns where there is one block;
    // they are looked for where searches are expected to take this long, as one pattern in three of
    // such has several, and given up after `feasibility` if the matching is long itself.
    double worth_blocks = 480, feasibility = 180;
    // Rows first, which takes 45 ns, is tried where searches are expected to take this long, and
    // kept if it leaves at most this share of the rows that the start left: 1/24 to 1/5 in sums
    // over interior points, upwind flows and lognormal values, else hardly fewer.
    double worth_rows_first = 1350, far_fewer = 0.25;
    // Searches after an auction; ns.
    double short_searches = 480;

    // Rounds of all rows: the largest matching by the duals at hand pays while it leaves less than
    // this share of rows; rounds in a wide matrix while they leave no more, as with ties.
    double tight_gain = 0.75, wide_gain = 0.875;
};

template <class Index> class Assignment {
  public:
    Assignment(AssignmentState<Index>& s, const AssignmentPolicy& policy)
        : s_(s), policy_(policy), started_(s.free.size()) {}

    // Reads: the matrix, n_rows <= n_cols, a cost per entry. Writes: mates and duals. Returns
    // whether all rows are matched; free columns then have the largest v. warm: row mates and v
    // hold those of a matrix with similar costs. Time: O(n_rows nnz log n_cols) at worst, rarely.
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

    // What is given to begin with, unless columns first leave hardly a row; else these, or, if the
    // first part of row reduction leaves many as well, geometric means if they leave fewer.
    bool start(const Index* row_mate, const double* v) {
        const auto timer = s_.run.time("start");
        const bool resumed = row_mate && resume(s_, row_mate, v);
        if (resumed && !leaves_one_in(policy_.some)) return reduce(policy_.reduction);
        Saved given;
        if (row_mate) given = set_aside();
        if (!fit_duals(s_, true)) return false;
        const std::size_t fitted = s_.free.size();
        if (resumed && leaves_one_in(policy_.few)) {
            restore(given);
            return reduce(policy_.reduction);
        }
        if (!has_alternatives()) return reduce(policy_.reduction);
        if (policy_.auction_first && leaves_one_in(policy_.some))
            return Auction<Index>(s_).run(1) && reduce(policy_.reduction);
        if (!reduce(policy_.first_reduction)) return false;
        if (leaves_one_in(policy_.many)) {
            Saved saved = set_aside();
            if (!means_of_rows(s_) || !fit_duals(s_)) return false;
            if (leaves(policy_.means_gain, fitted)) restore(saved);
        }
        return reduce(policy_.last_reduction);
    }
    // Whether more than one row in n is free; more than a share of some rows.
    bool leaves_one_in(std::size_t n) const {
        return s_.free.size() > static_cast<std::size_t>(s_.a.n_rows) / n;
    }
    bool leaves(double share, std::size_t rows) const {
        return static_cast<double>(s_.free.size()) > share * static_cast<double>(rows);
    }
    // Rows and entries scanned in a time.
    double scans(double ns, double scan) const {
        return ns / scan * static_cast<double>(s_.pass());
    }
    // The time for the free rows, of which there were more before some searches, if as much work
    // matches the same share of them again and again, but none is longer than a pass; ns.
    double rest(std::size_t before, std::int64_t work) const {
        const auto after = static_cast<double>(std::max<std::size_t>(s_.free.size(), 1));
        const double pass = scans(1, 1), all = static_cast<double>(work) /
                                               std::log(static_cast<double>(before) / after);
        const double last = std::clamp(all / pass, 1.0, after);
        return policy_.search_scan * (all / pass * std::log(after / last) + (last > 1 ? last : 0));
    }
    bool reduce(double ns) {
        return reduce_rows(s_, static_cast<std::int64_t>(scans(ns, policy_.reduction_scan)));
    }
    std::int64_t searches(double ns) const {
        return static_cast<std::int64_t>(scans(ns, policy_.search_scan));
    }
    // Columns of a wide matrix start from 0; ties are ties by any duals.
    bool has_alternatives() const { return !s_.wide() && !is_tied(); }
    bool is_tied() const { return s_.n_tied > s_.a.n_rows / 2; }

    Saved copy() const {
        Saved saved{Buffer<typename State::Column>(s_.a.n_cols), Buffer<Index>(s_.a.n_rows),
                    Buffer<double>(s_.a.n_rows), s_.free};
        std::copy(s_.col.begin(), s_.col.end(), saved.col.begin());
        std::copy(s_.col_of.begin(), s_.col_of.end(), saved.col_of.begin());
        std::copy_n(s_.u, s_.a.n_rows, saved.u.data());
        return saved;
    }
    Saved set_aside() {
        Saved saved = copy();
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
        started_ = s_.free.size();
        return search_on(is_tied());
    }

    bool search_on(bool tied) { return one_by_one(tied) && all_together(tied); }

    // Searches one by one, while they are expected to take less time than what else there is: from
    // time to time what the rest will take is predicted from what the last rows have taken.
    bool one_by_one(bool tied) {
        const std::int64_t begin = s_.work, end = begin + searches(policy_.searches);
        PathSearch<Index> search(s_);
        for (double slice = policy_.first_searches; !s_.free.empty() && s_.work < end;
             slice *= policy_.longer) {
            const std::size_t before = s_.free.size();
            const std::int64_t start = s_.work;
            if (!search.match_all(searches(slice))) return false;
            const double left = rest(before, s_.work - start);
            if (tied && left > policy_.worth_tight && std::exchange(may_tighten_, false)) {
                if (!match_all_tight(s_, !s_.wide())) return false;
                if (!leaves(policy_.tied_gain, before)) return by_blocks(tied);
            } else if (left > policy_.worth_rows_first && may_begin_again_ && has_alternatives()) {
                if (!rows_first()) return false;
            } else if (left > policy_.worth_blocks && may_split_) {
                if (!by_blocks(tied)) return false;
            } else if (const double spent = static_cast<double>(s_.work - begin) / scans(1, 1);
                       left > policy_.auction &&
                       2 * left * spent * policy_.search_scan > policy_.auction * policy_.auction) {
                break;
            }
        }
        return true;
    }

    // Solves rows that are still free block by block, if there are several; tried once. False:
    // stopped, or seen in little time that not all can be matched; this matching is a largest one.
    bool by_blocks(bool tied) {
        if (s_.free.empty() || !std::exchange(may_split_, false)) return true;
        const auto timer = s_.run.time("blocks");
        // Where costs are tied the matching at hand is nearly a maximum one; elsewhere it misleads,
        // in triangular patterns by a factor of a hundred.
        Buffer<Index> row_mate(s_.a.n_rows), col_mate(s_.a.n_cols);
        const Matching<Index> m{row_mate.data(), col_mate.data()};
        std::copy(s_.col_of.begin(), s_.col_of.end(), row_mate.begin());
        for (Index j = 0; j < s_.a.n_cols; ++j) col_mate[j] = s_.col[j].mate;
        RunContext run(s_.run.team, {.edge_limit = searches(policy_.feasibility)});
        match_pattern(s_.a, m, !tied, run);
        if (any_free(m.row_mate, s_.a.n_rows)) {
            if (run.exhausted()) return true;
            std::swap(s_.col_of, row_mate);
            for (Index j = 0; j < s_.a.n_cols; ++j) s_.col[j].mate = col_mate[j];
            return false;
        }
        AssignmentBlocks<Index> blocks(s_, m);
        if (s_.run.stopped() || !blocks.worthwhile()) return !s_.run.stopped();
        return blocks.solve([&](State& block) {
            block.n_tied = has_alternatives() ? 0 : block.a.n_rows;
            Assignment part(block, policy_);
            part.may_split_ = false;
            part.may_begin_again_ = may_begin_again_;
            return part.search_on(tied);
        });
    }

    // Rows first, if that leaves far fewer rows than the start; tried once.
    bool rows_first() {
        const auto timer = s_.run.time("rows first");
        may_begin_again_ = false;
        Saved saved = set_aside();
        if (!least_of_rows(s_) || !fit_duals(s_) || !reduce(policy_.reduction)) return false;
        if (leaves(policy_.far_fewer, started_)) restore(saved);
        return true;
    }

    // An auction, unless costs are tied or the matrix is wide; then rounds from all free rows,
    // with the largest matching by the duals at hand after each while that matches a quarter of
    // the rows, and an auction if they are expected to take longer. The last rows, which match one
    // a round, or in a wide matrix few, one by one.
    bool all_together(bool tied) {
        PathForest<Index> forest(s_);
        if (!tied && !by_auction()) return false;
        while (!s_.free.empty()) {
            const std::size_t before = s_.free.size();
            const std::int64_t start = s_.work;
            if (!forest.round()) return false;
            const std::size_t left = s_.free.size();
            if (tied && !match_all_tight(s_, false)) return false;
            tied = tied && !leaves(policy_.tight_gain, left);
            const bool one_by_one =
                s_.wide() ? leaves(policy_.wide_gain, before) : before - s_.free.size() < 2;
            if (one_by_one) return PathSearch<Index>(s_).match_all();
            if (rest(before, s_.work - start) > policy_.auction && !by_auction()) return false;
        }
        return true;
    }

    // An auction, once, if it and searches until they are long leave fewer rows.
    bool by_auction() {
        if (s_.free.empty() || s_.wide() || !std::exchange(may_auction_, false)) return true;
        const auto timer = s_.run.time("auction");
        Auction<Index> auction(s_);
        if (!auction.worthwhile()) return true;
        Saved saved = copy();
        if (!auction.run(Auction<Index>::all_levels) ||
            !PathSearch<Index>(s_).match_free_rows(searches(policy_.short_searches)))
            return false;
        if (s_.free.size() > saved.free.size()) restore(saved);
        return true;
    }

    State& s_;
    const AssignmentPolicy policy_;
    std::size_t started_;  // rows that the start left free
    bool may_tighten_ = true, may_split_ = true, may_begin_again_ = true, may_auction_ = true;
};

// The whole of it: see Assignment::solve.
template <class Index>
bool solve_assignment(const Csr<Index>& a, const double* cost, double* u,
                      std::type_identity_t<Matching<Index>> m, double* v,
                      const AssignmentPolicy& policy, RunContext& run, bool warm = false) {
    AssignmentState<Index> s(a, cost, u, run);
    return Assignment<Index>(s, policy).solve(m, v, warm);
}

}  // namespace sparsematch
