// What Python calls of the ordering package: features of a matrix.
#include "bindings/nanobind_helpers.hpp"
#include "ordering/features.hpp"

using namespace sparsematch;

namespace {

template <class Index>
std::tuple<std::int64_t, std::int64_t, std::int64_t> run_degree_statistics(In<Index> indptr) {
    const Csr<Index> a{static_cast<Index>(indptr.size() - 1), 0, indptr.data(), nullptr};
    const auto [squares, ones, empty] = degree_statistics(a);
    return {squares, ones, empty};
}

template <class Index>
std::uint64_t run_column_squares(CsrArg<Index> a) {
    const ReleasedGil released;
    return column_squares(a.view());
}

template <class Index>
double run_share_of_columns_with_one(CsrArg<Index> a) {
    const ReleasedGil released;
    return share_of_columns_with_one(a.view());
}

template <class Index>
double run_shared_pair_density(CsrArg<Index> a) {
    const ReleasedGil released;
    return shared_pair_density(a.view());
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
    m.def("column_squares", run_column_squares<Index>);
    m.def("share_of_columns_with_one", run_share_of_columns_with_one<Index>);
    m.def("shared_pair_density", run_shared_pair_density<Index>);
}

}  // namespace

void sparsematch::bind_ordering(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
