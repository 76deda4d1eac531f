// Karp-Sipser: match vertices of degree one while there are any (always right), then pick, and go
// on.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981), on both sides with exact
// degrees; a pick takes the live column of least degree. What bounds it is memory: every removal
// touches the lists of two vertices at random places. So what is touched most is kept smallest
// (live_side.hpp), and vertices are taken in batches, each step of a batch prefetching what the
// next reads.
// Matching row i with column j lowers the degrees of the other columns in i and of the other rows
// in j: two halves that have nothing in common. So there are two keepers, one of the rows' degrees
// and one of the columns'. That of the columns, which goes through rows in order where no vertex
// has degree one, has less to wait for from memory, so it also makes all pairs and tells the other,
// who only then removes the column. That of the rows proposes pairs for rows that have come down to
// one live column. It may be late, with degrees higher than the true ones, but never ahead: such a
// row has no other column indeed. Neither looks at what the other writes: two rings carry pairs.
// Two workers are one keeper each, or one is both in turns. Many workers share the degrees instead:
// karp_sipser_shared.hpp.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "core/spsc_ring.hpp"
#include "matching/karp_sipser/shared_degrees.hpp"
#include "matching/karp_sipser/residual_degrees.hpp"

namespace sparsematch {

template <class Index>
class KarpSipser {
    static constexpr int batch = 32, picks = 16;
    // pairs of which the keeper of rows may not have heard when a pick is made
    static constexpr std::size_t in_flight = 128;
    static constexpr auto many = ResidualSide<Index>::many;

    struct Pair {
        Index row, col;
        bool last;  // the column has no other live row, so that nobody needs to be told
    };

  public:
    KarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m, bool with_xor,
               RunContext& run)
        : m_(m), run_(run), rows_(a, m.row_mate, with_xor), cols_(transposed, m.col_mate, with_xor),
          removed_(a.n_cols), next_pick_(a.n_rows) {}

    void count() {
        count_both(rows_, cols_, run_);
        removed_.copy_inverse(cols_.free);
    }
    // All of these pairs are forced: noted down if that is wanted.
    void match_degree_one(Forced* forced) {
        forced_ = forced ? forced->rows_as<Index>() : nullptr;
        match();
        if (forced_) forced->by_row = n_by_row_, forced->by_col = n_by_col_;
        forced_ = nullptr;
    }
    void match_rest() {
        next_pick_ = 0;
        match();
    }

    const ResidualSide<Index>& rows() const { return rows_; }
    const ResidualSide<Index>& cols() const { return cols_; }

  private:
    // Vertices of degree one as long as there are any, and pairs that are picked in between if
    // `next_pick_` is not at the end. Where the two have to wait for each other, as the system has
    // other work for a core, one does it all.
    void match() {
        over_ = run_.team.size() == 1;
        heard_ = heard_ & ~std::size_t{1};
        spin_.start();
        run_.team.each([&](int rank) {
            if (rank == 0) keep_rows();
            if (rank == 1) keep_cols();
        });
        WorkCounter counter(run_, 0);
        while (!run_.stopped() && (row_turn(counter) || col_turn(counter, true) ||
                                   propose_rows(1) || take_cols(1, counter))) {
        }
    }

    // ---- the keeper of rows

    void keep_rows() {
        WorkCounter counter(run_, 0);
        std::size_t told = heard_;
        while (!run_.stopped() && !over_ && !spin_.gave_up()) {
            if (row_turn(counter)) continue;
            const std::size_t heard = 2 * to_rows_.popped() + (row_queue_.size() == 0);
            if (heard != told) heard_ = told = heard;
            if (propose_rows(1)) continue;
            spin_.wait_until([&] {
                return over_ || !to_rows_.empty() || (row_queue_.size() > 0 && to_cols_.has_room());
            });
        }
        over_ = true;
    }

    // Some of what there is to do at once; false if there is nothing. Less than a batch of degree
    // one comes last.
    bool row_turn(WorkCounter& counter) {
        return hear(counter) || propose_rows(batch) || look(rows_, row_queue_, rows_looked_at_);
    }

