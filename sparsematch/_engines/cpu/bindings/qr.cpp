// Bindings of sparse QR: R, Q on right-hand sides as arrays, solves with R; the GIL released.
#include <nanobind/stl/complex.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "bindings/nanobind_helpers.hpp"
#include "qr/multifrontal_qr.hpp"
#include "qr/sparse_solve.hpp"
#include "qr/upper_solve.hpp"

namespace sparsematch {
namespace {

template <class T> using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Returns R by rows, with columns of the matrix: where rows begin, columns, values; the top of Q^H
// applied to the right-hand sides; and the bytes predicted: nothing else if above `room`.
template <class Index, class Value>
nb::tuple factorise(CsrArg<Index> matrix, In<Value> values, Matrix<const Value> right,
                    In<double> tolerance, In<bool> last, double room) {
    const auto rows = view(matrix);
    auto qr = interruptible(1, [&](RunContext& run) {
        WorkCounter counter(run);
        return MultifrontalQr<Index, Value>(rows, values.data(), right.data(),
                                            static_cast<std::int64_t>(right.shape(1)),
                                            tolerance.data(), last.data(), room, counter);
    });
    return nb::make_tuple(owned(std::move(qr.start)), owned(std::move(qr.column)),
                          owned(std::move(qr.value)), owned(std::move(qr.top)), qr.predicted);
}

// R by columns, with right-hand sides by columns. Returns solutions by columns: where they begin,
// rows descending, values; and whether these exceed `room`, and are not all.
template <class Index, class Value>
nb::tuple solve_sparse(CsrArg<Index> upper, In<Value> values, CsrArg<Index> right,
                       In<Value> right_values, double drop, double room) {
    auto found = interruptible(1, [&](RunContext& run) {
        WorkCounter counter(run);
        return SparseUpperSolve<Index, Value>(view(upper), values.data(), view(right),
                                              right_values.data(), drop, room, counter);
    });
    return nb::make_tuple(owned(std::move(found.start)), owned(std::move(found.row)),
                          owned(std::move(found.value)), found.exceeds_room);
}

template <class Index, class Value> void bind(nb::module_& m) {
    m.def("qr", factorise<Index, Value>);
    m.def("solve_upper", Bound<solve_upper<Index, Value>>::alone);
    m.def("subtract_product", Bound<subtract_product<Index, Value>>::alone);
    m.def("solve_upper_sparse", solve_sparse<Index, Value>);
}

// Those of SciPy, which are imported when they are first needed, in whatever thread.
template <class Value> Blas<Value> load_blas() {
    static Blas<Value> known;  // read once `is_known`, written by whoever has the GIL
    static std::atomic<bool> is_known = false;
    if (is_known) return known;
    with_gil([&] {
        const nb::object all =
            nb::module_::import_("scipy.linalg.cython_blas").attr("__pyx_capi__");
        const std::string letter = std::is_same_v<Value, double> ? "d" : "z";
        const auto find = [&](const char* name) {
            return nb::cast<nb::capsule>(all[(letter + name).c_str()]).data();
        };
        const Blas<Value> found{reinterpret_cast<Gemm<Value>>(find("gemm")),
                                reinterpret_cast<Trsm<Value>>(find("trsm"))};
        const auto [get, set] = nb::cast<std::pair<std::uintptr_t, std::uintptr_t>>(
            nb::module_::import_("sparsematch._engines.cpu.blas").attr("thread_functions")());
        OneBlasThread::use(reinterpret_cast<int (*)()>(get), reinterpret_cast<void (*)(int)>(set));
        if (!is_known) known = found, is_known = true;
    });
    return known;
}

}  // namespace

void bind_qr(nb::module_& m) {
    Blas<double>::load = load_blas<double>;
    Blas<std::complex<double>>::load = load_blas<std::complex<double>>;
    bind<std::int32_t, double>(m);
    bind<std::int64_t, double>(m);
    bind<std::int32_t, std::complex<double>>(m);
    bind<std::int64_t, std::complex<double>>(m);
}

}  // namespace sparsematch
