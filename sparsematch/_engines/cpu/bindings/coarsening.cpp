// What Python calls to coarsen a graph by a matching.
#include <nanobind/stl/complex.h>

#include "bindings/nanobind_helpers.hpp"
#include "coarsening/galerkin_product.hpp"

using namespace sparsematch;

namespace {

template <class Index, class Value>
nb::tuple run_galerkin_product(CsrArg<Index> matrix, In<Value> values, In<Index> mate, bool join,
                               int workers) {
    auto [parts, coarse] = interruptible(workers, [&](RunContext& run) {
        const auto g = view(matrix);
        auto parts = make_aggregates(g, values.data(), mate.data(), join, run);
        Coarse<Index, Value> coarse;
        if (!run.stopped()) coarse = galerkin_product(g, values.data(), parts, run);
        return std::pair(std::move(parts), std::move(coarse));
    });
    const std::size_t n = parts.count, nnz = coarse.indptr[n];
    const auto matrix_out =
        nb::make_tuple(owned(std::move(coarse.indptr), n + 1),
                       owned(std::move(coarse.indices), nnz), owned(std::move(coarse.values), nnz));
    return nb::make_tuple(owned(std::move(parts.label), mate.size()), matrix_out);
}

template <class Index> void bind(nb::module_& m) {
    m.def("wrong_mate", [](In<Index> mate) {
        const ReleasedGil released;
        return wrong_mate(mate.data(), static_cast<Index>(mate.size()));
    });
    m.def("galerkin_product", run_galerkin_product<Index, float>);
    m.def("galerkin_product", run_galerkin_product<Index, double>);
    m.def("galerkin_product", run_galerkin_product<Index, std::int64_t>);
    m.def("galerkin_product", run_galerkin_product<Index, std::complex<float>>);
    m.def("galerkin_product", run_galerkin_product<Index, std::complex<double>>);
}

}  // namespace

void sparsematch::bind_coarsening(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
