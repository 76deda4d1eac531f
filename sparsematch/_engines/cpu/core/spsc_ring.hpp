// How two workers of a team talk to each other without a lock: rings of words, and patience with
// him who is late.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace sparsematch {

// A ring of words from one worker to the other, sent and received in batches.
template <class Word, int batch>
class Ring {
  public:
    // For the sender. A word is seen once it has been handed over.
    bool has_room() {
        if (next_in_ - seen_out_ + batch > size) seen_out_ = out_;
        return next_in_ - seen_out_ + batch <= size;
    }
    void send(Word word) { items_[next_in_++ % size] = word; }
    void hand_over() { in_ = next_in_; }
    std::size_t sent() const { return next_in_; }

    // For the receiver: takes up to a batch.
    int receive(Word* words) {
        if (!has_news()) return 0;
        const int n = static_cast<int>(std::min<std::size_t>(seen_in_ - next_out_, batch));
        for (int k = 0; k < n; ++k) words[k] = items_[next_out_++ % size];
        out_ = next_out_;
        return n;
    }
    bool has_news() {
        if (seen_in_ == next_out_) seen_in_ = in_;
        return seen_in_ != next_out_;
    }
    std::size_t received() const { return next_out_; }

  private:
    static constexpr std::size_t size = 1024;
    Word items_[size];
    alignas(64) std::atomic<std::size_t> in_{0};   // handed over by the sender
    alignas(64) std::atomic<std::size_t> out_{0};  // taken by the receiver
    alignas(64) std::size_t next_in_ = 0, seen_out_ = 0;
    alignas(64) std::size_t next_out_ = 0, seen_in_ = 0;
};

// How two workers wait for each other: awake, for they do so every few microseconds. Besides, a
// worker that falls asleep may be woken on the core of the other, beside one that is idle, and two
// that are asleep in turns are never moved apart by the system; two that let each other run are, in
// some milliseconds. Patience is lost when they have hardly ever worked at the same time, as the
// system has other work for one of their cores: then it is better that one does it all.
class Patience {
    using Clock = std::chrono::steady_clock;

  public:
    void start() {
        begin_ = Clock::now();
        waited_ = 0;
    }
    template <class Ready>
    void wait(const Ready& ready) {
        auto begin = Clock::now();
        for (bool done = false; !done && !lost_;) {
            done = wait_a_moment(ready);
            const auto end = Clock::now();
            const auto waited = waited_ += (end - begin).count();
            if (waited > least.count() && waited > (end - begin_).count() / 4 * 3) lost_ = true;
            begin = end;
        }
    }
    bool lost() const { return lost_; }

  private:
    template <class Ready>
    static bool wait_a_moment(const Ready& ready) {
        for (int tries = 1; tries < 4096; ++tries) {
            if (ready()) return true;
            if (tries % 64 == 0) std::this_thread::yield();
        }
        return false;
    }

    static constexpr Clock::duration least = std::chrono::milliseconds(20);
    Clock::time_point begin_;
    alignas(64) std::atomic<Clock::rep> waited_{0};  // by both, together
    std::atomic<bool> lost_{false};
};

}  // namespace sparsematch
