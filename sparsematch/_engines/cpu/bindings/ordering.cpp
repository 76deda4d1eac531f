// What Python calls of the ordering package: features of a matrix, and the renumbering.
#include "bindings/nanobind_helpers.hpp"
#include "ordering/features.hpp"
#include "ordering/parallel_bfs_renumbering.hpp"
#include "ordering/permute_matching.hpp"
#include "ordering/visit_order.hpp"

using namespace sparsematch;

namespace {

template <class Index>
std::pair<std::int64_t, std::int64_t> run_degree_statistics(In<Index> indptr) {
    const Csr<Index> a{static_cast<Index>(indptr.size() - 1), 0, indptr.data(), nullptr};
    const auto [squares, ones] = degree_statistics(a);
    return {squares, ones};
}

template <class Index>
std::uint64_t run_column_squares(CsrArg<Index> a) {
    nb::gil_scoped_release release;
    return column_squares(a.view());
}

template <class Index>
double run_shared_pair_density(CsrArg<Index> a) {
    nb::gil_scoped_release release;
    return shared_pair_density(a.view());
}

template <class Index>
Index run_bfs_depth_to(CsrArg<Index> a, CsrArg<Index> transposed, Index rows) {
    return interruptible(
        1, [&](RunContext& run) { return bfs_depth_to(a.view(), transposed.view(), rows, run); });
}

template <class Index>
void run_renumber(CsrArg<Index> a, Sides<Index> transposed, Out<Index> row_order,
                  Out<Index> row_place, Out<Index> col_order, Out<Index> new_indptr, int workers) {
    interruptible(workers, [&](RunContext& run) {
        const auto& [indptr, indices] = transposed;
        const Csr<Index> t{a.view().n_cols, a.view().n_rows, indptr.data(), indices.data()};
        const Renumbered<Index> to{row_order.data(), row_place.data(), col_order.data(),
                                   new_indptr.data(), indices.data()};
        renumber(a.view(), t, to, run);
    });
}

template <class Index>
void run_permute_matching(In<Index> row_place, In<Index> col_order, In<Index> col_mate,
                          Sides<Index> new_mates) {
    nb::gil_scoped_release release;
    permute_matching(static_cast<Index>(col_order.size()), row_place.data(), col_order.data(),
                     col_mate.data(), view(new_mates));
}

template <class Index>
void run_unpermute_matching(In<Index> row_order, In<Index> col_order, Sides<const Index> new_mates,
                            Sides<Index> mates, int workers) {
    nb::gil_scoped_release release;
    ThreadTeam team(workers);
    unpermute_matching(static_cast<Index>(mates.first.size()),
                       static_cast<Index>(mates.second.size()), row_order.data(), col_order.data(),
                       new_mates.first.data(), new_mates.second.data(), view(mates), team);
}

template <class Index>
void bind(nb::module_& m) {
    m.def("degree_statistics", run_degree_statistics<Index>);
    m.def("column_squares", run_column_squares<Index>);
    m.def("shared_pair_density", run_shared_pair_density<Index>);
    m.def("bfs_depth_to", run_bfs_depth_to<Index>);
    m.def("renumber", run_renumber<Index>);
    m.def("permute_matching", run_permute_matching<Index>);
    m.def("unpermute_matching", run_unpermute_matching<Index>);
}

}  // namespace

void sparsematch::bind_ordering(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
