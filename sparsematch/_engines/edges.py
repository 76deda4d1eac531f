"""What the back-ends share of general graphs: their entries, in NumPy or CuPy."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from sparsematch._base.arrays import FloatArray, groups, namespace, stable_order
from sparsematch._types.bipartite import BipartiteCSR, list_of_each
from sparsematch._types.graph import Graph
from sparsematch._types.matching import Matching

_Lists = TypeVar("_Lists", bound=Graph)


def add_up_duplicates(graph: _Lists) -> _Lists:
    """Return a copy of the graph, duplicates added up, neighbours ascending."""
    code = _codes(graph)
    order = stable_order(code)
    code = code[order]
    first, group = groups(code)
    weight = None if graph.weight is None else _add_up(graph.weight[order], first, group)
    return _from_codes(graph, code[first], weight)


def take_larger(graph: Graph) -> Graph:
    """Return the graph whose edges weigh the larger of two entries, one of which may be absent."""
    return merge_larger(graph, _codes(graph, across=True), graph.weight)


def merge_larger(graph: _Lists, there: Any, weight: FloatArray | None) -> _Lists:
    """Return the graph with other entries put beside its own, the larger of two in one place."""
    xp = namespace(there)
    code = xp.concatenate([_codes(graph), there])
    order = stable_order(code)
    first, _ = groups(code[order])
    code = code[order][first]
    if graph.weight is None or weight is None:
        return _from_codes(graph, code, None)
    # no more than two entries are in one place
    last = xp.concatenate([first, xp.asarray([order.size])])[1:] - 1
    both = xp.abs(xp.concatenate([graph.weight, weight])[order])
    return _from_codes(graph, code, xp.maximum(both[first], both[last]))


def one_sided_entry(graph: Graph) -> tuple[int, int] | None:
    """Return the first entry whose partner across the diagonal is absent or of other magnitude."""
    # The entries must ascend. On a GPU they are copied to the host: this is the way to an error.
    graph = graph.get()
    return first_difference(graph, _codes(graph, across=True), graph.weight)


def first_difference(graph: Graph, there: Any, weight: FloatArray | None) -> tuple[int, int] | None:
    """Return the first entry of a graph, or of entries at other places, that the other has not."""
    here = _codes(graph)
    size, end = max(here.size, there.size), (graph.indptr.size - 1) * graph.n
    order = stable_order(there)
    there = np.append(there[order], np.full(size - there.size, end))
    differ = np.append(here, np.full(size - here.size, end)) != there
    if graph.weight is not None and weight is not None:
        both = slice(min(here.size, weight.size))
        differ[both] |= np.abs(graph.weight[both]) != np.abs(weight[order][both])
    if not differ.any():
        return None
    p = int(np.flatnonzero(differ)[0])
    mine = int(here[p]) if p < here.size else end
    i, j = divmod(min(mine, int(there[p])), graph.n)
    i += graph.first_row
    return (i, j) if mine <= there[p] else (j, i)


def first_infinite(graph: Graph) -> Any:
    """Return the first entry off the diagonal that is not finite, and its value; None: all are."""
    graph = graph.get()
    if graph.weight is None:
        return None
    rows, cols = places(graph)
    rows += graph.first_row
    wrong = np.flatnonzero(~np.isfinite(graph.weight) & (rows != cols))[:1]
    return next(((int(rows[p]), int(cols[p]), float(graph.weight[p])) for p in wrong), None)


def places(graph: Graph | BipartiteCSR) -> tuple[Any, Any]:
    """Return the row and the column of each entry, as 64-bit integers."""
    rows, cols = list_of_each(graph.indptr, graph.nnz), graph.indices[: graph.nnz]
    return rows.astype(np.int64, copy=False), cols.astype(np.int64)


def _codes(graph: Graph, across: bool = False) -> Any:
    """Return the places of the entries, or those across the diagonal, as numbers."""
    rows, cols = places(graph)[::-1] if across else places(graph)
    return rows * graph.n + cols


def _add_up(values: Any, first: Any, group: Any) -> Any:
    """Return the sum of each group as a double, added in order: the same on every run."""
    xp = namespace(values)
    total = xp.zeros(int(first.size), np.float64)
    if xp is np:
        np.add.at(total, group, values)
        return total
    size = xp.diff(xp.concatenate([first, xp.asarray([values.size])]))
    # atomic additions would come in any order
    for k in range(int(size.max()) if first.size else 0):
        longer = xp.flatnonzero(size > k)
        total[longer] += values[first[longer] + k]
    return total


def _from_codes(graph: _Lists, code: Any, weight: Any) -> _Lists:
    """Return the graph with these entries, in the index type of the one given."""
    xp = namespace(code)
    starts = xp.arange(graph.indptr.size, dtype=np.int64) * graph.n
    indptr = xp.searchsorted(code, starts).astype(graph.dtype)
    indices = (code % max(graph.n, 1)).astype(graph.dtype)
    return replace(graph, indptr=indptr, indices=indices, weight=weight, nnz=int(code.size))


def by_entry(graph: BipartiteCSR, values: Any) -> Any:
    """Return the value of the stored row of each entry."""
    if namespace(values) is np:
        return np.repeat(values, np.diff(graph.indptr))
    return values[places(graph)[0]]


def pairs_among(graph: BipartiteCSR, matching: Matching) -> Any:
    """Return where the pairs are among the entries, by ascending stored row. Time: O(nnz)."""
    mate = by_entry(graph, graph.orient(matching.row_mate, matching.col_mate)[0])
    return namespace(mate).flatnonzero(mate == graph.indices[: graph.nnz])
