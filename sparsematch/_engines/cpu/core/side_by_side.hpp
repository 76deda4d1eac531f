// Independent tasks of one run, by all workers of its team.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "core/run_context.hpp"

namespace sparsematch {

// Calls body(rank, k) for each k < n, in this order; of those not begun by then, none after a stop.
// Rank 0, which alone polls for Ctrl-C, does so until the last one ends.
template <class Body> void side_by_side(std::size_t n, RunContext& run, const Body& body) {
    std::atomic<std::size_t> next{0}, left{n};
    const auto goes_on = [&] { return !run.team.failed() && !run.stopped(); };
    const auto work = [&](int rank) {
        for (std::size_t k; goes_on() && (k = next++) < n; --left) body(rank, k);
        while (rank == 0 && left > 0 && goes_on()) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            run.flush(0, rank);
        }
    };
    if (n > 1) run.team.each(work);
    else work(0);
}

}  // namespace sparsematch
