// What one run of an engine leaves behind: StepInfo in Python.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

struct RunReport {
    const char *engine, *reason;
    double seconds;
    Statistics stats;
    std::int64_t edges, cardinality;
    bool exhausted;
    Forced forced;
};

// Calls improve(run); the cardinality is the number of matched among the n mates.
template <class Index, class Improve>
RunReport reported(const char* engine, const char* reason, const Index* mates, Index n,
                   RunContext& run, const Improve& improve) {
    const auto begin = std::chrono::steady_clock::now();
    improve(run);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const auto free = std::count(mates, mates + n, UNMATCHED<Index>);
    return {engine,      reason,   took.count(),    std::move(run.stats),
            run.edges(), n - free, run.exhausted(), run.forced};
}

}  // namespace sparsematch
