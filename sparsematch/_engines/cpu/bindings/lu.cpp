// Bindings of solvers: block plans, factorisations as objects, arrays copied out, the GIL released.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/nanobind_helpers.hpp"
#include "core/certificates.hpp"
#include "lu/condition.hpp"
#include "lu/factorisation.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {
namespace {

template <class T> auto copied(const T* from, std::size_t n) {
    Buffer<T> out(n);
    std::copy(from, from + n, out.data());
    return owned(std::move(out), n);
}
template <class T> nb::object copied(const std::vector<T>& from) {
    return nb::cast(copied(from.data(), from.size()));
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
        else if (name == "no_pivot") out.no_pivot = nb::cast<double>(value);
        else if (name == "whole") out.whole = nb::cast<bool>(value);
        else if (name == "workers") out.workers = nb::cast<int>(value);
        else if (name == "order") out.order = nb::cast<std::vector<std::int64_t>>(value);
        else if (name == "forced") out.forced = kernel(nb::cast<std::string>(value));
        else if (name == "diagonal") out.diagonal = static_cast<Diagonal>(nb::cast<int>(value));
        else if (name == "available")
            for (const auto& other : nb::cast<std::vector<std::string>>(value))
                out.available |= 1u << static_cast<int>(kernel(other));
        else
            out.kernels[static_cast<std::size_t>(kernel(name))].cost = std::make_from_tuple<Cost>(
                nb::cast<std::tuple<double, double, double, double>>(value));
    }
    return out;
}

// The block's columns: indptr, rows, and the places of the entries in the user's values.
template <class Index> nb::tuple block(const BlockPlan<Index>& plan, Index k, bool ascending) {
    const Index first = plan.starts[k];
    const Index begin = plan.inner_start[first];
    std::vector<Index> indptr(1, 0), places;
    for (Index c = first; c < plan.starts[k + 1]; ++c) {
        plan.each_inner(c, [&](Index, Index place) { places.push_back(place); });
        indptr.push_back(static_cast<Index>(places.size()));
    }
    auto rows = copied(plan.inner_row.data() + begin, places.size()),
         from = copied(places.data(), places.size());
    if (ascending) sort_columns(indptr, rows.data(), from.data());
    return nb::make_tuple(copied(indptr), rows, from);
}

template <class Index> void bind_plan(nb::class_<Analysis<Index>>& analysis) {
    using Bound = Analysis<Index>;
    analysis.def_prop_ro("row_perm", [](const Bound& of) { return copied(of.plan.row_perm); })
        .def_prop_ro("col_perm", [](const Bound& of) { return copied(of.plan.col_perm); })
        .def_prop_ro("form",
                     [](const Bound& of) {
                         const SquareForm<Index> form = of.block_form();
                         return nb::make_tuple(copied(form.row_perm), copied(form.col_perm),
                                               copied(form.starts));
                     })
        .def_prop_ro("starts", [](const Bound& of) { return copied(of.plan.starts); })
        .def_prop_ro("outside",
                     [](const Bound& of) {
                         std::vector<Index> out;
                         for (Index k = 0; k < of.plan.n_blocks(); ++k)
                             if (of.plan.is_external(k)) out.push_back(k);
                         return out;
                     })
        .def_prop_ro("predicted_inside",
                     [](const Bound& of) {
                         std::int64_t entries = 2 * of.plan.expected_entries;
                         for (Index k = 0; k < of.plan.n_blocks(); ++k)
                             if (!of.plan.is_external(k)) entries += of.plan.size(k);
                         return entries;
                     })
        .def_prop_ro("n_upper", [](const Bound& of) { return of.plan.upper_row.size(); })
        .def("block",
             [](const Bound& of, Index k, bool ascending) { return block(of.plan, k, ascending); })
        .def_prop_ro("seconds", [](const Bound& of) { return of.plan.seconds; })
        .def_ro("revision", &Bound::revision)
        .def_prop_ro("chosen", [](const Bound& of) {
            nb::dict out;
            for (const auto& [k, way] : of.plan.chosen)
                out[nb::int_(k)] =
                    nb::make_tuple(sparsematch::name(way.diagonal), sparsematch::name(way.order),
                                   row_of(way.kernel).name, way.fill, way.work, way.seconds);
            return out;
        });
}

