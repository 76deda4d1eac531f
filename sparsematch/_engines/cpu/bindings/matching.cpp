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

// Of a BipartiteCSR and mates of its rows and columns. Returns whether more may be matched, and
// step_info of each stage if the settings say `detailed`; nothing where these are other indices.
template <class Index>
std::optional<nb::tuple> small_stages_of(const nb::tuple& graph, nb::handle row_mate,
                                         nb::handle col_mate, bool replaceable,
                                         const RunSettings& settings) {
    const LentArray<const Index> starts(graph[2]), lists(graph[3]);
    if (!starts.fits_vector(starts.length())) return {};
    const bool flipped = nb::cast<bool>(graph[5]);
    const LentArray<Index> major(flipped ? col_mate : row_mate),
        minor(flipped ? row_mate : col_mate);
    const Csr<Index> a{static_cast<Index>(starts.length() - 1),
                       nb::cast<Index>(graph[flipped ? 0 : 1]), starts.data(), lists.data()};
    if (!major.fits_vector(a.n_rows) || !minor.fits_vector(a.n_cols)) return {};
    const auto done = interruptible(1, settings, Signals{}, [&](RunContext& run) {
        return small_stages(a, {major.data(), minor.data()}, replaceable, settings.edge_limit, run);
    });
    nb::list steps;
    for (const auto& report : done)
        if (settings.detailed) steps.append(step_info(report));
    const auto& last = done.back();
    const bool in_columns = a.n_cols < a.n_rows && last.cardinality < a.n_cols;
    return nb::make_tuple(last.exhausted || in_columns, steps);
}

nb::tuple run_small_stages(const nb::tuple& graph, nb::handle row_mate, nb::handle col_mate,
                           bool replaceable, const SettingsArg& given) {
    const auto settings = std::make_from_tuple<RunSettings>(given);
    if (auto done = small_stages_of<std::int32_t>(graph, row_mate, col_mate, replaceable, settings))
        return *done;
    if (auto done = small_stages_of<std::int64_t>(graph, row_mate, col_mate, replaceable, settings))
        return *done;
    throw nb::type_error("mates are not of the type or the length of the pattern's");
}

template <class Index> void bind(nb::module_& m) {
    m.def("run_engine", run_improve<Index>, "name"_a, "matrix"_a, "transposed"_a.none(), "mates"_a,
          "workers"_a, "settings"_a, "options"_a, "reason"_a, "finished"_a.none(),
          "forced"_a.none());
    m.def("match_diagonal", Bound<match_diagonal<Index>>::alone);
}

}  // namespace

void sparsematch::bind_matching(nb::module_& m) {
    m.def("run_small_stages", run_small_stages);
    m.def("engines", [] { return list_engines(bipartite_engines); });
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
