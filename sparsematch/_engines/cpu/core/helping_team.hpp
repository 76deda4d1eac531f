// Tasks of one run, each of which may wait for others, by all workers of its team; and the loops of
// a task, in which those help that have no task.
//
// Blumofe, Leiserson, Scheduling multithreaded computations by work stealing (J. ACM 46, 1999), for
// the principle: who has nothing to do takes what others have offered.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <vector>

#include "core/portability.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

class HelpingTeam {
  public:
    static constexpr std::size_t no_task = static_cast<std::size_t>(-1);

    explicit HelpingTeam(RunContext& run) : run_(run), offers_(run.team.size()) {}

    // Calls body(rank, k) for each task k, of those ready the first: after all tasks j with
    // parent[j] == k. None is begun after a stop. Parents make a forest. One run at a time.
    template <class Body> void run(const std::vector<std::size_t>& parent, const Body& body) {
        parent_ = &parent, left_ = parent.size();
        waits_for_.assign(parent.size(), 0);
        for (const std::size_t above : parent)
            if (above != no_task) ++waits_for_[above];
        for (std::size_t k = 0; k < parent.size(); ++k)
            if (waits_for_[k] == 0) ready_.push(k);
        const auto work = [&](int rank) {
            for (int idle = 0; left_ > 0 && goes_on(); ++idle) {
                if (const std::size_t k = take(); k != no_task) body(rank, k), finish(k), idle = 0;
                else if (help(rank)) idle = 0;
                else run_.rest(rank, idle);
            }
        };
        if (parent.size() > 1 || offers_.size() > 1) run_.team.each(work);
        else work(0);
        ready_ = {};
    }

    // As run, of n tasks that wait for none.
    template <class Body> void each(std::size_t n, const Body& body) {
        run(std::vector<std::size_t>(n, no_task), body);
    }
    // Calls body(begin, end) on pieces of [0, n), of `step` each, by the worker of a task and those
    // that help it. Not all of them after a stop, or where another worker has failed. Called by the
    // worker of this rank within its task; body calls no loop.
    template <class Body> void loop(int rank, std::int64_t n, std::int64_t step, const Body& body) {
        Offer& offer = offers_[rank];
        offer.n = n, offer.step = step, offer.next = 0, offer.body = &body;
        offer.call = [](const void* of, std::int64_t begin, std::int64_t end) {
            (*static_cast<const Body*>(of))(begin, end);
        };
        struct Closed {
            Offer& offer;
            explicit Closed(Offer& of) : offer(of) { offer.open = true; }
            ~Closed() {
                for (offer.open = false; offer.inside > 0;) spin_pause();
            }
        } const until_all_have_left(offer);
        work_on(offer, rank);
    }

  private:
    // A loop that a worker has begun.
    struct alignas(64) Offer {
        std::atomic<bool> open{false};
        std::atomic<int> inside{0};  // helpers
        std::atomic<std::int64_t> next{0};
        std::int64_t n = 0, step = 1;
        const void* body = nullptr;
        void (*call)(const void*, std::int64_t, std::int64_t) = nullptr;
    };

    bool goes_on() const { return !run_.team.failed() && !run_.stopped(); }
    void work_on(Offer& of, int rank) {
        for (std::int64_t begin; goes_on() && (begin = of.next.fetch_add(of.step)) < of.n;)
            of.call(of.body, begin, std::min(begin + of.step, of.n)), run_.flush(0, rank);
    }
    // False: nobody has offered anything.
    bool help(int rank) {
        for (std::size_t k = 1; k < offers_.size(); ++k) {
            Offer& offer = offers_[(static_cast<std::size_t>(rank) + k) % offers_.size()];
            if (!offer.open) continue;
            struct Inside {
                Offer& offer;
                explicit Inside(Offer& of) : offer(of) { ++offer.inside; }
                ~Inside() { --offer.inside; }
            } const inside(offer);
            // `inside` is raised before `open` is read, and the owner does the reverse
            if (!offer.open || offer.next >= offer.n) continue;
            work_on(offer, rank);
            return true;
        }
        return false;
    }
    std::size_t take() {
        const std::lock_guard lock(mutex_);
        if (ready_.empty()) return no_task;
        const std::size_t k = ready_.top();
        ready_.pop();
        return k;
    }
    void finish(std::size_t k) {
        const std::lock_guard lock(mutex_);
        --left_;
        if (const std::size_t above = (*parent_)[k]; above != no_task && --waits_for_[above] == 0)
            ready_.push(above);
    }

    RunContext& run_;
    std::vector<Offer> offers_;  // of each rank
    const std::vector<std::size_t>* parent_ = nullptr;
    std::atomic<std::size_t> left_{0};
    std::mutex mutex_;  // of what follows
    std::vector<std::size_t> waits_for_;
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready_;
};

}  // namespace sparsematch
