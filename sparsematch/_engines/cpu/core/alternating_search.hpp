// Alternating breadth-first search from rows: to all their unseen columns, to the mates of these.
//
// A narrow frontier is read in the order of the queue, with prefetching; a wide one by ascending
// row, where many lists are near to each other in memory. What is reached does not depend on the
// order: while the frontier is narrow each of several workers reads a part of it and what it finds
// from there, of either of two searches, and gives half to one that has nothing.
// Invariant: every row in row_seen, or marked by a worker, is a start or the mate of a column in
// seen; the queues hold the columns whose mates are still to be read.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "core/work_pool.hpp"

namespace sparsematch {

// Where the search changes its method; the result is the same.
struct FrontierLimits {
    // Vertices for which passes over all bits pay: this share of all columns, plus `wide_least`.
    double wide = 1 / 16.;
    std::size_t wide_least = 64;  // at least one
    int alone = 1 << 8;           // vertices that one worker reads before it wakes the others
    std::size_t given = 1 << 5;   // vertices that repay giving them to another; not varied
    // Rows, vertices of the queue, and bits that a worker claims at a time.
    std::int64_t rows_at_a_time = 1 << 14;
    std::int64_t queue_at_a_time = 1 << 9;
    std::int64_t bits_at_a_time = 1 << 16;  // a multiple of 64
    // Vertices that a worker reads before it says how many it has, and forgets those it has read;
    // of a wide frontier, at most one in `known_after` (from two on), before all know that it is.
    std::size_t reported = 1 << 6, dropped = 1 << 12, known_after = 8;
};

// Reads: the matrix, the columns' mates. Writes: `seen`, which holds the columns not to be entered
// and gets those that were; `row_seen`, which gets the mates of these; `parent`, if given, the row
// from which each column was reached, of narrow frontiers alone. Workspace: an index per column,
// written as far as the search goes, and two bits per vertex. Time: O(entries read), and
// O(n_rows + n_cols) bits for each wide frontier.
template <class Index> class AlternatingSearch {
  public:
    AlternatingSearch(const Csr<Index>& a, const Index* col_mate, Bitmap& row_seen, Bitmap& seen,
                      const FrontierLimits& limits = {}, Index* parent = nullptr)
        : a_(a), col_mate_(col_mate), parent_(parent), row_seen_(row_seen), seen_(seen),
          queue_(static_cast<std::size_t>(a.n_cols) + 1), limits_(limits),
          wide_(static_cast<std::size_t>(limits.wide * static_cast<double>(a.n_cols)) +
                limits.wide_least) {}

    void from(Index i) {
        row_seen_.set(i);
        tail_ = expand(i, tail_);
    }
    // From all rows without a mate.
    void from_free(const Index* row_mate, RunContext& run) {
        if (run.team.size() == 1) {
            for (Index i = 0; i < a_.n_rows; ++i)
                if (row_mate[i] == UNMATCHED<Index>) from(i);
            return;
        }
        together(run, a_.n_rows, limits_.rows_at_a_time, [&](Index i, const auto& use) {
            if (row_mate[i] == UNMATCHED<Index>) use(i);
        });
    }

    // The free column that it has met, of a narrow frontier.
    Index found() const { return found_; }
    bool is_done() const { return head_ == tail_; }
    bool is_wide() const { return tail_ - head_ >= wide_ - wide_ / limits_.known_after; }

    // Until nothing new is reached, or the run is stopped. False as soon as it meets a free column.
    bool run(RunContext& run) {
        WorkCounter counter(run);
        while (head_ < tail_ && !run.stopped())
            if (!(is_wide() ? in_order(counter) : one_by_one(counter, [](auto) { return true; })))
                return false;
        return true;
    }
    // As run, of a narrow frontier, but for some microseconds.
    bool begin(RunContext& run) {
        WorkCounter counter(run);
        marks_.resize(run.team.size());
        return one_by_one(counter, [n = limits_.alone](std::size_t) mutable { return n-- > 0; });
    }
    // Of a narrow frontier, columns whose mates one of several workers reads: all, if none is here.
    struct Part {
        AlternatingSearch* search;
        std::vector<Index> queue;
    };
    bool read(std::vector<Index>& queue, RunContext& run, int rank, WorkPool<Part>& pool) {
        return read_alone(queue, run, rank, pool) && read_with_others(queue, run, rank, pool);
    }
    void put_back(const std::vector<Index>& queue) {
        std::ranges::copy(queue, queue_.data() + tail_);
        tail_ += queue.size();
    }
    bool level(RunContext& run) {  // of a wide frontier, by all workers
        SPARSEMATCH_ASSERT(pending_ == 0);
        const std::size_t first = head_, end = tail_;
        std::atomic<bool> maximum{true};
        together(run, end - first, limits_.queue_at_a_time, [&](std::size_t k, const auto& use) {
            PrefetchAhead<16>::mate_lists(a_, col_mate_, &queue_[0], first + k, end);
            const Index i = col_mate_[queue_[first + k]];
            if (i == UNMATCHED<Index>) maximum.store(false, std::memory_order_relaxed);
            else use(i);
        });
        return maximum.load(std::memory_order_relaxed);
    }

    // Joins the rows that workers have marked with what was seen: once, at the end.
    void join_rows(ThreadTeam& team) {
        const std::int64_t n = marks_.empty() ? 0 : a_.n_rows;
        team.loop(n, limits_.bits_at_a_time, [&](int, std::size_t begin, std::size_t end) {
            by_lines(begin, end, [&](std::size_t k, std::size_t stop) {
                const auto seen = row_seen_.words(k, stop);
                const Line marked = take(&Marks::row, k, stop);
                for (std::size_t w = 0; w < seen.size(); ++w) seen[w] |= marked[w];
            });
        });
    }

  private:
    // In the order of the queue, while that is short.
    template <class GoesOn> bool one_by_one(WorkCounter& counter, GoesOn goes_on) {
        const Index *const queue = &queue_[0], *const mate = col_mate_;
        std::size_t head = head_, tail = tail_;
        bool going = true;
        for (; head < tail && tail - head < wide_ && going && goes_on(tail - head); ++head) {
            PrefetchAhead<16>::mate_lists(a_, mate, queue, head, tail);
            const Index i = mate[queue[head]];
            if (i == UNMATCHED<Index>) return found_ = queue[head], false;
            row_seen_.set(i);
            going = counter.add(a_.degree(i));
            tail = expand(i, tail);
        }
        head_ = head;
        tail_ = tail;
        return true;
    }

    // One worker, until it has enough for another that waits.
    bool read_alone(std::vector<Index>& queue, RunContext& run, int rank,
                    const WorkPool<Part>& pool) {
        if (!queue.empty()) return true;
        WorkCounter counter(run, rank);
        if (!one_by_one(counter, [&](std::size_t left) {
                return pool.is_open() && !(pool.is_wanted() && left >= 2 * limits_.given);
            }))
            return false;
        const Index* const all = queue_.data();
        queue.assign(all + std::exchange(head_, 0), all + std::exchange(tail_, 0));
        return true;
    }

    // Its own marks of columns spare a worker most looks at those that all share, which move
    // between caches. What has become wide is given back.
    bool read_with_others(std::vector<Index>& queue, RunContext& run, int rank,
                          WorkPool<Part>& pool) {
        if (queue.empty()) return true;
        WorkCounter counter(run, rank);
        Marks& own = mark(rank);
        const auto at = [&](std::size_t k) { return queue.begin() + static_cast<std::int64_t>(k); };
        auto report = [&, last = std::size_t{0}](std::size_t left) mutable {
            const std::size_t more = left - std::exchange(last, left);  // modulo 2^64
            return std::atomic_ref(pending_).fetch_add(more, std::memory_order_relaxed) + more;
        };
        std::size_t head = 0, left;
        for (; (left = queue.size() - head) > 0 && pool.is_open(); ++head) {
            if (left >= 2 * limits_.given && pool.is_wanted()) {
                Part half{this, {at(head + left / 2), queue.end()}};
                queue.resize(head + (left /= 2));
                report(left);  // before another reports the half
                pool.give(std::move(half));
            }
            if (head % limits_.reported == 0 && report(left) >= wide_) pool.close();
            PrefetchAhead<16>::mate_lists(a_, col_mate_, queue.data(), head, queue.size());
            const Index i = col_mate_[queue[head]];
            if (i == UNMATCHED<Index>) return poke(found_, queue[head]), false;
            own.row.set(i);
            for (const Index j : a_.neighbours(i)) {
                if (!own.col.insert(j) || !seen_.template claim<true>(j)) continue;
                queue.push_back(j);
                if (parent_) parent_[j] = i;
            }
            if (!counter.add(a_.degree(i))) return true;
            if (head >= limits_.dropped) queue.erase(queue.begin(), at(head)), head = 0;
        }
        report(0);
        if (left > 0) pool.give({this, {at(head), queue.end()}});
        return true;
    }

    // All that is in the queue, by ascending row. What is new is found by bitmaps afterwards, so
    // that no store depends on the length of the queue.
    bool in_order(WorkCounter& counter) {
        Bitmap rows(a_.n_rows), fresh(a_.n_cols);
        for (; head_ < tail_; ++head_) {
            if (head_ + 16 < tail_) SPARSEMATCH_PREFETCH(&col_mate_[queue_[head_ + 16]]);
            const Index i = col_mate_[queue_[head_]];
            if (i == UNMATCHED<Index>) return false;
            rows.set(i);
        }
        row_seen_.merge(rows);
        each(rows, true, a_.n_rows, [&](Index i) {
            for (const Index j : a_.neighbours(i)) fresh.set(j);
            counter.add(a_.degree(i));
        });
        fresh.remove(seen_);
        seen_.merge(fresh);
        head_ = tail_ = 0;
        each(fresh, true, a_.n_cols, [&](Index j) { queue_[tail_++] = j; });
        return true;
    }

    std::size_t expand(Index i, std::size_t tail) {
        const std::size_t end = append_unseen(a_.neighbours(i), seen_, &queue_[0], tail);
        for (; parent_ && tail < end; ++tail) parent_[queue_[tail]] = i;
        return end;
    }

    // A wide one. rows(k, use): calls use(i) for the rows to be read in place k, of n places. Each
    // worker marks what it reads in bitmaps of its own: bits that several of them set would move
    // between caches, which takes longer than to join them, 0.1 ms for a million vertices.
    template <class Rows>
    void together(RunContext& run, std::int64_t n, std::int64_t grain, const Rows& rows) {
        marks_.resize(run.team.size());
        mark(0);
        run.team.loop(n, grain, [&](int rank, std::int64_t begin, std::int64_t end) {
            WorkCounter counter(run, rank);
            Marks& own = mark(rank);
            for (std::int64_t k = begin; k < end && !run.stopped(); ++k)
                rows(k, [&](Index i) {
                    own.row.set(i);
                    counter.add(a_.degree(i));
                    for (const Index j : a_.neighbours(i)) own.col.set(j);
                });
        });
        enqueue(run.team);
    }

    // Joins the columns that workers have marked with what was seen; what is new is the queue.
    void enqueue(ThreadTeam& team) {
        const std::int64_t piece = limits_.bits_at_a_time;
        std::vector<std::size_t> first(a_.n_cols / piece + 2, 0);
        team.loop(a_.n_cols, piece, [&](int, std::size_t begin, std::size_t end) {
            std::size_t n = 0;
            by_lines(begin, end, [&](std::size_t k, std::size_t stop) {
                const Line marked = take(&Marks::col, k, stop);
                const auto seen = seen_.words(k, stop), fresh = marks_[0]->col.words(k, stop);
                for (std::size_t w = 0; w < seen.size(); ++w) {
                    fresh[w] = marked[w] & ~seen[w];
                    seen[w] |= fresh[w];
                    n += std::popcount(fresh[w]);
                }
            });
            first[begin / piece + 1] = n;
        });
        std::partial_sum(first.begin(), first.end(), first.begin());
        team.loop(a_.n_cols, piece, [&](int, std::size_t begin, std::size_t end) {
            std::size_t tail = first[begin / piece];
            each<Index>(marks_[0]->col, true, begin, end, [&](Index j) { queue_[tail++] = j; });
            std::ranges::fill(marks_[0]->col.words(begin, end), 0);
        });
        head_ = 0;
        tail_ = first.back();
    }

    struct Marks {
        Bitmap row, col;
    };
    // Those of a worker, which clears them when it first needs them: fresh memory costs most.
    Marks& mark(int rank) {
        auto& own = marks_[rank];
        return own ? *own : own.emplace(Bitmap(a_.n_rows), Bitmap(a_.n_cols));
    }
    // A cache line of bits. In single words the marks of 16 workers, which are in their caches,
    // take ten times as long to join.
    using Line = std::array<std::uint64_t, 8>;
    template <class Use> static void by_lines(std::size_t k, std::size_t end, const Use& use) {
        for (constexpr std::size_t bits = 64 * std::tuple_size_v<Line>; k < end; k += bits)
            use(k, std::min(k + bits, end));
    }
    // A line of the marks of all workers, which are cleared.
    Line take(Bitmap Marks::* side, std::size_t begin, std::size_t end) {
        Line all{};
        for (auto& own : marks_) {
            if (!own) continue;
            const auto words = ((*own).*side).words(begin, end);
            std::uint64_t any = 0;
            for (std::size_t w = 0; w < words.size(); ++w) all[w] |= words[w], any |= words[w];
            if (any) std::ranges::fill(words, 0);
        }
        return all;
    }

    const Csr<Index>& a_;
    const Index* col_mate_;
    Index* parent_;
    Index found_ = UNMATCHED<Index>;
    Bitmap &row_seen_, &seen_;
    Buffer<Index> queue_;
    // of each worker that has needed them; its columns are all in seen
    std::vector<std::optional<Marks>> marks_;
    std::size_t head_ = 0, tail_ = 0;
    std::size_t pending_ = 0;  // of a narrow frontier, what workers have said that they have
    const FrontierLimits limits_;
    const std::size_t wide_;  // vertices of a wide frontier
};

// Runs searches that write to nothing in common on the team: narrow frontiers side by side, wide
// ones one after the other. False: one meets a free column.
template <class Index, std::size_t n>
bool run_searches(const std::array<AlternatingSearch<Index>*, n>& searches, RunContext& run) {
    using Part = typename AlternatingSearch<Index>::Part;
    for (auto* search : searches)
        if (!search->begin(run)) return false;
    for (std::atomic<bool> maximum{true};;) {
        std::vector<Part> parts;
        for (auto* search : searches) {
            while (search->is_wide() && run.flush(0, 0))
                if (!search->level(run)) return false;
            if (!search->is_done()) parts.push_back({search, {}});
        }
        if (parts.empty() || run.stopped()) break;
        WorkPool<Part> pool(run, std::move(parts));
        pool.run([&](int rank, Part part) {
            if (part.search->read(part.queue, run, rank, pool)) return;
            maximum = false;
            pool.close();
        });
        if (!maximum) return false;
        for (const Part& part : pool.left()) part.search->put_back(part.queue);
    }
    for (auto* search : searches) search->join_rows(run.team);
    return true;
}

template <class Index> bool run_alone(AlternatingSearch<Index> search, RunContext& run) {
    return run.team.size() == 1 ? search.run(run) : run_searches(std::array{&search}, run);
}

// Both searches, which first() and second() prepare: one after the other with one worker.
template <class First, class Second>
bool run_both(const First& first, const Second& second, RunContext& run) {
    if (run.team.size() == 1) return first().run(run) && second().run(run);
    auto one = first(), other = second();
    return run_searches(std::array{&one, &other}, run);
}

}  // namespace sparsematch
