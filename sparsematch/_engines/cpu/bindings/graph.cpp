// What Python calls of the engines for general graphs.
#include <nanobind/stl/string.h>

#include "bindings/nanobind_helpers.hpp"
#include "graph/engine_table.hpp"
#include "graph/validate.hpp"

using namespace sparsematch;

namespace {

template <class Index>
Graph<Index> view_graph(const In<Index>& indptr, const In<Index>& indices,
                        const nb::object& weight) {
    const double* w = weight.is_none() ? nullptr : nb::cast<In<double>>(weight, false).data();
    return {static_cast<Index>(indptr.size() - 1), indptr.data(), indices.data(), w};
}

GraphOptions read_options(const nb::dict& given, std::uint64_t seed) {
    GraphOptions o;
    o.seed = seed;
    for (auto [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const auto* place = std::find_if(std::begin(graph_fields), std::end(graph_fields),
                                         [&](auto& f) { return name == f.first; });
        if (place == std::end(graph_fields)) throw nb::key_error(name.c_str());
        std::visit([&, v = value](
                       auto member) { o.*member = nb::cast<std::decay_t<decltype(o.*member)>>(v); },
                   place->second);
    }
    return o;
}

nb::list graph_engines() {
    const GraphOptions defaults;
    nb::list out;
    for (const GraphRow& row : graph_table) {
        nb::dict options;
        for (const auto& [name, field] : graph_fields)
            if (std::find(row.options.begin(), row.options.end(), name) != row.options.end())
                std::visit(
                    [&, n = name](auto member) {
                        options[nb::str(n.data(), n.size())] = defaults.*member;
                    },
                    field);
        out.append(nb::make_tuple(row.name, row.guarantee, row.threads, options, row.summary));
    }
    return out;
}

template <class Index>
nb::dict run_match_graph(const std::string& name, In<Index> indptr, In<Index> indices,
                         nb::object weight, Out<Index> mate, int workers, bool detailed,
                         std::uint64_t seed, const nb::dict& options) {
    const auto* row = std::find_if(std::begin(graph_table), std::end(graph_table),
                                   [&](auto& r) { return name == r.name; });
    if (row == std::end(graph_table)) throw nb::key_error(name.c_str());
    const auto g = view_graph(indptr, indices, weight);
    const GraphOptions o = read_options(options, seed);
    MatchGraph<Index> match;
    if constexpr (sizeof(Index) == 4) match = row->match32;
    else match = row->match64;
    Signals signals;
    nb::dict out;
    {
        nb::gil_scoped_release release;
        ThreadTeam team(workers);
        RunContext run(team, Signals::poll, &signals, 0, detailed);
        match(g, mate.data(), o, run);
        const auto matched = std::count_if(mate.data(), mate.data() + g.n,
                                           [](Index v) { return v != UNMATCHED<Index>; });
        nb::gil_scoped_acquire acquire;
        out["phases"] = run.stats.phases;
        out["edges"] = run.edges();
        out["cardinality"] = static_cast<std::int64_t>(matched / 2);
        nb::dict seconds;
        for (const auto& step : run.stats.steps) seconds[step.name] = step.seconds;
        out["seconds"] = seconds;
        nb::list matched_by, live;
        for (const auto& round : run.stats.rounds)
            matched_by.append(round.matched), live.append(round.live_edges);
        out["matched"] = matched_by;
        out["live_edges"] = live;
    }
    signals.rethrow();
    return out;
}

template <class Index>
nb::tuple run_validate_graph(In<Index> indptr, In<Index> indices, nb::object weight, int workers) {
    const auto g = view_graph(indptr, indices, weight);
    GraphProperties found;
    Signals signals;
    {
        nb::gil_scoped_release release;
        ThreadTeam team(workers);
        RunContext run(team, Signals::poll, &signals, 0, false);
        found = validate_graph(g, run);
    }
    signals.rethrow();
    return nb::make_tuple(found.ascending, found.symmetric, found.finite);
}

template <class Index>
double run_matched_weight(In<Index> indptr, In<Index> indices, nb::object weight, In<Index> mate) {
    const auto g = view_graph(indptr, indices, weight);
    nb::gil_scoped_release release;
    return matched_weight(g, mate.data());
}

template <class Index>
void bind(nb::module_& m) {
    m.def("match_graph", run_match_graph<Index>, "name"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "weight"_a.none(), "mate"_a.noconvert(), "workers"_a,
          "detailed"_a, "seed"_a, "options"_a);
    m.def("validate_graph", run_validate_graph<Index>, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "weight"_a.none(), "workers"_a);
    m.def("matched_weight", run_matched_weight<Index>, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "weight"_a.none(), "mate"_a.noconvert());
}

}  // namespace

void sparsematch::bind_graph(nb::module_& m) {
    m.def("graph_engines", graph_engines);
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
