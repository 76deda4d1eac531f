// What Python calls of the matching package: its engines.
#include "bindings/engine_helpers.hpp"
#include "matching/diagonal.hpp"
#include "matching/engine_table.hpp"
#include "matching/small_matching.hpp"

using namespace sparsematch;

namespace {

// finished, forced: see run_engine.py. Returns step_info, and how many pairs were forced
// by their row and by their column.
template <class Index>
nb::tuple run_improve(const char* name, CsrArg<Index> matrix,
                      const std::optional<CsrArg<Index>>& transposed, Sides<Index> mates,
                      int workers, const SettingsArg& settings, const nb::dict& options,
                      const char* reason, std::optional<Sides<bool>> finished,
                      std::optional<Out<Index>> forced) {
    const auto improve = find_engine(bipartite_engines, name).template call<Index>();
    const OptionValues values = option_values(options);
    const auto a = view(matrix), t = transposed ? view(*transposed) : Csr<Index>{};
    const auto m = view(mates);
    const auto report =
        run_engine(name, reason, workers, settings, m.row_mate, a.n_rows, [&](RunContext& run) {
            if (finished) run.finished = {finished->first.data(), finished->second.data()};
            if (forced) run.forced.rows = forced->data();
            improve(values, run, a, transposed ? &t : nullptr, m);
        });
    return nb::make_tuple(step_info(report),
                          nb::make_tuple(report.forced.by_row, report.forced.by_col));
}

// Returns step_info of each stage.
template <class Index>
nb::list run_small_stages(CsrArg<Index> matrix, Sides<Index> mates, bool replaceable,
                          const SettingsArg& given) {
    const auto settings = std::make_from_tuple<RunSettings>(given);
    nb::list steps;
    for (const auto& report : interruptible(1, settings, Signals{}, [&](RunContext& run) {
             return small_stages(view(matrix), view(mates), replaceable, settings.edge_limit, run);
         }))
        steps.append(step_info(report));
    return steps;
}

template <class Index>
void bind(nb::module_& m) {
    m.def("run_engine", run_improve<Index>, "name"_a, "matrix"_a, "transposed"_a.none(), "mates"_a,
          "workers"_a, "settings"_a, "options"_a, "reason"_a, "finished"_a.none(),
          "forced"_a.none());
    m.def("run_small_stages", run_small_stages<Index>);
    m.def("match_diagonal", Bound<match_diagonal<Index>>::alone);
}

}  // namespace

void sparsematch::bind_matching(nb::module_& m) {
    m.def("engines", [] { return list_engines(bipartite_engines); });
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
