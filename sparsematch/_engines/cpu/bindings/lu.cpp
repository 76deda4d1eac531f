// Bindings of the solvers: block plans and factorisations as Python objects, their arrays copied
// out, the GIL released in between.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/nanobind_helpers.hpp"
#include "elimination/elimination_tree.hpp"
#include "elimination/nested_dissection.hpp"
#include "lu/condition.hpp"
#include "lu/factored_matrix.hpp"
#include "lu/markowitz.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/quick_analysis.hpp"
#include "lu/symbolic.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {
namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
auto copied(const T* from, std::size_t n) {
    Buffer<T> out(n);
    std::copy(from, from + n, out.data());
    return owned(std::move(out), n);
}
template <class T>
auto copied(const std::vector<T>& from) {
    return copied(from.data(), from.size());
}

// row_perm, col_perm, starts.
template <class Index>
using FormArg = std::tuple<In<Index>, In<Index>, In<Index>>;

template <class Index>
SquareForm<Index> read_form(const FormArg<Index>& given) {
    const auto vector = [](const In<Index>& from) {
        return std::vector<Index>(from.data(), from.data() + from.size());
    };
    const auto& [row_perm, col_perm, starts] = given;
    return {vector(row_perm), vector(col_perm), vector(starts)};
}

// The policy, what a dict has in place of the defaults: costs by the names of kernels, and fields,
// costs and searches as tuples of theirs.
Policy read_policy(const nb::dict& given) {
    Policy out;
    const auto kernel = [](const std::string& name) {
        for (std::size_t k = 0; k < kernel_table.size(); ++k)
            if (name == kernel_table[k].name) return static_cast<Kernel>(k);
        throw nb::key_error("neither a kernel nor a field of Policy");
    };
    for (const auto& [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const auto search = [&] {
            return std::make_from_tuple<Search>(
                nb::cast<std::tuple<double, double, double>>(value));
        };
        if (name == "given") out.given = search();
        else if (name == "product") out.product = search();
        else if (name == "dissection") out.dissection = search();
        else if (name == "by_values") out.by_values = search();
        else if (name == "few_rows") out.few_rows = nb::cast<std::int64_t>(value);
        else if (name == "overrun") out.overrun = nb::cast<double>(value);
        else if (name == "forced") out.forced = kernel(nb::cast<std::string>(value));
        else if (name == "diagonal") out.diagonal = static_cast<Diagonal>(nb::cast<int>(value));
        else if (name == "available")
            for (const auto& other : nb::cast<std::vector<std::string>>(value))
                out.available |= 1u << static_cast<int>(kernel(other));
        else
            out.costs[static_cast<std::size_t>(kernel(name))] = std::make_from_tuple<Cost>(
                nb::cast<std::tuple<double, double, double, double>>(value));
    }
    return out;
}

// Of a form that the planner has refused: what has found it is wrong.
[[noreturn]] void refuse_form() {
    throw std::runtime_error(
        "the block form has entries below its blocks, or none in a block of one row: it is not "
        "that of the matrix; sparsematch.is_block_form checks one");
}

// The block's columns: indptr, rows, and the places of the entries in the user's values.
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
    return nb::make_tuple(copied(indptr), rows, from);
}

template <class Index>
bool run_is_canonical(In<Index> indptr, In<Index> indices) {
    const ReleasedGil released;
    return indptr.size() > 0 && is_canonical(indptr.data(), static_cast<Index>(indptr.size() - 1),
                                             indices.data(), indices.size());
}

// None unless these are canonical rows of a square matrix.
template <class Index>
nb::object run_order_by_columns(In<Index> indptr, In<Index> indices) {
    if (!run_is_canonical<Index>(indptr, indices)) return nb::none();
    const Index n = static_cast<Index>(indptr.size() - 1);
    std::vector<Index> starts(indptr.size()), rows(indptr.data()[n]);
    std::vector<std::int64_t> places(rows.size());
    {
        const ReleasedGil released;
        order_by_columns(indptr.data(), n, indices.data(), starts.data(), rows.data(),
                         places.data());
    }
    return nb::make_tuple(copied(starts), copied(rows), copied(places));
}

