// Bindings of the solvers: block plans and factorisations as Python objects, their arrays copied
// out, the GIL released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/nanobind_helpers.hpp"
#include "lu/gilbert_peierls.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/quick_analysis.hpp"
#include "lu/symbolic.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {
namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
auto owned(T* data, std::size_t n) {
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {n}, owner);
}
template <class T>
auto copied(const T* from, std::size_t n) {
    auto* data = new T[n];
    std::copy(from, from + n, data);
    return owned(data, n);
}
template <class T>
auto copied(const std::vector<T>& from) {
    return copied(from.data(), from.size());
}

template <class Index>
std::vector<Index> to_vector(const In<Index>& from) {
    return {from.data(), from.data() + from.size()};
}
template <class Index>
std::vector<Index> to_vector(nb::handle from) {
    return to_vector(nb::cast<In<Index>>(from));
}

// limits: work_per_entry, fill, always_inside.
template <class Index>
typename BlockPlan<Index>::Limits plan_limits(nb::handle limits) {
    const auto [work_per_entry, fill, always_inside] =
        nb::cast<std::tuple<double, double, Index>>(limits);
    return {work_per_entry, fill, always_inside};
}

template <class Index>
BlockPlan<Index>* make_plan(In<Index> indptr, In<Index> indices, In<Index> row_perm,
                            In<Index> col_perm, In<Index> starts, In<bool> external_only,
                            nb::tuple limits) {
    const auto a = view(static_cast<Index>(row_perm.size()), indptr, indices);
    const auto checked = plan_limits<Index>(limits);
    nb::gil_scoped_release release;
    Planner<Index> planner(a, {to_vector(row_perm), to_vector(col_perm), to_vector(starts)},
                           external_only.data(), nullptr, checked);
    return new BlockPlan<Index>(planner.make());
}

// The block's columns: indptr, rows, the places of the entries in the user's values, and how many
// entries L + U would have if pivots stay on the diagonal; 0 if rows and columns are in the user's
// order.
template <class Index>
nb::tuple block(const BlockPlan<Index>& plan, Index k, bool ascending) {
    const Index first = plan.starts[k];
    const auto begin = plan.inner_start[first];
    const auto count = static_cast<std::size_t>(plan.inner_start[plan.starts[k + 1]] - begin);
    std::vector<Index> indptr;
    for (Index c = first; c <= plan.starts[k + 1]; ++c)
        indptr.push_back(static_cast<Index>(plan.inner_start[c] - begin));
    auto rows = copied(plan.inner_row.data() + begin, count),
         from = copied(plan.inner_from.data() + begin, count);
    std::vector<std::pair<Index, Index>> column;
    for (std::size_t c = 0; ascending && c + 1 < indptr.size(); ++c) {
        column.clear();
        for (Index p = indptr[c]; p < indptr[c + 1]; ++p)
            column.emplace_back(rows.data()[p], from.data()[p]);
        std::sort(column.begin(), column.end());
        for (Index p = indptr[c]; p < indptr[c + 1]; ++p)
            std::tie(rows.data()[p], from.data()[p]) = column[p - indptr[c]];
    }
    return nb::make_tuple(copied(indptr), rows, from,
                          plan.external[k] > BlockPlan<Index>::as_given ? plan.external[k] : 0.0);
}

template <class Index>
bool run_is_canonical(In<Index> indptr, In<Index> indices) {
    nb::gil_scoped_release release;
    return indptr.size() > 0 && is_canonical(indptr.data(), static_cast<Index>(indptr.size() - 1),
                                             indices.data(), indices.size());
}

template <class Index>
void bind_plan(nb::module_& m, const char* name) {
    using Plan = BlockPlan<Index>;
    nb::class_<Plan>(m, name)
        .def_prop_ro(
            "row_perm", [](const Plan& plan) { return copied(plan.row_perm); }, nb::rv_policy::move)
        .def_prop_ro(
            "col_perm", [](const Plan& plan) { return copied(plan.col_perm); }, nb::rv_policy::move)
        .def_prop_ro("outside",
                     [](const Plan& plan) {
                         std::vector<Index> out;
                         for (Index k = 0; k < plan.n_blocks(); ++k)
                             if (plan.external[k] > 0) out.push_back(k);
                         return out;
                     })
        .def_prop_ro("n_upper", [](const Plan& plan) { return plan.upper_row.size(); })
        .def("block", &block<Index>, "k"_a, "ascending"_a);
    m.def("block_plan", &make_plan<Index>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
          "row_perm"_a.noconvert(), "col_perm"_a.noconvert(), "starts"_a.noconvert(),
          "external_only"_a.noconvert(), "limits"_a);
    m.def(
        "equal",
        [](In<Index> x, In<Index> y) {
            return std::equal(x.data(), x.data() + x.size(), y.data(), y.data() + y.size());
        },
        "x"_a.noconvert(), "y"_a.noconvert());
    m.def("is_canonical", &run_is_canonical<Index>, "indptr"_a.noconvert(),
          "indices"_a.noconvert());
}

