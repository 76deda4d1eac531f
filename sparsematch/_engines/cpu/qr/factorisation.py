"""QR factorisations by the core, with SciPy's BLAS."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._types.arrays import BoolArray, FloatArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import UpperTrapezoid


def factorise(
    graph: BipartiteCSR,
    values: NDArray[Any],
    right: NDArray[Any],
    tolerance: FloatArray,
    last: BoolArray,
) -> UpperTrapezoid:
    """Factorise a matrix given by rows, without duplicates; `right` has the type of its values.

    `last`: columns that come after all others.

    Time: O(nnz), the order, and the arithmetic of the fronts.
    """
    start, columns, entries, top = _core.qr(
        csr(graph), values, np.ascontiguousarray(right), tolerance, last, _gemm(values.dtype.char)
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
