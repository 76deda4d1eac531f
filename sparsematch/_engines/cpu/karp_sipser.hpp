// Karp-Sipser: match vertices of degree one while there are any (always right), then pick, and go on.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981), on both sides with exact degrees; a pick takes the
// live column of least degree. What bounds it is memory: every removal touches the lists of two vertices at random places.
// So what is touched most is kept smallest (live_side.hpp), and vertices are taken in batches, each step of a batch prefetching
// what the next reads.
// Matching row i with column j lowers the degrees of the other columns in i and of the other rows in j: two halves that have
// nothing in common. So there are two keepers. That of the rows has their degrees, and the word on what is matched, of both
// sides; that of the columns has their degrees, and the choice of pairs where no vertex has degree one. Neither looks at what the
// other writes, and what they tell each other are pairs, through two rings. Two workers are one each, or one is both in turns.
// The keeper of columns proposes pairs, which the other makes if both ends are still free. It hears of every pair that is made,
// its own or not, and only then removes the row. So it may be late, with degrees higher than the true ones, but never ahead:
// a column that has come down to one live row has no other indeed.
// Many workers share the degrees instead: karp_sipser_shared.hpp.
#pragma once

#include <algorithm>
#include <atomic>

#include "csr.hpp"
#include "karp_sipser_shared.hpp"
#include "live_side.hpp"
#include "run.hpp"
#include "two_workers.hpp"

namespace sparsematch {

template <class Index>
class KarpSipser {
    static constexpr int batch = 32, picks = 16;
    static constexpr std::size_t in_flight = 64;  // picks that may be without an answer
    static constexpr auto many = LiveSide<Index>::many;

    // A matched or proposed pair; one end may be known to have no other live neighbour, so that nobody needs to be told.
    struct Pair {
        Index row, col;
        bool last;
    };

  public:
    KarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m, bool with_xor, Run& run)
        : run_(run), rows_(a, m.row_mate, with_xor), cols_(transposed, m.col_mate, with_xor), removed_(a.n_rows),
          next_pick_(a.n_rows) {}

    void count() {
        const auto each_side = [&](const auto& body) {
            run_.team.each([&](int rank) {
                if (rank == 0) body(rows_, cols_, rank);
                if (rank == (run_.team.size() > 1)) body(cols_, rows_, rank);
            });
        };
        each_side([](auto& side, const auto&, int) { side.find_free(); });
        each_side([&](auto& side, const auto& other, int rank) { side.count(other, Meter(run_, rank)); });
        for (Index i = 0; i < rows_.lists.n_rows; ++i)
            if (!rows_.free.test(i)) removed_.set(i);
    }

    void match_degree_one() { match(); }
    void match_rest() {
        next_pick_ = 0;
        match();
    }

    const LiveSide<Index>& rows() const { return rows_; }
    const LiveSide<Index>& cols() const { return cols_; }

  private:
    // Vertices of degree one as long as there are any, and pairs that are picked in between if `next_pick_` is not at the end.
    // Where the two have to wait for each other, as the system has other work for a core, one does it all.
    void match() {
        over_ = run_.team.size() == 1;
        answered_ = answered_ & ~std::size_t{1};
        run_.team.each([&](int rank) {
            if (rank == 0) keep_rows();
            if (rank == 1) keep_cols();
        });
        Meter meter(run_, 0);
        while (!run_.stopped() && (row_turn(meter) || col_turn(meter, true) || take_rows(1, meter) || propose_cols(1))) {
        }
        while (run_.stopped() && hear(meter)) {  // of pairs that have been made, both mates are written
        }
    }

    // ---- the keeper of rows

    void keep_rows() {
        Meter meter(run_, 0);
        std::size_t told = answered_;
        while (!run_.stopped() && !over_ && !rows_bell_.overslept()) {
            if (row_turn(meter)) continue;
            const std::size_t answered = 2 * to_rows_.received() + (row_queue_.size() == 0);
            if (answered != told) {
                answered_ = told = answered;
                cols_bell_.wake();
            }
            if (take_rows(1, meter)) continue;
            rows_bell_.wait([&] { return over_ || ((to_rows_.has_news() || row_queue_.size() > 0) && to_cols_.has_room()); });
        }
        over_ = true;
        cols_bell_.wake();
    }

    // Some of what there is to do at once; false if there is nothing. Less than a batch of degree one comes last.
    bool row_turn(Meter& meter) { return answer(meter) || take_rows(batch, meter) || look(rows_, row_queue_, rows_looked_at_); }

