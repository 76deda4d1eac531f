"""What is accepted as a matching of a matrix over ranks."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, on_gpu
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import operations
from sparsematch._input.mates import check_mates, is_pair
from sparsematch._types.matching import not_a_matching
from sparsematch._types.mates import Mates
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def read_matching(A: DistributedCSR, given: Any, name: str, call: str) -> DistributedMatching:
    """Copy a caller's matching once it is one; `call` is what ranks agree on. Collective."""
    expected = "a DistributedMatching or a pair (row_mate, col_mate) of own mates"
    with agreed(A, call):
        if isinstance(given, Mates):
            given = given.row_mate, given.col_mate
        if not is_pair(given):
            raise wrong_type(name, given, expected)
        rows, cols = A.own_rows, A.own_cols
        row_mate = read_own(given[0], ("row", rows), ("column", A.n_cols), A, name)
        col_mate = read_own(given[1], ("column", cols), ("row", A.n_rows), A, name)
    matching = DistributedMatching(row_mate, col_mate, A).freeze(writeable=True)
    if flaw := operations(CertificateOps, A.backend).wrong_pair(A, matching):
        raise not_a_matching(name, flaw)
    return matching


def read_own(
    mates: Any, own: tuple[str, range], other: tuple[str, int], A: DistributedCSR, name: str
) -> IndexArray:
    """Copy the mates of the own vertices of one side."""
    if on_gpu(mates) != (A.backend == "nccl"):
        here, there = ("a GPU", "in host memory") if on_gpu(mates) else ("the host", "on GPUs")
        raise TypeError(f"{name} is on {here}, but the matrix is {there}")
    given = mates if on_gpu(mates) else np.asarray(mates)
    check_mates(given, own, other, name, " of this rank")
    return given.astype(A.dtype)
