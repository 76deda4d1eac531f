// Work that grows while it is done, by all workers of a team: a busy one gives a part of its own
// away as long as another waits for some.
//
// Blumofe, Leiserson, Scheduling multithreaded computations by work stealing (J. ACM 46, 1999), for
// the principle; here none reads the list of another.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/run_context.hpp"

namespace sparsematch {

template <class Work> class WorkPool {
  public:
    WorkPool(RunContext& run, std::vector<Work> works) : run_(run), works_(std::move(works)) {}

    // Calls body(rank, work) until there is no work, the pool is closed, or the run stopped.
    template <class Body> void run(const Body& body) {
        change([&] { waiting_ = run_.team.size(); });
        run_.team.each([&](int rank) {
            for (int idle = 0; is_open() && !run_.team.failed() && !run_.stopped(); ++idle) {
                auto work = take();
                if (!work) run_.rest(rank, idle);
                else body(rank, std::move(*work)), change([&] { ++waiting_, idle = 0; });
            }
        });
    }
    // Of a body: whether a worker waits for what it could give.
    bool is_wanted() const { return wanted_.load(std::memory_order_relaxed) > 0; }
    void give(Work work) {
        change([&] { works_.push_back(std::move(work)); });
    }
    // No work is begun from now on; bodies give back what they have not done.
    void close() { open_.store(false, std::memory_order_relaxed); }
    bool is_open() const { return open_.load(std::memory_order_relaxed); }
    std::vector<Work>& left() { return works_; }  // not begun

  private:
    std::optional<Work> take() {
        std::optional<Work> work;
        if (offered_.load(std::memory_order_relaxed) == 0) return work;
        change([&] {
            if (works_.empty() || !is_open()) return;
            work = std::move(works_.back());
            works_.pop_back(), --waiting_;
        });
        return work;
    }
    template <class Change> void change(const Change& change) {
        const std::lock_guard lock(mutex_);
        change();
        const auto offered = static_cast<int>(works_.size());
        offered_.store(offered, std::memory_order_relaxed);
        wanted_.store(waiting_ - offered, std::memory_order_relaxed);
        if (offered == 0 && waiting_ == run_.team.size()) close();
    }

    RunContext& run_;
    std::mutex mutex_;  // of the works, and the number of workers that wait
    std::vector<Work> works_;
    int waiting_ = 0;
    alignas(64) std::atomic<int> wanted_{0}, offered_{0};
    std::atomic<bool> open_{true};
};

}  // namespace sparsematch
