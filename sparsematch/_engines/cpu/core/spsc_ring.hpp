// Messages between two threads without a lock: single-producer single-consumer rings, and bounded
// spinning (decision 0005).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "core/thread_team.hpp"

namespace sparsematch {

// A ring of words from one thread to the other, pushed and popped in batches.
template <class Word, int batch>
class SpscRing {
  public:
    // For the producer. A word can be popped once it has been published.
    bool has_room() {
        if (next_in_ - seen_out_ + batch > size) seen_out_ = out_;
        return next_in_ - seen_out_ + batch <= size;
    }
    void push(Word word) { items_[next_in_++ % size] = word; }
    void publish() { in_ = next_in_; }
    std::size_t pushed() const { return next_in_; }

    // For the consumer. Returns how many words it has popped.
    int pop_batch(Word* words) {
        if (empty()) return 0;
        const int n = static_cast<int>(std::min<std::size_t>(seen_in_ - next_out_, batch));
        for (int k = 0; k < n; ++k) words[k] = items_[next_out_++ % size];
        out_ = next_out_;
        return n;
    }
    bool empty() {
        if (seen_in_ == next_out_) seen_in_ = in_;
        return seen_in_ == next_out_;
    }
    std::size_t popped() const { return next_out_; }

  private:
    static constexpr std::size_t size = 1024;
    Word items_[size];
    alignas(64) std::atomic<std::size_t> in_{0};   // published by the producer
    alignas(64) std::atomic<std::size_t> out_{0};  // popped by the consumer
    alignas(64) std::size_t next_in_ = 0, seen_out_ = 0;
    alignas(64) std::size_t next_out_ = 0, seen_in_ = 0;
};

// How two threads wait for each other: they spin and yield. Given up where they have hardly ever
// run at the same time, as the system has other work for a core: one of them then does the rest.
// Also if one of them has failed.
class BoundedSpin {
    using Clock = std::chrono::steady_clock;

  public:
    void start(const ThreadTeam& team) {
        team_ = &team;
        begin_ = Clock::now();
        waited_ = 0;
    }
    template <class Ready>
    void wait_until(const Ready& ready) {
        auto begin = Clock::now();
        for (bool done = false; !done && !gave_up_;) {
            done = spin(ready);
            const auto end = Clock::now();
            const auto waited = waited_ += (end - begin).count();
            if (waited > least.count() && waited > (end - begin_).count() / 4 * 3) gave_up_ = true;
            if (team_->failed()) gave_up_ = true;
            begin = end;
        }
    }
    bool gave_up() const { return gave_up_; }

  private:
    template <class Ready>
    static bool spin(const Ready& ready) {
        for (int tries = 1; tries < 4096; ++tries) {
            if (ready()) return true;
            if (tries % 64 == 0) std::this_thread::yield();
        }
        return false;
    }

    static constexpr Clock::duration least = std::chrono::milliseconds(20);
    const ThreadTeam* team_ = nullptr;
    Clock::time_point begin_;
    alignas(64) std::atomic<Clock::rep> waited_{0};  // by both threads
    std::atomic<bool> gave_up_{false};
};

}  // namespace sparsematch
