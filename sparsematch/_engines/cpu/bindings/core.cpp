// The module, and what Python calls of the core package: arrays in, arrays out, the GIL released in
// between.
#include <nanobind/stl/string.h>

#include "bindings/nanobind_helpers.hpp"
#include "core/certificates.hpp"
#include "core/transpose.hpp"

using namespace sparsematch;

namespace {

template <class Index>
void run_transpose(CsrArg<Index> a, Sides<Index> lists, int workers) {
    interruptible(workers, [&](RunContext& run) {
        transpose(a.view(), lists.first.data(), lists.second.data(), run);
    });
}

template <class Index>
std::tuple<const char*, Index, Index> run_check_matching(CsrArg<Index> a,
                                                         Sides<const Index> mates) {
    const auto found = interruptible(
        1, [&](RunContext& run) { return check_matching(a.view(), view(mates), run); });
    return {found.fault, found.i, found.j};
}

template <class Index>
std::pair<Index, Index> run_free_entry(CsrArg<Index> a, Sides<const Index> mates) {
    const auto found =
        interruptible(1, [&](RunContext& run) { return free_entry(a.view(), view(mates), run); });
    return {found.i, found.j};
}

template <class Index>
bool run_cover(CsrArg<Index> a, Sides<const Index> mates, Sides<bool> cover, int workers) {
    return interruptible(workers, [&](RunContext& run) {
        return koenig_cover(a.view(), view(mates), cover.first.data(), cover.second.data(), run);
    });
}

template <class Index>
void bind(nb::module_& m) {
    m.def("transpose", run_transpose<Index>);
    m.def("check_matching", run_check_matching<Index>);
    m.def("free_entry", run_free_entry<Index>);
    m.def("vertex_cover", run_cover<Index>);
}

}  // namespace

NB_MODULE(_core, m) {
    m.attr("source_digest") = SPARSEMATCH_SOURCE_DIGEST;
    m.def("set_main_thread", [](std::uint64_t ident) { main_thread = ident; });
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
    bind_matching(m);
    bind_over_ranks(m);
    bind_ordering(m);
    bind_decomposition(m);
    bind_weighted(m);
    bind_graph(m);
    bind_coarsening(m);
    bind_stream(m);
    bind_lu(m);
    bind_qr(m);
#ifdef SPARSEMATCH_FAILING_NEW
    bind_failing_new(m);
#endif
}
