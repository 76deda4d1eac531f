"""Cheap start: each free row is matched with a free column of its own."""

from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import Before
from sparsematch._engines.cuda.core.device import seed_of
from sparsematch._engines.cuda.matching import start_common
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "A free neighbour drawn at random, all rows at once."
OPTIONS: dict[str, bool | float] = {"random": True}

load = compile.declare("matching/cheap", STRETCH=start_common.STRETCH)


def improve(graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None) -> Before:
    """Make the matching maximal."""
    # Reads: the graph. Writes: both mates. Workspace: a bit for each column. Time: O(nnz).
    with run.step("cheap"):
        at_random = np.bool_(run.options.get("random", OPTIONS["random"]))
        order = at_random, start_common.stretch_bits(graph.n_major), seed_of(run)
        _launch(graph, matching, bool(run.matched), order)
    return before


def complete(graph: BipartiteCSR, matching: Matching) -> None:
    """Match what few rows are free beside free columns, in their own order."""
    _launch(graph, matching, True, (np.bool_(False), np.int32(0), np.uint32(0)))


def _launch(graph: BipartiteCSR, matching: Matching, warm: bool, order: tuple[Any, ...]) -> None:
    mates, kernels = graph.orient(matching.row_mate, matching.col_mate), load(graph.dtype)
    matched = start_common.matched(kernels, mates[1], warm)
    given = graph.dtype.type(graph.n_major), graph.indptr, graph.indices, *mates, matched
    kernels.launch("cheap", graph.n_major, *given, np.bool_(warm), *order)