// The graph of a symmetric pattern without its diagonal.
template <class Index>
AdjacencyLists<Index> read_graph(In<Index> indptr, In<Index> indices) {
    AdjacencyLists<Index> out;
    out.pool.assign(indices.data(), indices.data() + indices.size());
    for (std::size_t i = 0; i + 1 < indptr.size(); ++i) {
        out.begin.push_back(indptr.data()[i]);
        out.length.push_back(indptr.data()[i + 1] - indptr.data()[i]);
    }
    return out;
}

// The order as a postorder, the parents in the elimination tree, entries of L below its diagonal.
template <class Index>
nb::tuple elimination_tree(In<Index> indptr, In<Index> indices, In<Index> order) {
    const AdjacencyLists<Index> graph = read_graph<Index>(indptr, indices);
    std::vector<Index> out(order.data(), order.data() + order.size());
    EliminationTree<Index> tree;
    tree.postorder(graph, out);
    return nb::make_tuple(copied(out), copied(tree.parent()), copied(tree.counts()));
}

// An order by nested dissection, or by minimum degree alone.
template <class Index>
nb::object elimination_order(In<Index> indptr, In<Index> indices, bool dissect, std::int64_t leaf) {
    AdjacencyLists<Index> graph = read_graph<Index>(indptr, indices);
    std::vector<Index> order(graph.length.size());
    interruptible(1, [&](RunContext& run) {
        WorkCounter counter(run);
        EliminationCost cost;
        if (dissect) NestedDissection<Index>({.leaf = leaf}, run).run(graph, order);
        else Amd<Index>().run(graph, {}, order.data(), cost, counter);
    });
    return nb::cast(copied(order));
}

// Orders of the rows and columns of a matrix by columns, and the entries of L + U up to each
// column; None where Markowitz' search finds none.
template <class Index, class Value>
nb::object markowitz_order(CsrArg<Index> matrix, In<Value> values, double work, double active) {
    const auto a = matrix.view();
    const auto n = static_cast<std::size_t>(a.n_rows);
    std::vector<Index> rows(n), cols(n);
    std::vector<double> stored(n);
    const bool found = interruptible(1, [&](RunContext& run) {
        WorkCounter counter(run);
        const MarkowitzLimits limits{work, work, active};
        return Markowitz<Index, Value>().run(a.n_rows, a.indptr, a.indices, values.data(), limits,
                                             rows.data(), cols.data(), stored.data(), counter);
    });
    if (!found) return nb::none();
    return nb::make_tuple(copied(rows), copied(cols), copied(stored));
}

// Of each vertex, its side, 0 or 1, or 2 if it is in the separator.
template <class Index>
nb::object vertex_separator(In<Index> indptr, In<Index> indices) {
    const AdjacencyLists<Index> graph = read_graph<Index>(indptr, indices);
    std::vector<signed char> part;
    interruptible(
        1, [&](RunContext& run) { part = NestedDissection<Index>({}, run).separate(graph); });
    return nb::cast(copied(part));
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
        .def_prop_ro("predicted_inside",
                     [](const Plan& plan) {
                         std::int64_t entries = 2 * plan.expected_entries;
                         for (Index k = 0; k < plan.n_blocks(); ++k)
                             if (plan.external[k] == 0) entries += plan.size(k);
                         return entries;
                     })
        .def_prop_ro("n_upper", [](const Plan& plan) { return plan.upper_row.size(); })
        .def("block", &block<Index>)
        .def_ro("seconds", &Plan::seconds)
        .def_prop_ro("chosen", [](const Plan& plan) {
            nb::dict out;
            for (const auto& [k, way] : plan.chosen)
                out[nb::int_(k)] =
                    nb::make_tuple(sparsematch::name(way.diagonal), sparsematch::name(way.order),
                                   row_of(way.kernel).name, way.fill, way.work, way.seconds);
            return out;
        });
    m.def("equal_indices", [](In<Index> x, In<Index> y) {
        return std::equal(x.data(), x.data() + x.size(), y.data(), y.data() + y.size());
    });
    m.def("is_canonical", run_is_canonical<Index>);
    m.def("order_by_columns", run_order_by_columns<Index>);
    m.def("elimination_tree", elimination_tree<Index>);
    m.def("elimination_order", elimination_order<Index>);
    m.def("vertex_separator", vertex_separator<Index>);
}

