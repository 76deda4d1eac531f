// Karp-Sipser by two workers, one for each side of the graph.
//
// Matching row i with column j lowers the degrees of the other columns in i and of the other rows in j. So one worker keeps
// the rows: their degrees, and the word on what is matched, of both sides. The other keeps the columns: their degrees, and the
// choice of pairs where no vertex has degree one. Neither looks at what the other writes, and each one's share fits its own
// cache; what they tell each other are pairs, through two rings.
// The keeper of columns proposes pairs, which the other takes if both ends are still free. It hears of every pair that is made,
// its own or not, and only then removes the row. So it may be late, with degrees higher than the true ones, but never ahead:
// a column that has come down to one live row has no other indeed.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "csr.hpp"
#include "live_side.hpp"
#include "run.hpp"

namespace sparsematch {

template <class Index>
class KarpSipserPair {
    static constexpr int batch = 32, picks = 16;
    static constexpr std::size_t in_flight = 64;  // picks that have not been answered
    static constexpr auto many = LiveSide<Index>::many;

    // A matched or proposed pair; one end may be known to have no other live neighbour, so that nobody needs to be told.
    struct Pair {
        Index row, col;
        bool last;
    };

    // A ring of pairs from one worker to the other.
    class Ring {
      public:
        // For the sender. A pair is seen once it has been handed over.
        bool has_room() {
            if (next_in_ - seen_out_ + batch > size) seen_out_ = out_.load(std::memory_order_acquire);
            return next_in_ - seen_out_ + batch <= size;
        }
        void send(Pair pair) { items_[next_in_++ % size] = pair; }
        void hand_over() {
            if (next_in_ != in_.load(std::memory_order_relaxed)) in_.store(next_in_, std::memory_order_release);
        }
        std::size_t sent() const { return next_in_; }

        // For the receiver: takes up to a batch.
        int receive(Pair* pairs) {
            if (seen_in_ == next_out_) seen_in_ = in_.load(std::memory_order_acquire);
            const int n = static_cast<int>(std::min<std::size_t>(seen_in_ - next_out_, batch));
            for (int k = 0; k < n; ++k) pairs[k] = items_[next_out_++ % size];
            if (n > 0) out_.store(next_out_, std::memory_order_release);
            return n;
        }
        std::size_t received() const { return next_out_; }

      private:
        static constexpr std::size_t size = 1024;
        Pair items_[size];
        alignas(64) std::atomic<std::size_t> in_{0};   // handed over by the sender
        alignas(64) std::atomic<std::size_t> out_{0};  // taken by the receiver
        alignas(64) std::size_t next_in_ = 0, seen_out_ = 0;
        alignas(64) std::size_t next_out_ = 0, seen_in_ = 0;
    };

    // Waits for the other worker: for less time than it takes to fall asleep, unless there is but one core.
    class Wait {
      public:
        explicit Wait(Run& run, int rank) : run_(run), rank_(rank) {}
        void once() {
            if (++tries_ % 256 != 0) return;
            run_.settle(0, rank_);
            std::this_thread::yield();
        }

      private:
        Run& run_;
        int rank_, tries_ = 0;
    };

  public:
    KarpSipserPair(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m, Run& run)
        : run_(run), rows_(a, m.row_mate, false), cols_(transposed, m.col_mate, false), removed_(a.n_rows) {}

    void count() {
        run_.team.each([&](int rank) { rank == 0 ? rows_.find_free() : rank == 1 ? cols_.find_free() : void(); });
        run_.team.each([&](int rank) {
            Meter meter(run_, rank);
            if (rank == 0) rows_.count(cols_, meter);
            if (rank == 1) cols_.count(rows_, meter);
        });
        for (Index i = 0; i < rows_.lists.n_rows; ++i)
            if (!rows_.free.test(i)) removed_.set(i);
    }

    void match_degree_one() { match(false); }
    void match_rest() { match(true); }

    const LiveSide<Index>& rows() const { return rows_; }
    const LiveSide<Index>& cols() const { return cols_; }

  private:
    // Vertices of degree one as long as there are any; with `pick`, pairs that are chosen in between, too.
    void match(bool pick) {
        over_.store(false, std::memory_order_relaxed);
        answered_.store({answered_.load().proposals, false}, std::memory_order_relaxed);
        run_.team.each([&](int rank) {
            if (rank == 0) keep_rows(!pick);
            if (rank == 1) keep_cols(pick);
        });
    }

    // ---- the keeper of rows

