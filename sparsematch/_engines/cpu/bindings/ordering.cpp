// What Python calls of the ordering package: features of a matrix.
#include "bindings/nanobind_helpers.hpp"
#include "ordering/features.hpp"

using namespace sparsematch;

namespace {

// Calls measure(team) with no more threads than there is work for: as many entries, or rows.
template <class Measure>
auto over_workers(std::int64_t work, int workers, const Measure& measure) {
    constexpr std::int64_t share = 1 << 18;
    const ReleasedGil released;
    ThreadTeam team(static_cast<int>(std::clamp<std::int64_t>(work / share, 1, workers)));
    return measure(team);
}

auto as_tuple(const DegreeStatistics& s) {
    return std::tuple{s.n, s.entries, s.squares, s.ones, s.empty};
}

template <class Index>
auto run_degree_statistics(In<Index> indptr, int workers) {
    const Csr<Index> a{static_cast<Index>(indptr.size() - 1), 0, indptr.data(), nullptr};
    return over_workers(a.n_rows, workers,
                        [&](ThreadTeam& team) { return as_tuple(degree_statistics(a, team)); });
}

template <class Index>
auto run_column_statistics(CsrArg<Index> matrix, int workers) {
    const auto a = matrix.view();
    return over_workers(a.nnz(), workers,
                        [&](ThreadTeam& team) { return as_tuple(column_statistics(a, team)); });
}

template <class Index>
double run_shared_pair_density(CsrArg<Index> matrix, int workers) {
    const auto a = matrix.view();
    return over_workers(a.nnz() / 4, workers,
                        [&](ThreadTeam& team) { return shared_pair_density(a, team); });
}

template <class Index>
nb::tuple run_order_signs(CsrArg<Index> a) {
    const auto [pairs, near, far, ascending] = order_signs(a.view());
    return nb::make_tuple(pairs, near, far, ascending);
}

template <class Index>
void bind(nb::module_& m) {
    m.def("order_signs", run_order_signs<Index>);
    m.def("degree_statistics", run_degree_statistics<Index>);
    m.def("column_statistics", run_column_statistics<Index>);
    m.def("shared_pair_density", run_shared_pair_density<Index>);
}

}  // namespace

void sparsematch::bind_ordering(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
