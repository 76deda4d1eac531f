// What Python calls of the decomposition package.
#include "bindings/nanobind_helpers.hpp"
#include "decomposition/block_form_check.hpp"
#include "decomposition/block_permutation.hpp"
#include "decomposition/connected_components.hpp"
#include "decomposition/dulmage_mendelsohn.hpp"
#include "decomposition/hall_violators.hpp"

using namespace sparsematch;

namespace {

// Forced of run_engine.py: rows, and how many were forced by their row and by their column.
template <class Index> using ForcedArg = std::tuple<In<Index>, std::int64_t, std::int64_t>;

template <class Index>
Index run_block_labels(CsrArg<Index> matrix, const std::optional<CsrArg<Index>>& transposed,
                       Sides<const Index> mates, Out<Index> row_group,
                       const std::optional<ForcedArg<Index>>& given, const Workers& workers) {
    return interruptible(workers, [&](RunContext& run) {
        const auto a = view(matrix), t = transposed ? view(*transposed) : Csr<Index>{};
        if (given) {
            const auto& [rows, by_row, by_col] = *given;
            run.forced = {const_cast<Index*>(rows.data()), by_row, by_col};
        }
        return block_labels(a, transposed ? &t : nullptr, view(mates), row_group.data(), run);
    });
}

template <class Index> void bind(nb::module_& m) {
    m.def("block_labels", run_block_labels<Index>, "matrix"_a, "transposed"_a.none(), "mates"_a,
          "row_group"_a, "forced"_a.none(), "workers"_a);
    m.def("coarse_parts", Bound<label_coarse_parts<Index>>::alone);
    m.def("is_block_form", Bound<is_block_form<Index>>::alone);
    m.def("connected_components", Bound<connected_components<Index>>::alone);
    m.def("component_units", Bound<component_units<Index>>::alone);
    m.def("hall_violators", Bound<hall_violators<Index>>::alone);
    m.def("sort_by_label", Bound<sort_by_label<Index>>::alone);
    m.def("block_permutation", Bound<block_permutation<Index>>::by_workers);
}

}  // namespace

void sparsematch::bind_decomposition(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
