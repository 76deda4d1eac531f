// What Python calls to match the edges of a file.
#include <nanobind/stl/string.h>

#include "bindings/nanobind_helpers.hpp"
#include "stream/local_max_stream.hpp"

using namespace sparsematch;

namespace {

// EdgeFile.layout of _types/edge_file.py.
EdgeLayout read_layout(const nb::dict& given) {
    EdgeLayout out;
    const auto read = [&](const char* name, auto& to) {
        to = nb::cast<std::remove_reference_t<decltype(to)>>(given[name]);
    };
    read("offset", out.offset), read("count", out.count), read("size", out.size);
    read("u", out.u), read("v", out.v), read("weight", out.weight);
    read("index_bytes", out.index_bytes), read("weight_bytes", out.weight_bytes);
    return out;
}

template <class Index>
nb::dict run_match_edges(const char* path, const nb::dict& layout, const char* folder,
                         Out<Index> mate, bool weighted, std::uint64_t seed) {
    EdgeSource file(path, read_layout(layout));
    const auto report = interruptible(1, [&](RunContext& run) {
        const auto n = static_cast<Index>(mate.size());
        return local_max_stream(file, n, weighted, folder, seed, run, mate.data());
    });
    nb::dict out;
    nb::dict fault;
    const auto& [kind, edge, ends] = report.fault;
    fault["kind"] = kind, fault["edge"] = edge;
    fault["u"] = ends.u, fault["v"] = ends.v, fault["weight"] = ends.weight;
    if (kind) out["fault"] = fault;
    out["scanned"] = report.scanned;
    out["weight"] = report.weight;
    nb::list live, matched;
    for (const auto n : report.live) live.append(n);
    for (const auto n : report.matched) matched.append(n);
    out["live_edges"] = live;
    out["matched"] = matched;
    return out;
}

template <class Index>
void bind(nb::module_& m) {
    m.def("match_edges", run_match_edges<Index>, "path"_a, "layout"_a, "folder"_a, "mate"_a,
          "weighted"_a, "seed"_a);
}

}  // namespace

void sparsematch::bind_stream(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