template <class Index> void bind_analysis(nb::module_& m, const char* name) {
    using Bound = Analysis<Index>;
    const auto arrays_of = [](const Index* indptr, std::size_t n, const Index* indices) {
        return nb::make_tuple(copied(indptr, n + 1), copied(indices, indptr[n]));
    };
    nb::class_<Bound> analysis(m, name);
    analysis.def_prop_ro("n", [](const Bound& of) { return of.entries.columns().n_rows; })
        .def_prop_ro("by_rows", [](const Bound& of) { return of.entries.by_rows; })
        .def_prop_ro("given",
                     [arrays_of](const Bound& of) {
                         const Entries<Index>& all = of.entries;
                         return arrays_of(all.indptr.data(), all.indptr.size() - 1,
                                          all.indices.data());
                     })
        .def_prop_ro("columns",
                     [arrays_of](const Bound& of) {
                         const Csr<Index> a = of.entries.columns();
                         return arrays_of(a.indptr, a.n_rows, a.indices);
                     })
        .def_prop_ro("places", [](const Bound& of) { return copied(of.entries.places()); });
    bind_plan(analysis);
    m.def("equal_indices", [](In<Index> x, In<Index> y) {
        return std::equal(x.data(), x.data() + x.size(), y.data(), y.data() + y.size());
    });
}

// How much the diagonal is preferred, if a matrix is to be factorised at all, and the share of a
// block's largest entry below which pivots are small.
struct PivotWishes {
    std::optional<double> preference;
    double small = 0;
};
// How matrices are to be factorised, and whether a matching is searched for: read once.
struct Wishes {
    Policy policy;
    bool searches;
    PivotWishes pivots;
};

// A matrix, how far its factorisation has come, and what an interpreter is told of it.
template <class Index, class Value> struct Held : Factorisation<Index, Value> {
    Held(std::shared_ptr<Analysis<Index>> analysis, const PivotWishes& wishes)
        : Factorisation<Index, Value>(std::move(analysis), wishes.preference.value_or(0)),
          wishes(wishes) {}

    State go_on(const Index* row_mate, RunContext& run) {
        const State state = this->analyse(row_mate, run);
        return this->kept(state == State::done && wishes.preference ? this->factorise(run) : state);
    }
    // None where all is well and nothing is left to do; else the state, the block where there was
    // trouble, and the blocks that may be singular, each with whether it was one before.
    nb::object result() const {
        if (state == State::not_a_form)
            throw std::runtime_error(
                "the block form has entries below its blocks, or none in a block of one row: it is "
                "not that of the matrix; sparsematch.is_block_form checks one");
        const bool factorised = state == State::done && this->lu;
        std::vector<std::pair<Index, bool>> blocks;
        if (factorised) blocks = blocks_in_doubt(*this->lu, wishes.small);
        const auto& kernels = this->analysis->plan.kernel;
        if (factorised && blocks.empty() && !is_replanned &&
            std::all_of(kernels.begin(), kernels.end(), is_own))
            return nb::none();
        return nb::make_tuple(name(state), this->lu ? this->lu->trouble : 0, blocks);
    }

    const PivotWishes wishes;
    State state = State::unmatched;
    bool is_replanned = false;  // by the last factorisation
};

// Below this many entries, other threads wait for a call, and it cannot be interrupted: some
// microseconds, of which to release the GIL and to take it again would be a part.
constexpr std::int64_t brief = 1 << 13;

template <class Call>
auto released_unless_brief(std::int64_t entries, int workers, const Call& call) {
    if (entries > brief) return interruptible(workers, call);
    ThreadTeam team(1);
    RunContext run(team);
    return call(run);
}

// Analyses and factorises compressed columns, or rows; without a search, only reads them, and the
// mates of the rows are to follow. Returns the factors and their result, None where arrays are of
// other types, or inconsistent, or have several entries in one place.
template <class Index, class Value>
nb::object begin(nb::handle indptr, nb::handle indices, nb::handle values, std::size_t n,
                 bool by_rows, bool drop_zeros, const Wishes& wishes) {
    const LentArray<const Value> v(values);
    const LentArray<const Index> starts(indptr), lists(indices);
    if (!starts.fits_vector(n + 1)) return nb::none();
    const auto nnz = static_cast<std::size_t>(starts.data()[n]);
    if (!lists.fits_vector(nnz) || !v.fits_vector(nnz)) return nb::none();
    // A first factorisation takes as long as some sixteen passes over the entries.
    constexpr std::int64_t passes = 16;
    auto held = released_unless_brief(
        passes * static_cast<std::int64_t>(nnz), wishes.policy.workers, [&](RunContext& run) {
            const auto size = static_cast<Index>(n);
            const Csr<Index> given{size, size, starts.data(), lists.data()};
            std::unique_ptr<Held<Index, Value>> out;
            if (count_entries(given, nnz, run) < 0 || run.stopped()) return out;
            Entries<Index> entries(given, by_rows);
            if (entries.has_repeats()) return out;
            if (drop_zeros) entries.drop_zeros(v.data());
            auto analysis = std::make_shared<Analysis<Index>>(
                Analysis<Index>{std::move(entries), wishes.policy, {}, {}, {}});
            out = std::make_unique<Held<Index, Value>>(std::move(analysis), wishes.pivots);
            out->read(v.data());
            out->state = wishes.searches ? out->go_on(nullptr, run) : out->kept(State::unmatched);
            return out;
        });
    if (!held) return nb::none();
    nb::object found = held->result();
    return nb::make_tuple(nb::cast(held.release(), nb::rv_policy::take_ownership), found);
}

