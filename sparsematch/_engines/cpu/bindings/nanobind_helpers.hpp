// What the files that Python calls share: arrays of one dimension, the view of a pattern, and
// Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Index>
Csr<Index> view(Index n_cols, const In<Index>& indptr, const In<Index>& indices) {
    return {static_cast<Index>(indptr.size() - 1), n_cols, indptr.data(), indices.data()};
}

// Matchings to be checked are read only; the checks take the type that engines write.
template <class Index>
Matching<Index> view(const In<Index>& row_mate, const In<Index>& col_mate) {
    return {const_cast<Index*>(row_mate.data()), const_cast<Index*>(col_mate.data())};
}

// Asks Python, every now and then, whether a signal arrived. What its handler raised is kept and
// thrown after the run.
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

// Runs what needs no team and no account, but takes long enough to be stopped.
template <class Call>
auto interruptible(const Call& call) {
    Signals signals;
    const auto result = [&] {
        nb::gil_scoped_release release;
        ThreadTeam team(1);
        RunContext run(team, Signals::poll, &signals, 0, false);
        return call(run);
    }();
    signals.rethrow();
    return result;
}

void bind_solver(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_coarsen(nb::module_& m);
void bind_edge_file(nb::module_& m);

}  // namespace sparsematch
