// What Python calls to coarsen a graph by a matching.
#include <nanobind/stl/complex.h>

#include "bindings/nanobind_helpers.hpp"
#include "coarsening/galerkin_product.hpp"

using namespace sparsematch;

namespace {

// An array of Python's that owns what the core has made.
template <class T>
auto handed_over(Buffer<T>&& from, std::size_t n) {
    auto* buffer = new Buffer<T>(std::move(from));
    nb::capsule owner(buffer, [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(buffer->data(), {n}, owner);
}

template <class Index>
Index run_wrong_mate(In<Index> mate) {
    nb::gil_scoped_release release;
    return wrong_mate(mate.data(), static_cast<Index>(mate.size()));
}

template <class Index, class Value>
nb::tuple run_galerkin_product(In<Index> indptr, In<Index> indices, In<Value> values,
                               In<Index> mate, bool join, int workers) {
    const auto g = view(static_cast<Index>(mate.size()), indptr, indices);
    Aggregates<Index> parts;
    Coarse<Index, Value> out;
    Signals signals;
    {
        nb::gil_scoped_release release;
        ThreadTeam team(workers);
        RunContext run(team, Signals::poll, &signals, 0, false);
        parts = make_aggregates(g, values.data(), mate.data(), join, run);
        if (!run.stopped()) out = galerkin_product(g, values.data(), parts, run);
    }
    signals.rethrow();
    const std::size_t n = parts.count, nnz = out.indptr[n];
    return nb::make_tuple(
        handed_over(std::move(parts.label), mate.size()), handed_over(std::move(out.indptr), n + 1),
        handed_over(std::move(out.indices), nnz), handed_over(std::move(out.values), nnz));
}

template <class Index, class Value>
void bind_contract(nb::module_& m) {
    m.def("galerkin_product", run_galerkin_product<Index, Value>, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "values"_a.noconvert(), "mate"_a.noconvert(), "join"_a,
          "workers"_a);
}

template <class Index>
void bind(nb::module_& m) {
    m.def("wrong_mate", run_wrong_mate<Index>, "mate"_a.noconvert());
    bind_contract<Index, float>(m);
    bind_contract<Index, double>(m);
    bind_contract<Index, std::int64_t>(m);
    bind_contract<Index, std::complex<float>>(m);
    bind_contract<Index, std::complex<double>>(m);
}

}  // namespace

void sparsematch::bind_coarsen(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