// What a factorisation refers to: arrays of the caller's and a plan that it keeps alive, or its own
// copies and its own plan.
template <class Index>
struct Pattern {
    CsrArg<Index> lent;
    std::vector<Index> indptr, indices;
    std::unique_ptr<BlockPlan<Index>> plan;
    SquareForm<Index> form;

    Csr<Index> view() const {
        if (indptr.empty()) return lent.view();
        const auto n = static_cast<Index>(indptr.size() - 1);
        return {n, n, indptr.data(), indices.data()};
    }
};

// A matrix with its factorisation, and its pattern.
template <class Index, class Value>
struct HeldMatrix : Pattern<Index>, FactoredMatrix<Index, Value> {
    HeldMatrix(const BlockPlan<Index>& plan, Pattern<Index> pattern)
        : Pattern<Index>(std::move(pattern)),
          FactoredMatrix<Index, Value>(plan, Pattern<Index>::view()) {}
};

// Below this many entries, other threads wait for a call, and it cannot be interrupted: some
// microseconds, of which to release the GIL and to take it again would be a part.
constexpr std::int64_t brief = 1 << 13;

template <class Call>
auto released_unless_brief(std::int64_t entries, const Call& call) {
    if (entries > brief) return interruptible(1, call);
    ThreadTeam team(1);
    RunContext run(team);
    return call(run);
}

// None where all is well; else the outcome, the block where there was trouble, and the blocks with
// pivots below `small` times their largest entry.
template <class Index, class Value>
nb::object result_of(const HeldMatrix<Index, Value>& held, Outcome outcome, double small) {
    std::vector<Index> blocks;
    if (outcome == Outcome::done) blocks = blocks_with_small_pivots(held.lu, small);
    if (outcome == Outcome::done && blocks.empty()) return nb::none();
    return nb::make_tuple(name(outcome), held.lu.trouble, blocks);
}

// preference: for the diagonal; below 0, the same pivots again. Returns result_of.
template <class Index, class Value>
nb::object factorise(HeldMatrix<Index, Value>& held, In<Value> values, double preference,
                     double small) {
    if (values.size() != held.values.size()) throw nb::value_error("values of another pattern");
    const auto outcome = released_unless_brief(held.work(), [&](RunContext& run) {
        held.read(values.data());
        return held.factorise(preference, run);
    });
    return result_of(held, outcome, small);
}

// As factorise with the same pivots, of a matrix by its arrays, or of its values alone where
// indices are None. False, nothing being changed, where the arrays are others than those of the
// pattern or a value is not finite; else as factorise.
template <class Index, class Value>
nb::object refactorise_quickly(HeldMatrix<Index, Value>& held, nb::handle indptr,
                               nb::handle indices, nb::handle values, double small) {
    const LentArray<const Value> v(values);
    if (!v.fits_vector(held.values.size())) return nb::bool_(false);
    const auto same = [](nb::handle given, const Index* own, std::size_t n) {
        const LentArray<const Index> lent(given);
        return lent.fits_vector(n) && std::equal(lent.data(), lent.data() + n, own);
    };
    const Csr<Index>& own = held.columns;
    if (!indices.is_none() && !(same(indptr, own.indptr, own.n_rows + std::size_t{1}) &&
                                same(indices, own.indices, held.values.size())))
        return nb::bool_(false);
    bool finite = false;
    const Outcome outcome = released_unless_brief(held.work(), [&](RunContext& run) {
        finite = held.read(v.data());
        return finite ? held.factorise(-1, run) : Outcome::done;
    });
    if (!finite) return nb::bool_(false);
    return result_of(held, outcome, small);
}