template <class Index, class Value>
nb::tuple factorise(BlockLU<Index, Value>& lu, In<Value> values, bool again) {
    Signals signals;
    Outcome outcome;
    {
        nb::gil_scoped_release release;
        ThreadTeam team(1);
        RunContext run(team, Signals::poll, &signals, 0, false);
        outcome = again ? lu.refactorise(values.data(), run) : lu.factorise(values.data(), run);
    }
    signals.rethrow();
    return nb::make_tuple(static_cast<int>(outcome), lu.trouble);
}

template <class Index, class Value>
void solve(const BlockLU<Index, Value>& lu, Matrix<Value> x, Index first, Index last, int side) {
    nb::gil_scoped_release release;
    TriangularSolve<Index, Value>(lu, x.data(), static_cast<std::int64_t>(x.shape(1)))
        .run(first, last, static_cast<Side>(side));
}

// given: None, the mates of the rows, or the three arrays of a form. Returns None where no perfect
// matching is at hand; else the form, the largest absolute value, the 1-norm, the number of weak
// pivots, and a plan, or None in its place where the diagonal is too weak.
template <class Index, class Value>
nb::object run_quick_analysis(In<Index> indptr, In<Index> indices, In<Value> values,
                              nb::object given, nb::tuple limits) {
    const auto n = static_cast<Index>(indptr.size() - 1);
    const auto a = view(n, indptr, indices);
    if (values.size() < static_cast<std::size_t>(a.nnz()))
        throw nb::value_error("there are fewer values than entries");
    SquareForm<Index> form;
    const Index* mates = nullptr;
    if (nb::isinstance<nb::tuple>(given))
        form = {to_vector<Index>(given[0]), to_vector<Index>(given[1]), to_vector<Index>(given[2])};
    else if (!given.is_none()) mates = nb::cast<In<Index>>(given).data();
    const QuickLimits<Index> quick_limits{
        nb::cast<std::int64_t>(limits[0]), nb::cast<std::int64_t>(limits[1]),
        nb::cast<double>(limits[2]), nb::cast<Index>(limits[3]), plan_limits<Index>(limits[4])};
    QuickAnalysis<Index> found;
    interruptible([&](RunContext& run) {
        found = quick_analysis(a, values.data(), std::move(form), mates, quick_limits, run);
        return true;
    });
    if (found.form.starts.empty()) return nb::none();
    return nb::make_tuple(copied(found.form.row_perm), copied(found.form.col_perm),
                          copied(found.form.starts), found.norms.largest, found.norms.norm,
                          found.n_weak,
                          nb::cast(found.plan.release(), nb::rv_policy::take_ownership));
}

template <class Index, class Value>
void bind_lu(nb::module_& m, const char* name) {
    using LU = BlockLU<Index, Value>;
    nb::class_<LU>(m, name)
        .def("factorise", &factorise<Index, Value>, "values"_a.noconvert(), "again"_a)
        .def("solve", &solve<Index, Value>, "x"_a.noconvert(), "first"_a, "last"_a, "side"_a)
        .def_prop_ro(
            "row_of", [](const LU& lu) { return copied(lu.row_of); }, nb::rv_policy::move)
        .def_prop_ro("entries", &LU::entries)
        .def_ro("largest_u", &LU::largest_u);
    m.def(
        "block_lu", [](const BlockPlan<Index>& plan, In<Value>) { return new LU(plan); }, "plan"_a,
        "values"_a.noconvert(), nb::keep_alive<0, 1>());
    m.def(
        "survey",
        [](In<Index> indptr, In<Value> values) {
            ValueNorms out;
            {
                nb::gil_scoped_release release;
                out = value_norms(indptr.data(), static_cast<Index>(indptr.size() - 1),
                                  values.data());
            }
            return nb::make_tuple(out.largest, out.norm);
        },
        "indptr"_a.noconvert(), "values"_a.noconvert());
    m.def(
        "take",
        [](In<Value> values, In<Index> places) {
            auto* data = new Value[places.size()];
            for (std::size_t p = 0; p < places.size(); ++p)
                data[p] = values.data()[places.data()[p]];
            return owned(data, places.size());
        },
        "values"_a.noconvert(), "places"_a.noconvert());
    m.def(
        "steady_diagonal",
        [](In<Index> indptr, In<Index> rows, In<Value> values) {
            return steady_diagonal(indptr.data(), rows.data(),
                                   static_cast<Index>(indptr.size() - 1), values.data());
        },
        "indptr"_a.noconvert(), "rows"_a.noconvert(), "values"_a.noconvert());
    m.def("quick_analysis", &run_quick_analysis<Index, Value>, "indptr"_a.noconvert(),
          "indices"_a.noconvert(), "values"_a.noconvert(), "given"_a.none(), "limits"_a);
}

}  // namespace

void bind_solver(nb::module_& m) {
    bind_plan<std::int32_t>(m, "BlockPlan32");
    bind_plan<std::int64_t>(m, "BlockPlan64");
    bind_lu<std::int32_t, double>(m, "BlockLU32");
    bind_lu<std::int64_t, double>(m, "BlockLU64");
    bind_lu<std::int32_t, std::complex<double>>(m, "BlockLUComplex32");
    bind_lu<std::int64_t, std::complex<double>>(m, "BlockLUComplex64");
}

}  // namespace sparsematch
