"""What is accepted as a matching: arrays of mates, checked and copied."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import UNMATCHED, IndexArray, advising, import_cupy, namespace, on_gpu
from sparsematch._base.errors import wrong_type
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching, invert

_EXPECTED = "a Matching, a pair (row_mate, col_mate) or one array row_mate"


@advising
def copied(graph: BipartiteCSR, given: Any, name: str) -> Matching:
    """Copy a caller's matching of a matrix: Matching, (row_mate, col_mate) or row_mate."""
    # The arrays are writable and of the matrix's index type, every mate within range. Whether the
    # mates agree with each other and are entries of the matrix is for the back-end to check.
    if given is None:
        raise wrong_type(name, given, _EXPECTED)
    if isinstance(given, Matching):
        given = given.row_mate, given.col_mate
    rows, cols = ("row", graph.n_rows), ("column", graph.n_cols)
    if is_pair(given):
        row_mate = read_mates(given[0], rows, cols, graph, name)
        return Matching(row_mate, read_mates(given[1], cols, rows, graph, name))
    row_mate = read_mates(given, rows, cols, graph, name)
    return Matching(row_mate, invert(row_mate, graph.n_cols, name))


def is_pair(given: Any) -> bool:
    """Tell whether this is a pair of arrays, the mates of both sides."""
    pair = isinstance(given, tuple | list) and len(given) == 2
    return pair and all(np.ndim(mate) == 1 for mate in given)


def read_mates(
    mates: Any, own: tuple[str, int], other: tuple[str, int], graph: BipartiteCSR, name: str
) -> IndexArray:
    """Copy the mates of one side; `own` and `other` are (name of a vertex, how many)."""
    given = _read_vector(mates, graph, name)
    check_mates(given, (own[0], range(own[1])), other, name)
    return given.astype(graph.dtype)


def check_mates(
    given: Any, own: tuple[str, range], other: tuple[str, int], name: str, where: str = ""
) -> None:
    """Raise unless these are mates of the vertices `own` among as many of the other side."""
    (vertex, numbers), (partner, limit) = own, other
    flaw = f"{name} is not a matching of this matrix: "
    if given.dtype.kind not in "iu" and given.size:
        raise wrong_type(name, given[0], f"made of integers, the mate of each {vertex} or -1")
    if given.size != len(numbers):
        raise ValueError(
            f"{flaw}the mates of the {vertex}s{where} have length {given.size}, not {len(numbers)}"
        )
    wrong = namespace(given).flatnonzero((given < UNMATCHED) | (given >= limit))
    if wrong.size:
        k = int(wrong[0])
        raise ValueError(
            f"{flaw}{vertex} {numbers[k]} is paired with {partner} {given[k]}, but {partner}s are "
            f"counted from 0 and there are {limit} of them (-1 means unmatched)"
        )


def _read_vector(mates: Any, graph: BipartiteCSR, name: str) -> IndexArray:
    if graph.from_host and not on_gpu(mates):  # as the matrix was
        mates = import_cupy().asarray(np.asarray(mates))
    here = on_gpu(mates)
    if here and graph.backend == "numpy":
        raise TypeError(
            f"{name} is on a GPU, but the matrix is in host memory; get() copies arrays and "
            "matchings there"
        )
    if not here and graph.backend == "cupy":
        wanted = "made of CuPy arrays like the matrix; cupy.asarray copies arrays to the GPU"
        raise wrong_type(name, mates, wanted)
    try:
        given = mates if here else np.asarray(mates)
    except ValueError:  # sequences of different lengths
        raise ValueError(f"{name} must be {_EXPECTED}") from None
    if given.ndim == 0:
        raise wrong_type(name, mates, _EXPECTED)
    if given.ndim > 1:
        raise ValueError(f"{name} must be {_EXPECTED}, but has {given.ndim} dimensions")
    return given
