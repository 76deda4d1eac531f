// What Python calls of the matching package: its engines.
#include "bindings/engine_helpers.hpp"
#include "matching/diagonal.hpp"
#include "matching/engine_table.hpp"
#include "matching/small_stages.hpp"

using namespace sparsematch;

namespace {

// finished, forced: see run_engine.py. Returns step_info, and how many pairs were forced
// by their row and by their column.
template <class Index>
nb::tuple run_improve(const char* name, CsrArg<Index> matrix,
                      const std::optional<CsrArg<Index>>& transposed, Sides<Index> mates,
                      int workers, const SettingsArg& settings, const nb::dict& options,
                      std::optional<Sides<bool>> finished, std::optional<Out<Index>> forced) {
    const auto improve = find_engine(bipartite_engines, name).template call<Index>();
    const OptionValues values = option_values(options);
    const auto a = view(matrix), t = transposed ? view(*transposed) : Csr<Index>{};
    const auto m = view(mates);
    const auto report =
        run_engine(name, workers, settings, m.row_mate, a.n_rows, [&](RunContext& run) {
            if (finished) run.finished = {finished->first.data(), finished->second.data()};
            if (forced) run.forced.rows = forced->data();
            improve(values, run, a, transposed ? &t : nullptr, m);
        });
    return nb::make_tuple(step_info(report),
                          nb::make_tuple(report.forced.by_row, report.forced.by_col));
}

// See small_stages.hpp. Returns step_info of each, how many transposes were built, and the time that
// took.
template <class Index>
nb::tuple run_small_stages(CsrArg<Index> matrix, const std::optional<CsrArg<Index>>& transposed,
                           Sides<Index> mates, bool replaceable, double passes,
                           const SettingsArg& settings) {
    const auto a = view(matrix), t = transposed ? view(*transposed) : Csr<Index>{};
    const auto done = interruptible(
        1, std::make_from_tuple<RunSettings>(settings), Signals{}, [&](RunContext& run) {
            SmallStages<Index> stages(a, transposed ? &t : nullptr, view(mates), run);
            stages.improve(replaceable, passes);
            return std::move(stages.report);
        });
    nb::list steps;
    for (const auto& stage : done.stages) steps.append(step_info(stage));
    return nb::make_tuple(steps, done.transposes_built, done.transpose_seconds);
}

template <class Index>
void bind(nb::module_& m) {
    m.def("run_engine", run_improve<Index>, "name"_a, "matrix"_a, "transposed"_a.none(), "mates"_a,
          "workers"_a, "settings"_a, "options"_a, "finished"_a.none(), "forced"_a.none());
    m.def("run_small_stages", run_small_stages<Index>, "matrix"_a, "transposed"_a.none(), "mates"_a,
          "replaceable"_a, "passes"_a, "settings"_a);
    m.def("match_diagonal", Bound<match_diagonal<Index>>::alone);
}

}  // namespace

void sparsematch::bind_matching(nb::module_& m) {
    m.def("engines", [] { return list_engines(bipartite_engines); });
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
