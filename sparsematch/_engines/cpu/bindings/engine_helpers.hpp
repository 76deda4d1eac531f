// What the bindings of both engine tables share: the list of engines, and one run of an engine.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "bindings/nanobind_helpers.hpp"
#include "core/engine_table.hpp"

namespace sparsematch {

// The rows of a table: EngineEntry of run_engine.py.
template <template <class> class Call> nb::list list_engines(const EngineTable<Call>& table) {
    nb::list out;
    for (const auto& entry : table) {
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
const EngineEntry<Call>& find_engine(const EngineTable<Call>& table, std::string_view name) {
    for (const auto& entry : table)
        if (entry.name == name) return entry;
    throw nb::key_error(name.data());
}

inline OptionValues option_values(const nb::dict& given) {
    OptionValues out;
    for (auto [name, value] : given)
        out.emplace_back(nb::cast<const char*>(name), nb::cast<double>(value));
    return out;
}

// Settings of csr.py: RunSettings.
using SettingsArg = std::tuple<std::int64_t, bool, std::uint64_t>;

template <class Index, class Improve>
RunReport run_engine(const char* name, const char* reason, int workers, const SettingsArg& given,
                     const Index* mates, Index n, const Improve& improve) {
    const auto settings = std::make_from_tuple<RunSettings>(given);
    return interruptible(workers, settings, [&](RunContext& run) {
        return reported(name, reason, mates, n, run, improve);
    });
}

// The fields of StepInfo, in order.
inline nb::tuple step_info(const RunReport& report) {
    const auto& s = report.stats;
    nb::dict seconds;
    for (const auto& step : s.steps) seconds[step.name] = step.seconds;
    const auto listed = [](const auto& from, auto value) {
        if (from.empty()) return nb::tuple();  // spares a list
        nb::list values;
        for (const auto& each : from) values.append(value(each));
        return nb::tuple(values);
    };
    const auto frontier = listed(s.frontier, [](std::int64_t width) { return width; }),
               matched = listed(s.rounds, [](const auto& round) { return round.matched; }),
               live_edges = listed(s.rounds, [](const auto& round) { return round.live_edges; });
    return nb::make_tuple(report.engine, report.seconds, s.phases, s.levels, report.edges,
                          s.augmentations, s.path_edges, report.cardinality, report.exhausted,
                          seconds, frontier, matched, live_edges, s.failed_edges, 0, report.reason,
                          0, 0, "");
}

}  // namespace sparsematch