// The same, whatever the types.
nb::object factorise(nb::handle indptr, nb::handle indices, nb::handle values, std::size_t n,
                     bool by_rows, bool drop_zeros, const Wishes& wishes) {
    const auto of_types = [&]<class Index, class Value>(std::pair<Index, Value>) {
        return begin<Index, Value>(indptr, indices, values, n, by_rows, drop_zeros, wishes);
    };
    using Complex = std::complex<double>;
    nb::object out = of_types(std::pair<std::int32_t, double>());
    if (out.is_none()) out = of_types(std::pair<std::int64_t, double>());
    if (out.is_none()) out = of_types(std::pair<std::int32_t, Complex>());
    if (out.is_none()) out = of_types(std::pair<std::int64_t, Complex>());
    return out;
}

// Other values by the same pivots, if there are some, of a matrix by its arrays, or alone where
// indices are None. False where the arrays are of other types or of another pattern.
template <class Index, class Value>
nb::object refactorise(Held<Index, Value>& held, nb::handle indptr, nb::handle indices,
                       nb::handle values) {
    const Entries<Index>& own = held.analysis->entries;
    const LentArray<const Value> v(values);
    const auto same = [](nb::handle given, const std::vector<Index>& known) {
        const LentArray<const Index> lent(given);
        return lent.fits_vector(known.size()) &&
               std::equal(known.begin(), known.end(), lent.data());
    };
    if (!v.fits_vector(own.indices.size()) ||
        !(indices.is_none() || (same(indptr, own.indptr) && same(indices, own.indices))))
        return nb::bool_(false);
    const int revision = held.analysis->revision;
    const int workers = held.analysis->policy.workers;
    held.state = released_unless_brief(held.work(), workers, [&](RunContext& run) {
        const State state = held.read(v.data());
        return held.kept(state == State::done ? held.factorise(run) : state);
    });
    held.is_replanned = held.analysis->revision > revision;
    return held.result();
}

// external(k, x, side) solves in place with a block that is not factorised here.
template <class Index, class Value>
ExternalSolve<Index, Value> call_of(const Held<Index, Value>& held, const nb::object& external) {
    if (!PyCallable_Check(external.ptr())) return {};
    return [&](Index k, Value* rows, std::int64_t w, Side s) {
        with_gil([&] {
            const auto m = static_cast<std::size_t>(held.lu->plan.size(k));
            const nb::ndarray<nb::numpy, Value, nb::ndim<2>> view(
                rows, {m, static_cast<std::size_t>(w)}, nb::handle());
            external(k, nb::cast(view, nb::rv_policy::reference), static_cast<char>(s));
        });
    };
}

// Solves in place, x a copy of b, which is read only where that does not suffice. Returns the
// largest error, NaN if one is; -1 where arrays do not fit.
template <class Index, class Value>
double solve(const Held<Index, Value>& held, nb::handle b, nb::handle x, char side, bool check,
             nb::object external) {
    const LentArray<Value> to(x);
    const auto n = static_cast<std::size_t>(held.columns().n_rows);
    if (!to.fits_rows(n)) return -1;
    const auto call = call_of(held, external);
    const auto width = static_cast<std::int64_t>(to.width());
    std::vector<double> errors(to.width());
    const auto solve = [&](const Value* right) {
        released_unless_brief(held.work() * width, 1, [&](RunContext& run) {
            return held.solve(to.data(), width, errors.data(), call, static_cast<Side>(side), check,
                              run, right);
        });
    };
    solve(nullptr);
    if (!std::all_of(errors.begin(), errors.end(), CheckedSolve<Index, Value>::is_acceptable)) {
        const LentArray<const Value> from(b);
        if (!from.fits_rows(n) || from.width() != to.width()) return -1;
        solve(from.data());
    }
    double most = 0;
    for (const double error : errors)
        if (!std::isnan(most) && !(error <= most)) most = error;
    return most;
}

template <class Index, class Value>
double relative_condition(const Held<Index, Value>& held, In<double> size, In<double> unit,
                          char side, const nb::object& external) {
    const auto call = call_of(held, external);
    const double* const sizes = size.size() ? size.data() : nullptr;
    const auto of = static_cast<Side>(side);
    return released_unless_brief(8 * held.work(), 1, [&](RunContext& run) {
        return held.relative_condition(sizes, unit.data(), call, of, run);
    });
}

