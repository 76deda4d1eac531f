// Karp-Sipser: match vertices of degree one as long as there are any, which is always right; then
// pick an entry, which may be wrong; and go on. A heuristic: the matching is maximal.
//
// Matching and free: see single_source_bfs.hpp. Vertices are rows and columns. A matched vertex is
// removed, and the residual degree of a vertex counts its neighbours that are not. The core is what
// forced pairs leave, each vertex with two neighbours or more: exact engines need no other vertex
// (RunContext::finished; docs/algorithms/karp_sipser.md says why).
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981). Their phase 1 ->
// match_degree_one, phase 2 -> match_rest. Not in the paper: rows and columns both, with exact
// degrees; a pick is not random, but takes the free column of least degree.
//
// Memory latency bounds it, so vertices are processed in batches, each step prefetching what the
// next reads (decision 0005). The state of a vertex is one word (residual_words.hpp).
//
// Several workers share the words. Each has a stack of the vertices it brought down to degree one,
// of which it gives half to workers that have none. Such a vertex has one neighbour left, so no
// other worker can match it without claiming that: to claim it by one compare-and-swap claims both.
// A pick claims its row first, which excludes all others, then a column; if that was claimed
// meanwhile, another. A row without any is dead, and so are all its columns: nothing is undone.
// Invariant: between steps the word of a free vertex has its residual degree and neighbours.
// Time: O(nnz).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "matching/karp_sipser/residual_words.hpp"

namespace sparsematch {

struct KarpSipserOptions {
    // No picks once the vertices of degree one are used up.
    bool degree_one_only = false;

    static constexpr auto fields() {
        return std::tuple{Option{"degree_one_only", &KarpSipserOptions::degree_one_only}};
    }
};

// Reads: both orientations. Writes: both mates. Workspace: a word per vertex, of four or eight
// bytes, and the stacks. Time: O(nnz).
template <bool Threads, class Word, class Index> class KarpSipser {
    // Vertices of degree one, rows that pick, and neighbours that lose one, processed together:
    // what is prefetched for a batch stays in the first-level cache.
    static constexpr int batch = 32, picks = 16, losses = 256;
    static constexpr std::size_t at_a_time = 512;  // vertices of degree one, from worker to worker
    using Words = ResidualWords<Threads, Word, Index>;

    // Rows whose pair was forced by their side's degree, in the order of batches of all workers.
    struct ForcedRows {
        std::vector<Index> row;
        std::vector<std::int64_t> batch;
    };
    struct Worker {
        Worker(RunContext& run, int rank) : rank(rank), counter(run, rank) {}
        const int rank;
        WorkCounter counter;
        std::int64_t batch = 0;
        DegreeOneStack<Index> stack[2];  // by side
        ForcedRows forced[2];            // likewise
    };

  public:
    KarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m,
               RunContext& run)
        : run_(run), side_{{a, m.row_mate}, {transposed, m.col_mate}} {}

    void improve(bool degree_one_only) {
        const Index* const mate = side_[0].mate;
        const bool warm = std::any_of(mate, mate + side_[0].lists.n_rows,
                                      [](Index j) { return j != UNMATCHED<Index>; });
        count(warm);
        if (run_.stopped()) return;
        match_degree_one(!warm);
        if (run_.finished && !warm && !run_.stopped()) mark_finished();
        if (!degree_one_only && !run_.stopped()) match_rest();
        each_piece(2, [&](Worker&, int s, Index v, Index end) { side_[s].copy_mates(v, end); });
    }

  private:
    // Warm: some vertices are matched already.
    void count(bool warm) {
        auto timer = run_.time("degrees");
        each_piece(2, [&](Worker& worker, int s, Index v, Index end) {
            if (warm) side_[s].count_free(v, end, side_[1 - s].mate, worker.counter);
            else side_[s].count(v, end, worker.counter);
        });
    }

