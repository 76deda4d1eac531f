"""Approximate matching of graphs that do not fit in memory: edges in a file. Experimental."""

from __future__ import annotations  # readable names in help()

import operator
import os
import tempfile
from collections.abc import Iterable
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy

from sparsematch._api.arguments import Rng, check_flags, read_seed
from sparsematch._base.arrays import UNMATCHED
from sparsematch._base.errors import check_count, wrong_type
from sparsematch._engines.operations import StreamOps
from sparsematch._engines.registry import Run, operations
from sparsematch._input.scipy import check_sparse
from sparsematch._types.edge_file import EdgeFile, EdgeReport, as_edge_file
from sparsematch._types.matching import GraphMatching
from sparsematch._types.run_info import RunInfo, StepInfo

__all__ = ["match_edge_file", "write_edge_file"]

#: Of the greatest weight, a matching by local max has this share at least.
_GUARANTEE = 0.5


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
        and perhaps ``weight``, float32 or float64: what `write_edge_file` makes, or NumPy. Each
        edge stands there once or more often, in either direction and any order. Of duplicates the
        heaviest counts. The weight of an edge is the absolute value of the number.
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
    write_edge_file : Writes such a file.
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
    seed, begin = read_seed(rng), perf_counter()
    file = as_edge_file(path)
    mate = np.full(_n_vertices(file, n_vertices), UNMATCHED, file.dtype)
    weighted = bool(weights) and file.weighted
    with tempfile.TemporaryDirectory(prefix="sparsematch-", dir=scratch) as folder:
        match = operations(StreamOps, "numpy").match_edges
        report = match(file, mate, weighted, folder, Run(seed=seed))
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
    TypeError, ValueError, OSError
        If a chunk, which is named, is of the wrong type or shape, or has a number that the file's
        type does not hold; or the file cannot be written.

    See Also
    --------
    match_edge_file

    Notes
    -----
    The first chunk determines the types: vertices are int32 if they are of that type or a smaller
    one, weights float32 if they are that, else int64 and float64. Those of a matrix are int32 if it
    has fewer than 2**31 rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from sparsematch.edge_files import write_edge_file
    >>> chunks = ((np.arange(k, k + 2), np.arange(k + 1, k + 3)) for k in (0, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "edges.npy"
    ...     print(write_edge_file(path, chunks))
    ...     np.load(path).tolist()
    4
    [(0, 1), (1, 2), (2, 3), (3, 4)]
    """
    if sp.issparse(edges):
        chunks = iter([_upper_triangle(check_sparse(edges, "edges"))])
    elif isinstance(edges, Iterable) and not isinstance(edges, str | bytes | np.ndarray):
        chunks = iter(edges)
    else:
        raise wrong_type(
            "edges", edges, "a sparse matrix or an iterable of (u, v) or (u, v, weight)"
        )
    count, record = 0, np.dtype([("u", np.int32), ("v", np.int32)])
    with open(path, "wb") as stream:
        for k, chunk in enumerate(chunks):
            arrays = _read_chunk(chunk, k)
            if k == 0:
                record = _record_of(arrays)
                _write_header(stream, record, 0)
            names = record.names or ()
            if len(arrays) != len(names):
                raise ValueError(
                    f"chunk {k} of edges has {len(arrays)} arrays, but the first has {len(names)}"
                )
            table = np.empty(arrays[0].size, record)
            for name, array in zip(names, arrays, strict=True):
                table[name] = _converted(array, record[name], f"{name} of chunk {k}")
            table.tofile(stream)
            count += table.size
        stream.seek(0)
        _write_header(stream, record, count)
    return count


def _n_vertices(file: EdgeFile, given: Any) -> int:
    if given is None:
        return file.n_vertices(0, file.n_edges)
    check_count("n_vertices", given)
    if (n := operator.index(given)) > np.iinfo(file.dtype).max:
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


def _upper_triangle(G: Any) -> tuple[Any, ...]:
    if G.shape[0] != G.shape[1]:
        raise ValueError(f"edges has shape {G.shape}, but the matrix of a graph must be square")
    if G.dtype.kind not in "biufc":
        raise TypeError(f"edges.data must hold numbers, not {G.dtype}")
    index = np.int32 if G.shape[0] <= np.iinfo(np.int32).max else np.int64
    upper = sp.triu(G, k=1, format="coo")
    values = np.abs(upper.data) if G.dtype.kind == "c" else upper.data
    return upper.row.astype(index), upper.col.astype(index), values


def _read_chunk(chunk: Any, k: int) -> list[Any]:
    if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
        raise TypeError(
            f"chunk {k} of edges must be (u, v) or (u, v, weight), not {type(chunk).__name__}"
        )
    arrays = [np.asarray(array) for array in chunk]
    for name, array, kinds in zip(("u", "v", "weight"), arrays, ("iu", "iu", "biuf"), strict=False):
        if array.ndim != 1 or array.size != arrays[0].size:
            raise ValueError(
                f"{name} of chunk {k} has shape {array.shape}, but u has {arrays[0].shape}"
            )
        if array.dtype.kind not in kinds and array.size:
            what = "numbers" if name == "weight" else "integers"
            raise TypeError(f"{name} of chunk {k} must hold {what}, not {array.dtype}")
    return arrays


def _record_of(arrays: list[Any]) -> np.dtype[Any]:
    """Return the smallest record for such arrays without loss; integer weights are doubles."""
    small = all(a.dtype.itemsize < 4 or a.dtype == np.int32 for a in arrays[:2])
    index = np.int32 if small else np.int64
    fields: list[Any] = [("u", index), ("v", index)]
    if len(arrays) == 3:
        fields.append(("weight", np.float32 if arrays[2].dtype == np.float32 else np.float64))
    return np.dtype(fields)


def _converted(array: Any, dtype: np.dtype[Any], name: str) -> Any:
    """Convert numbers to the file's type; refuse those that it does not hold."""
    with np.errstate(over="ignore"):
        converted = array.astype(dtype)
    if array.dtype.kind in "iu":
        is_vertex = dtype.kind == "i"
        most = np.iinfo(dtype).max if is_vertex else 2 ** (np.finfo(dtype).nmant + 1)
        least = 0 if is_vertex else -most
        wrong = (array > most) | (array < least)
        fault = f"not from {least} to {most}, as {dtype} needs"
    else:
        wrong, fault = np.isinf(converted) & np.isfinite(array), f"too large for {dtype}"
    if wrong.any():
        raise ValueError(f"{name} has {array[wrong][0]}, {fault}")
    return converted


def _write_header(stream: Any, record: np.dtype[Any], count: int) -> None:
    """Write the header; NumPy pads it for a larger count, so its length stays the same."""
    npy.write_array_header_1_0(
        stream, {"descr": npy.dtype_to_descr(record), "fortran_order": False, "shape": (count,)}
    )
