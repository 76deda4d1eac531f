// Threads for one call: a team is started by the call and joined at its end, so nothing runs
// afterwards and fork is safe.
//
// Work comes as parallel loops. The calling thread is rank 0 and works too; the others sleep in the
// kernel between loops (futex through std::atomic::wait). A loop too short to repay waking them
// runs on the caller alone, which keeps narrow breadth-first levels cheap.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

namespace sparsematch {

class ThreadTeam {
  public:
    // With fewer threads if the system refuses to start more.
    explicit ThreadTeam(int workers) {
        try {
            threads_.reserve(workers - 1);
            for (int rank = 1; rank < workers; ++rank)
                threads_.emplace_back([this, rank] { serve(rank); });
        } catch (const std::system_error&) {
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

    // Calls body(rank) once on every rank, and returns when all have returned.
    void each(const std::function<void(int)>& body) {
        if (threads_.empty()) return body(0);
        job_ = &body;
        busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
        turn_.fetch_add(1, std::memory_order_release);
        turn_.notify_all();
        body(0);
        for (int left; (left = busy_.load(std::memory_order_acquire)) != 0;)
            busy_.wait(left, std::memory_order_acquire);
    }

    // Calls body(part, rank) for both parts of some work, 0 and 1, on two ranks if there are two.
    template <class Body>
    void both(const Body& body) {
        each([&](int rank) {
            if (rank == 0) body(0, rank);
            if (rank == (size() > 1)) body(1, rank);
        });
    }

    // Calls body(rank, begin, end) on pieces of [0, n), of `grain` each and scheduled dynamically.
    template <class Body>
    void loop(std::int64_t n, std::int64_t grain, const Body& body) {
        if (threads_.empty() || n <= grain) {
            if (n > 0) body(0, std::int64_t{0}, n);
            return;
        }
        std::atomic<std::int64_t> next{0};
        each([&](int rank) {
            for (std::int64_t begin;
                 (begin = next.fetch_add(grain, std::memory_order_relaxed)) < n;)
                body(rank, begin, std::min(begin + grain, n));
        });
    }

  private:
    void serve(int rank) {
        for (std::uint32_t seen = 0;;) {
            turn_.wait(seen, std::memory_order_acquire);
            seen = turn_.load(std::memory_order_acquire);
            if (!job_) return;
            (*job_)(rank);
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
        }
    }

    const std::function<void(int)>* job_ = nullptr;  // written before turn_ is released
    std::atomic<std::uint32_t> turn_{0};
    std::atomic<int> busy_{0};
    std::vector<std::thread> threads_;
};

}  // namespace sparsematch