    // Records what is forced, if that is wanted.
    void match_degree_one(bool cold) {
        auto timer = run_.time("degree one");
        forced_ = cold && run_.forced.rows ? &run_.forced : nullptr;
        if (Threads && forced_) {
            by_worker_.resize(run_.team.size());
            recorded_ = Bitmap(side_[0].lists.n_rows);
        }
        each_piece(2, [&](Worker& worker, int s, Index v, Index end) {
            side_[s].scan(v, end, worker.stack[s]);
            while (step(worker, batch)) {
            }
        });
        if (Threads && forced_) {
            auto* const rows = forced_->template rows_as<Index>();
            forced_->by_row = in_order(0, rows, 1);
            forced_->by_col = in_order(1, rows + side_[0].lists.n_rows - 1, -1);
        }
        forced_ = nullptr;
        SPARSEMATCH_ASSERT(run_.stopped() || (is_exact(0) && is_exact(1)));
    }
    // Writes the rows that all workers have recorded of a side, by ascending batch; how many. Each
    // worker counts and places those of a range of batches.
    std::int64_t in_order(int s, Index* rows, std::int64_t step) {
        std::int64_t all = 0;
        for (const auto& forced : by_worker_) all += forced[s].row.size();
        run_.team.share_out(batches_.load(), [&](int, std::int64_t begin, std::int64_t end) {
            std::vector<Index> place(end - begin + 1, 0);
            std::int64_t before = 0;
            const auto each = [&](const auto& use) {
                for (const auto& forced : by_worker_) {
                    const auto& [row, batch] = forced[s];
                    const auto from = std::ranges::lower_bound(batch, begin) - batch.begin();
                    for (std::size_t k = from; k < row.size() && batch[k] < end; ++k)
                        use(row[k], place[batch[k] - begin]);
                }
            };
            for (const auto& forced : by_worker_)
                before +=
                    std::ranges::lower_bound(forced[s].batch, begin) - forced[s].batch.begin();
            each([](Index, Index& n) { ++n; });
            std::exclusive_scan(place.begin(), place.end(), place.begin(), Index{0});
            each([&](Index i, Index& k) { rows[step * (before + k++)] = i; });
        });
        return all;
    }
    bool is_exact(int s) const {
        for (Index v = 0; v < side_[s].lists.n_rows; ++v)
            if (!side_[s].is_exact(v, side_[1 - s])) return false;
        return true;
    }

    // Once all vertices of degree one are used up each match was right: what is left is to match
    // the core of free vertices that still have live neighbours, and a maximum matching of the core
    // makes the whole maximum. All others are finished.
    void mark_finished() {
        bool* const finished[] = {run_.finished.row, run_.finished.col};
        each_piece(2, [&](Worker&, int s, Index v, Index end) {
            side_[s].mark_finished(v, end, finished[s]);
        });
    }

    // Rows in order pick columns; what comes down to degree one waits until it fills a batch.
    void match_rest() {
        auto timer = run_.time("picks");
        each_piece(1, [&](Worker& worker, int, Index i, Index end) {
            Removed row, col;
            while (i < end && !run_.stopped()) {
                const Index next = i + std::min<Index>(end - i, picks);
                prefetch_neighbours(next, next + std::min<Index>(end - next, picks));
                for (; i < end && row.n < picks; ++i) pick(i, row, col);
                remove(worker, 0, row);
                remove(worker, 1, col);
                while (step(worker, batch)) {
                }
            }
        });
    }

    // Runs visit(worker, side, v, end) on pieces of one or both sides, each by one worker, and
    // matches what that leaves on its stacks.
    template <class Visit> void each_piece(int sides, const Visit& visit) {
        constexpr Index piece = 1 << 11;  // vertices that a worker claims at a time
        const auto pieces = [&](int s) {
            return (static_cast<std::int64_t>(side_[s].lists.n_rows) + piece - 1) / piece;
        };
        const std::int64_t of_rows = pieces(0), all = of_rows + (sides == 2 ? pieces(1) : 0);
        std::atomic<std::int64_t> next{0};
        waiting_ = 0;
        const auto work = [&](int rank) {
            Worker worker(run_, rank);
            for (std::int64_t k; (k = next.fetch_add(1, std::memory_order_relaxed)) < all;) {
                const int s = k >= of_rows;
                const Index n = side_[s].lists.n_rows,
                            v = static_cast<Index>(k - s * of_rows) * piece;
                visit(worker, s, v, v + std::min<Index>(n - v, piece));
            }
            while (step(worker, 1) || take(worker)) {
            }
            if (Threads && forced_)
                for (int s : {0, 1}) by_worker_[rank][s] = std::move(worker.forced[s]);
        };
        run_.team.each(work);
    }

