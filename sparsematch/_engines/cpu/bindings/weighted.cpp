// What Python calls of the weighted package.
#include "bindings/nanobind_helpers.hpp"
#include "weighted/least_cost_matching.hpp"
#include "weighted/matched_entries.hpp"

using namespace sparsematch;

namespace {

template <class Index>
void run_least_cost(CsrArg<Index> matrix, In<double> cost, Sides<Index> mates, Sides<double> duals,
                    int workers) {
    interruptible(workers, [&](RunContext& run) {
        const auto a = matrix.view();
        double *u = duals.first.data(), *v = duals.second.data();
        LeastCostMatching<Index>(a, cost.data(), view(mates), u, v, run).solve();
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
    m.def("least_cost", run_least_cost<Index>);
    m.def("matched_entries", run_matched_entries<Index>);
}

}  // namespace

void sparsematch::bind_weighted(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
