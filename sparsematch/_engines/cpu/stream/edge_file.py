"""Matching of the edges of a file, with memory for the vertices alone, by the core."""

from collections.abc import Callable

from sparsematch._engines.cpu import _core
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray
from sparsematch._types.edge_file import EdgeFile, EdgeReport

Progress = Callable[[int, int, int], object]

_UNREADABLE, _UNWRITABLE, _VERTEX, _WEIGHT = 1, 2, 3, 4


def match_edges(
    file: EdgeFile,
    mate: IndexArray,
    weighted: bool,
    folder: str,
    run: Run,
    progress: Progress | None,
) -> EdgeReport:
    """Write the mates that local max gives. Time: O(n_edges), expected."""
    report = _core.match_edges(file.path, file.layout, folder, mate, weighted, run.seed, progress)
    _raise(file, report["fault"], folder, mate.size)
    return EdgeReport(
        report["weight"],
        report["scanned"],
        report["written"],
        tuple(report["matched"]),
        tuple(report["live_edges"]),
    )


def largest_vertex(file: EdgeFile, progress: Progress | None) -> int:
    """Return the largest number of a vertex, or -1. Time: O(n_edges)."""
    largest = _core.largest_vertex(file.path, file.layout, progress)
    if largest < -1:
        _raise(file, (_UNREADABLE, 0, 0, 0, 0.0), "", 0)
    return largest


def _raise(file: EdgeFile, fault: tuple[int, int, int, int, float], folder: str, n: int) -> None:
    kind, edge, u, v, weight = fault
    if kind == _UNREADABLE:
        raise OSError(
            f"{file.path} or the scratch files in {folder or 'no folder'}"
            " cannot be read to their end"
        )
    if kind == _UNWRITABLE:
        raise OSError(f"cannot write scratch files in {folder}: is there room?")
    if kind == _VERTEX:
        raise ValueError(
            f"edge {edge} of {file.path} is ({u}, {v}), but the vertices are 0 to {n - 1}"
        )
    if kind == _WEIGHT:
        raise ValueError(
            f"edge {edge} of {file.path}, ({u}, {v}), weighs {weight}, but weights must be finite"
        )
