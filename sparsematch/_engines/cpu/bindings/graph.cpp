// What Python calls of the graph package: engines for general graphs.
#include "bindings/engine_helpers.hpp"
#include "graph/engine_table.hpp"
#include "graph/validate.hpp"

using namespace sparsematch;

namespace {

// indptr, indices, weights.
template <class Index>
using GraphArg = std::tuple<In<Index>, In<Index>, std::optional<In<double>>>;

template <class Index>
Graph<Index> view(const GraphArg<Index>& given) {
    const auto& [indptr, indices, weight] = given;
    return {static_cast<Index>(indptr.size() - 1), indptr.data(), indices.data(),
            weight ? weight->data() : nullptr};
}

// Returns the fields of StepInfo.
template <class Index>
nb::tuple run_match_graph(const char* name, GraphArg<Index> graph, Out<Index> mate,
                          const SettingsArg& settings, const nb::dict& options) {
    const auto match = find_engine(graph_engines, name).template call<Index>();
    const OptionValues values = option_values(options);
    const auto g = view<Index>(graph);
    auto report = run_engine(settings, mate.data(), g.n,
                             [&](RunContext& run) { match(values, run, g, mate.data()); });
    report.cardinality /= 2;
    return step_info(report);
}

template <class Index>
std::tuple<bool, bool, bool> run_validate_graph(GraphArg<Index> graph, int workers) {
    const auto found = interruptible(
        workers, [&](RunContext& run) { return validate_graph(view<Index>(graph), run); });
    return {found.ascending, found.symmetric, found.finite};
}

template <class Index>
double run_matched_weight(GraphArg<Index> graph, In<Index> mate) {
    nb::gil_scoped_release release;
    return matched_weight(view<Index>(graph), mate.data());
}

template <class Index>
void bind(nb::module_& m) {
    m.def("match_graph", run_match_graph<Index>);
    m.def("validate_graph", run_validate_graph<Index>);
    m.def("matched_weight", run_matched_weight<Index>);
}

}  // namespace

void sparsematch::bind_graph(nb::module_& m) {
    m.def("graph_engines", [] { return list_engines(graph_engines); });
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
