// Bindings of sparse QR factorisations: R and what Q does to right-hand sides as arrays, and solves
// with R, the GIL released meanwhile.
#include <nanobind/stl/complex.h>

#include "bindings/nanobind_helpers.hpp"
#include "qr/multifrontal_qr.hpp"
#include "qr/sparse_solve.hpp"
#include "qr/upper_solve.hpp"

namespace sparsematch {
namespace {

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// gemm: the capsule of SciPy's cython_blas for this type. Returns R by rows, with columns of the
// matrix: where rows begin, columns, values; the top of Q^H applied to the right-hand sides; and
// the bytes predicted: where they are more than `room`, nothing else.
template <class Index, class Value>
nb::tuple factorise(CsrArg<Index> matrix, In<Value> values, Matrix<const Value> right,
                    In<double> tolerance, In<bool> last, nb::capsule gemm, double room) {
    const auto rows = view(matrix);
    const auto multiply = reinterpret_cast<Gemm<Value>>(gemm.data());
    auto qr = interruptible(1, [&](RunContext& run) {
        WorkCounter counter(run);
        return MultifrontalQr<Index, Value>(rows, values.data(), right.data(),
                                            static_cast<std::int64_t>(right.shape(1)),
                                            tolerance.data(), last.data(), multiply, room, counter);
    });
    return nb::make_tuple(owned(std::move(qr.start)), owned(std::move(qr.column)),
                          owned(std::move(qr.value)), owned(std::move(qr.top)), qr.predicted);
}

template <class Index, class Value>
void solve(CsrArg<Index> upper, In<Value> values, Matrix<Value> x, bool adjoint) {
    const auto r = view(upper);
    const auto width = static_cast<std::int64_t>(x.shape(1));
    interruptible(1, [&](RunContext& run) {
        WorkCounter counter(run);
        if (adjoint) solve_upper_adjoint(r, values.data(), x.data(), width, counter);
        else solve_upper(r, values.data(), x.data(), width, counter);
    });
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

template <class Index, class Value>
void bind(nb::module_& m) {
    m.def("qr", factorise<Index, Value>);
    m.def("solve_upper", solve<Index, Value>);
    m.def("solve_upper_sparse", solve_sparse<Index, Value>);
}

}  // namespace

void bind_qr(nb::module_& m) {
    bind<std::int32_t, double>(m);
    bind<std::int64_t, double>(m);
    bind<std::int32_t, std::complex<double>>(m);
    bind<std::int64_t, std::complex<double>>(m);
}

}  // namespace sparsematch
