// What Python calls of the weighted package.
#include "bindings/nanobind_helpers.hpp"
#include "weighted/assignment.hpp"
#include "weighted/matched_entries.hpp"
#include "weighted/symmetric.hpp"

using namespace sparsematch;

namespace {

// Whether every row has a column.
template <class Index>
bool run_assignment(CsrArg<Index> matrix, In<double> cost, Sides<Index> mates, Sides<double> duals,
                    int workers) {
    return interruptible(workers, [&](RunContext& run) {
        const auto a = matrix.view();
        Assignment<Index> assignment(a, cost.data(), duals.first.data(), run);
        return assignment.solve(view(mates), duals.second.data());
    });
}

template <class Index>
void run_matched_entries(CsrArg<Index> a, In<Index> row_mate, Out<Index> entry, int workers) {
    interruptible(workers, [&](RunContext& run) {
        matched_entries(a.view(), row_mate.data(), entry.data(), run);
    });
}

// The position of an entry, or -1; the diagonal.
template <class Index>
Index run_unsymmetric_entry(CsrArg<Index> a, In<double> weight, Out<double> diagonal) {
    return interruptible(1, [&](RunContext& run) {
        return unsymmetric_entry(a.view(), weight.data(), diagonal.data(), run);
    });
}

template <class Index>
void run_largest_scaled(CsrArg<Index> a, In<double> weight, In<double> scale, Out<double> largest,
                        int workers) {
    interruptible(workers, [&](RunContext& run) {
        largest_scaled(a.view(), weight.data(), scale.data(), largest.data(), run);
    });
}

// mates: of the matching, and in the pivots.
template <class Index>
void run_make_pivots_ones(CsrArg<Index> a, In<double> weight, In<double> diagonal,
                          Sides<const Index> mates, Out<double> scale) {
    interruptible(1, [&](RunContext& run) {
        make_pivots_ones(a.view(), weight.data(), diagonal.data(), mates.first.data(),
                         mates.second.data(), scale.data(), run);
    });
}

template <class Index>
void run_split_pivots(In<double> diagonal, Sides<Index> mates, Out<Index> partner) {
    interruptible(1, [&](RunContext& run) {
        PivotSplit<Index> pivots(diagonal.data(), view(mates), partner.data());
        pivots.split(static_cast<Index>(partner.size()), run);
    });
}

template <class Index>
void bind(nb::module_& m) {
    m.def("assignment", run_assignment<Index>);
    m.def("matched_entries", run_matched_entries<Index>);
    m.def("unsymmetric_entry", run_unsymmetric_entry<Index>);
    m.def("largest_scaled", run_largest_scaled<Index>);
    m.def("make_pivots_ones", run_make_pivots_ones<Index>);
    m.def("split_pivots", run_split_pivots<Index>);
}

}  // namespace

void sparsematch::bind_weighted(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
