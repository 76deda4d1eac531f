// Options of engines. Each engine declares its own in its header, and nowhere else:
//
//     struct PothenFanOptions {
//         bool fairness = true;  // what it does
//         static constexpr auto fields() {
//             return std::tuple{Option{"fairness", &PothenFanOptions::fairness}};
//         }
//     };
//
// and takes `const PothenFanOptions&`; names, defaults and ranges reach Python from there.
#pragma once

#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sparsematch {

// A flag, or a number in low..high; by default any that is positive and finite.
template <class Options, class Value> struct Option {
    const char* name;
    Value Options::* member;
    double low = 0, high = std::numeric_limits<double>::infinity();
};
template <class Options, class Value, class... Range>
Option(const char*, Value Options::*, Range...) -> Option<Options, Value>;

// Of an engine that has none.
struct NoOptions {
    static constexpr std::tuple<> fields() { return {}; }
};

// An option as the registry knows it.
struct OptionInfo {
    const char* name;
    bool is_flag;
    double value, low, high;  // its default; its range
};

// Checked options of one call, those of other engines among them.
using OptionValues = std::vector<std::pair<std::string, double>>;

template <class Options> std::vector<OptionInfo> list_options() {
    const Options defaults;
    const auto info = [&]<class Value>(const Option<Options, Value>& option) {
        return OptionInfo{option.name, std::is_same_v<Value, bool>,
                          static_cast<double>(defaults.*option.member), option.low, option.high};
    };
    return std::apply(
        [&](const auto&... option) { return std::vector<OptionInfo>{info(option)...}; },
        Options::fields());
}

template <class Options> Options read_options(const OptionValues& given) {
    Options out;
    const auto read = [&]<class Value>(const Option<Options, Value>& option) {
        for (const auto& [name, value] : given)
            if (name == option.name) out.*option.member = static_cast<Value>(value);
    };
    std::apply([&](const auto&... option) { (read(option), ...); }, Options::fields());
    return out;
}

}  // namespace sparsematch
