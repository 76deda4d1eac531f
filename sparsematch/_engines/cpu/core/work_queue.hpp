// The items of a Worklist that are still to be worked on, first in, first out, by a team that
// appends to the same list meanwhile: one parallel loop, without levels to wait at.
//
// A worker that finds nothing for some time goes, so that a narrow stretch is left to few; once
// there is more again, whoever sees it may end the loop and start it with all.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "core/portability.hpp"
#include "core/thread_team.hpp"

namespace sparsematch {

template <class List>
class WorkQueue {
    static constexpr std::size_t piece = 64;  // items: some microseconds

  public:
    WorkQueue(const List& list, const ThreadTeam& team)
        : list_(list), workers_(team.size()),
          enough_(piece * std::max<std::size_t>(team.is_crowded() ? 16 : 2, workers_ / 2)),
          pauses_(team.is_crowded() ? 64 : 2048) {}

    // From item `first` on. No worker is in.
    void start(std::size_t first) {
        head_.store(first, std::memory_order_relaxed);
        working_.store(0, std::memory_order_relaxed);
        gone_.store(0, std::memory_order_relaxed);
    }
    // The first item that nobody has taken, and how many there are.
    std::size_t head() const { return head_.load(std::memory_order_acquire); }
    std::size_t pending() const {
        const std::size_t begin = head();
        return list_.size() - begin;
    }
    // Items that repay waking the others.
    bool has_enough() const { return pending() >= enough_; }

    // One worker's part: use(first, end) works on a piece; is_over() ends all early. Worker r takes
    // some only where r pieces are left for those before it, so that a narrow stretch is not torn
    // between all. What is left when all have gone is up to the caller. Alone: until there is
    // enough for others.
    template <class Use, class IsOver>
    void work(int rank, bool alone, const Use& use, const IsOver& is_over) {
        const std::size_t left_to_others = rank * piece;
        working_.fetch_add(1);
        while (!is_over()) {
            if (pending() > left_to_others) {
                const auto [begin, end] = take();
                if (begin < end) use(begin, end);
            } else if (alone) {
                break;
            } else if (!wait_for_work(left_to_others)) {
                return;
            }
            const bool some_have_gone = gone_.load(std::memory_order_relaxed) > 0;
            if ((alone || some_have_gone) && has_enough()) break;
        }
        working_.fetch_sub(1);
    }

  private:
    // A piece: its first item and its end; an empty one if there is none.
    std::pair<std::size_t, std::size_t> take() {
        for (std::size_t begin = head();;) {
            const std::size_t left = list_.size() - begin;
            const std::size_t size =
                std::min(left, std::clamp<std::size_t>(left / (2 * workers_), piece / 2, piece));
            // released, so that whoever reads it sees a list that is as long
            if (size == 0 ||
                head_.compare_exchange_weak(begin, begin + size, std::memory_order_acq_rel))
                return {begin, begin + size};
        }
    }

    // False if there will be no work, or none has come for some time: this worker has left.
    bool wait_for_work(std::size_t left_to_others) {
        working_.fetch_sub(1);
        for (int k = 0; k < pauses_; ++k) {
            if (pending() > left_to_others) return working_.fetch_add(1), true;
            if (working_.load() == 0) return false;
            spin_pause();
        }
        gone_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }

    const List& list_;
    const std::size_t workers_, enough_;
    const int pauses_;
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::atomic<int> working_{0}, gone_{0};
};

}  // namespace sparsematch