// Writes x, of the shape of b. Returns the largest error; -1 where the arrays do not fit.
template <class Index, class Value>
double solve_quickly(const HeldMatrix<Index, Value>& held, nb::handle b, nb::handle x, char side,
                     bool check) {
    const LentArray<const Value> from(b);
    LentArray<Value> to(x);
    const auto n = static_cast<std::size_t>(held.columns.n_rows);
    if (!from.fits_vector(n) || !to.fits_vector(n)) return -1;
    double error = 0;
    const ExternalSolve<Index, Value> none;
    released_unless_brief(held.work(), [&](RunContext& run) {
        return held.solve(from.data(), 1, to.data(), &error, none, static_cast<Side>(side), check,
                          run);
    });
    return error;
}

// external(k, x, side) solves in place with a block that is not factorised here. Returns the
// solutions and their errors.
template <class Index, class Value>
nb::tuple solve(const HeldMatrix<Index, Value>& held, Matrix<const Value> b, char side,
                nb::object external, bool check) {
    const auto n = static_cast<std::size_t>(held.columns.n_rows), width = b.shape(1);
    Buffer<Value> x(n * width);
    Buffer<double> errors(width);
    const ExternalSolve<Index, Value> call = [&](Index k, Value* rows, std::int64_t w, Side s) {
        std::exception_ptr error;
        or_sleep_at_exit([&] {
            const auto state = PyGILState_Ensure();
            try {
                const auto m = static_cast<std::size_t>(held.lu.plan.size(k));
                const nb::ndarray<nb::numpy, Value, nb::ndim<2>> view(
                    rows, {m, static_cast<std::size_t>(w)}, nb::handle());
                external(k, nb::cast(view, nb::rv_policy::reference), static_cast<char>(s));
            } catch (const nb::python_error&) {
                error = std::current_exception();
            }
            PyGILState_Release(state);
        });
        if (error) std::rethrow_exception(error);
    };
    interruptible(1, [&](RunContext& run) {
        held.solve(b.data(), static_cast<std::int64_t>(width), x.data(), errors.data(), call,
                   static_cast<Side>(side), check, run);
    });
    return nb::make_tuple(owned(std::move(x), n * width), owned(std::move(errors), width));
}

// With one scaled block, in place: x has a place for every row, by pivots or by columns.
template <class Index, class Value>
void solve_scaled(const HeldMatrix<Index, Value>& held, Index k, Array<Value> x, bool adjoint) {
    const ReleasedGil released;
    const ExternalSolve<Index, Value> none;
    TriangularSolve<Index, Value, 1>(held.lu, none, x.data())
        .solve_block(k, adjoint ? Side::adjoint : Side::plain);
}

// The first factorisation of a matrix in one call, from its compressed columns: None where
// these are not canonical, and wherever it takes more than a quick analysis and the core's own
// factorisation of all blocks.
template <class Index>
nb::object factors_of(nb::handle indptr, nb::handle indices, nb::handle values, std::size_t n,
                      bool refuse_zeros, double preference, const Policy& policy) {
    using Held = HeldMatrix<Index, double>;
    const LentArray<const Index> starts(indptr);
    if (!starts.fits_vector(n + 1)) return nb::none();
    const auto nnz = static_cast<std::size_t>(starts.data()[n]);
    const LentArray<const Index> rows(indices);
    const LentArray<const double> v(values);
    if (!rows.fits_vector(nnz) || !v.fits_vector(nnz) ||
        !is_canonical(starts.data(), static_cast<Index>(n), rows.data(), nnz))
        return nb::none();
    Pattern<Index> pattern;
    pattern.indptr.assign(starts.data(), starts.data() + n + 1);
    pattern.indices.assign(rows.data(), rows.data() + nnz);
    auto held = interruptible(1, [&](RunContext& run) -> std::unique_ptr<Held> {
        auto found = quick_analysis<Index, double>(pattern.view(), v.data(), {}, nullptr, nullptr,
                                                   refuse_zeros, policy, run);
        const auto is_inside = [](signed char kernel) { return kernel == 0; };
        if (!found.plan || found.form.starts.empty() || run.stopped() || !found.is_triangular ||
            !std::all_of(found.plan->external.begin(), found.plan->external.end(), is_inside))
            return nullptr;
        pattern.plan = std::move(found.plan), pattern.form = std::move(found.form);
        const BlockPlan<Index>& plan = *pattern.plan;
        auto out = std::make_unique<Held>(plan, std::move(pattern));
        const bool well = out->read(v.data()) && out->factorise(preference, run) == Outcome::done;
        return well ? std::move(out) : nullptr;
    });
    return held ? nb::cast(held.release(), nb::rv_policy::take_ownership) : nb::none();
}