    // Makes the proposed pairs whose ends are free; a row whose column has gone takes any that is left.
    bool answer(Meter& meter) {
        Pair pairs[batch];
        Index gone[batch];
        if (!to_cols_.has_room()) return false;
        const int n = to_rows_.receive(pairs);
        if (n == 0) return false;
        for (int k = 0; k < n; ++k) __builtin_prefetch(&cols_.lists.indptr[pairs[k].col]);
        int n_gone = 0;
        for (int k = 0; k < n; ++k) {
            auto [i, j, last] = pairs[k];
            if (!rows_.free.test(i)) continue;
            if (!cols_.free.test(j)) {
                if (last || (j = rows_.find(i, [&](Index w) { return cols_.free.test(w); })) == UNMATCHED<Index>) continue;
            }
            make(i, j, false);
            if (!last) gone[n_gone++] = j;
        }
        to_cols_.hand_over();
        cols_bell_.wake();
        remove(cols_, gone, n_gone, rows_, row_queue_, meter);
        return true;
    }

    // Rows of degree one.
    bool take_rows(std::size_t enough, Meter& meter) {
        if (row_queue_.size() < enough || !to_cols_.has_room()) return false;
        Index taken[batch], gone[batch];
        int n = 0, n_gone = 0;
        for (auto left = std::min<std::size_t>(batch, row_queue_.size()); left > 0; --left) {
            taken[n] = row_queue_.pop();
            rows_.prefetch(taken[n]);
            n += rows_.free.test(taken[n]);
        }
        for (int k = 0; k < n; ++k) rows_.prefetch_list(taken[k]);
        for (int k = 0; k < n; ++k) {
            const Index j = rows_.find_last(taken[k], [&](Index w) { return cols_.free.test(w); });
            if (j == UNMATCHED<Index>) continue;
            __builtin_prefetch(&cols_.lists.indptr[j]);
            make(taken[k], j, true);
            gone[n_gone++] = j;
        }
        to_cols_.hand_over();
        cols_bell_.wake();
        remove(cols_, gone, n_gone, rows_, row_queue_, meter);
        return true;
    }

    void make(Index i, Index j, bool last) {
        rows_.free.clear(i);
        cols_.free.clear(j);
        rows_.mate[i] = j;
        rows_.degree[i] = many;  // so that it is not queued any more
        to_cols_.send({i, j, last});
    }

    // ---- the keeper of columns

    void keep_cols() {
        Meter meter(run_, 1);
        while (!run_.stopped() && !over_ && !cols_bell_.overslept()) {
            const std::size_t answered = answered_;
            if (col_turn(meter, to_rows_.sent() - answered / 2 <= in_flight) || propose_cols(1)) continue;
            if (next_pick_ == rows_.lists.n_rows && answered == 2 * to_rows_.sent() + 1) break;
            const bool room = to_rows_.has_room();
            cols_bell_.wait(
                [&] { return over_ || to_cols_.has_news() || answered_ != answered || (!room && to_rows_.has_room()); });
        }
        over_ = true;
        rows_bell_.wake();
    }

    bool col_turn(Meter& meter, bool may_pick) {
        return hear(meter) || propose_cols(batch) || look(cols_, col_queue_, cols_looked_at_) ||
               (may_pick && propose_picks(meter));
    }

    // Of pairs that have been made: the columns are gone, and the rows, which their other columns lose.
    bool hear(Meter& meter) {
        Pair pairs[batch];
        Index gone[batch];
        const int n = to_cols_.receive(pairs);
        if (n == 0) return false;
        rows_bell_.wake();  // it may wait for room
        int n_gone = 0;
        for (int k = 0; k < n; ++k) {
            const auto [i, j, last] = pairs[k];
            removed_.set(i);
            cols_.degree[j] = many;  // so that no row picks it
            cols_.mate[j] = i;
            gone[n_gone] = i;
            n_gone += !last;
            __builtin_prefetch(&rows_.lists.indptr[i]);
        }
        remove(rows_, gone, n_gone, cols_, col_queue_, meter);
        return true;
    }