    // Vertices of one side that have been matched, and whose neighbours lose them.
    struct Removed {
        Index vertex[batch];
        int n = 0;
        void push(Index v) { vertex[n++] = v; }
    };

    // Matches up to a batch of vertices of degree one of either side, if there are enough.
    bool step(Worker& worker, std::size_t enough) {
        bool worked = false;
        for (int s : {0, 1})
            if (worker.stack[s].size() >= enough) {
                if (Threads && worker.stack[s].size() >= 2 * batch && waiting_ > 0 && n_given_ == 0)
                    give(worker, s);
                match_batch(worker, s);
                worked = true;
            }
        return worked && !run_.stopped();
    }
    // At most half of a stack.
    void give(Worker& worker, int s) {
        const std::lock_guard lock(mutex_);
        auto& stack = worker.stack[s];
        for (auto n = std::min(stack.size() / 2, at_a_time * waiting_); n > 0; --n)
            given_[s].push_back(stack.pop());
        n_given_ = given_[0].size() + given_[1].size();
    }
    // Takes some of what others have given, which it waits for. False: all wait. `n_given_` is read
    // first: who takes the last has ceased to wait by then.
    bool take(Worker& worker) {
        if (!Threads) return false;
        ++waiting_;
        for (int idle = 0; (n_given_ > 0 || waiting_ < run_.team.size()) && !run_.team.failed() &&
                           !run_.stopped();
             ++idle) {
            if (n_given_ == 0) {
                run_.rest(worker.rank, idle);
                continue;
            }
            const std::lock_guard lock(mutex_);
            if (n_given_ == 0) continue;
            --waiting_;
            for (int s : {0, 1}) {
                const auto n = std::min(given_[s].size(), at_a_time);
                worker.stack[s].extend(
                    n, [&](Index* top) { return std::copy_n(given_[s].end() - n, n, top); });
                given_[s].resize(given_[s].size() - n);
            }
            n_given_ = given_[0].size() + given_[1].size();
            return true;
        }
        return false;
    }

