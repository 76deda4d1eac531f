// The module, and what Python calls of the core package.
#include "bindings/lent_pattern.hpp"
#include "core/certificates.hpp"
#include "core/free_rows.hpp"
#include "core/transpose.hpp"

using namespace sparsematch;

namespace {

template <class Index> void bind(nb::module_& m) {
    m.def("transpose", Bound<transpose<Index>>::by_workers);
    m.def("count_free", Bound<count_free<Index>>::by_workers);
    m.def("check_matching", Bound<check_matching<Index>>::alone);
    m.def("free_entry", Bound<free_entry<Index>>::alone);
    m.def("vertex_cover", Bound<koenig_cover<Index>>::by_workers);
}

}  // namespace

NB_MODULE(_core, m) {
    m.attr("source_digest") = SPARSEMATCH_SOURCE_DIGEST;
    m.def("count_entries", [](const nb::tuple& graph, int workers) {
        const auto count = [&]<class Index>() -> std::optional<std::int64_t> {
            const LentPattern<Index> given(graph);
            if (!given.fits) return {};
            return interruptible(workers, [&](RunContext& run) {
                return count_entries(given.a, given.lists.length(), run);
            });
        };
        return by_index_type(count).value_or(-1);
    });
    m.def("set_main_thread", [](std::uint64_t ident) { main_thread = ident; });
    nb::class_<KeptTeam>(m, "KeptTeam")
        .def(nb::init<>())
        .def("__enter__", &KeptTeam::enter)
        .def("__exit__", [](KeptTeam& team, const nb::args&) { team.leave(); });
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
