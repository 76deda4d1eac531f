"""What the core is given of a matrix: its arrays as they are, or converted, once.

The core takes compressed columns or rows that ascend without repeats, and remembers them. Any other
matrix is put in the order of its columns, and so are the values that follow.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray
from sparsematch._base.dlpack import as_array
from sparsematch._base.errors import wrong_type
from sparsematch._input.canonical import which_not_finite
from sparsematch._input.foreign import from_other_library
from sparsematch._input.names import BothNames
from sparsematch._input.pattern import Pattern, compress, read_pattern
from sparsematch._systems.checks import check_square
from sparsematch._systems.errors import NotFiniteError
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.factors import BlockAnalysis
from sparsematch._types.view import without_view

Values = NDArray[Any]

#: Matrices that the core may read as they are, by how they are stored.
LAYOUTS: dict[type, str] = {
    sp.csc_array: "csc",
    sp.csc_matrix: "csc",
    sp.csr_array: "csr",
    sp.csr_matrix: "csr",
}


def convert(A: Any) -> tuple[Pattern, Values]:
    """Return the pattern of a square matrix by columns, and its values in that order.

    Raises TypeError if `A` is not a sparse matrix of numbers; ValueError if it is not square, or
    its index arrays are inconsistent.
    """
    A = compress(A) if sp.issparse(A) else A
    pattern = read_pattern(A, by_columns=True)
    check_square(pattern.graph.shape)
    given = A if sp.issparse(A) and A.format == pattern.layout else None
    return pattern, _arranged(pattern, pattern.data_of(A) if given is None else given.data)


def pattern_of(analysis: BlockAnalysis) -> Pattern:
    """Return the pattern of a matrix that the core has read as it was."""
    arrays, by_columns = analysis.given, not analysis.by_rows
    graph = BipartiteCSR(analysis.n, analysis.n, *arrays, "numpy", by_columns)
    return Pattern(graph, "csc" if by_columns else "csr", arrays, None, None)


def values_of(pattern: Pattern, A: Any) -> Values:
    """Return the values of a matrix of this pattern, or of an array, as the core is given them.

    Raises TypeError if `A` is neither a sparse matrix nor an array of numbers; ValueError if its
    pattern is another one.
    """
    A = from_other_library(without_view(A)[0])
    return _arranged(pattern, pattern.data_of(A) if sp.issparse(A) else _array(A, pattern.nnz))


def _arranged(pattern: Pattern, data: Any) -> Values:
    nnz = pattern.nnz
    if not isinstance(data, np.ndarray):
        raise wrong_type("A.data", data, "an array")
    if data.ndim != 1 or data.size < nnz:
        raise ValueError(f"A.data has shape {data.shape}, but there are {nnz} entries")
    if data.dtype.kind not in "biufc":
        raise TypeError(f"A must hold numbers, not {data.dtype}")
    dtype = np.complex128 if data.dtype.kind == "c" else np.float64
    return pattern.arrange(np.ascontiguousarray(data[:nnz], dtype))


def _array(A: Any, nnz: int) -> Values:
    A = as_array(A, "A") if hasattr(A, "__dlpack_device__") else A
    if not isinstance(A, np.ndarray):
        raise wrong_type("A", A, "a SciPy sparse array or matrix, or an array of values")
    if A.shape != (nnz,):
        raise ValueError(f"there are values of shape {A.shape} for a matrix with {nnz} entries")
    return A


def not_finite(analysis: BlockAnalysis, values: Values, names: BothNames) -> NotFiniteError:
    """Say which values of the columns are not finite."""
    found = which_not_finite("A", (*analysis.columns, values), names)
    assert found is not None
    return NotFiniteError(*found)


def not_zero(analysis: BlockAnalysis, pattern: Pattern, values: Values) -> ValueError:
    """Say which value is not zero, as given to the core, that was left out."""
    is_kept = np.zeros(values.size, bool)
    is_kept[analysis.places] = True
    p = int(np.flatnonzero(~is_kept & (values != 0))[0])
    first = p if pattern.starts is None else pattern.starts[p]
    place = first if pattern.order is None else pattern.order[first]
    row, col = (side[place] for side in _positions(pattern.layout, pattern.arrays))
    return ValueError(
        f"A[{row}, {col}] is {values[p]}, but it was 0 in the matrix that was analysed with "
        'zeros="drop": analyse this one, or with zeros="keep"'
    )


def _positions(layout: str, arrays: tuple[IndexArray, ...]) -> tuple[IndexArray, IndexArray]:
    if layout == "coo":
        return arrays[0], arrays[1]
    indptr, indices = arrays
    stored = np.repeat(
        np.arange(indptr.size - 1, dtype=indices.dtype), np.diff(indptr).astype(np.intp, copy=False)
    )
    return (stored, indices) if layout == "csr" else (indices, stored)
