// Tables of engines: what the registry knows of each, what runs it, and what a run leaves behind.
//
// An engine is a function template f<Index>(data..., const ItsOptions&, RunContext&). A row of a
// table names it; its options and its functions for both index types follow.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Traits of an engine, by the names that the registry has for them.
struct EngineTraits {
    const char* kind;                  // "heuristic", "exact" or "approximate"
    const char* transpose = "unused";  // or "required"
    bool multithreaded = false;        // makes use of more than one worker
    double guarantee = 0;  // share of the greatest weight that it reaches at least; 0: none
};

// An engine as a table holds it: its options are read from those of the call.
template <class... Data> using EngineCall = void (*)(const OptionValues&, RunContext&, Data...);

template <auto engine> struct Erased;
template <class... Parameters, void (*engine)(Parameters...)> struct Erased<engine> {
    using Options = std::remove_cvref_t<
        std::tuple_element_t<sizeof...(Parameters) - 2, std::tuple<Parameters...>>>;
    template <class... Data>
    static void call(const OptionValues& given, RunContext& run, Data... data) {
        engine(data..., read_options<Options>(given), run);
    }
};

// An engine for both index types: SPARSEMATCH_ENGINE(cheap).
template <auto engine32, auto engine64> struct BothIndexTypes {};
#define SPARSEMATCH_ENGINE(name) BothIndexTypes<name<std::int32_t>, name<std::int64_t>>()

// One row. Call<Index>: the EngineCall of this table.
template <template <class> class Call> struct EngineEntry {
    template <auto engine32, auto engine64>
    EngineEntry(const char* name, EngineTraits traits, const char* summary,
                BothIndexTypes<engine32, engine64>)
        : name(name), traits(traits), summary(summary),
          options(list_options<typename Erased<engine32>::Options>()),
          call32(Erased<engine32>::call), call64(Erased<engine64>::call) {}

    template <class Index> Call<Index> call() const {
        if constexpr (sizeof(Index) == 4) return call32;
        else return call64;
    }

    const char* name;
    EngineTraits traits;
    const char* summary;
    std::vector<OptionInfo> options;
    Call<std::int32_t> call32;
    Call<std::int64_t> call64;
};

template <template <class> class Call> using EngineTable = std::vector<EngineEntry<Call>>;

// StepInfo in Python.
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
