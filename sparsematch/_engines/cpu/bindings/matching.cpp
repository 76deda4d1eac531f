// What Python calls of the matching package: its engines.
#include "bindings/engine_helpers.hpp"
#include "bindings/lent_pattern.hpp"
#include "core/certificates.hpp"
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

// Policy.of_small of matching/auto.py.
using SmallPolicyArg = std::tuple<std::int64_t, std::int64_t, double, double, double, double,
                                  double, double, double, double, double, double, double, double>;

// Of fields of a BipartiteCSR that may hold anything, and mates of its rows and columns. Returns
// the number of pairs, whether that is the most, the time that a transpose took, and step_info of
// each stage if the settings say `detailed`; nothing if it is not consistent, or large.
template <class Index>
std::optional<nb::tuple> match_small_of(const nb::tuple& graph, nb::handle row_mate,
                                        nb::handle col_mate, bool from_empty,
                                        const SmallPolicy& policy, const RunSettings& settings) {
    const LentPattern<Index> given(graph);
    const auto& a = given.a;
    if (!given.fits || a.nnz() >= policy.large) return {};
    const LentArray<Index> majors(given.flipped ? col_mate : row_mate),
        minors(given.flipped ? row_mate : col_mate);
    if (!majors.fits_vector(a.n_rows) || !minors.fits_vector(a.n_cols)) return {};
    SmallRun done;
    interruptible(1, settings, [&](RunContext& run) {
        if (count_entries(a, given.lists.length(), run) < 0) return;
        done = small_stages(a, {majors.data(), minors.data()}, from_empty, policy, run);
    });
    if (done.stages.empty()) return {};
    nb::list steps;
    for (const auto& report : done.stages)
        if (settings.detailed) steps.append(step_info(report));
    return nb::make_tuple(done.stages.back().cardinality, done.is_maximum, done.transpose_seconds,
                          steps);
}

std::optional<nb::tuple> match_small(const nb::tuple& graph, nb::handle row_mate,
                                     nb::handle col_mate, bool from_empty,
                                     const SmallPolicyArg& policy, const SettingsArg& given) {
    return by_index_type([&]<class Index> {
        return match_small_of<Index>(graph, row_mate, col_mate, from_empty,
                                     std::make_from_tuple<SmallPolicy>(policy),
                                     std::make_from_tuple<RunSettings>(given));
    });
}

template <class Index> void bind(nb::module_& m) {
    m.def("run_engine", run_improve<Index>, "name"_a, "matrix"_a, "transposed"_a.none(), "mates"_a,
          "workers"_a, "settings"_a, "options"_a, "reason"_a, "finished"_a.none(),
          "forced"_a.none());
    m.def("match_diagonal", Bound<match_diagonal<Index>>::by_workers);
}

}  // namespace

void sparsematch::bind_matching(nb::module_& m) {
    m.def("match_small", match_small);
    m.def("engines", [] { return list_engines(bipartite_engines); });
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
