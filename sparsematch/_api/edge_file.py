"""Approximate matching of graphs that do not fit in memory: edges in a file."""

from __future__ import annotations  # readable names in help()

import operator
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._api.arguments import Rng, check_flags, read_seed
from sparsematch._engines.operations import StreamOps
from sparsematch._engines.registry import Run, operations
from sparsematch._input.scipy import check_sparse
from sparsematch._types.arrays import UNMATCHED
from sparsematch._types.edge_file import EdgeFile, EdgeReport, as_edge_file, write_chunks
from sparsematch._types.errors import wrong_type
from sparsematch._types.graph_matching import GraphMatching
from sparsematch._types.run_info import RunInfo, StepInfo

#: Of the greatest weight, a matching by local max has this share at least.
_GUARANTEE = 0.5

#: Entries of a matrix that are written at a time.
_CHUNK = 1 << 20


def match_edge_file(
    path: str | os.PathLike[str],
    *,
    n_vertices: int | None = None,
    weights: bool = True,
    rng: Rng = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int, int], object] | None = None,
) -> GraphMatching:
    """Find a heavy matching of a graph whose edges are in a file.

    Memory is needed for the vertices alone.

    The matching is that of ``approximate_matching(G, method="local_max")``. The file is read from
    front to back a few times; what is left of the edges after two of these passes is usually a
    quarter, and goes to scratch files.

    Parameters
    ----------
    path : str or path-like
        A ``.npy`` file of one dimension with the fields ``u`` and ``v``, both int32 or both int64,
        and perhaps ``weight``, float32 or float64: what `write_edge_file` makes, or NumPy. Each
        edge stands there once or more often, in either direction and any order. Of duplicates the
        heaviest counts: unlike entries of a matrix they are not added up, which would need a sort.
        Loops are skipped. The weight of an edge is the absolute value of the number.
    n_vertices : int, optional
        Number of vertices; by default one more than the largest in the file, which takes another
        pass to find.
    weights : bool, optional
        False: all edges weigh the same. So they do in a file without weights.
    rng : int or numpy.random.Generator, optional
        As in `approximate_matching`: the same seed gives the same matching.
    scratch : str or path-like, optional
        The folder for scratch files, by default that of `tempfile`. They take up to as much room as
        the file, usually a quarter, and are deleted afterwards.
    progress : callable, optional
        Called some times a second as ``progress(round, done, total)``: of the edges that the pass
        of this round is to read, how many it has read. Round 0 looks for the largest vertex. What
        it raises ends the work.

    Returns
    -------
    GraphMatching
        Its mates are of the type of ``u``.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If the file is no such file; or, naming the edge, if a vertex is out of range, or a weight
        NaN or infinite.
    OSError
        If the file cannot be read, or scratch files cannot be written.

    See Also
    --------
    write_edge_file : Writes such a file.
    approximate_matching : The same in memory.

    Notes
    -----
    Memory: 16 bytes a vertex (24 with int64), the mates, and some 100 MB at most for buffers. Time:
    expected, O(n log n + m) for m edges, most of it for reading.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from sparsematch import match_edge_file
    >>> edge = [("u", "i4"), ("v", "i4"), ("weight", "f8")]
    >>> edges = np.array([(0, 1, 5.0), (1, 2, 3.0), (2, 3, 2.0)], dtype=edge)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "edges.npy"
    ...     np.save(path, edges)
    ...     match_edge_file(path).mate.tolist()
    [1, 0, 3, 2]
    """
    check_flags(weights=weights)
    if progress is not None and not callable(progress):
        raise wrong_type("progress", progress, "a function of three integers")
    seed, begin = read_seed(rng), perf_counter()
    file = as_edge_file(path)
    mate = np.full(_n_vertices(file, n_vertices, progress), UNMATCHED, file.dtype)
    weighted = bool(weights) and file.weighted
    with tempfile.TemporaryDirectory(prefix="sparsematch-", dir=scratch) as folder:
        report = operations(StreamOps, "numpy").match_edges(
            file, mate, weighted, folder, Run(seed=seed), progress
        )
    return _result(mate, report, perf_counter() - begin)