    // Of pairs that have been made: the rows are gone, and the columns, which their other rows
    // lose.
    bool hear(WorkCounter& counter) {
        Pair pairs[batch];
        Index gone[batch];
        const int n = to_rows_.pop_batch(pairs);
        int n_gone = 0;
        for (int k = 0; k < n; ++k) {
            const auto [i, j, last] = pairs[k];
            removed_.set(j);
            rows_.degree[i] = many;  // so that it is not queued any more
            gone[n_gone] = j;
            n_gone += !last;
            __builtin_prefetch(&cols_.lists.indptr[j]);
        }
        remove(cols_, gone, n_gone, rows_, row_queue_, counter);
        return n > 0;
    }

    // Rows of degree one.
    bool propose_rows(std::size_t enough) {
        if (row_queue_.size() < enough || !to_cols_.has_room()) return false;
        Index taken[batch];
        const int n = take(rows_, row_queue_, taken);
        for (int k = 0; k < n; ++k) {
            const Index j = rows_.find_last(taken[k], [&](Index w) { return !removed_.test(w); });
            if (j != UNMATCHED<Index>) to_cols_.push({taken[k], j, false});
        }
        to_cols_.publish();
        return true;
    }

    // ---- the keeper of columns

    void keep_cols() {
        WorkCounter counter(run_, 1);
        while (!run_.stopped() && !over_ && !spin_.gave_up()) {
            const std::size_t heard = heard_;
            if (col_turn(counter, to_rows_.pushed() - heard / 2 <= in_flight) ||
                take_cols(1, counter))
                continue;
            if (next_pick_ == rows_.lists.n_rows && heard == 2 * to_rows_.pushed() + 1) break;
            spin_.wait_until([&] {
                return over_ || heard_ != heard || (!to_cols_.empty() && to_rows_.has_room());
            });
        }
        over_ = true;
    }

    bool col_turn(WorkCounter& counter, bool may_pick) {
        return answer() || take_cols(batch, counter) || look(cols_, col_queue_, cols_looked_at_) ||
               (may_pick && pick(counter));
    }

    // Makes the proposed pairs whose ends are free. No other column has to hear of it: the row has
    // none.
    bool answer() {
        Pair pairs[batch];
        if (!to_rows_.has_room()) return false;
        const int n = to_cols_.pop_batch(pairs);
        for (int k = 0; k < n; ++k)
            if (rows_.free.test(pairs[k].row) && cols_.free.test(pairs[k].col)) {
                make(pairs[k].row, pairs[k].col);
                if (forced_) forced_[n_by_row_++] = pairs[k].row;
            }
        to_rows_.publish();
        return n > 0;
    }

    // Columns of degree one.
    bool take_cols(std::size_t enough, WorkCounter& counter) {
        if (col_queue_.size() < enough || !to_rows_.has_room()) return false;
        Index taken[batch], gone[batch];
        const int n = take(cols_, col_queue_, taken);
        int n_gone = 0;
        for (int k = 0; k < n; ++k) {
            const Index i = cols_.find_last(taken[k], [&](Index v) { return rows_.free.test(v); });
            if (i == UNMATCHED<Index>) continue;
            __builtin_prefetch(&rows_.lists.indptr[i]);
            make(i, taken[k]);
            if (forced_) forced_[rows_.lists.n_rows - ++n_by_col_] = i;
            gone[n_gone++] = i;
        }
        to_rows_.publish();
        remove(rows_, gone, n_gone, cols_, col_queue_, counter);
        return true;
    }

    // The rows in order: each its column with the fewest live rows, or any where all that are left
    // have very many.
    bool pick(WorkCounter& counter) {
        Index& i = next_pick_;
        if (i == rows_.lists.n_rows || !to_rows_.has_room()) return false;
        Index gone[picks];
        int n = 0;
        for (; i < rows_.lists.n_rows && n < picks; ++i) {
            if (!rows_.free.test(i)) continue;
            Index j = rows_.find_least(i, cols_);
            if (j == UNMATCHED<Index>)
                j = rows_.find(i, [&](Index w) { return cols_.free.test(w); });
            if (j == UNMATCHED<Index>) continue;
            make(i, j);
            gone[n++] = i;
        }
        to_rows_.publish();
        remove(rows_, gone, n, cols_, col_queue_, counter);
        return true;
    }

