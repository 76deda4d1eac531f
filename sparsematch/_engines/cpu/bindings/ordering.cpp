// What Python calls of the ordering package: features of a matrix.
#include "bindings/nanobind_helpers.hpp"
#include "ordering/features.hpp"

using namespace sparsematch;

namespace {

template <class Index> void bind(nb::module_& m) {
    m.def("order_features", [](CsrArg<Index> a) { return order_features(view(a)); });
    m.def("degree_statistics", Bound<degree_statistics<Index>>::by_workers);
    m.def("column_statistics", Bound<column_statistics<Index>>::by_workers);
    m.def("shared_pair_density", Bound<shared_pair_density<Index>>::by_workers);
}

}  // namespace

void sparsematch::bind_ordering(nb::module_& m) {
    nb::class_<DegreeStatistics>(m, "DegreeStatistics")
        .def_ro("n", &DegreeStatistics::n)
        .def_ro("entries", &DegreeStatistics::entries)
        .def_ro("squares", &DegreeStatistics::squares)
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
