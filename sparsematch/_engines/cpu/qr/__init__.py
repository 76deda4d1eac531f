"""QR factorisations by the core, with SciPy's BLAS."""

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from sparsematch._base.arrays import Array, BoolArray, FloatArray
from sparsematch._base.memory import available_bytes
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._engines.operations import QrOps
from sparsematch._engines.registry import register_operations
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import UpperTrapezoid


def factorise(
    graph: BipartiteCSR, values: Array, right: Array, tolerance: FloatArray, last: BoolArray
) -> UpperTrapezoid:
    """Factorise a matrix given by rows, without duplicates; `right` has the type of its values.

    `last`: columns that come after all others. MemoryError: more is predicted than there is.
    Time: O(nnz), the order, and the arithmetic of the fronts.
    """
    # of all rows and columns, as a dense matrix
    most = 4.0 * values.itemsize * (graph.n_rows + graph.n_cols) * (graph.n_cols + right.shape[1])
    room = available_bytes(most)
    given = csr(graph), values, np.ascontiguousarray(right), tolerance, last
    start, columns, entries, top, predicted = _core.qr(*given, room)
    if predicted > room:
        raise MemoryError(
            f"a QR factorisation with {graph.n_cols} columns is predicted to take "
            f"{predicted / 2**30:.1f} GiB of memory, of which {room / 2**30:.1f} GiB are left; "
            "scipy.sparse.linalg.lsmr needs no factors"
        )
    return UpperTrapezoid(start, columns, entries, top.reshape(start.size - 1, right.shape[1]))


def solve_upper_sparse(upper: Any, right: Any, drop: float) -> Any:
    """Solve with R for sparse right-hand sides; elements of at most `drop` become zero.

    All CSC, in order, of one type of numbers and of indices. MemoryError: there is no room for it.
    """
    room = available_bytes(50.0 * right.shape[0] * right.shape[1])
    index = np.result_type(upper.indices, right.indices)
    given: list[Any] = []
    for part in (upper, right):
        pattern = part.shape[0], part.indptr.astype(index), part.indices.astype(index)
        given += [pattern, part.data]
    start, rows, values, exceeds = _core.solve_upper_sparse(*given, drop, room)
    if exceeds:
        raise MemoryError(
            f"a sparse basis of a null space has more than {rows.size:,} entries, for which "
            f"{room / 2**30:.1f} GiB of memory are too few"
        )
    return csc_array((values, rows, start), shape=right.shape)


register_operations("numpy", QrOps, vars(_core), globals())
