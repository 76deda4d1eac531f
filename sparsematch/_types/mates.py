"""What is accepted as a matching: arrays of mates, checked and copied."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._types.arrays import UNMATCHED, IndexArray, namespace, on_gpu
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.errors import wrong_type


def is_pair(given: Any) -> bool:
    """Tell whether this is a pair of arrays, the mates of both sides."""
    pair = isinstance(given, tuple | list) and len(given) == 2
    return pair and all(np.ndim(mate) == 1 for mate in given)


def read_mates(
    mates: Any, own: tuple[str, int], other: tuple[str, int], graph: BipartiteCSR, name: str
) -> IndexArray:
    """Copy the mates of one side; `own` and `other` are (name of a vertex, how many)."""
    (vertex, size), (partner, limit) = own, other
    given = _read_vector(mates, graph, name)
    if given.dtype.kind not in "iu" and given.size:
        raise wrong_type(name, given[0], f"made of integers, the mate of each {vertex} or -1")
    if given.size != size:
        raise ValueError(
            f"{name} is not a matching of this matrix: the mates of the {vertex}s have length "
            f"{given.size}, not {size}"
        )
    wrong = namespace(given).flatnonzero((given < UNMATCHED) | (given >= limit))
    if wrong.size:
        k = wrong[0]
        raise ValueError(
            f"{name} is not a matching of this matrix: {vertex} {k} is paired with {partner} "
            f"{given[k]}, but {partner}s are counted from 0 and there are {limit} of them "
            "(-1 means unmatched)"
        )
    return given.astype(graph.dtype)


def _read_vector(mates: Any, graph: BipartiteCSR, name: str) -> NDArray[Any]:
    expected = "a Matching, a pair (row_mate, col_mate) or one array row_mate"
    here = on_gpu(mates)
    if here and graph.backend == "numpy":
        raise TypeError(
            f"{name} is on a GPU, but the matrix is in host memory; get() copies arrays and "
            "matchings there"
        )
    if not here and graph.backend == "cupy":
        raise wrong_type(
            name,
            mates,
            "made of CuPy arrays like the matrix; cupy.asarray copies arrays to the GPU",
        )
    try:
        given = mates if here else np.asarray(mates)
    except ValueError:  # sequences of different lengths
        raise ValueError(f"{name} must be {expected}") from None
    if given.ndim == 0:
        raise wrong_type(name, mates, expected)
    if given.ndim > 1:
        raise ValueError(f"{name} must be {expected}, but has {given.ndim} dimensions")
    return given


def invert(row_mate: IndexArray, n_cols: int, name: str) -> IndexArray:
    """Return the mates of the columns, given those of the rows."""
    xp = namespace(row_mate)
    col_mate: IndexArray = xp.full(n_cols, UNMATCHED, row_mate.dtype)
    rows = xp.flatnonzero(row_mate >= 0)
    col_mate[row_mate[rows]] = rows
    robbed = xp.flatnonzero(col_mate[row_mate[rows]] != rows)
    if robbed.size:
        i = rows[robbed[0]]
        j = row_mate[i]
        raise ValueError(
            f"{name} is not a matching of this matrix: row {i} is paired with column {j}, but row "
            f"{col_mate[j]} is too"
        )
    return col_mate
