// The table of engines: what Python is told about each, and the function that runs it.
#pragma once

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "matching/cheap.hpp"
#include "matching/hopcroft_karp.hpp"
#include "matching/karp_sipser/karp_sipser.hpp"
#include "matching/min_degree.hpp"
#include "matching/ms_bfs_graft.hpp"
#include "matching/pothen_fan.hpp"
#include "matching/push_relabel.hpp"
#include "matching/single_source_bfs.hpp"

namespace sparsematch {

template <class Index>
using Improve = void (*)(const Csr<Index>&, const Csr<Index>*, Matching<Index>, const Options&,
                         RunContext&);

// Every option by name; what it means and its default stand with its field.
using Field = std::variant<bool Options::*, double Options::*>;
inline const std::pair<std::string_view, Field> fields[] = {
    {"random", &Options::random},
    {"degree_one_only", &Options::degree_one_only},
    {"neighbour_xor", &Options::neighbour_xor},
    {"hkdw", &Options::hkdw},
    {"fairness", &Options::fairness},
    {"grafting", &Options::grafting},
    {"direction", &Options::direction},
    {"alpha", &Options::alpha},
    {"k", &Options::k},
    {"gap", &Options::gap},
};

// One row per engine: to add one, write its header and register it here.
struct Row {
    const char* name;
    bool exact;             // maximum, not just maximal
    const char* transpose;  // "required" or "unused"
    bool threads;           // makes use of more than one worker
    std::vector<std::string_view> options;
    const char* summary;
    Improve<std::int32_t> improve32;
    Improve<std::int64_t> improve64;
};
#define IMPROVE(name) name<std::int32_t>, name<std::int64_t>
inline const Row table[] = {
    {"cheap",
     false,
     "unused",
     true,
     {"random"},
     "Each row takes its first free column.",
     IMPROVE(cheap)},
    {"min_degree",
     false,
     "unused",
     true,
     {},
     "Rows by ascending degree, each takes its free column of smallest degree.",
     IMPROVE(min_degree)},
    {"karp_sipser",
     false,
     "required",
     true,
     {"degree_one_only", "neighbour_xor"},
     "Vertices of degree one first, degrees kept exact as vertices are matched.",
     IMPROVE(karp_sipser)},
    {"hopcroft_karp",
     true,
     "unused",
     false,
     {"hkdw"},
     "Shortest augmenting paths, a maximal set of disjoint ones in each phase.",
     IMPROVE(hopcroft_karp)},
    {"pothen_fan",
     true,
     "unused",
     true,
     {"fairness"},
     "Depth-first searches with lookahead, disjoint in each phase; the direction of scanning "
     "alternates.",
     IMPROVE(pothen_fan)},
    {"push_relabel",
     true,
     "required",
     false,
     {"k", "fairness", "gap"},
     "Free rows push themselves onto their nearest column, first in, first out; global "
     "relabelling.",
     IMPROVE(push_relabel)},
    {"single_source_bfs",
     true,
     "unused",
     true,
     {},
     "One breadth-first search per free row; what failed searches saw is never looked at again.",
     IMPROVE(single_source_bfs)},
    {"ms_bfs_graft",
     true,
     "required",
     true,
     {"grafting", "direction", "alpha"},
     "Breadth-first from all free rows at once; trees are grafted from phase to phase.",
     IMPROVE(ms_bfs_graft)},
};
#undef IMPROVE

inline const Field* find_field(std::string_view name) {
    for (const auto& [known, field] : fields)
        if (known == name) return &field;
    return nullptr;
}

}  // namespace sparsematch