    void make(Index i, Index j) {
        rows_.free.clear(i);
        cols_.free.clear(j);
        m_.match(i, j);
        to_rows_.push({i, j, cols_.degree[j] == 1});
        cols_.degree[j] = many;  // so that no row picks it
    }

    // ---- both

    // Queues the vertices of degree one among the next thousand.
    static bool look(const ResidualSide<Index>& side, DegreeOneStack<Index>& queue, Index& next) {
        const Index left = side.lists.n_rows - next, end = next + std::min<Index>(left, 1024);
        queue.reserve(end - next);
        for (; next < end; ++next) queue.push_if(next, side.degree[next] == 1);
        return left > 0;
    }

    // Up to a batch from the queue: those that still have degree one, and their lists have been
    // asked for.
    static int take(const ResidualSide<Index>& side, DegreeOneStack<Index>& queue, Index* taken) {
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, queue.size()); left > 0; --left) {
            taken[n] = queue.pop();
            side.prefetch(taken[n]);
            n += side.degree[taken[n]] == 1;
        }
        for (int k = 0; k < n; ++k) side.prefetch_list(taken[k]);
        return n;
    }

    // The vertices of one side have gone, and their places in indptr have been asked for: their
    // neighbours lose one, and those left with one are queued. Most lists are short, and nobody can
    // predict where they end: so they are read once only, while the degrees are asked for.
    static void remove(const ResidualSide<Index>& side, const Index* gone, int n,
                       ResidualSide<Index>& other, DegreeOneStack<Index>& queue,
                       WorkCounter& counter) {
        constexpr int some = 256;
        Index lowered[some];
        int n_lowered = 0;
        const auto lower = [&] {
            queue.push_lowered(lowered, n_lowered, other.degree.data());
            counter.add(n_lowered);
            n_lowered = 0;
        };
        const bool with_xor = other.neighbours.size() > 0;
        for (int k = 0; k < n; ++k) side.prefetch_list(gone[k]);
        for (int k = 0; k < n; ++k)
            for (Index p = side.lists.indptr[gone[k]]; p < side.lists.indptr[gone[k] + 1]; ++p) {
                const Index w = side.lists.indices[p];
                __builtin_prefetch(&other.degree[w], 1);
                if (with_xor) other.neighbours[w] ^= gone[k];
                lowered[n_lowered++] = w;
                if (n_lowered == some) lower();
            }
        lower();
    }

    const Matching<Index> m_;
    RunContext& run_;
    ResidualSide<Index> rows_, cols_;  // both `free` and both mates are of the keeper of columns
    Bitmap removed_;                   // columns of which the keeper of rows has heard
    DegreeOneStack<Index> row_queue_, col_queue_;
    // those of degree one among them have been queued
    Index rows_looked_at_ = 0, cols_looked_at_ = 0;
    Index next_pick_;          // the row that chooses next
    Index* forced_ = nullptr;  // as Forced has them
    Index n_by_row_ = 0, n_by_col_ = 0;
    SpscRing<Pair, batch> to_rows_, to_cols_;
    BoundedSpin spin_;
    // Twice the pairs that have been heard of, and one more if all that followed from them has been
    // done, too.
    alignas(64) std::atomic<std::size_t> heard_{0};
    std::atomic<bool> over_{false};
};

// So far each match was right: what is left is to match the core of free vertices that still have
// live neighbours, and a maximum matching of the core makes the whole maximum.
template <class Index>
void mark_settled(const ResidualSide<Index>& side, bool* settled) {
    for (Index v = 0; v < side.lists.n_rows; ++v)
        settled[v] = !side.free.test(v) | (side.degree[v] == 0);
}

template <class Index, class Workers>
void karp_sipser_by(Workers&& workers, Matching<Index> m, const Options& options, RunContext& run) {
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
// queues. Time: O(nnz).
template <class Index>
void karp_sipser(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                 const Options& options, RunContext& run) {
    constexpr int few = 3;  // up to so many workers, two that share nothing are faster
    if (run.team.size() > few)
        karp_sipser_by(SharedKarpSipser<Index>(a, *transposed, m, run), m, options, run);
    else
        karp_sipser_by(KarpSipser<Index>(a, *transposed, m, options.neighbour_xor, run), m, options,
                       run);
}

}  // namespace sparsematch
