"""What the core is given of a matrix: its arrays as they are, or converted, once.

The core takes compressed columns or rows that ascend without repeats, and remembers them. Any other
matrix is put in the order of its columns, and so are the values that follow.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import Array
from sparsematch._input.canonical import which_not_finite
from sparsematch._input.names import BothNames
from sparsematch._input.pattern import Pattern, compress, read_pattern
from sparsematch._systems.checks import check_square
from sparsematch._systems.errors import NotFiniteError
from sparsematch._types.bipartite import BipartiteCSR, entry_place
from sparsematch._types.factors import BlockAnalysis
from sparsematch._types.view import without_view

#: Matrices that the core may read as they are, by how they are stored.
LAYOUTS: dict[type, str] = dict.fromkeys((sp.csc_array, sp.csc_matrix), "csc")
LAYOUTS |= dict.fromkeys((sp.csr_array, sp.csr_matrix), "csr")


def convert(A: Any) -> tuple[Pattern, Array]:
    """Return the pattern of a square matrix by columns, and its values in that order."""
    A = compress(A) if sp.issparse(A) else A
    pattern = read_pattern(A, by_columns=True)
    check_square(pattern.graph.shape)
    as_it_is = sp.issparse(A) and A.format == pattern.layout
    data = pattern.entries_of(A.data) if as_it_is else pattern.data_of(A)
    return pattern, _arranged(pattern, data)


def pattern_of(analysis: BlockAnalysis) -> Pattern:
    """Return the pattern of a matrix that the core has read as it was."""
    arrays, by_columns = analysis.given, not analysis.by_rows
    graph = BipartiteCSR(analysis.n, analysis.n, *arrays, "numpy", by_columns)
    return Pattern(graph, "csc" if by_columns else "csr", arrays, None, None)


def values_of(pattern: Pattern, A: Any) -> Array:
    """Return the values of a matrix of this pattern, or of an array, as the core is given them."""
    return _arranged(pattern, pattern.read(without_view(A)[0], 1, "A, an array of values,"))


def _arranged(pattern: Pattern, values: Array) -> Array:
    dtype = np.complex128 if values.dtype.kind == "c" else np.float64
    return pattern.arrange(np.ascontiguousarray(values, dtype))


def not_finite(analysis: BlockAnalysis, values: Array, names: BothNames) -> NotFiniteError:
    """Say which values of the columns are not finite."""
    found = which_not_finite("A", (*analysis.columns, values), names)
    assert found is not None
    return NotFiniteError(*found)


def not_zero(analysis: BlockAnalysis, pattern: Pattern, values: Array) -> ValueError:
    """Say which value is not zero, as given to the core, that was left out."""
    is_kept = np.zeros(values.size, bool)
    is_kept[analysis.places] = True
    p = int(np.flatnonzero(~is_kept & (values != 0))[0])
    row, col = entry_place(pattern.graph, p)
    return ValueError(
        f"A[{row}, {col}] is {values[p]}, but it was 0 in the matrix that was analysed with "
        'zeros="drop": analyse this one, or with zeros="keep"'
    )
