// What Python calls to match the edges of a file.
#include <nanobind/stl/vector.h>

#include "bindings/nanobind_helpers.hpp"
#include "stream/local_max_stream.hpp"

using namespace sparsematch;

namespace {

// EdgeFile.layout of _types/edge_file.py: what EdgeLayout has.
using LayoutArg = std::tuple<std::int64_t, std::int64_t, std::size_t, std::size_t, std::size_t,
                             std::size_t, int, int>;

// Returns what is wrong, its kind first, which is None if nothing is; weight, edges read,
// and, after each round, vertices matched and, before it, live edges.
template <class Index>
nb::tuple run_match_edges(const char* path, const LayoutArg& layout, const char* folder,
                          Out<Index> mate, bool weighted, std::uint64_t seed) {
    EdgeSource file(path, std::make_from_tuple<EdgeLayout>(layout));
    const auto report = interruptible(1, [&](RunContext& run) {
        const auto n = static_cast<Index>(mate.size());
        return local_max_stream(file, n, weighted, folder, seed, run, mate.data());
    });
    const auto& [kind, edge, ends] = report.fault;
    const nb::tuple matched(nb::cast(report.matched)), live(nb::cast(report.live));
    return nb::make_tuple(nb::make_tuple(kind, edge, ends.u, ends.v, ends.weight),
                          nb::make_tuple(report.weight, report.scanned, matched, live));
}

template <class Index> void bind(nb::module_& m) {
    m.def("match_edges", run_match_edges<Index>, "path"_a, "layout"_a, "folder"_a, "mate"_a,
          "weighted"_a, "seed"_a);
}

}  // namespace

void sparsematch::bind_stream(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
