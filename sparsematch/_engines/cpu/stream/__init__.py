"""Matching of the edges of a file, with memory for the vertices alone, by the core."""

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.operations import StreamOps
from sparsematch._engines.registry import Run, register_operations
from sparsematch._types.edge_file import EdgeFile


def match_edges(file: EdgeFile, mate: IndexArray, weighted: bool, folder: str, run: Run) -> float:
    """Write the mates that local max gives; return their weight. Time: O(n_edges), expected."""
    with run.step("local_max") as counts:
        wrong, report = _core.match_edges(file.path, file.layout, folder, mate, weighted, run.seed)
        if wrong[0]:
            raise _error(file, folder, mate.size, *wrong)
        weight, edges, matched, live = report
        counts |= {"phases": len(matched), "edges": edges, "matched": matched, "live_edges": live}
        counts["cardinality"] = matched[-1] // 2 if matched else 0
    return float(weight)


def _error(
    file: EdgeFile, folder: str, n: int, kind: str, number: int, u: int, v: int, weight: float
) -> Exception:
    if kind == "unreadable":
        return OSError(f"{file.path} or the scratch files in {folder} cannot be read to their end")
    if kind == "unwritable":
        return OSError(f"cannot write scratch files in {folder}: is there room?")
    edge = f"edge {number} of {file.path}"
    if kind == "vertex":
        return ValueError(f"{edge} is ({u}, {v}), but the vertices are 0 to {n - 1}")
    return ValueError(f"{edge}, ({u}, {v}), weighs {weight}, but weights must be finite")


register_operations("numpy", StreamOps, globals())
