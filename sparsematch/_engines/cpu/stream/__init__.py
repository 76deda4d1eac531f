"""Matching of the edges of a file, with memory for the vertices alone, by the core."""

from typing import Any

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.operations import StreamOps
from sparsematch._engines.registry import Run, register_operations
from sparsematch._types.edge_file import EdgeFile, EdgeReport


def match_edges(
    file: EdgeFile, mate: IndexArray, weighted: bool, folder: str, run: Run
) -> EdgeReport:
    """Write the mates that local max gives. Time: O(n_edges), expected."""
    report = _core.match_edges(file.path, file.layout, folder, mate, weighted, run.seed)
    if "fault" in report:
        raise _error(file, report["fault"], folder, mate.size)
    return EdgeReport(
        report["weight"],
        report["scanned"],
        tuple(report["matched"]),
        tuple(report["live_edges"]),
    )


def _error(file: EdgeFile, fault: dict[str, Any], folder: str, n: int) -> Exception:
    if fault["kind"] == "unreadable":
        return OSError(f"{file.path} or the scratch files in {folder} cannot be read to their end")
    if fault["kind"] == "unwritable":
        return OSError(f"cannot write scratch files in {folder}: is there room?")
    edge = f"edge {fault['edge']} of {file.path}"
    ends = f"({fault['u']}, {fault['v']})"
    if fault["kind"] == "vertex":
        return ValueError(f"{edge} is {ends}, but the vertices are 0 to {n - 1}")
    return ValueError(f"{edge}, {ends}, weighs {fault['weight']}, but weights must be finite")


register_operations("numpy", StreamOps, globals())