    // Columns of degree one.
    bool propose_cols(std::size_t enough) {
        if (col_queue_.size() < enough || !to_rows_.has_room()) return false;
        Index taken[batch];
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, col_queue_.size()); left > 0; --left) {
            taken[n] = col_queue_.pop();
            cols_.prefetch(taken[n]);
            n += cols_.degree[taken[n]] == 1;
        }
        for (int k = 0; k < n; ++k) cols_.prefetch_list(taken[k]);
        for (int k = 0; k < n; ++k) {
            const Index i = cols_.find_last(taken[k], [&](Index v) { return !removed_.test(v); });
            if (i != UNMATCHED<Index>) to_rows_.send({i, taken[k], true});
        }
        to_rows_.hand_over();
        rows_bell_.wake();
        return true;
    }

    // The rows in order: each its column with the fewest live rows. Where all that are left have very many, the keeper of rows
    // finds one.
    bool propose_picks(Meter& meter) {
        Index& i = next_pick_;
        if (i == rows_.lists.n_rows || !to_rows_.has_room()) return false;
        for (int n = 0; i < rows_.lists.n_rows && n < picks; ++i) {
            if (removed_.test(i)) continue;
            meter.charge(rows_.lists.degree(i));
            Index j = rows_.find_least(i, cols_);
            if (j == UNMATCHED<Index>) {
                if (rows_.lists.degree(i) == 0) continue;
                j = rows_.lists.indices[rows_.lists.indptr[i]];
            }
            cols_.degree[j] = many;
            to_rows_.send({i, j, false});
            ++n;
        }
        to_rows_.hand_over();
        rows_bell_.wake();
        return true;
    }

    // ---- both

    // Queues the vertices of degree one among the next thousand.
    static bool look(const LiveSide<Index>& side, DegreeOne<Index>& queue, Index& next) {
        const Index left = side.lists.n_rows - next, end = next + std::min<Index>(left, 1024);
        queue.reserve(end - next);
        for (; next < end; ++next) queue.push_if(next, side.degree[next] == 1);
        return left > 0;
    }

    // The vertices of one side have gone, and their places in indptr have been asked for: their neighbours lose one, and those
    // left with one are queued.
    static void remove(const LiveSide<Index>& side, const Index* gone, int n, LiveSide<Index>& other, DegreeOne<Index>& queue,
                       Meter& meter) {
        const bool with_xor = other.neighbours.size() > 0;
        for (int k = 0; k < n; ++k) side.prefetch_list(gone[k]);
        for (int k = 0; k < n; ++k) side.prefetch_degrees(gone[k], other);
        for (int k = 0; k < n; ++k) {
            const Index* const neighbours = side.lists.indices + side.lists.indptr[gone[k]];
            const Index size = side.lists.degree(gone[k]);
            if (with_xor)
                for (Index p = 0; p < size; ++p) other.neighbours[neighbours[p]] ^= gone[k];
            queue.push_lowered(neighbours, size, other.degree.data());
            meter.charge(size);
        }
    }

    Run& run_;
    LiveSide<Index> rows_, cols_;  // cols_.free is kept by the keeper of rows, cols_.mate by that of columns
    Bitmap removed_;               // rows of which the keeper of columns has heard
    DegreeOne<Index> row_queue_, col_queue_;
    Index rows_looked_at_ = 0, cols_looked_at_ = 0;  // those of degree one among them have been queued
    Index next_pick_;                                // the row that chooses next
    Ring<Pair, batch> to_rows_, to_cols_;
    Bell rows_bell_, cols_bell_;
    // Twice the proposals that have been answered, and one more if all that followed from them has been done, too.
    alignas(64) std::atomic<std::size_t> answered_{0};
    std::atomic<bool> over_{false};
};

// So far each match was right: what is left is to match the core of free vertices that still have live neighbours, and a maximum
// matching of the core makes the whole maximum.
template <class Index>
void mark_settled(const LiveSide<Index>& side, bool* settled) {
    for (Index v = 0; v < side.lists.n_rows; ++v) settled[v] = !side.free.test(v) || side.degree[v] == 0;
}

template <class Index, class Workers>
void karp_sipser_by(Workers&& workers, Matching<Index> m, const Options& options, Run& run) {
    const auto &rows = workers.rows(), &cols = workers.cols();
    const Index n_rows = rows.lists.n_rows;
    const bool warm = std::any_of(m.row_mate, m.row_mate + n_rows, [](Index j) { return j != UNMATCHED<Index>; });
    {
        auto timer = run.time("degrees");
        workers.count();
    }
    {
        auto timer = run.time("degree one");
        workers.match_degree_one();
    }
    if (run.settled && !warm && !run.stopped()) {
        mark_settled(rows, run.settled.row);
        mark_settled(cols, run.settled.col);
    }
    if (options.degree_one_only || run.stopped()) return;
    auto timer = run.time("picks");
    workers.match_rest();
    // Maximal at last: a repeated entry or a capped degree may have hidden a neighbour.
    for (Index i = 0; i < n_rows; ++i) {
        if (m.row_mate[i] != UNMATCHED<Index>) continue;
        const Index* const last = rows.lists.indices + rows.lists.indptr[i + 1];
        const Index* const j = std::find_if(rows.lists.indices + rows.lists.indptr[i], last,
                                            [&](Index k) { return m.col_mate[k] == UNMATCHED<Index>; });
        if (j != last) m.match(i, *j);
    }
}

// Reads: both orientations. Writes: both mates. Workspace: a byte and a bit per vertex, and the queues. Time: O(nnz).
template <class Index>
void karp_sipser(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m, const Options& options, Run& run) {
    constexpr int few = 3;  // up to so many workers, two that share nothing are faster
    if (run.team.size() > few) karp_sipser_by(SharedKarpSipser<Index>(a, *transposed, m, run), m, options, run);
    else karp_sipser_by(KarpSipser<Index>(a, *transposed, m, options.neighbour_xor, run), m, options, run);
}

}  // namespace sparsematch