    // Batches have numbers: what has brought a vertex down to degree one was in one before its own.
    void match_batch(Worker& worker, int s) {
        if (Threads && forced_) worker.batch = batches_.fetch_add(1, std::memory_order_acq_rel);
        Words &side = side_[s], &other = side_[1 - s];
        DegreeOneStack<Index>& stack = worker.stack[s];
        Index vertex[batch], partner[batch];
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, stack.size()); left > 0; --left) {
            vertex[n] = stack.pop();
            const Word word = side.word(vertex[n]);
            partner[n] = Words::last_neighbour(word);
            if (Words::degree(word) != 1) continue;
            other.prefetch(partner[n]);
            SPARSEMATCH_PREFETCH(&other.lists.indptr[partner[n]]);
            ++n;
        }
        typename Words::Loss loss[batch];
        int n_losses = 0;
        Removed removed;
        for (int k = 0; k < n; ++k) {
            const Index v = vertex[k], w = partner[k];
            const Word before = other.claim(w, v);
            const unsigned degree = Words::degree(before);
            if (degree == 0) continue;  // matched to another
            if (degree == 2) {
                loss[n_losses++] = {Words::other_neighbour(before, v), w};
                side.prefetch(loss[n_losses - 1].vertex);
            } else if (degree > 2) {
                removed.push(w);
            }
            SPARSEMATCH_ASSERT(side.degree_of(v) == 1 || side.is_matched_to(v, w));
            side.match(v, w);
            record(worker, s, s == 0 ? v : w, degree);
        }
        side.lower(loss, n_losses, stack);
        worker.counter.add(n);
        remove(worker, 1 - s, removed);
    }

    // Matches row i, if live, to its live column of least degree; those of degree 1 are stacked.
    void pick(Index i, Removed& row, Removed& col) {
        Words &rows = side_[0], &cols = side_[1];
        if (rows.degree_of(i) < 2) return;
        Index j = rows.least_neighbour(i, cols);
        if (j == UNMATCHED<Index> || Words::degree(rows.claim(i, j, 2)) < 2) return;
        while (Words::degree(cols.claim(j, i)) == 0) {  // another worker was first
            j = rows.least_neighbour(i, cols);
            rows.match(i, j);
            if (j == UNMATCHED<Index>) return;
        }
        row.push(i);
        col.push(j);
    }

    // What rows begin to end - 1 read when they pick.
    SPARSEMATCH_INLINE void prefetch_neighbours(Index begin, Index end) const {
        const Csr<Index>& lists = side_[0].lists;
        if (begin >= end) return;
        const Index first = lists.indptr[begin],
                    last = first + std::min<Index>(lists.indptr[end] - first, 256);
        for (Index p = first; p < last; ++p) {
            if constexpr (Threads) side_[1].prefetch_to_read(lists.indices[p]);
            else side_[1].prefetch(lists.indices[p]);
        }
    }

    // Two workers may match a pair whose ends both have degree one.
    void record(Worker& worker, int s, Index row, unsigned degree) {
        if (!forced_) return;
        if constexpr (Threads) {
            if (degree == 1 && !recorded_.template claim<true>(row)) return;
            worker.forced[s].row.push_back(row);
            worker.forced[s].batch.push_back(worker.batch);
        } else {
            Index* const rows = forced_->template rows_as<Index>();
            if (s == 0) rows[forced_->by_row++] = row;
            else rows[side_[0].lists.n_rows - ++forced_->by_col] = row;
        }
    }

    // Removes vertices that have been matched: their neighbours lose one. Most lists are short and
    // their ends mispredicted, so they are read once only, while the words are prefetched.
    void remove(Worker& worker, int s, Removed& removed) {
        const Csr<Index>& lists = side_[s].lists;
        Words& other = side_[1 - s];
        typename Words::Loss loss[losses];
        int n_losses = 0;
        const auto lower = [&] {
            other.lower(loss, n_losses, worker.stack[1 - s]);
            worker.counter.add(n_losses);
            n_losses = 0;
        };
        for (int k = 0; k < removed.n; ++k) prefetch_list(lists, removed.vertex[k]);
        for (int k = 0; k < removed.n; ++k)
            for (const Index w : lists.neighbours(removed.vertex[k])) {
                other.prefetch(w);
                loss[n_losses++] = {w, removed.vertex[k]};
                if (n_losses == losses) lower();
            }
        lower();
        removed.n = 0;
    }

    RunContext& run_;
    Words side_[2];  // rows, columns
    Forced* forced_ = nullptr;
    std::vector<std::array<ForcedRows, 2>> by_worker_;  // by side
    Bitmap recorded_{0};
    std::atomic<std::int64_t> batches_{0};
    std::mutex mutex_;
    std::vector<Index> given_[2];  // by side, to workers that wait
    std::atomic<std::size_t> n_given_{0};
    std::atomic<int> waiting_{0};
};

template <class Index>
void karp_sipser(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                 const KarpSipserOptions& options, RunContext& run) {
    const auto improve = [&]<bool Threads, class Word>(std::bool_constant<Threads>, Word) {
        KarpSipser<Threads, Word, Index>(a, *transposed, m, run).improve(options.degree_one_only);
    };
    const bool short_words =
        ResidualWords<false, std::uint32_t, Index>::fits(std::max(a.n_rows, a.n_cols));
    const auto by = [&](auto threads) {
        if (short_words) improve(threads, std::uint32_t{});
        else improve(threads, std::uint64_t{});
    };
    if (run.team.size() > 1) by(std::true_type{});
    else by(std::false_type{});
}

}  // namespace sparsematch
