// The table of engines for general graphs: what Python is told about each, and the function that
// runs it.
#pragma once

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/gpa.hpp"
#include "graph/greedy.hpp"
#include "graph/hem.hpp"
#include "graph/local_max.hpp"
#include "graph/red_blue.hpp"
#include "graph/suitor.hpp"

namespace sparsematch {

template <class Index>
using MatchGraph = void (*)(const Graph<Index>&, Index*, const GraphOptions&, RunContext&);

// Every option by name; what it means and its default stand with its field.
using GraphField = std::variant<bool GraphOptions::*, double GraphOptions::*>;
inline const std::pair<std::string_view, GraphField> graph_fields[] = {
    {"p", &GraphOptions::p},
};

// One row per engine: to add one, write its header and register it here.
struct GraphRow {
    const char* name;
    double guarantee;  // the share of the greatest weight that it reaches at least; 0: none
    bool threads;      // makes use of more than one worker
    std::vector<std::string_view> options;
    const char* summary;
    MatchGraph<std::int32_t> match32;
    MatchGraph<std::int64_t> match64;
};
#define MATCH(name) name<std::int32_t>, name<std::int64_t>
inline const GraphRow graph_table[] = {
    {"greedy",
     0.5,
     false,
     {},
     "All edges by descending weight, each matched if both ends are free.",
     MATCH(greedy)},
    {"hem",
     0,
     false,
     {},
     "Vertices in a random order, each takes its heaviest edge to a free neighbour.",
     MATCH(hem)},
    {"gpa",
     0.5,
     false,
     {},
     "Heavy edges grow into paths and even cycles, each matched at its best.",
     MATCH(gpa)},
    {"suitor",
     0.5,
     true,
     {},
     "Each vertex proposes to the best that would prefer it; who is displaced proposes anew.",
     MATCH(suitor)},
    {"red_blue",
     0,
     true,
     {"p"},
     "Blue vertices propose to red ones, colours are drawn anew each round.",
     MATCH(red_blue)},
    {"local_max",
     0.5,
     true,
     {},
     "Edges heavier than all their neighbours are matched, round by round.",
     MATCH(local_max)},
};
#undef MATCH

}  // namespace sparsematch
