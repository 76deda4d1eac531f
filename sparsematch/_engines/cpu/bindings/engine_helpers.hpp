// What the bindings of both engine tables share: the list of engines, and one run of an engine.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "bindings/nanobind_helpers.hpp"
#include "core/engine_table.hpp"

namespace sparsematch {

// The fields of EngineEntry in run_engine.py.
template <template <class> class Call>
nb::list list_engines(const EngineTable<Call>& table) {
    nb::list out;
    for (const auto& entry : table.entries) {
        nb::dict options, ranges;
        for (const auto& option : entry.options) {
            if (option.is_flag) options[option.name] = option.value != 0;
            else
                options[option.name] = option.value,
                ranges[option.name] = std::pair(option.low, option.high);
        }
        const auto& facts = entry.facts;
        out.append(nb::make_tuple(entry.name, facts.kind, entry.summary, options, ranges,
                                  facts.transpose, facts.multithreaded, facts.guarantee));
    }
    return out;
}

template <template <class> class Call>
const EngineEntry<Call>& find_engine(const EngineTable<Call>& table, const char* name) {
    if (const auto* entry = table.find(name)) return *entry;
    throw nb::key_error(name);
}

inline OptionValues option_values(const nb::dict& given) {
    OptionValues out;
    for (auto [name, value] : given)
        out.emplace_back(nb::cast<const char*>(name), nb::cast<double>(value));
    return out;
}

// Settings of csr.py.
using SettingsArg = std::tuple<int, std::int64_t, bool, std::uint64_t>;

// What a run leaves behind.
struct RunReport {
    Statistics stats;
    std::int64_t edges, cardinality;
    bool exhausted;
    Forced forced;
};

// Runs improve(run); the cardinality is the number of matched among the n mates.
template <class Index, class Run>
RunReport run_engine(const SettingsArg& given, const Index* mates, Index n, const Run& improve) {
    const auto [workers, edge_limit, detailed, seed] = given;
    return interruptible(workers, {edge_limit, detailed, seed}, Signals{}, [&](RunContext& run) {
        improve(run);
        const auto free = std::count(mates, mates + n, UNMATCHED<Index>);
        return RunReport{std::move(run.stats), run.edges(), n - free, run.exhausted(), run.forced};
    });
}

// The fields of StepInfo, from phases on.
inline nb::tuple step_info(const RunReport& report) {
    const auto& s = report.stats;
    nb::dict seconds;
    for (const auto& step : s.steps) seconds[step.name] = step.seconds;
    const auto tuple_of = [](const auto& from, auto value) {
        nb::list out;
        for (const auto& each : from) out.append(value(each));
        return nb::tuple(out);
    };
    return nb::make_tuple(
        s.phases, s.levels, report.edges, s.augmentations, s.path_edges, report.cardinality,
        report.exhausted, seconds, tuple_of(s.frontier, [](std::int64_t width) { return width; }),
        tuple_of(s.rounds, [](const auto& round) { return round.matched; }),
        tuple_of(s.rounds, [](const auto& round) { return round.live_edges; }), s.failed_edges);
}

}  // namespace sparsematch
