// What the bindings of both engine tables share: the list of engines, and one run of an engine.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/nanobind_helpers.hpp"
#include "core/engine_table.hpp"

namespace sparsematch {

// The rows of a table: EngineEntry of run_engine.py.
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
        const auto& traits = entry.traits;
        nb::dict row;
        row["name"] = entry.name, row["kind"] = traits.kind, row["summary"] = entry.summary;
        row["options"] = options, row["ranges"] = ranges, row["transpose"] = traits.transpose;
        row["multithreaded"] = traits.multithreaded, row["guarantee"] = traits.guarantee;
        out.append(row);
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

// Settings of csr.py: RunSettings.
using SettingsArg = std::tuple<std::int64_t, bool, std::uint64_t>;

// What a run leaves behind.
struct RunReport {
    Statistics stats;
    std::int64_t edges, cardinality;
    bool exhausted;
    Forced forced;
};

// Runs improve(run); the cardinality is the number of matched among the n mates.
template <class Index, class Run>
RunReport run_engine(int workers, const SettingsArg& given, const Index* mates, Index n,
                     const Run& improve) {
    const auto settings = std::make_from_tuple<RunSettings>(given);
    return interruptible(workers, settings, Signals{}, [&](RunContext& run) {
        improve(run);
        const auto free = std::count(mates, mates + n, UNMATCHED<Index>);
        return RunReport{std::move(run.stats), run.edges(), n - free, run.exhausted(), run.forced};
    });
}

// Fields of StepInfo; the details only where there are any.
inline nb::dict step_info(const RunReport& report) {
    const auto& s = report.stats;
    nb::dict out;
    out["phases"] = s.phases, out["levels"] = s.levels, out["edges"] = report.edges;
    out["augmentations"] = s.augmentations, out["path_edges"] = s.path_edges;
    out["cardinality"] = report.cardinality, out["exhausted"] = report.exhausted;
    out["failed_edges"] = s.failed_edges;
    const auto set = [&](const char* name, const auto& from, auto value) {
        if (from.empty()) return;
        nb::list values;
        for (const auto& each : from) values.append(value(each));
        out[name] = nb::tuple(values);
    };
    set("frontier", s.frontier, [](std::int64_t width) { return width; });
    set("matched", s.rounds, [](const auto& round) { return round.matched; });
    set("live_edges", s.rounds, [](const auto& round) { return round.live_edges; });
    if (s.steps.empty()) return out;
    nb::dict seconds;
    for (const auto& step : s.steps) seconds[step.name] = step.seconds;
    out["seconds_by_step"] = seconds;
    return out;
}

}  // namespace sparsematch
