// The table of engines for general graphs: to add one, write its header and a row here.
#pragma once

#include "core/engine_table.hpp"
#include "graph/gpa.hpp"
#include "graph/greedy.hpp"
#include "graph/hem.hpp"
#include "graph/local_max.hpp"
#include "graph/red_blue.hpp"
#include "graph/suitor.hpp"

namespace sparsematch {

// Of a graph and its mates, all UNMATCHED.
template <class Index> using MatchGraph = EngineCall<const Graph<Index>&, Index*>;

inline const EngineTable<MatchGraph> graph_engines{
    {"greedy",
     {.kind = "approximate", .guarantee = 0.5},
     "All edges by descending weight, each matched if both ends are free.",
     SPARSEMATCH_ENGINE(greedy)},
    {"hem",
     {.kind = "approximate"},
     "Vertices in a random order, each takes its heaviest edge to a free neighbour.",
     SPARSEMATCH_ENGINE(hem)},
    {"gpa",
     {.kind = "approximate", .guarantee = 0.5},
     "Heavy edges grow into paths and even cycles, each matched at its best.",
     SPARSEMATCH_ENGINE(gpa)},
    {"suitor",
     {.kind = "approximate", .multithreaded = true, .guarantee = 0.5},
     "Each vertex proposes to the best that would prefer it; a displaced vertex proposes again.",
     SPARSEMATCH_ENGINE(suitor)},
    {"red_blue",
     {.kind = "approximate", .multithreaded = true},
     "Blue vertices propose to red ones, with new random colours each round.",
     SPARSEMATCH_ENGINE(red_blue)},
    {"local_max",
     {.kind = "approximate", .multithreaded = true, .guarantee = 0.5},
     "Edges heavier than all their neighbours are matched, round by round.",
     SPARSEMATCH_ENGINE(local_max)},
};

}  // namespace sparsematch
