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
template <class Index>
using ForcedArg = std::tuple<In<Index>, std::int64_t, std::int64_t>;

template <class Index>
Index run_block_labels(CsrArg<Index> matrix, const std::optional<CsrArg<Index>>& transposed,
                       Sides<const Index> mates, Out<Index> row_group,
                       const std::optional<ForcedArg<Index>>& given, int workers) {
    return interruptible(workers, [&](RunContext& run) {
        const auto a = matrix.view(), t = transposed ? transposed->view() : Csr<Index>{};
        if (given) {
            const auto& [rows, by_row, by_col] = *given;
            run.forced = {const_cast<Index*>(rows.data()), by_row, by_col};
        }
        return block_labels(a, transposed ? &t : nullptr, view(mates), row_group.data(), run);
    });
}

template <class Index>
bool run_is_block_form(CsrArg<Index> matrix, Sides<const Index> mates, Sides<const Index> blocks,
                       Index n_blocks) {
    const auto a = matrix.view();
    return interruptible(1, [&](RunContext& run) {
        return BlockFormCheck<Index>(a, view(mates), blocks.first.data(), blocks.second.data(),
                                     n_blocks)
            .holds(run);
    });
}

template <class Index>
Index run_connected_components(CsrArg<Index> a, Sides<Index> labels) {
    return interruptible(1, [&](RunContext& run) {
        return connected_components(a.view(), labels.first.data(), labels.second.data(), run);
    });
}

template <class Index>
Index run_hall_violators(CsrArg<Index> matrix, Sides<const Index> mates, Sides<Index> pieces,
                         Out<Index> rows, Out<Index> partners, Out<Index> starts) {
    return interruptible(1, [&](RunContext& run) {
        const auto a = matrix.view();
        DeficientPieces<Index> part(a, view(mates), run);
        const Index n = part.label(pieces.first.data(), pieces.second.data());
        part.renumber(n);
        HallViolators<Index>(part, run).find(n, rows.data(), partners.data(), starts.data());
        return n;
    });
}

template <class Index>
void run_sort_by_label(In<Index> label, Index n_labels, Out<Index> order, Out<Index> starts) {
    const ReleasedGil released;
    sort_by_label(label.data(), static_cast<Index>(label.size()), n_labels, order.data(),
                  starts.data());
}

template <class Index>
void run_block_permutation(In<Index> group, In<Index> row_mate, Index n_square, Sides<Index> perms,
                           Out<Index> starts, int workers) {
    const ReleasedGil released;
    ThreadTeam team(workers);
    const auto& [rows, cols] = perms;
    block_permutation(group.data(), row_mate.data(), static_cast<Index>(rows.size()),
                      static_cast<Index>(cols.size()), n_square, rows.data(), cols.data(),
                      starts.data(), team);
}

template <class Index>
void bind(nb::module_& m) {
    m.def("block_labels", run_block_labels<Index>, "matrix"_a, "transposed"_a.none(), "mates"_a,
          "row_group"_a, "forced"_a.none(), "workers"_a);
    m.def("is_block_form", run_is_block_form<Index>);
    m.def("connected_components", run_connected_components<Index>);
    m.def("hall_violators", run_hall_violators<Index>);
    m.def("sort_by_label", run_sort_by_label<Index>);
    m.def("block_permutation", run_block_permutation<Index>);
}

}  // namespace

void sparsematch::bind_decomposition(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
