// Threads for one call: started by it and joined at its end, so that fork is safe.
//
// Work comes as parallel loops. The calling thread is rank 0 and works too; others wait between
// loops: they spin about as long as waking all takes, as the next level of a breadth-first search
// mostly follows at once, then sleep in the kernel (futex through std::atomic::wait). A loop too
// short to repay waking them runs on the caller alone, keeping narrow levels cheap. A crowded team,
// of more threads than cores, sleeps soon: a spinning one keeps another from working.
//
// What a rank throws ends that rank's part; the first exception is thrown on the caller once all
// ranks have returned. A rank that waits for another must look at failed().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "core/portability.hpp"

namespace sparsematch {

class ThreadTeam {
  public:
    // With fewer threads if the system refuses to start more, or there is no memory for them.
    explicit ThreadTeam(int workers) : crowded_(is_more_than_cores(workers)) {
        try {
            threads_.reserve(workers - 1);
            for (int rank = 1; rank < workers; ++rank)
                move_off_this_core(threads_.emplace_back([this, rank] { serve(rank); }));
        } catch (const std::exception&) {
        }
    }
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;
    ~ThreadTeam() {
        job_ = nullptr;
        turn_.fetch_add(1, std::memory_order_release);
        turn_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    int size() const { return static_cast<int>(threads_.size()) + 1; }

    // Calls body(rank) once on every rank; throws, after all, what the first to fail has thrown.
    void each(const std::function<void(int)>& body) {
        if (threads_.empty()) return body(0);
        job_ = &body;
        failed_.store(false, std::memory_order_relaxed);
        busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
        turn_.fetch_add(1, std::memory_order_release);
        turn_.notify_all();
        attempt(0);
        for (int left; (left = spin_until(busy_, [](int n) { return n == 0; })) != 0;)
            busy_.wait(left, std::memory_order_acquire);
        if (auto error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
        if (failed()) throw std::bad_alloc();
    }
    // A rank of the current loop has failed: what it was to do will not be done.
    bool failed() const { return failed_.load(std::memory_order_relaxed); }

    // Calls body(rank, begin, end) on pieces of [0, n), of `grain` each and scheduled dynamically.
    template <class Body> void loop(std::int64_t n, std::int64_t grain, const Body& body) {
        if (threads_.empty() || n <= grain) {
            if (n > 0) body(0, std::int64_t{0}, n);
            return;
        }
        std::atomic<std::int64_t> next{0};
        each([&](int rank) {
            for (std::int64_t begin;
                 !failed() && (begin = next.fetch_add(grain, std::memory_order_relaxed)) < n;)
                body(rank, begin, std::min(begin + grain, n));
        });
    }

    // Calls body(k) for each k of [0, n), in such pieces.
    template <class Index, class Body>
    void for_each(Index n, std::int64_t grain, const Body& body) {
        loop(n, grain, [&](int, Index begin, Index end) {
            for (Index k = begin; k < end; ++k) body(k);
        });
    }

    // Calls body(rank, begin, end) once on every rank, for its share of [0, n).
    template <class Index, class Body> void share_out(Index n, const Body& body) {
        const auto at = [&](int part) {
            return static_cast<Index>(static_cast<std::int64_t>(n) * part / size());
        };
        each([&](int rank) { body(rank, at(rank), at(rank + 1)); });
    }

    // As loop, in pieces between two sizes, small where there is little to share out. A crowded
    // team gets no small ones: its threads sleep, and are slow to wake.
    template <class Body>
    void even_loop(std::size_t n, std::int64_t least, std::int64_t most, const Body& body) {
        const auto size = static_cast<std::int64_t>(n);
        loop(size, crowded_ ? most : std::clamp(size / (4 * this->size()), least, most), body);
    }

  private:
    // Returns the value that it saw last.
    template <class Value, class Done>
    Value spin_until(const std::atomic<Value>& value, const Done& done) const {
        const int most = crowded_ ? 512 : 2048;  // pauses: some 50 to 100 microseconds
        Value seen = value.load(std::memory_order_acquire);
        for (int k = 0; k < most && !done(seen); ++k) {
            spin_pause();
            seen = value.load(std::memory_order_acquire);
        }
        return seen;
    }

    void serve(int rank) {
        const bool can_throw = prepare_to_throw();
        for (std::uint32_t seen = 0;;) {
            spin_until(turn_, [seen](std::uint32_t turn) { return turn != seen; });
            turn_.wait(seen, std::memory_order_acquire);
            seen = turn_.load(std::memory_order_acquire);
            if (!job_) return;
            if (can_throw) attempt(rank);
            else failed_.store(true, std::memory_order_relaxed);
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
        }
    }

    void attempt(int rank) {
        try {
            (*job_)(rank);
        } catch (...) {
            const std::lock_guard lock(error_lock_);
            if (!error_) error_ = std::current_exception();
            failed_.store(true, std::memory_order_relaxed);
        }
    }

    // The first exception of a thread needs thread-local data, which the C library allocates then,
    // and aborts the process if it cannot. So ask for it when there is memory for certain.
    // One thread of the team at a time; a lock for all teams could be held where a process forks.
    bool prepare_to_throw() {
        const std::lock_guard lock(prepare_lock_);
        void* volatile reserve = std::malloc(std::size_t{1} << 16);
        if (!reserve) return false;
        std::free(reserve);
        return std::uncaught_exceptions() == 0;
    }

    // To ask the system takes some microseconds, as long as a small matrix.
    static bool is_more_than_cores(int workers) {
        if (workers == 1) return false;
        const auto cores = static_cast<int>(std::thread::hardware_concurrency());  // 0: not known
        return workers > std::max(cores, 1);
    }

    const bool crowded_;  // more threads than cores that this process may use
    const std::function<void(int)>* job_ = nullptr;  // written before turn_ is released
    std::atomic<std::uint32_t> turn_{0};
    std::atomic<int> busy_{0};
    std::atomic<bool> failed_{false};  // read between ranks, set before busy_ is lowered
    std::mutex prepare_lock_, error_lock_;
    std::exception_ptr error_;
    std::vector<std::thread> threads_;
};

}  // namespace sparsematch
