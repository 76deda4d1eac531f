// What Python calls of the ordering package: features of a matrix.
#include "bindings/nanobind_helpers.hpp"
#include "ordering/features.hpp"

using namespace sparsematch;

namespace {

// Calls measure(team) with no more threads than there is work for, in entries or rows.
template <class Measure>
auto over_workers(std::int64_t work, int workers, const Measure& measure) {
    constexpr std::int64_t share = 1 << 18;  // work that repays waking a thread
    const ReleasedGil released;
    ThreadTeam team(static_cast<int>(std::clamp<std::int64_t>(work / share, 1, workers)));
    return measure(team);
}

template <class Index>
auto run_degree_statistics(In<Index> indptr, int workers) {
    const Csr<Index> a{static_cast<Index>(indptr.size() - 1), 0, indptr.data(), nullptr};
    return over_workers(a.n_rows, workers,
                        [&](ThreadTeam& team) { return degree_statistics(a, team); });
}

template <class Index>
auto run_column_statistics(CsrArg<Index> matrix, int workers) {
    const auto a = matrix.view();
    return over_workers(a.nnz(), workers,
                        [&](ThreadTeam& team) { return column_statistics(a, team); });
}

template <class Index>
double run_shared_pair_density(CsrArg<Index> matrix, int workers) {
    const auto a = matrix.view();
    return over_workers(a.nnz() / 4, workers,
                        [&](ThreadTeam& team) { return shared_pair_density(a, team); });
}

template <class Index>
void bind(nb::module_& m) {
    m.def("order_features", [](CsrArg<Index> a) { return order_features(a.view()); });
    m.def("degree_statistics", run_degree_statistics<Index>);
    m.def("column_statistics", run_column_statistics<Index>);
    m.def("shared_pair_density", run_shared_pair_density<Index>);
}

}  // namespace

void sparsematch::bind_ordering(nb::module_& m) {
    nb::class_<DegreeStatistics>(m, "DegreeStatistics")
        .def_ro("n", &DegreeStatistics::n)
        .def_ro("entries", &DegreeStatistics::entries)
        .def_ro("squares", &DegreeStatistics::squares)
        .def_ro("n_ones", &DegreeStatistics::n_ones)
        .def_ro("empty", &DegreeStatistics::empty)
        .def_prop_ro("mean", &DegreeStatistics::mean)
        .def_prop_ro("variation", &DegreeStatistics::variation)
        .def_prop_ro("ones", &DegreeStatistics::ones);
    nb::class_<OrderFeatures>(m, "OrderFeatures")
        .def_ro("pairs", &OrderFeatures::pairs)
        .def_ro("near", &OrderFeatures::near)
        .def_ro("far", &OrderFeatures::far)
        .def_ro("ascending", &OrderFeatures::ascending)
        .def("are_near", &OrderFeatures::are_near);
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
