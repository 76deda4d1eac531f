"""One engine of the core, run once: what every engine of this back-end is, and what `auto` is made of.

The core knows rows and columns only as what `indptr` runs over and what `indices` names; the mates of a flipped graph
are handed to it the other way round.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import NamedTuple

import numpy as np

from sparsematch._engines.cpu import _core
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

#: Options of all engines and their defaults.
OPTIONS: dict[str, bool | float] = {
    "random": False,  # start each list at a hashed place
    "degree_one_only": False,  # no picks once the vertices of degree one are used up
    "neighbour_xor": False,  # know the last live neighbour instead of looking for it
    "hkdw": False,  # Duff and Wiberg's second round of searches
    "fairness": True,  # alternate the direction in which lists are scanned
    "grafting": True,  # keep trees from phase to phase
    "direction": True,  # search from the columns where the frontier is large
    "alpha": 5.0,  # a frontier is large above unvisited / alpha
    "k": 1.0,  # relabel globally after k (n_rows + n_cols) relabels
    "gap": True,  # no label in use: what lies above it reaches no free column
}


class Row(NamedTuple):
    """One row of the core's table of engines."""

    exact: bool
    transpose: str
    threads: bool
    options: dict[str, bool | float]


ROWS = {
    name: Row(exact, needs, threads, {option: OPTIONS[option] for option in options.split()})
    for name, exact, needs, threads, options in _core.engines()
}


def step(
    name: str,
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    *,
    from_minor: bool = False,
    edge_limit: int = 0,
    options: Mapping[str, bool | float] | None = None,
) -> StepInfo:
    """Run one engine on a matching, and add its account to the run's.

    Parameters
    ----------
    name : str
        An engine of the core.
    graph : BipartiteCSR
        The graph.
    matching : Matching
        Improved in place.
    run : Run
        Workers, seed, options of the call. The transpose is taken from here, and left here if it had to be built.
    from_minor : bool, optional
        Exchange the sides: the engine's rows are what `indices` names. Needs the transpose.
    edge_limit : int, optional
        Stop, short of the goal, after about so many entries; 0: never.
    options : mapping, optional
        Options of this step, before those of the run.

    Returns
    -------
    StepInfo
        The account; ``exhausted`` tells whether the limit stopped the engine.
    """
    row = ROWS[name]
    if from_minor or row.transpose == "required":
        transpose(graph, run)
    major, minor = graph, run.transposed if row.transpose != "unused" else None
    mates = graph.orient(matching.row_mate, matching.col_mate)
    if from_minor and run.transposed:
        major, minor, mates = run.transposed, graph if minor else None, mates[::-1]
    chosen = {**row.options, "seed": run.seed}
    if run.options or options:
        given = {**run.options, **(options or {})}
        chosen.update((key, given[key]) for key in row.options.keys() & given.keys())
    begin = perf_counter()
    report = _core.run(
        name,
        major.n_minor,
        major.indptr,
        major.indices,
        minor.indptr if minor else None,
        minor.indices if minor else None,
        *mates,
        run.workers,
        edge_limit,
        run.detailed,
        chosen,
    )
    info = StepInfo(
        name,
        perf_counter() - begin,
        report["phases"],
        report["levels"],
        report["edges"],
        report["augmentations"],
        report["path_edges"],
        report["exhausted"],
        report["seconds"],
        tuple(report["frontier"]),
    )
    run.steps.append(info)
    return info


def transpose(graph: BipartiteCSR, run: Run) -> BipartiteCSR:
    """Return the transpose of the graph, built the first time. Time: O(n_rows + n_cols + nnz)."""
    if run.transposed is None:
        begin = perf_counter()
        indptr = np.empty(graph.n_minor + 1, graph.dtype)
        indices = np.empty(graph.nnz, graph.dtype)
        _core.transpose(graph.n_minor, graph.indptr, graph.indices, indptr, indices, run.workers)
        run.transposed = BipartiteCSR(graph.n_rows, graph.n_cols, indptr, indices, graph.backend, not graph.flipped)
        run.transposes_built += 1
        run.transpose_seconds += perf_counter() - begin
    return run.transposed
