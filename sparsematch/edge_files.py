"""Approximate matching of graphs that do not fit in memory: edges in a file. Experimental."""

from __future__ import annotations  # readable names in help()

import operator
import os
import tempfile

import numpy as np

from sparsematch._api.arguments import Rng, check_flags, read_seed
from sparsematch._base.arrays import UNMATCHED
from sparsematch._base.errors import check_count
from sparsematch._engines.operations import StreamOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.edge_file import as_edge_file
from sparsematch._types.graph import GUARANTEE
from sparsematch._types.matching import GraphMatching
from sparsematch._types.run_info import RunInfo

__all__ = ["match_edge_file"]


def match_edge_file(
    path: str | os.PathLike[str],
    *,
    n_vertices: int | None = None,
    weights: bool = True,
    rng: Rng = None,
    scratch: str | os.PathLike[str] | None = None,
) -> GraphMatching:
    """Find a heavy matching of a graph whose edges are in a file.

    Memory is needed for the vertices alone. The matching is that of
    ``approximate_matching(G, method="local_max")``.

    Parameters
    ----------
    path : str or path-like
        A ``.npy`` file of one dimension with the fields ``u`` and ``v``, both int32 or both int64,
        and perhaps ``weight``, float32 or float64. Each edge stands there once or more often, in
        either direction and any order. Of duplicates the heaviest counts. The weight of an edge is
        the absolute value of the number.
    n_vertices : int, optional
        Number of vertices; by default one more than the largest in the file, which takes another
        pass to find.
    weights : bool, optional
        False: all edges weigh the same. So they do in a file without weights.
    rng : int or numpy.random.Generator, optional
        As in `sparsematch.approximate_matching`: the same seed gives the same matching.
    scratch : str or path-like, optional
        The folder for scratch files, by default that of `tempfile`. They are as large as the file
        at most, usually a quarter, and are deleted afterwards.

    Returns
    -------
    GraphMatching
        Its mates are of the type of ``u``.

    Raises
    ------
    TypeError, ValueError, OSError
        If an argument is of the wrong type, the file is no such file, or cannot be read; or, naming
        the edge, if a vertex is out of range, or a weight NaN or infinite.

    See Also
    --------
    numpy.lib.format.open_memmap : Writes such a file part by part, if it is larger than memory.
    sparsematch.approximate_matching : The same in memory.

    Notes
    -----
    Memory: 16 bytes a vertex (24 with int64), the mates, and some 100 MB at most for buffers. Time:
    expected, O(n log n + m) for m edges, most of it for reading.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from sparsematch.edge_files import match_edge_file
    >>> edge = [("u", "i4"), ("v", "i4"), ("weight", "f8")]
    >>> edges = np.array([(0, 1, 5.0), (1, 2, 3.0), (2, 3, 2.0)], dtype=edge)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "edges.npy"
    ...     np.save(path, edges)
    ...     match_edge_file(path).mate.tolist()
    [1, 0, 3, 2]
    """
    check_flags(weights=weights)
    run, file = Run(seed=read_seed(rng)), as_edge_file(path)
    if n_vertices is None:
        n = file.n_vertices(0, file.n_edges)
    else:
        check_count("n_vertices", n_vertices)
        n = file.in_range(operator.index(n_vertices))
    mate = np.full(n, UNMATCHED, file.dtype)
    with tempfile.TemporaryDirectory(prefix="sparsematch-", dir=scratch) as folder:
        match = operations(StreamOps, "numpy").match_edges
        weight = match(file, mate, bool(weights) and file.weighted, folder, run)
    (step,) = run.steps
    info = RunInfo("local_max", "none", (step,), step.cardinality, 1, 0, 0.0)
    return GraphMatching(mate, mate, weight, GUARANTEE, info).freeze()
