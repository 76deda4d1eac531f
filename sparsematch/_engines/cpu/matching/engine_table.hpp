// The table of engines: to add one, write its header and a row here.
#pragma once

#include "core/engine_table.hpp"
#include "matching/cheap.hpp"
#include "matching/hopcroft_karp.hpp"
#include "matching/karp_sipser/karp_sipser.hpp"
#include "matching/min_degree.hpp"
#include "matching/ms_bfs_graft.hpp"
#include "matching/pothen_fan.hpp"
#include "matching/push_relabel.hpp"
#include "matching/single_source_bfs.hpp"

namespace sparsematch {

// Of a matrix, its transpose (null: not built) and a matching.
template <class Index>
using Improve = EngineCall<const Csr<Index>&, const Csr<Index>*, Matching<Index>>;

inline const EngineTable<Improve> bipartite_engines{
    {"cheap",
     {.kind = "heuristic", .multithreaded = true},
     "Each row takes its first free column.",
     SPARSEMATCH_ENGINE(cheap)},
    {"min_degree",
     {.kind = "heuristic", .multithreaded = true},
     "Rows by ascending degree, each takes its free column of smallest degree.",
     SPARSEMATCH_ENGINE(min_degree)},
    {"karp_sipser",
     {.kind = "heuristic", .transpose = "required", .multithreaded = true},
     "Vertices of degree one first, degrees kept exact as vertices are matched.",
     SPARSEMATCH_ENGINE(karp_sipser)},
    {"hopcroft_karp",
     {.kind = "exact"},
     "Shortest augmenting paths, a maximal set of disjoint ones in each phase.",
     SPARSEMATCH_ENGINE(hopcroft_karp)},
    {"pothen_fan",
     {.kind = "exact", .multithreaded = true},
     "Depth-first searches with lookahead, disjoint in each phase; the direction of scanning "
     "alternates.",
     SPARSEMATCH_ENGINE(pothen_fan)},
    {"push_relabel",
     {.kind = "exact", .transpose = "required", .multithreaded = true},
     "Free rows push themselves onto their nearest column, first in, first out; global "
     "relabelling.",
     SPARSEMATCH_ENGINE(push_relabel)},
    {"single_source_bfs",
     {.kind = "exact", .multithreaded = true},
     "One breadth-first search per free row; what failed searches visited is never visited again.",
     SPARSEMATCH_ENGINE(single_source_bfs)},
    {"ms_bfs_graft",
     {.kind = "exact", .transpose = "required", .multithreaded = true},
     "Breadth-first from all free rows at once; trees are grafted from phase to phase.",
     SPARSEMATCH_ENGINE(ms_bfs_graft)},
};

}  // namespace sparsematch
