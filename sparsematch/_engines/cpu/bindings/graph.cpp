// What Python calls of the graph package: engines for general graphs.
#include <memory>

#include "bindings/engine_helpers.hpp"
#include "graph/engine_table.hpp"
#include "graph/local_max_part.hpp"
#include "graph/validate.hpp"

namespace sparsematch {

// indptr, indices, weights.
template <class Index> using GraphArg = std::tuple<In<Index>, In<Index>, std::optional<In<double>>>;

template <class Index> Graph<Index> view(const GraphArg<Index>& given) {
    const auto& [indptr, indices, weight] = given;
    return {static_cast<Index>(indptr.size() - 1), indptr.data(), indices.data(),
            weight ? weight->data() : nullptr};
}

template <class Index> struct Passed<const Graph<Index>&> {
    using Given = GraphArg<Index>;
    static Graph<Index> get(const Given& given) { return view<Index>(given); }
};

namespace {

// Returns fields of StepInfo.
template <class Index>
nb::tuple run_match_graph(const char* name, GraphArg<Index> graph, Out<Index> mate, int workers,
                          const SettingsArg& settings, const nb::dict& options) {
    const auto match = find_engine(graph_engines, name).template call<Index>();
    const OptionValues values = option_values(options);
    const auto g = view<Index>(graph);
    auto report = run_engine(name, "", workers, settings, mate.data(), g.n,
                             [&](RunContext& run) { match(values, run, g, mate.data()); });
    report.cardinality /= 2;
    return step_info(report);
}

// The messages of a part after a step of it, and the entries scanned.
template <class Index, class Step>
nb::tuple step_of(LocalMaxPart<Index>& part, int workers, const Step& step) {
    const auto edges = interruptible(workers, [&](RunContext& run) {
        step(run);
        return run.edges();
    });
    return nb::make_tuple(owned(std::exchange(part.to, {})), owned(std::exchange(part.what, {})),
                          edges);
}

template <class Index>
LocalMaxPart<Index>* make_part(GraphArg<Index> graph, In<std::int64_t> starts, int rank,
                               std::uint64_t seed) {
    auto part = interruptible(1, {0, false, seed}, [&](RunContext& run) {
        const std::span all(starts.data(), starts.size());
        return std::make_unique<LocalMaxPart<Index>>(view<Index>(graph), all, rank, run);
    });
    return part.release();
}

template <class Index> void bind_part(nb::module_& m, const char* name) {
    using Part = LocalMaxPart<Index>;
    nb::class_<Part>(m, name)
        .def("start",
             [](Part& part, int workers) {
                 return step_of(part, workers, [&](RunContext& run) { part.start(run); });
             })
        .def("receive",
             [](Part& part, In<Index> to, In<Index> what) {
                 return step_of(part, 1, [&](RunContext& run) {
                     part.receive(to.data(), what.data(), to.size(), run);
                 });
             })
        .def("mates", [](const Part& part, Out<Index> mate) { part.mates(mate.data()); });
    m.def("local_max_part", make_part<Index>, nb::keep_alive<0, 1>());
}

template <class Index> void bind(nb::module_& m) {
    m.def("match_graph", run_match_graph<Index>);
    m.def("validate_graph", Bound<validate_graph<Index>>::by_workers);
    m.def("matched_weight", Bound<matched_weight<Index>>::alone);
}

}  // namespace

void bind_graph(nb::module_& m) {
    m.def("graph_engines", [] { return list_engines(graph_engines); });
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
    bind_part<std::int32_t>(m, "LocalMaxPart32");
    bind_part<std::int64_t>(m, "LocalMaxPart64");
}

}  // namespace sparsematch
