"""QR factorisations by the core, with SciPy's BLAS."""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import BoolArray, FloatArray, IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._engines.cpu.core.memory import available_bytes
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import UpperTrapezoid

#: Bytes that are there, without a look: that takes 0.1 ms, as long as a small factorisation.
_LITTLE = 1e8


def factorise(
    graph: BipartiteCSR,
    values: NDArray[Any],
    right: NDArray[Any],
    tolerance: FloatArray,
    last: BoolArray,
) -> UpperTrapezoid:
    """Factorise a matrix given by rows, without duplicates; `right` has the type of its values.

    `last`: columns that come after all others. MemoryError: more is predicted than there is.

    Time: O(nnz), the order, and the arithmetic of the fronts.
    """
    gemm = _gemm(values.dtype.char)
    # of all rows and columns, as a dense matrix
    most = 4.0 * values.itemsize * (graph.n_rows + graph.n_cols) * (graph.n_cols + right.shape[1])
    room = available_bytes() if most > _LITTLE else math.inf
    start, columns, entries, top, predicted = _core.qr(
        csr(graph), values, np.ascontiguousarray(right), tolerance, last, gemm, room
    )
    if predicted > room:
        raise MemoryError(
            f"a QR factorisation with {graph.n_cols} columns is predicted to take "
            f"{predicted / 2**30:.1f} GiB of memory, of which {room / 2**30:.1f} GiB are left; "
            "scipy.sparse.linalg.lsmr needs no factors"
        )
    return UpperTrapezoid(start, columns, entries, top.reshape(start.size - 1, right.shape[1]))


def solve_upper(
    indptr: IndexArray, indices: IndexArray, values: NDArray[Any], x: NDArray[Any], adjoint: bool
) -> None:
    """Solve with R, the diagonal first in each row, or its conjugate transpose, in place."""
    _core.solve_upper((len(indptr) - 1, indptr, indices), values, x, adjoint)


@cache
def _gemm(type_code: str) -> Any:
    """Return the capsule of BLAS's matrix product for float64 or complex128."""
    from scipy.linalg import cython_blas  # nobody else needs it

    return cython_blas.__pyx_capi__[{"d": "dgemm", "D": "zgemm"}[type_code]]
