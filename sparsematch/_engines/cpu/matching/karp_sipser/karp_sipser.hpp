// Karp-Sipser: match vertices of degree one while there are any (always right), then pick, and go
// on.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981), on both sides with exact
// degrees; a pick takes the live column of least degree. Memory latency bounds it, so vertices are
// taken in batches, each step prefetching what the next reads (decision 0005).
// Invariant: the degree of a live vertex is the number of its live neighbours, or higher.
//
// Matching row i with column j lowers the degrees of the other columns in i and of the other rows
// in j, two halves that have nothing in common. So each half has an owner, which alone writes it:
//
//      row owner                                        column owner
//      writes rows.degree, removed                      writes cols.degree, both free, both mates
//   +---------------------------------+             +------------------------------------------+
//   | row of degree one:              |  proposals  |                                          |
//   |   propose it with its last      | ==========> | match it, if both ends are still free    |
//   |   column                        |    (ring)   | column of degree one: match its last row |
//   |                                 |    pairs    | else pick: next row, its least column    |
//   | remove the column from its      | <========== | publish the pair, and remove the row     |
//   |   other rows                    |    (ring)   |   from its other columns                 |
//   | pairs consumed, idle or not     | ----------> | no picks while the row owner lags far    |
//   +---------------------------------+  Progress   +------------------------------------------+
//
// Degrees of rows may lag, and are then higher than the true ones, never lower: a row of degree one
// has no other column indeed. One worker takes the steps of both owners in turns; two workers own a
// half each; many share all degrees instead (shared_degrees.hpp).
#pragma once

#include <algorithm>
#include <atomic>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/run_context.hpp"
#include "core/spsc_ring.hpp"
#include "matching/karp_sipser/owners.hpp"
#include "matching/karp_sipser/residual_degrees.hpp"
#include "matching/karp_sipser/shared_degrees.hpp"

namespace sparsematch {

struct KarpSipserOptions {
    // No picks once the vertices of degree one are used up.
    bool degree_one_only = false;
    // Keep the last live neighbour of each vertex instead of searching its list.
    bool neighbour_xor = false;

    static constexpr auto fields() {
        return std::tuple{Option{"degree_one_only", &KarpSipserOptions::degree_one_only},
                          Option{"neighbour_xor", &KarpSipserOptions::neighbour_xor}};
    }
};

// How far the row owner has come, in one word: how many pairs it has consumed, and whether it is
// idle, all that followed from them being done.
class Progress {
  public:
    Progress(std::size_t consumed, bool is_idle) : word_(2 * consumed + is_idle) {}
    std::size_t consumed() const { return word_ / 2; }
    bool is_idle() const { return word_ % 2 != 0; }
    bool operator==(const Progress&) const = default;

  private:
    std::size_t word_;
};

template <class Index>
class KarpSipser {
    // pairs that the row owner may lag behind when a pick is made
    static constexpr std::size_t max_lag = 128;

  public:
    KarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m, bool with_xor,
               RunContext& run)
        : run_(run), sides_(a, transposed, m, with_xor), row_owner_(sides_), col_owner_(sides_) {}

    void count() {
        count_both(sides_.rows, sides_.cols, run_);
        row_owner_.start();
    }
    // All of these pairs are forced; recorded if that is wanted.
    void match_degree_one(Forced* forced) {
        col_owner_.record(forced ? forced->rows_as<Index>() : nullptr);
        match();
        col_owner_.record(nullptr);
        if (forced) forced->by_row = col_owner_.n_by_row(), forced->by_col = col_owner_.n_by_col();
    }
    void match_rest() {
        col_owner_.start_picks();
        match();
    }

    const ResidualSide<Index>& rows() const { return sides_.rows; }
    const ResidualSide<Index>& cols() const { return sides_.cols; }

  private:
    void match() {
        if (run_.team.size() > 1) match_by_owner_threads();
        match_sequentially();
    }

