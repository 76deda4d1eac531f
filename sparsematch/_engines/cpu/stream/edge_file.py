"""Matching of the edges of a file, with memory for the vertices alone, by the core."""

from collections.abc import Callable
from typing import Any

from sparsematch._engines.cpu import _core
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray
from sparsematch._types.edge_file import EdgeFile, EdgeReport

Progress = Callable[[int, int, int], object]


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
    if "fault" in report:
        raise _error(file, report["fault"], folder, mate.size)
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
        raise _error(file, {"kind": "unreadable"}, "", 0)
    return largest


def _error(file: EdgeFile, fault: dict[str, Any], folder: str, n: int) -> Exception:
    if fault["kind"] == "unreadable":
        place = folder or "no folder"
        return OSError(f"{file.path} or the scratch files in {place} cannot be read to their end")
    if fault["kind"] == "unwritable":
        return OSError(f"cannot write scratch files in {folder}: is there room?")
    edge = f"edge {fault['edge']} of {file.path}"
    ends = f"({fault['u']}, {fault['v']})"
    if fault["kind"] == "vertex":
        return ValueError(f"{edge} is {ends}, but the vertices are 0 to {n - 1}")
    return ValueError(f"{edge}, {ends}, weighs {fault['weight']}, but weights must be finite")
