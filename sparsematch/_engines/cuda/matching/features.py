"""What the choice of a start depends on: one launch over the lists, one wait for the device."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo


class Features(NamedTuple):
    """Features of the lists of the majors.

    Attributes
    ----------
    single : float
        The share of the majors that have one entry.
    skew : float
        The mean square of the lengths over that of equal ones; random ones: up to 1 + 1 / mean.
    linked : int
        Rows of slots that long lists need beside their first.
    has_diagonal : bool
        Whether the matrix is square and its diagonal has no zero.
    """

    single: float
    skew: float
    linked: int
    has_diagonal: bool


#: Rows of slots that a list may have beside its first.
LINKED = 15


def features(graph: BipartiteCSR, width: int) -> Features:
    """Return the features of a graph, and what rows of so many slots need. Time: O(nnz)."""
    n, square = graph.n_major, graph.n_major == graph.n_minor
    kernels, index = compile.load("matching/features", graph.dtype), graph.dtype.type
    found = kernels.zeros(namespace(graph.indptr), "Features")
    arrays = graph.indptr, graph.indices, found
    kernels.launch(
        "features", n, index(n), index(square), np.int32(width), np.int32(LINKED), *arrays
    )
    seen = kernels.read("Features", found)
    skew = float(seen["squares"]) * n / max(graph.nnz, 1) ** 2
    single = int(seen["single"]) / max(n, 1)
    return Features(single, skew, int(seen["linked"]), square and not seen["off_diagonal"])


def match_diagonal(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Match each row with the column of its own number."""
    begin, n = perf_counter(), graph.n_major
    kernels = compile.load("matching/features", graph.dtype)
    mates = matching.row_mate, matching.col_mate
    kernels.launch("match_diagonal", n, graph.dtype.type(n), *mates)
    why = "the diagonal has no zero"
    step = StepInfo("diagonal", perf_counter() - begin, cardinality=n, reason=why)
    run.steps.append(step)
