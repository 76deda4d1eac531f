// What Python calls of the weighted package.
#include "bindings/nanobind_helpers.hpp"
#include "weighted/bottleneck.hpp"
#include "weighted/capacitated_assignment.hpp"
#include "weighted/entry_values.hpp"
#include "weighted/least_cost_matching.hpp"
#include "weighted/product_batch.hpp"
#include "weighted/scale_factors.hpp"
#include "weighted/symmetric.hpp"

using namespace sparsematch;

namespace {

// Where the core's rows and columns are in an array of the user's rows, then columns.
template <class Index, class T>
std::pair<T*, T*> sides_of(T* both, const Csr<Index>& a, bool flipped) {
    return flipped ? std::pair{both + a.n_cols, both} : std::pair{both, both + a.n_rows};
}

// limits: the first two of AssignmentPolicy, for tests. warm: mates and duals to begin with.
template <class Index>
void run_least_cost(CsrArg<Index> matrix, In<double> cost, Out<Index> mates, Out<double> duals,
                    bool flipped, const Workers& workers,
                    std::optional<std::pair<double, double>> limits, bool warm) {
    AssignmentPolicy policy;
    if (limits) policy = {limits->first, limits->second};
    interruptible(workers, [&](RunContext& run) {
        const auto a = view(matrix);
        const auto [row_mate, col_mate] = sides_of(mates.data(), a, flipped);
        const auto [u, v] = sides_of(duals.data(), a, flipped);
        LeastCostMatching<Index>(a, cost.data(), {row_mate, col_mate}, u, v, policy, run)
            .solve(warm);
    });
}

// numbers: values, and costs if they are not to be their logarithms, else none. results: duals, and
// factors if scaling. flags: flipped, scaling, warm.
template <class Index>
std::pair<double, bool> run_largest_product(CsrArg<Index> matrix,
                                            std::pair<In<double>, In<double>> numbers,
                                            Out<Index> mates, Out<double> results,
                                            std::tuple<bool, bool, bool> flags,
                                            const Workers& workers) {
    return interruptible(workers, [&](RunContext& run) {
        const auto [flipped, scaling, warm] = flags;
        const auto a = view(matrix);
        const auto [row_mate, col_mate] = sides_of(mates.data(), a, flipped);
        const auto [u, v] = sides_of(results.data(), a, flipped);
        const auto [r, c] = sides_of(results.data() + (scaling ? mates.size() : 0), a, flipped);
        const ProductResult<Index> to{{row_mate, col_mate},  u, v,
                                      scaling ? r : nullptr, c, flipped};
        const auto& [values, costs] = numbers;
        const auto logs = costs.size() ? Buffer<double>() : product_costs(a, values.data(), run);
        const double* const cost = costs.size() ? costs.data() : logs.data();
        return largest_product(a, values.data(), cost, to, {}, warm, run);
    });
}

// The first matrix with a value that is not finite, or how many there are, and the passes made over
// the pattern. Arrays of scales, of first mates and duals, and the order are empty where there are
// none. flags: flipped, auction_first, costs.
template <class Index>
std::pair<std::int64_t, double> run_product_batch(
    CsrArg<Index> matrix, std::pair<In<double>, In<std::int64_t>> values, Sides<Index> mates,
    Sides<double> duals, Sides<double> scales, std::pair<Out<double>, Out<bool>> numbers,
    std::pair<In<Index>, In<double>> first, std::tuple<bool, bool, bool> flags, int workers) {
    return interruptible(workers, [&](RunContext& run) {
        const auto [flipped, auction_first, costs] = flags;
        const auto n = static_cast<std::int64_t>(numbers.first.size());
        const bool scaling = numbers.second.size() > 0, warm = first.second.size() > 0;
        const auto a = view(matrix);
        const auto n_values = static_cast<std::int64_t>(values.first.size());
        const ProductBatch<Index> batch{
            .value = values.first.data(),
            .n_values = n_values / std::max<std::int64_t>(n, 1),
            .order = values.second.size() ? values.second.data() : nullptr,
            .to = {view(mates), duals.first.data(), duals.second.data(),
                   scaling ? scales.first.data() : nullptr, scales.second.data(), flipped},
            .objective = numbers.first.data(),
            .in_range = numbers.second.data(),
            .first_mates = first.first.data(),
            .first_v = warm ? first.second.data() : nullptr,
            .auction_first = auction_first,
            .costs = costs};
        ProductBatchSearch<Index> search(a, batch, run);
        const std::int64_t bad = search.solve(n);
        return std::pair{bad, search.passes()};
    });
}

template <class Index>
void run_split_pivots(In<double> diagonal, Sides<Index> mates, Out<Index> partner) {
    interruptible(1, [&](RunContext& run) {
        PivotSplit<Index> pivots(diagonal.data(), view(mates), partner.data());
        pivots.split(static_cast<Index>(partner.size()), run);
    });
}

template <class Index> void bind(nb::module_& m) {
    m.def("bottleneck", Bound<bottleneck<Index>>::by_workers);
    m.def("read_values", Bound<read_values<Index>>::by_workers);
    m.def("matched_sum", Bound<matched_sum<Index>>::by_workers);
    m.def("largest_product", run_largest_product<Index>);
    m.def("least_cost", run_least_cost<Index>, "matrix"_a, "cost"_a, "mates"_a, "duals"_a,
          "flipped"_a, "workers"_a, "limits"_a = nb::none(), "warm"_a = false);
    m.def("least_cost_in_capacities", Bound<CapacitatedAssignment<Index>::solve>::by_workers);
    m.def("product_batch", run_product_batch<Index>);
    m.def("unsymmetric_entry", Bound<unsymmetric_entry<Index>>::alone);
    m.def("largest_scaled", Bound<largest_scaled<Index>>::by_workers);
    m.def("make_pivots_ones", Bound<make_pivots_ones<Index>>::alone);
    m.def("split_pivots", run_split_pivots<Index>);
}

}  // namespace

void sparsematch::bind_weighted(nb::module_& m) {
    bind<std::int32_t>(m);
    bind<std::int64_t>(m);
}
