"""Coarsening on the device: labels by prefix sums, the product by sorting by coarse places."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, groups, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.edges import places
from sparsematch._engines.operations import CoarseningOps
from sparsematch._engines.registry import Run, register_operations
from sparsematch._types.bipartite import BipartiteCSR

_load = compile.declare("coarsening/coarsen")


def wrong_mate(mate: IndexArray) -> int:
    """Return the first vertex whose mate is not matched with it, or -1; the host waits."""
    xp = namespace(mate)
    own = xp.arange(mate.size, dtype=mate.dtype)
    inside = (mate >= 0) & (mate < mate.size) & (mate != own)
    wrong = xp.flatnonzero((mate != -1) & ~(inside & (mate[xp.where(inside, mate, 0)] == own)))
    return int(wrong[0]) if wrong.size else -1


def galerkin_product(
    graph: BipartiteCSR, values: Any, mate: IndexArray, join: bool, run: Run
) -> tuple[Any, Any, Any, Any]:
    """Return aggregates of vertices; indptr, indices and values of the coarse matrix."""
    # Entries are sorted by coarse, then by fine place as an unordered pair: both triangles of a
    # symmetric matrix are added in the same order, so the coarse one is symmetric to the last bit.
    xp, n, dtype = namespace(graph.indptr), graph.n_rows, graph.dtype
    rows, cols = places(graph)
    target = _joined(rows, cols, values, mate) if join else xp.full(n, -1, dtype)
    own = xp.arange(n, dtype=dtype)
    begins = (target < 0) & ((mate < 0) | (own < mate))
    number = xp.cumsum(begins, dtype=dtype) - 1
    # the vertex of a pair, or alone, that stands for this one
    head = xp.where(target >= 0, target, own)
    head = xp.where(mate[head] >= 0, xp.minimum(head, mate[head]), head)
    labels = number[head]
    n_coarse = int(number[-1]) + 1 if n else 0
    code = labels[rows].astype(xp.int64) * n_coarse + labels[cols]
    order = xp.lexsort(xp.stack([xp.minimum(rows, cols) * n + xp.maximum(rows, cols), code]))
    code, sums = _add_up(code[order], values[order], dtype)
    starts = xp.arange(n_coarse + 1, dtype=xp.int64) * n_coarse
    indptr = xp.searchsorted(code, starts).astype(dtype)
    return labels, indptr, (code % max(n_coarse, 1)).astype(dtype), sums


def _joined(rows: Any, cols: Any, values: Any, mate: Any) -> Any:
    """Return the matched neighbour that each unmatched vertex joins, or -1."""
    # It is that of the heaviest entries.
    xp, n = namespace(rows), mate.size
    joining = xp.flatnonzero((mate[rows] < 0) & (mate[cols] >= 0))
    code = rows[joining] * n + cols[joining]
    order = xp.argsort(code, kind="stable")
    code, sums = _add_up(code[order], values[joining][order], mate.dtype)
    code, magnitudes = code[::-1], xp.abs(sums)[::-1]
    known = xp.flatnonzero(magnitudes == magnitudes)  # NaN is not
    code, magnitudes = code[known], magnitudes[known]
    order = xp.argsort(magnitudes, kind="stable")
    order = order[xp.argsort(code[order] // n, kind="stable")]
    code = code[order]
    # the last one of a row is the heaviest, and of several the one to the smallest neighbour
    ends = xp.ones(code.size, bool)
    ends[:-1] = code[1:] // n != code[:-1] // n
    code = code[ends]
    target = xp.full(n, -1, mate.dtype)
    target[code // n] = (code % n).astype(mate.dtype)
    return target


def _add_up(code: Any, values: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the different numbers among ascending ones, and the sum of the values of each."""
    xp = namespace(code)
    if not code.size:
        return code, values
    first, _ = groups(code)
    sums = xp.empty(first.size, values.dtype)
    width = 2 if values.dtype.kind == "c" else 1
    real = np.empty(0, values.dtype).real.dtype
    bounds = xp.concatenate([first.astype(xp.int64), xp.full(1, code.size, xp.int64)])
    arguments = bounds, xp.ascontiguousarray(values).view(real), np.int32(width), sums.view(real)
    kernel = "add_up_float" if real == np.float32 else "add_up_double"
    _load(dtype).launch(kernel, first.size * width, np.int64(first.size), *arguments)
    return code[first], sums


register_operations("cupy", CoarseningOps, globals())