// The same, whatever the type of the indices.
nb::object run_factors_of(nb::handle indptr, nb::handle indices, nb::handle values, std::size_t n,
                          bool refuse_zeros, double preference, const nb::dict& given) {
    const Policy policy = read_policy(given);
    auto out =
        factors_of<std::int32_t>(indptr, indices, values, n, refuse_zeros, preference, policy);
    if (!out.is_none()) return out;
    return factors_of<std::int64_t>(indptr, indices, values, n, refuse_zeros, preference, policy);
}

// given: None, the mates of the rows, or the three arrays of a form; failures: of each of its
// blocks, or None. Returns None where no perfect matching is at hand, or zeros are refused and
// there are some; else fields of QuickAnalysis in factors.py.
template <class Index, class Value>
nb::object run_quick_analysis(CsrArg<Index> matrix, In<Value> values, nb::object given,
                              std::optional<In<signed char>> failures, bool refuse_zeros,
                              const nb::dict& given_policy) {
    const auto a = matrix.view();
    if (values.size() < static_cast<std::size_t>(a.nnz()))
        throw nb::value_error("there are fewer values than entries");
    SquareForm<Index> form;
    const Index* mates = nullptr;
    if (nb::isinstance<nb::tuple>(given)) form = read_form<Index>(nb::cast<FormArg<Index>>(given));
    else if (!given.is_none()) mates = nb::cast<In<Index>>(given).data();
    const Policy policy = read_policy(given_policy);
    auto found = interruptible(1, [&](RunContext& run) {
        return quick_analysis(a, values.data(), std::move(form), mates,
                              failures ? failures->data() : nullptr, refuse_zeros, policy, run);
    });
    if (found.form.starts.empty()) return nb::none();
    if (!found.is_triangular) refuse_form();
    nb::dict out;
    out["row_perm"] = copied(found.form.row_perm), out["col_perm"] = copied(found.form.col_perm);
    out["row_blocks"] = copied(found.form.starts);
    out["largest"] = found.norms.largest, out["norm"] = found.norms.norm;
    out["plan"] = nb::cast(found.plan.release(), nb::rv_policy::take_ownership);
    return out;
}