    // All, or what the owner threads have left.
    void match_sequentially() {
        WorkCounter counter(run_, 0);
        while (!run_.stopped() &&
               (row_owner_.step(counter) || col_owner_.step(counter, true) ||
                row_owner_.propose(1) || col_owner_.match_degree_one(1, counter))) {
        }
    }

    // Either thread ends both: when all is done, or when the system has other work for a core, so
    // that they mostly wait for each other (bounded spinning, decision 0005).
    void match_by_owner_threads() {
        done_ = false;
        progress_ = Progress(row_owner_.consumed(), false);
        spin_.start(run_.team);
        run_.team.each([&](int rank) {
            if (rank == 0) run_row_owner();
            if (rank == 1) run_col_owner();
        });
    }
    void run_row_owner() {
        WorkCounter counter(run_, 0);
        Progress published = progress_;
        while (goes_on()) {
            if (row_owner_.step(counter)) continue;
            const Progress now(row_owner_.consumed(), row_owner_.is_idle());
            if (now != published) progress_ = published = now;
            if (row_owner_.propose(1)) continue;
            spin_.wait_until([&] { return done_ || row_owner_.has_work(); });
        }
        done_ = true;
    }
    void run_col_owner() {
        WorkCounter counter(run_, 1);
        while (goes_on()) {
            const Progress seen = progress_;
            const bool may_pick = col_owner_.made() - seen.consumed() <= max_lag;
            if (col_owner_.step(counter, may_pick) || col_owner_.match_degree_one(1, counter))
                continue;
            if (col_owner_.has_picked_all() && seen.is_idle() &&
                seen.consumed() == col_owner_.made())
                break;
            spin_.wait_until(
                [&] { return done_ || progress_.load() != seen || col_owner_.has_work(); });
        }
        done_ = true;
    }
    bool goes_on() const { return !run_.stopped() && !done_ && !spin_.gave_up(); }

    RunContext& run_;
    OwnedSides<Index> sides_;
    RowOwner<Index> row_owner_;
    alignas(64) ColumnOwner<Index> col_owner_;
    BoundedSpin spin_;
    alignas(64) std::atomic<Progress> progress_{Progress(0, false)};
    std::atomic<bool> done_{false};
};

// So far each match was right: what is left is to match the core of free vertices that still have
// live neighbours, and a maximum matching of the core makes the whole maximum.
template <class Index>
void mark_settled(const ResidualSide<Index>& side, bool* settled) {
    for (Index v = 0; v < side.lists.n_rows; ++v)
        settled[v] = int{!side.free.test(v)} | int{side.degree[v] == 0};
}

template <class Index, class Workers>
void karp_sipser_by(Workers&& workers, Matching<Index> m, const KarpSipserOptions& options,
                    RunContext& run) {
    const auto &rows = workers.rows(), &cols = workers.cols();
    const bool warm = std::any_of(m.row_mate, m.row_mate + rows.lists.n_rows,
                                  [](Index j) { return j != UNMATCHED<Index>; });
    {
        auto timer = run.time("degrees");
        workers.count();
    }
    {
        auto timer = run.time("degree one");
        workers.match_degree_one(warm ? nullptr : &run.forced);
        if (run.settled && !warm && !run.stopped())
            run.team.both([&](int side, int) {
                if (side == 0) mark_settled(rows, run.settled.row);
                else mark_settled(cols, run.settled.col);
            });
    }
    if (options.degree_one_only || run.stopped()) return;
    auto timer = run.time("picks");
    workers.match_rest();
}

// Reads: both orientations. Writes: both mates. Workspace: a byte and two bits per vertex, and the
// stacks. Time: O(nnz).
template <class Index>
void karp_sipser(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                 const KarpSipserOptions& options, RunContext& run) {
    constexpr int few = 3;  // up to so many workers, two that share nothing are faster
    if (run.team.size() > few)
        karp_sipser_by(SharedKarpSipser<Index>(a, *transposed, m, run), m, options, run);
    else
        karp_sipser_by(KarpSipser<Index>(a, *transposed, m, options.neighbour_xor, run), m, options,
                       run);
}

}  // namespace sparsematch
