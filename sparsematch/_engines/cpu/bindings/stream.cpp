// What Python calls to match the edges of a file.
#include <nanobind/stl/string.h>

#include "bindings/nanobind_helpers.hpp"
#include "stream/local_max_stream.hpp"

using namespace sparsematch;

namespace {

// Ctrl-C, and a function of the user's that is called with round, done and total edges.
struct Watch : Signals {
    StreamProgress progress;
    nb::object callback;

    explicit Watch(nb::object callback) : callback(std::move(callback)) {}
    static bool poll(void* self) {
        auto& watch = *static_cast<Watch*>(self);
        if (Signals::poll(static_cast<Signals*>(&watch))) return true;
        return !watch.callback.is_none() && watch.raised_by([&] { return watch.report(); });
    }
    bool report() const {
        const auto [round, done, total] = progress;  // "L": an integer of 64 bits
        PyObject* result = PyObject_CallFunction(callback.ptr(), "LLL", round, done, total);
        Py_XDECREF(result);
        return result != nullptr;
    }
};

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

std::int64_t run_largest_vertex(const char* path, const nb::dict& layout, nb::object callback) {
    EdgeSource file(path, read_layout(layout));
    Watch watch(std::move(callback));
    return interruptible(
        1, {}, watch, [&](RunContext& run) { return largest_vertex(file, watch.progress, run); });
}

template <class Index>
nb::dict run_match_edges(const char* path, const nb::dict& layout, const char* folder,
                         Out<Index> mate, bool weighted, std::uint64_t seed, nb::object callback) {
    EdgeSource file(path, read_layout(layout));
    Watch watch(std::move(callback));
    const auto report = interruptible(1, {}, watch, [&](RunContext& run) {
        const auto n = static_cast<Index>(mate.size());
        return local_max_stream(file, n, weighted, folder, seed, watch.progress, run, mate.data());
    });
    nb::dict out;
    nb::dict fault;
    const auto& [kind, edge, ends] = report.fault;
    fault["kind"] = kind, fault["edge"] = edge;
    fault["u"] = ends.u, fault["v"] = ends.v, fault["weight"] = ends.weight;
    if (kind) out["fault"] = fault;
    out["scanned"] = report.scanned;
    out["written"] = report.written;
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
          "weighted"_a, "seed"_a, "progress"_a.none());
}

}  // namespace

void sparsematch::bind_stream(nb::module_& m) {
    m.def("largest_vertex", run_largest_vertex, "path"_a, "layout"_a, "progress"_a.none());
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
