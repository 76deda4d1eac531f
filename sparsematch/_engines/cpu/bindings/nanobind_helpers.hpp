// What the bindings share: arrays and patterns as arguments, arrays as results, and runs that can
// be interrupted (Ctrl-C).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

namespace nb = nanobind;
using namespace nb::literals;

// An array of one dimension, read only if T is const. It is never converted: where an overload for
// int32 is given int64, the next one is tried.
template <class T>
struct Array : nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu> {
    using NdArray = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
};
template <class T>
using In = Array<const T>;
template <class T>
using Out = Array<T>;

// One array for the rows and one for the columns.
template <class T>
using Sides = std::pair<Array<T>, Array<T>>;

// A pattern: Csr of csr.py.
template <class Index>
struct CsrArg {
    Index n_cols = 0;
    In<Index> indptr, indices;

    Csr<Index> view() const {
        return {static_cast<Index>(indptr.size() - 1), n_cols, indptr.data(), indices.data()};
    }
};

// Matchings to be checked are read only; the checks take the type that engines write.
template <class Index>
Matching<std::remove_const_t<Index>> view(const Sides<Index>& mates) {
    using T = std::remove_const_t<Index>;
    return {const_cast<T*>(mates.first.data()), const_cast<T*>(mates.second.data())};
}

// An array that takes over what a container holds.
template <class Container>
auto owned(Container&& from, std::size_t n) {
    using Value = std::remove_cvref_t<decltype(*from.data())>;
    auto* kept = new std::remove_cvref_t<Container>(std::forward<Container>(from));
    nb::capsule owner(
        kept, [](void* p) noexcept { delete static_cast<std::remove_cvref_t<Container>*>(p); });
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(kept->data(), {n}, owner);
}

// Asks Python now and then whether a signal arrived. What its handler raised is kept and thrown
// after the run.
struct Signals {
    bool raised = false;
    nb::object type, value, traceback;

    static bool poll(void* self) {
        nb::gil_scoped_acquire gil;
        auto& signals = *static_cast<Signals*>(self);
        if (signals.raised) return true;
        if (PyErr_CheckSignals() == 0) return false;
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        signals.type = nb::steal(type), signals.value = nb::steal(value),
        signals.traceback = nb::steal(traceback);
        return signals.raised = true;
    }
    void rethrow() {
        if (!raised) return;
        PyErr_Restore(type.release().ptr(), value.release().ptr(), traceback.release().ptr());
        throw nb::python_error();
    }
};

// Returns call(run), made without the GIL and with a team of threads; throws what a signal's
// handler raised meanwhile. Watch: Signals, or what else is polled.
template <class Call, class Watch>
auto interruptible(int workers, const RunSettings& settings, Watch&& watch, const Call& call) {
    const auto released = [&] {
        nb::gil_scoped_release release;
        ThreadTeam team(workers);
        RunContext run(team, settings, std::remove_cvref_t<Watch>::poll, &watch);
        return call(run);
    };
    if constexpr (std::is_void_v<decltype(released())>) {
        released();
        watch.rethrow();
    } else {
        auto result = released();
        watch.rethrow();
        return result;
    }
}
template <class Call>
auto interruptible(int workers, const Call& call) {
    return interruptible(workers, {}, Signals{}, call);
}

void bind_matching(nb::module_& m);
void bind_over_ranks(nb::module_& m);
void bind_ordering(nb::module_& m);
void bind_decomposition(nb::module_& m);
void bind_weighted(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_coarsening(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_lu(nb::module_& m);
void bind_failing_new(nb::module_& m);  // in builds for tests

}  // namespace sparsematch

namespace nanobind::detail {

template <class T>
struct type_caster<sparsematch::Array<T>> {
    NB_TYPE_CASTER(sparsematch::Array<T>,
                   make_caster<typename sparsematch::Array<T>::NdArray>::Name)

    bool from_python(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<typename sparsematch::Array<T>::NdArray> array;
        flags &= ~static_cast<std::uint32_t>(cast_flags::convert);
        if (!array.from_python(src, flags, cleanup)) return false;
        value = {std::move(array.value)};
        return true;
    }
};

template <class Index>
struct type_caster<sparsematch::CsrArg<Index>> {
    using Lists = sparsematch::In<Index>;
    NB_TYPE_CASTER(sparsematch::CsrArg<Index>, const_name("tuple[") + make_caster<Index>::Name +
                                                   const_name(", ") + make_caster<Lists>::Name +
                                                   const_name(", ") + make_caster<Lists>::Name +
                                                   const_name("]"))

    bool from_python(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!PyTuple_Check(src.ptr()) || PyTuple_Size(src.ptr()) != 3) return false;
        const auto item = [&](int k) { return handle(PyTuple_GetItem(src.ptr(), k)); };
        make_caster<Index> n_cols;
        make_caster<Lists> indptr, indices;
        if (!n_cols.from_python(item(0), flags, cleanup) ||
            !indptr.from_python(item(1), flags, cleanup) ||
            !indices.from_python(item(2), flags, cleanup))
            return false;
        value = {n_cols.value, std::move(indptr.value), std::move(indices.value)};
        return true;
    }
};

}  // namespace nanobind::detail