template <class Index, class Value> double rcond(const Held<Index, Value>& held, Index k) {
    std::vector<Value> x;
    return released_unless_brief(held.work(), 1, [&](RunContext& run) {
        return BlockCondition<Index, Value>(*held.lu, k, x).reciprocal(run);
    });
}

// With one scaled block, in place: x has a place for every row, by pivots or by columns.
template <class Index, class Value>
void solve_scaled(const Held<Index, Value>& held, Index k, Array<Value> x, bool adjoint) {
    const ReleasedGil released;
    const ExternalSolve<Index, Value> none;
    TriangularSolve<Index, Value, 1>(*held.lu, none, x.data())
        .solve_block(k, adjoint ? Side::adjoint : Side::plain);
}

// Of a single block: L, U, the diagonal of U, and the factors of rows and columns.
template <class Index, class Value> nb::tuple triangles(const Held<Index, Value>& held) {
    const auto& lu = *held.lu;
    const auto all = [](const auto& of) { return copied(of.data(), of.size()); };
    return nb::make_tuple(nb::make_tuple(copied(lu.l_start), all(lu.l_row), all(lu.l)),
                          nb::make_tuple(copied(lu.u_start), all(lu.u_row), all(lu.u)),
                          copied(lu.pivot), copied(lu.pivot_row_factor),
                          copied(lu.equilibration.col_factor));
}

template <class Index, class Value> void bind_factors(nb::module_& m, const char* name) {
    using Bound = Held<Index, Value>;
    nb::class_<Bound> factors(m, name);
    factors.attr("is_complex") = nb::bool_(!std::is_same_v<Value, double>);
    factors
        .def("match",
             [](Bound& held, In<Index> row_mate) {
                 held.state = interruptible(held.analysis->policy.workers, [&](RunContext& run) {
                     return held.go_on(row_mate.data(), run);
                 });
                 return held.result();
             })
        .def_prop_ro("result", &Bound::result)
        .def("repeat",
             [](const Bound& held, double preference) {
                 auto out = std::make_unique<Bound>(held.analysis,
                                                    PivotWishes{preference, held.wishes.small});
                 out->state = interruptible(held.analysis->policy.workers, [&](RunContext& run) {
                     return out->repeat(held, run);
                 });
                 return out.release();
             })
        .def_prop_ro("analysis", [](const Bound& held) { return held.analysis; })
        .def("refactorise", &refactorise<Index, Value>, nb::arg().none(), nb::arg().none(),
             nb::arg())
        .def("solve", &solve<Index, Value>)
        .def("rcond", &rcond<Index, Value>)
        .def("relative_condition", &relative_condition<Index, Value>, nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none())
        .def("solve_scaled", &solve_scaled<Index, Value>)
        .def_prop_ro("values",
                     [](const Bound& held) {
                         const auto nnz = static_cast<std::size_t>(held.columns().nnz());
                         return nb::cast(copied(held.current(), nnz));
                     })
        .def_prop_ro("row_of", [](const Bound& held) { return copied(held.lu->row_of); })
        .def_prop_ro("added",
                     [](const Bound& held) {
                         std::vector<Index> rows, cols;
                         std::vector<Value> values;
                         for (const auto& [row, col, value] : held.lu->added)
                             rows.push_back(row), cols.push_back(col), values.push_back(value);
                         return nb::make_tuple(copied(rows), copied(cols), copied(values));
                     })
        .def_prop_ro("triangles", &triangles<Index, Value>)
        .def_prop_ro("entries", [](const Bound& held) { return held.lu->entries(); })
        .def_prop_ro("growth", [](const Bound& held) { return copied(held.lu->growth); });
    m.def("new_factors", [](std::shared_ptr<Analysis<Index>> analysis, In<Value> /* like these */,
                            double preference, double small) {
        return new Bound(std::move(analysis), {preference, small});
    });
}

}  // namespace

void bind_lu(nb::module_& m) {
    bind_analysis<std::int32_t>(m, "Analysis32");
    bind_analysis<std::int64_t>(m, "Analysis64");
    bind_factors<std::int32_t, double>(m, "Factorisation32");
    bind_factors<std::int64_t, double>(m, "Factorisation64");
    bind_factors<std::int32_t, std::complex<double>>(m, "FactorisationComplex32");
    bind_factors<std::int64_t, std::complex<double>>(m, "FactorisationComplex64");
    nb::class_<Wishes>(m, "Wishes")
        .def(
            "__init__",
            [](Wishes* self, const nb::dict& policy, bool searches,
               std::optional<double> preference, double small) {
                new (self) Wishes{read_policy(policy), searches, {preference, small}};
            },
            nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    // no names of arguments, with which a call takes longer
    m.def("factorise_square", factorise);
}

}  // namespace sparsematch
