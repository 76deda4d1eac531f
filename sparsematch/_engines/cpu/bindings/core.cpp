// The module, and what Python calls of the core package.
#include "bindings/nanobind_helpers.hpp"
#include "core/certificates.hpp"
#include "core/transpose.hpp"

using namespace sparsematch;

namespace {

// Of a BipartiteCSR with arrays of any type and length; -1, too, where they are not all of these
// indices, or a side is longer than other users of the numbers bear: INT32_MAX of compressed.py.
template <class Index> std::int64_t count_entries_of(const nb::tuple& graph, int workers) {
    constexpr std::int64_t longest = std::numeric_limits<Index>::max() - 7;
    auto n_rows = nb::cast<std::int64_t>(graph[0]), n_cols = nb::cast<std::int64_t>(graph[1]);
    if (nb::cast<bool>(graph[5])) std::swap(n_rows, n_cols);  // flipped
    if (std::min(n_rows, n_cols) < 0 || std::max(n_rows, n_cols) > longest) return -1;
    const LentArray<const Index> starts(graph[2]), lists(graph[3]);
    if (!starts.fits_vector(n_rows + 1) || !lists.fits_vector(lists.length())) return -1;
    const Csr<Index> a{static_cast<Index>(n_rows), static_cast<Index>(n_cols), starts.data(),
                       lists.data()};
    return interruptible(workers,
                         [&](RunContext& run) { return count_entries(a, lists.length(), run); });
}

template <class Index> void bind(nb::module_& m) {
    m.def("transpose", Bound<transpose<Index>>::by_workers);
    m.def("check_matching", Bound<check_matching<Index>>::alone);
    m.def("free_entry", Bound<free_entry<Index>>::alone);
    m.def("vertex_cover", Bound<koenig_cover<Index>>::by_workers);
}

}  // namespace

NB_MODULE(_core, m) {
    m.attr("source_digest") = SPARSEMATCH_SOURCE_DIGEST;
    m.def("count_entries", [](const nb::tuple& graph, int workers) {
        const auto small = count_entries_of<std::int32_t>(graph, workers);
        return small >= 0 ? small : count_entries_of<std::int64_t>(graph, workers);
    });
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