    void keep_rows(bool look_first) {
        Meter meter(run_, 0);
        Wait wait(run_, 0);
        Index looked_at = look_first ? 0 : rows_.lists.n_rows;
        while (!run_.stopped()) {
            if (answer(meter) || take_rows(batch, meter)) continue;
            if (looked_at < rows_.lists.n_rows) {
                looked_at = look(rows_, row_queue_, looked_at);
                continue;
            }
            answered_.store({to_rows_.received(), row_queue_.size() == 0}, std::memory_order_release);
            if (take_rows(1, meter)) continue;
            if (over_.load(std::memory_order_acquire)) return;
            wait.once();
        }
    }

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
                if (last || (j = rows_.find_neighbour(i, cols_.free)) == UNMATCHED<Index>) continue;
            }
            make(i, j, false);
            if (!last) gone[n_gone++] = j;
        }
        to_cols_.hand_over();
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
            __builtin_prefetch(&rows_.lists.indptr[taken[n]]);
            n += rows_.free.test(taken[n]);
        }
        for (int k = 0; k < n; ++k) rows_.prefetch_list(taken[k]);
        for (int k = 0; k < n; ++k) {
            const Index j = rows_.find_neighbour(taken[k], cols_.free);
            if (j == UNMATCHED<Index>) continue;
            __builtin_prefetch(&cols_.lists.indptr[j]);
            make(taken[k], j, true);
            gone[n_gone++] = j;
        }
        to_cols_.hand_over();
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

    void keep_cols(bool pick) {
        Meter meter(run_, 1);
        Wait wait(run_, 1);
        Index looked_at = pick ? cols_.lists.n_rows : 0, next_row = pick ? 0 : rows_.lists.n_rows;
        while (!run_.stopped()) {
            const auto answered = answered_.load(std::memory_order_acquire);
            if (hear(meter) || propose_cols(batch)) continue;
            if (looked_at < cols_.lists.n_rows) {
                looked_at = look(cols_, col_queue_, looked_at);
            } else if (next_row < rows_.lists.n_rows && to_rows_.sent() - answered.proposals <= in_flight) {
                next_row = propose_picks(next_row, meter);
            } else if (!propose_cols(1)) {
                if (next_row == rows_.lists.n_rows && answered.all && answered.proposals == to_rows_.sent()) {
                    over_.store(true, std::memory_order_release);
                    return;
                }
                wait.once();
            }
        }
    }

    // Of pairs that have been made: the columns are gone, and the rows, which their other columns lose.
    bool hear(Meter& meter) {
        Pair pairs[batch];
        Index gone[batch];
        const int n = to_cols_.receive(pairs);
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
        return n > 0;
    }

    // Columns of degree one.
    bool propose_cols(std::size_t enough) {
        if (col_queue_.size() < enough || !to_rows_.has_room()) return false;
        Index taken[batch];
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, col_queue_.size()); left > 0; --left) {
            taken[n] = col_queue_.pop();
            __builtin_prefetch(&cols_.lists.indptr[taken[n]]);
            n += cols_.degree[taken[n]] == 1;
        }
        for (int k = 0; k < n; ++k) cols_.prefetch_list(taken[k]);
        for (int k = 0; k < n; ++k) {
            const Index* const first = cols_.lists.indices + cols_.lists.indptr[taken[k]];
            const Index* const last = cols_.lists.indices + cols_.lists.indptr[taken[k] + 1];
            const Index* const live = std::find_if(first, last, [&](Index i) { return !removed_.test(i); });
            if (live != last) to_rows_.send({*live, taken[k], true});
        }
        to_rows_.hand_over();
        return true;
    }

    // The rows in order: each its column with the fewest live rows. Where all that are left have very many, the keeper of rows

    Index propose_picks(Index i, Meter& meter) {
        if (!to_rows_.has_room()) return i;
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
        return i;
    }

    // ---- both

    // Queues the vertices of degree one among some thousand.
    static Index look(LiveSide<Index>& side, DegreeOne<Index>& queue, Index begin) {
        const Index end = side.lists.n_rows - begin > 1024 ? begin + 1024 : side.lists.n_rows;
        queue.reserve(end - begin);
        for (Index v = begin; v < end; ++v) queue.push_if(v, side.degree[v] == 1);
        return end;
    }

    // The vertices of one side have gone, and their places in indptr have been asked for: their neighbours lose one, and those
    // left with one are queued.
    static void remove(const LiveSide<Index>& side, const Index* gone, int n, LiveSide<Index>& other, DegreeOne<Index>& queue,
                       Meter& meter) {
        for (int k = 0; k < n; ++k) side.prefetch_list(gone[k]);
        for (int k = 0; k < n; ++k) side.prefetch_degrees(gone[k], other);
        for (int k = 0; k < n; ++k) {
            const Index first = side.lists.indptr[gone[k]], last = side.lists.indptr[gone[k] + 1];
            queue.reserve(last - first);
            for (Index p = first; p < last; ++p) {
                const Index w = side.lists.indices[p];
                std::uint8_t& degree = other.degree[w];
                degree -= degree != many;
                queue.push_if(w, degree == 1);
            }
            meter.charge(last - first);
        }
    }

    Run& run_;
    LiveSide<Index> rows_, cols_;  // cols_.free is kept by the keeper of rows, cols_.mate by that of columns
    Bitmap removed_;               // rows of which the keeper of columns has heard
    DegreeOne<Index> row_queue_, col_queue_;
    Ring to_rows_, to_cols_;
    struct Answered {
        std::size_t proposals : 63, all : 1;  // all that followed from them, too
    };
    alignas(64) std::atomic<Answered> answered_{{0, false}};
    std::atomic<bool> over_{false};
};

}  // namespace sparsematch
