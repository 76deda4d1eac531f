"""Is this a matching over ranks, is it maximal, is it maximum, and how can one see it."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, on_gpu
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import operations
from sparsematch._input.mates import check_mates, is_pair
from sparsematch._types.labels import VertexCover
from sparsematch._types.matching import not_a_matching, not_maximum
from sparsematch._types.mates import Mates
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def is_matching(A: DistributedCSR, matching: Any) -> bool:
    """Tell whether mates form a matching of a matrix. Collective."""
    try:
        read_matching(A, matching, "matching", "is_matching")
    except ValueError:
        return False
    return True


def is_maximal(A: DistributedCSR, matching: Any) -> bool:
    """Tell whether a matching is maximal. Collective."""
    given = read_matching(A, matching, "matching", "is_maximal")
    return operations(CertificateOps, A.backend).free_pair(A, given) is None


def is_maximum(A: DistributedCSR, matching: Any) -> bool:
    """Tell whether a matching is maximum. Collective."""
    given = read_matching(A, matching, "matching", "is_maximum")
    return operations(CertificateOps, A.backend).vertex_cover(A, given) is not None


def vertex_cover(A: DistributedCSR, matching: Any) -> VertexCover:
    """Return the own rows and columns of a smallest cover. Collective."""
    given = read_matching(A, matching, "matching", "vertex_cover")
    cover = operations(CertificateOps, A.backend).vertex_cover(A, given)
    if cover is None:
        raise not_maximum(given.cardinality)
    return cover


def read_matching(A: DistributedCSR, given: Any, name: str, call: str) -> DistributedMatching:
    """Copy what a caller gave as a matching, once it is known to be one. Collective.

    `call` is what ranks agree on that they do.
    """
    expected = "a DistributedMatching or a pair (row_mate, col_mate) of own mates"
    with agreed(A, call):
        if isinstance(given, Mates):
            given = given.row_mate, given.col_mate
        if not is_pair(given):
            raise wrong_type(name, given, expected)
        rows, cols = A.own_rows, A.own_cols
        row_mate = _read_own(given[0], ("row", rows), ("column", A.n_cols), A, name)
        col_mate = _read_own(given[1], ("column", cols), ("row", A.n_rows), A, name)
    matching = DistributedMatching(row_mate, col_mate, A).freeze(writeable=True)
    if flaw := operations(CertificateOps, A.backend).wrong_pair(A, matching):
        raise not_a_matching(name, flaw)
    return matching


def _read_own(
    mates: Any, own: tuple[str, range], other: tuple[str, int], A: DistributedCSR, name: str
) -> IndexArray:
    """Copy the mates of the own vertices of one side."""
    if on_gpu(mates) != (A.backend == "nccl"):
        here, there = ("a GPU", "in host memory") if on_gpu(mates) else ("the host", "on GPUs")
        raise TypeError(f"{name} is on {here}, but the matrix is {there}")
    given = mates if on_gpu(mates) else np.asarray(mates)
    check_mates(given, own, other, name, " of this rank")
    mate: IndexArray = given.astype(A.dtype)
    return mate
