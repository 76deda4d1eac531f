// The door between Python and the core: arrays in, arrays out, the GIL released in between.
#include <nanobind/stl/string.h>

#include "bindings/nanobind_helpers.hpp"
#include "core/certificates.hpp"
#include "core/transpose.hpp"
#include "decomposition/block_permutation.hpp"
#include "decomposition/connected_components.hpp"
#include "decomposition/dulmage_mendelsohn.hpp"
#include "decomposition/hall_violators.hpp"
#include "matching/cheap.hpp"
#include "matching/engine_table.hpp"
#include "ordering/features.hpp"
#include "ordering/parallel_bfs_renumbering.hpp"
#include "ordering/permute_matching.hpp"
#include "ordering/visit_order.hpp"
#include "weighted/assignment.hpp"

using namespace sparsematch;

namespace {

Options read_options(const nb::dict& given, std::uint64_t seed) {
    Options o;
    o.seed = seed;
    for (auto [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const Field* place = find_field(name);
        if (!place) throw nb::key_error(name.c_str());
        std::visit([&, v = value](
                       auto member) { o.*member = nb::cast<std::decay_t<decltype(o.*member)>>(v); },
                   *place);
    }
    return o;
}

nb::list engines() {
    const Options defaults;
    nb::list out;
    for (const Row& row : table) {
        nb::dict options;
        for (const auto name : row.options)
            std::visit(
                [&](auto member) { options[nb::str(name.data(), name.size())] = defaults.*member; },
                *find_field(name));
        out.append(
            nb::make_tuple(row.name, row.exact, row.transpose, row.threads, options, row.summary));
    }
    return out;
}

nb::dict report(const RunContext& run) {
    nb::dict out;
    const auto& s = run.stats;
    out["phases"] = s.phases;
    out["levels"] = s.levels;
    out["edges"] = run.edges();
    out["augmentations"] = s.augmentations;
    out["path_edges"] = s.path_edges;
    out["exhausted"] = run.exhausted();
    out["forced"] = nb::make_tuple(run.forced.by_row, run.forced.by_col);
    nb::dict steps;
    for (const auto& step : s.steps) steps[step.name] = step.seconds;
    out["seconds"] = steps;
    nb::list frontier;
    for (auto width : s.frontier) frontier.append(width);
    out["frontier"] = frontier;
    return out;
}

template <class Index>
nb::dict run_engine(const std::string& name, Index n_cols, In<Index> indptr, In<Index> indices,
                    nb::object t_indptr, nb::object t_indices, Out<Index> row_mate,
                    Out<Index> col_mate, int workers, std::int64_t edge_limit, bool detailed,
                    std::uint64_t seed, const nb::dict& options, nb::object settled_row,
                    nb::object settled_col, nb::object forced) {
    const Row* row = std::find_if(std::begin(table), std::end(table),
                                  [&](const Row& r) { return name == r.name; });
    if (row == std::end(table)) throw nb::key_error(name.c_str());
    const auto a = view(n_cols, indptr, indices);
    Csr<Index> t{};
    const bool transposed = !t_indptr.is_none();
    if (transposed)
        t = view(a.n_rows, nb::cast<In<Index>>(t_indptr), nb::cast<In<Index>>(t_indices));
    const Options o = read_options(options, seed);
    const Matching<Index> m{row_mate.data(), col_mate.data()};
    Improve<Index> improve;
    if constexpr (sizeof(Index) == 4) improve = row->improve32;
    else improve = row->improve64;
    Settled settled;
    if (!settled_row.is_none())
        settled = {nb::cast<Out<bool>>(settled_row).data(),
                   nb::cast<Out<bool>>(settled_col).data()};
    void* const forced_rows = forced.is_none() ? nullptr : nb::cast<Out<Index>>(forced).data();
    Signals signals;
    nb::dict out;
    {
        nb::gil_scoped_release release;
        ThreadTeam team(workers);
        RunContext run(team, Signals::poll, &signals, edge_limit, detailed);
        run.settled = settled;
        run.forced.rows = forced_rows;
        improve(a, transposed ? &t : nullptr, m, o, run);
        const auto matched = std::count_if(m.row_mate, m.row_mate + a.n_rows,
                                           [](Index j) { return j != UNMATCHED<Index>; });
        nb::gil_scoped_acquire acquire;
        out = report(run);
        out["cardinality"] = static_cast<std::int64_t>(matched);
    }
    signals.rethrow();
    return out;
}

template <class Index>
void run_transpose(Index n_cols, In<Index> indptr, In<Index> indices, Out<Index> t_indptr,
                   Out<Index> t_indices, int workers) {
    nb::gil_scoped_release release;
    ThreadTeam team(workers);
    transpose(team, view(n_cols, indptr, indices), t_indptr.data(), t_indices.data());
}

template <class Index>
nb::tuple run_check_matching(Index n_cols, In<Index> indptr, In<Index> indices, In<Index> row_mate,
                             In<Index> col_mate) {
    PairReport<Index> found;
    {
        nb::gil_scoped_release release;
        found = check_matching(view(n_cols, indptr, indices), view(row_mate, col_mate));
    }
    return nb::make_tuple(static_cast<int>(found.fault), found.i, found.j);
}

template <class Index>
nb::tuple run_free_entry(Index n_cols, In<Index> indptr, In<Index> indices, In<Index> row_mate,
                         In<Index> col_mate) {
    PairReport<Index> found;
    {
        nb::gil_scoped_release release;
        found = free_entry(view(n_cols, indptr, indices), view(row_mate, col_mate));
    }
    return nb::make_tuple(found.i, found.j);
}

template <class Index>
bool run_cover(Index n_cols, In<Index> indptr, In<Index> indices, In<Index> row_mate,
               In<Index> col_mate, Out<bool> row_cover, Out<bool> col_cover) {
    return interruptible([&](RunContext& run) {
        return koenig_cover(view(n_cols, indptr, indices), view(row_mate, col_mate),
                            row_cover.data(), col_cover.data(), run);
    });
}

template <class Index>
Index run_block_labels(Index n_cols, In<Index> indptr, In<Index> indices, nb::object t_indptr,
                       nb::object t_indices, In<Index> row_mate, In<Index> col_mate,
                       Out<Index> row_group, nb::object forced, std::int64_t by_row,
                       std::int64_t by_col) {
    const auto a = view(n_cols, indptr, indices);
    Csr<Index> t{};
    const bool transposed = !t_indptr.is_none();
    if (transposed)
        t = view(a.n_rows, nb::cast<In<Index>>(t_indptr), nb::cast<In<Index>>(t_indices));
    const void* const rows = forced.is_none() ? nullptr : nb::cast<In<Index>>(forced).data();
    return interruptible([&](RunContext& run) {
        run.forced = {const_cast<void*>(rows), by_row, by_col};
        return block_labels(a, transposed ? &t : nullptr, view(row_mate, col_mate),
                            row_group.data(), run);
    });
}

template <class Index>
Index run_connected_components(Index n_cols, In<Index> indptr, In<Index> indices,
                               Out<Index> row_label, Out<Index> col_label) {
    nb::gil_scoped_release release;
    return connected_components(view(n_cols, indptr, indices), row_label.data(), col_label.data());
}

template <class Index>
Index run_hall_violators(Index n_cols, In<Index> indptr, In<Index> indices, Out<Index> row_mate,
                         Out<Index> col_mate, Out<Index> row_piece, Out<Index> col_piece,
                         Out<Index> rows, Out<Index> mates, Out<Index> starts) {
    return interruptible([&](RunContext& run) {
        const auto a = view(n_cols, indptr, indices);
        HallViolators<Index> search(a, {row_mate.data(), col_mate.data()}, run);
        const Index n = search.label(row_piece.data(), col_piece.data());
        search.find(row_piece.data(), n, rows.data(), mates.data(), starts.data());
        return n;
    });
}

template <class Index>
void run_sort_by_label(In<Index> label, Index n_labels, Out<Index> order, Out<Index> starts) {
    nb::gil_scoped_release release;
    sort_by_label(label.data(), static_cast<Index>(label.size()), n_labels, order.data(),
                  starts.data());
}

template <class Index>
void run_block_permutation(In<Index> group, In<Index> row_mate, Index n_square, Out<Index> row_perm,
                           Out<Index> col_perm, Out<Index> starts) {
    nb::gil_scoped_release release;
    block_permutation(group.data(), row_mate.data(), static_cast<Index>(row_perm.size()),
                      static_cast<Index>(col_perm.size()), n_square, row_perm.data(),
                      col_perm.data(), starts.data());
}

template <class Index>
bool run_take_diagonal(Index n_cols, In<Index> indptr, In<Index> indices, Out<Index> row_mate,
                       Out<Index> col_mate) {
    nb::gil_scoped_release release;
    return take_diagonal(view(n_cols, indptr, indices),
                         Matching<Index>{row_mate.data(), col_mate.data()});
}

template <class Index>
Index run_bfs_depth_to(Index n_cols, In<Index> indptr, In<Index> indices, In<Index> t_indptr,
                       In<Index> t_indices, Index rows) {
    nb::gil_scoped_release release;
    ThreadTeam team(1);
    RunContext run(team, nullptr, nullptr, 0, false);
    const auto a = view(n_cols, indptr, indices);
    return bfs_depth_to(a, view(a.n_rows, t_indptr, t_indices), rows, run);
}

template <class Index>
nb::tuple run_degree_statistics(In<Index> indptr) {
    const Csr<Index> a{static_cast<Index>(indptr.size() - 1), 0, indptr.data(), nullptr};
    const auto [squares, ones] = degree_statistics(a);
    return nb::make_tuple(squares, ones);
}

template <class Index>
double run_shared_pair_density(Index n_cols, In<Index> indptr, In<Index> indices) {
    nb::gil_scoped_release release;
    return shared_pair_density(view(n_cols, indptr, indices));
}

template <class Index>
void run_renumber(Index n_cols, In<Index> indptr, In<Index> indices, In<Index> t_indptr,
                  Out<Index> t_indices, Out<Index> row_order, Out<Index> row_place,
                  Out<Index> col_order, Out<Index> new_indptr, int workers) {
    Signals signals;
    {
        nb::gil_scoped_release release;
        ThreadTeam team(workers);
        RunContext run(team, Signals::poll, &signals, 0, false);
        const auto a = view(n_cols, indptr, indices);
        const Csr<Index> t{a.n_cols, a.n_rows, t_indptr.data(), t_indices.data()};
        const Renumbered<Index> to{row_order.data(), row_place.data(), col_order.data(),
                                   new_indptr.data(), t_indices.data()};
        renumber(a, t, to, run);
    }
    signals.rethrow();
}

template <class Index>
void run_unpermute_matching(In<Index> row_order, In<Index> col_order, In<Index> new_row_mate,
                            In<Index> new_col_mate, Out<Index> row_mate, Out<Index> col_mate,
                            int workers) {
    nb::gil_scoped_release release;
    ThreadTeam team(workers);
    unpermute_matching(static_cast<Index>(row_mate.size()), static_cast<Index>(col_mate.size()),
                       row_order.data(), col_order.data(), new_row_mate.data(), new_col_mate.data(),
                       Matching<Index>{row_mate.data(), col_mate.data()}, team);
}

template <class Index>
void run_permute_matching(In<Index> row_place, In<Index> col_order, In<Index> col_mate,
                          Out<Index> new_row_mate, Out<Index> new_col_mate) {
    nb::gil_scoped_release release;
    permute_matching(static_cast<Index>(col_order.size()), row_place.data(), col_order.data(),
                     col_mate.data(), Matching<Index>{new_row_mate.data(), new_col_mate.data()});
}

// Returns the engine's account, and under "feasible" whether every row has a column.
template <class Index>
nb::dict run_assignment(Index n_cols, In<Index> indptr, In<Index> indices, In<double> cost,
                        Out<Index> row_mate, Out<Index> col_mate, Out<double> row_dual,
                        Out<double> col_dual, bool detailed) {
    Signals signals;
    nb::dict out;
    {
        nb::gil_scoped_release release;
        ThreadTeam team(1);
        RunContext run(team, Signals::poll, &signals, 0, detailed);
        const auto a = view(n_cols, indptr, indices);
        bool feasible;
        {
            Assignment<Index> assignment(a, cost.data(), row_dual.data(), run);
            feasible = assignment.solve({row_mate.data(), col_mate.data()}, col_dual.data());
        }
        nb::gil_scoped_acquire acquire;
        out = report(run);
        out["feasible"] = feasible;
    }
    signals.rethrow();
    return out;
}

template <class Index>
void run_matched_entries(Index n_cols, In<Index> indptr, In<Index> indices, In<Index> row_mate,
                         Out<Index> entry) {
    nb::gil_scoped_release release;
    matched_entries(view(n_cols, indptr, indices), row_mate.data(), entry.data());
}

template <class Index>
void bind(nb::module_& m) {
    m.def("run", &run_engine<Index>, "name"_a, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "t_indptr"_a.none(), "t_indices"_a.none(),
          "row_mate"_a.noconvert(), "col_mate"_a.noconvert(), "workers"_a, "edge_limit"_a,
          "detailed"_a, "seed"_a, "options"_a, "settled_row"_a.none(), "settled_col"_a.none(),
          "forced"_a.none());
    m.def("transpose", &run_transpose<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "t_indptr"_a.noconvert(), "t_indices"_a.noconvert(),
          "workers"_a);
    m.def("assignment", &run_assignment<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "cost"_a.noconvert(), "row_mate"_a.noconvert(),
          "col_mate"_a.noconvert(), "row_dual"_a.noconvert(), "col_dual"_a.noconvert(),
          "detailed"_a);
    m.def("matched_entries", &run_matched_entries<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "row_mate"_a.noconvert(), "entry"_a.noconvert());
    m.def("check_matching", &run_check_matching<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "row_mate"_a.noconvert(), "col_mate"_a.noconvert());
    m.def("check_maximal", &run_free_entry<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "row_mate"_a.noconvert(), "col_mate"_a.noconvert());
    m.def("cover", &run_cover<Index>, "n_cols"_a, "indptr"_a.noconvert(), "indices"_a.noconvert(),
          "row_mate"_a.noconvert(), "col_mate"_a.noconvert(), "row_cover"_a.noconvert(),
          "col_cover"_a.noconvert());
    m.def("block_labels", &run_block_labels<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "t_indptr"_a.none(), "t_indices"_a.none(),
          "row_mate"_a.noconvert(), "col_mate"_a.noconvert(), "row_group"_a.noconvert(),
          "forced"_a.none(), "by_row"_a, "by_col"_a);
    m.def("connected_components", &run_connected_components<Index>, "n_cols"_a,
          "indptr"_a.noconvert(), "indices"_a.noconvert(), "row_label"_a.noconvert(),
          "col_label"_a.noconvert());
    m.def("hall_violators", &run_hall_violators<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "row_mate"_a.noconvert(), "col_mate"_a.noconvert(),
          "row_piece"_a.noconvert(), "col_piece"_a.noconvert(), "rows"_a.noconvert(),
          "mates"_a.noconvert(), "starts"_a.noconvert());
    m.def("take_diagonal", &run_take_diagonal<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "row_mate"_a.noconvert(), "col_mate"_a.noconvert());
    m.def("bfs_depth_to", &run_bfs_depth_to<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "t_indptr"_a.noconvert(), "t_indices"_a.noconvert(), "rows"_a);
    m.def("degree_statistics", &run_degree_statistics<Index>, "indptr"_a.noconvert());
    m.def("shared_pair_density", &run_shared_pair_density<Index>, "n_cols"_a,
          "indptr"_a.noconvert(), "indices"_a.noconvert());
    m.def("renumber", &run_renumber<Index>, "n_cols"_a, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "t_indptr"_a.noconvert(), "t_indices"_a.noconvert(),
          "row_order"_a.noconvert(), "row_place"_a.noconvert(), "col_order"_a.noconvert(),
          "new_indptr"_a.noconvert(), "workers"_a);
    m.def("permute_matching", &run_permute_matching<Index>, "row_place"_a.noconvert(),
          "col_order"_a.noconvert(), "col_mate"_a.noconvert(), "new_row_mate"_a.noconvert(),
          "new_col_mate"_a.noconvert());
    m.def("unpermute_matching", &run_unpermute_matching<Index>, "row_order"_a.noconvert(),
          "col_order"_a.noconvert(), "new_row_mate"_a.noconvert(), "new_col_mate"_a.noconvert(),
          "row_mate"_a.noconvert(), "col_mate"_a.noconvert(), "workers"_a);
    m.def("sort_by_label", &run_sort_by_label<Index>, "label"_a.noconvert(), "n_labels"_a,
          "order"_a.noconvert(), "starts"_a.noconvert());
    m.def("block_permutation", &run_block_permutation<Index>, "group"_a.noconvert(),
          "row_mate"_a.noconvert(), "n_square"_a, "row_perm"_a.noconvert(),
          "col_perm"_a.noconvert(), "starts"_a.noconvert());
}

}  // namespace

NB_MODULE(_core, m) {
    m.def("engines", &engines);
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
    bind_solver(m);
    bind_graph(m);
    bind_coarsen(m);
    bind_edge_file(m);
}