def write_edge_file(path: str | os.PathLike[str], edges: Any) -> int:
    """Write the edges of a graph to a file in NumPy's format, as `match_edge_file` reads it.

    Parameters
    ----------
    path : str or path-like
        The file, by custom with a name that ends in ``.npy``. One that is there is overwritten.
    edges : sparse array or matrix, or iterable of tuples
        A symmetric matrix without duplicates, of which the upper triangle is written and the
        diagonal left out; or chunks of edges, each a tuple of arrays ``(u, v)`` or ``(u, v,
        weight)``: a generator of these need not hold more than one in memory.

    Returns
    -------
    int
        The number of edges in the file.

    Raises
    ------
    TypeError, ValueError
        If a chunk is of the wrong type or shape, has a negative vertex, or a weight that the file's
        type does not hold: an integer beyond 2**53 (in float32, 2**24), or one that would become
        infinite. The message names the chunk.
    OSError
        If the file cannot be written.

    See Also
    --------
    match_edge_file

    Notes
    -----
    The first chunk determines the types: vertices are int32 if they are of that type or a smaller
    one, weights float32 if they are that, else int64 and float64. Those of a matrix are int32 if it
    has fewer than 2**31 rows. The file holds one array with the fields ``u``, ``v`` and perhaps
    ``weight``, which ``numpy.load(path, mmap_mode="r")`` reads.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from sparsematch import write_edge_file
    >>> chunks = ((np.arange(k, k + 2), np.arange(k + 1, k + 3)) for k in (0, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "edges.npy"
    ...     print(write_edge_file(path, chunks))
    ...     np.load(path).tolist()
    4
    [(0, 1), (1, 2), (2, 3), (3, 4)]
    """
    if sp.issparse(edges):
        chunks = _chunks_of(check_sparse(edges, "edges"))
    elif isinstance(edges, Iterable) and not isinstance(edges, str | bytes | np.ndarray):
        chunks = iter(edges)
    else:
        raise wrong_type(
            "edges", edges, "a sparse matrix or an iterable of (u, v) or (u, v, weight)"
        )
    return write_chunks(os.fspath(path), chunks)


def _n_vertices(file: EdgeFile, given: Any, progress: Any) -> int:
    if given is None:
        return operations(StreamOps, "numpy").largest_vertex(file, progress) + 1
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise wrong_type("n_vertices", given, "an integer")
    n = operator.index(given)
    if not 0 <= n <= np.iinfo(file.dtype).max:
        raise ValueError(
            f"n_vertices is {n}, but must be from 0 to {np.iinfo(file.dtype).max}, for {file.dtype}"
        )
    return n


def _result(mate: Any, report: EdgeReport, seconds: float) -> GraphMatching:
    pairs = report.matched[-1] // 2 if report.matched else 0
    step = StepInfo(
        "local_max",
        seconds,
        phases=len(report.matched),
        edges=report.scanned,
        cardinality=pairs,
        matched=report.matched,
        live_edges=report.live_edges,
    )
    info = RunInfo("local_max", "none", (step,), pairs, 1, 0, 0.0)
    return GraphMatching(mate, mate, report.weight, _GUARANTEE, info).freeze()


def _chunks_of(G: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the upper triangle of a symmetric matrix, chunk by chunk."""
    if G.shape[0] != G.shape[1]:
        raise ValueError(f"edges has shape {G.shape}, but the matrix of a graph must be square")
    if G.format not in ("csr", "csc", "coo"):
        G = G.tocsr()
    if G.dtype.kind not in "biufc":
        raise TypeError(f"edges.data must hold numbers, not {G.dtype}")
    index = np.int32 if G.shape[0] <= np.iinfo(np.int32).max else np.int64
    for begin in range(0, max(G.nnz, 1), _CHUNK):
        end = min(begin + _CHUNK, G.nnz)
        if G.format == "coo":
            rows, cols = G.row[begin:end], G.col[begin:end]
        else:
            places = np.arange(begin, end, dtype=G.indptr.dtype)
            rows = np.searchsorted(G.indptr[1:], places, side="right")
            cols = G.indices[begin:end]
        upper = rows < cols
        values = G.data[begin:end][upper]
        yield (
            rows[upper].astype(index),
            cols[upper].astype(index),
            np.abs(values) if values.dtype.kind == "c" else values,
        )
