// How two workers of a team talk to each other without a lock: rings of words, and bells for him who has to wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>

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

// Where a worker waits for the other: awake for a moment, which is enough where both have a core, then asleep. Whatever the
// other one does to make it ready comes before the call of `wake`, all of it and these two in one order that both agree on.
class Bell {
    using Clock = std::chrono::steady_clock;

  public:
    template <class Ready>
    void wait(const Ready& ready) {
        for (int tries = 0; tries < 30000; ++tries)
            if (ready()) return;
        const auto begin = Clock::now();
        asleep_ = true;
        if (!ready()) asleep_.wait(true);
        asleep_ = false;
        slept_ += Clock::now() - begin;
    }
    void wake() {
        if (asleep_ && asleep_.exchange(false)) asleep_.notify_one();
    }
    bool overslept() const { return slept_ > std::chrono::milliseconds(5); }

  private:
    alignas(64) std::atomic<bool> asleep_{false};
    Clock::duration slept_{0};
};

}  // namespace sparsematch
