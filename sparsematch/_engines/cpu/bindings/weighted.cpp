// What Python calls of the weighted package.
#include "bindings/nanobind_helpers.hpp"
#include "weighted/assignment.hpp"
#include "weighted/matched_entries.hpp"

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

template <class Index>
void bind(nb::module_& m) {
    m.def("assignment", run_assignment<Index>);
    m.def("matched_entries", run_matched_entries<Index>);
}

}  // namespace

void sparsematch::bind_weighted(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