template <class Index, class Value>
void bind_factors(nb::module_& m, const char* name) {
    using Held = HeldMatrix<Index, Value>;
    nb::class_<Held>(m, name)
        .def("factorise", &factorise<Index, Value>)
        .def("refactorise_quickly", &refactorise_quickly<Index, Value>, nb::arg().none(),
             nb::arg().none(), nb::arg(), nb::arg())
        .def("solve", &solve<Index, Value>, nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
        .def("solve_quickly", &solve_quickly<Index, Value>)
        .def("rcond",
             [](const Held& held, Index k) {
                 const ReleasedGil released;
                 return BlockCondition<Index, Value>(held.lu, k).reciprocal();
             })
        .def("solve_scaled", &solve_scaled<Index, Value>)
        .def_prop_ro("plan", [](Held& held) { return held.plan.get(); })
        .def_prop_ro("form",
                     [](const Held& held) {
                         const SquareForm<Index>& form = held.form;
                         return nb::make_tuple(copied(form.row_perm), copied(form.col_perm),
                                               copied(form.starts));
                     })
        .def("suspects", [](const Held& held,
                            double small) { return blocks_with_small_pivots(held.lu, small); })
        .def_prop_ro("pattern",
                     [](const Held& held) {
                         const Csr<Index>& own = held.columns;
                         return nb::make_tuple(copied(own.indptr, own.n_rows + std::size_t{1}),
                                               copied(own.indices, held.values.size()));
                     })
        .def_prop_ro(
            "values", [](const Held& held) { return copied(held.values); }, nb::rv_policy::move)
        .def_prop_ro(
            "row_of", [](const Held& held) { return copied(held.lu.row_of); }, nb::rv_policy::move)
        .def_prop_ro("entries", [](const Held& held) { return held.lu.entries(); })
        .def_prop_ro(
            "growth", [](const Held& held) { return copied(held.lu.growth); }, nb::rv_policy::move)
        .def("scaled_values", [](const Held& held, Index k) {
            const auto& plan = held.lu.plan;
            const auto begin = plan.inner_start[plan.starts[k]],
                       end = plan.inner_start[plan.starts[k + 1]];
            return copied(held.lu.equilibration.inner.data() + begin,
                          static_cast<std::size_t>(end - begin));
        });
    m.def(
        "new_factors",
        [](const BlockPlan<Index>& plan, CsrArg<Index> matrix, In<Value>) {
            return new Held(plan, {std::move(matrix), {}, {}, nullptr, {}});
        },
        nb::keep_alive<0, 1>());
}

// What is asked of values, without factors.
template <class Index, class Value>
void bind_values(nb::module_& m) {
    m.def("value_norms", [](In<Index> indptr, In<Value> values) {
        const ReleasedGil released;
        const auto n = static_cast<Index>(indptr.size() - 1);
        const auto found = value_norms(indptr.data(), n, values.data());
        return std::pair(found.largest, found.norm);
    });
    m.def("gather", [](In<Value> values, In<Index> places) {
        Buffer<Value> out(places.size());
        for (std::size_t p = 0; p < places.size(); ++p) out[p] = values.data()[places.data()[p]];
        return owned(std::move(out), places.size());
    });
    m.def("steady_diagonal", [](In<Index> indptr, In<Index> rows, In<Value> values, double share) {
        return steady_diagonal(indptr.data(), rows.data(), static_cast<Index>(indptr.size() - 1),
                               values.data(), share);
    });
    m.def("markowitz_order", markowitz_order<Index, Value>);
    m.def("quick_analysis", run_quick_analysis<Index, Value>, nb::arg(), nb::arg(),
          nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg());
}

}  // namespace

void bind_lu(nb::module_& m) {
    bind_plan<std::int32_t>(m, "BlockPlan32");
    bind_plan<std::int64_t>(m, "BlockPlan64");
    m.def("factors_of", run_factors_of);
    m.def("kernel_costs", [] {
        nb::dict out;
        for (const KernelRow& row : kernel_table)
            out[row.name] = nb::make_tuple(row.cost.fixed, row.cost.per_entry, row.cost.per_fill,
                                           row.cost.per_multiplication);
        return out;
    });
    bind_factors<std::int32_t, double>(m, "BlockLU32");
    bind_values<std::int32_t, double>(m);
    bind_factors<std::int64_t, double>(m, "BlockLU64");
    bind_values<std::int64_t, double>(m);
    bind_factors<std::int32_t, std::complex<double>>(m, "BlockLUComplex32");
    bind_values<std::int32_t, std::complex<double>>(m);
    bind_factors<std::int64_t, std::complex<double>>(m, "BlockLUComplex64");
    bind_values<std::int64_t, std::complex<double>>(m);
}

}  // namespace sparsematch
