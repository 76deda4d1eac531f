"""A matrix of any library as a pattern with the real values of its entries."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import FloatArray
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import read_entries
from sparsematch._input.duplicates import add_up, type_of_sums
from sparsematch._types.bipartite import BipartiteCSR, entry_place
from sparsematch._types.weighted import SignedCSR


def as_signed(
    A: Any, *, name: str = "A", threads: int = 1, must_be_finite: bool = True
) -> SignedCSR:
    """View a sparse matrix as a bipartite graph with its values, of either sign, as weights.

    Entries in the same place are added up, as SciPy does; zeros are entries. The arrays are those
    of `A` where they can be. Raises TypeError if `A` is no sparse matrix of real numbers;
    ValueError if its index arrays are inconsistent, or an entry is not a finite double, naming the
    first.
    """
    entries = read_entries(A, name=name, threads=threads, valued=True, in_host=True)
    graph, data = entries.graph, entries.values
    if data.dtype.kind == "c":
        raise TypeError(f"{name} must hold real numbers, not {data.dtype}")
    weight, ascending, largest = _read(graph, data, threads)
    if not ascending:
        graph, data = add_up(graph, data, type_of_sums(data.dtype))
        weight, _, largest = _read(graph, data, threads)
    if must_be_finite and not largest < np.inf:
        p = int(np.flatnonzero(~np.isfinite(weight))[0])
        i, j = entry_place(graph, p)
        raise ValueError(f"{name}[{i}, {j}] is {data[p]}, but weights must be finite doubles")
    return SignedCSR(graph, weight, largest)


def _read(graph: BipartiteCSR, data: NDArray[Any], threads: int) -> tuple[FloatArray, bool, float]:
    """Return the numbers as doubles, whether no entry is repeated, the largest magnitude or NaN."""
    with np.errstate(over="ignore"):
        weight = np.ascontiguousarray(data, np.float64)
    read = operations(WeightedOps, graph.backend).read_values
    ascending, _, largest = read(graph, weight, threads)
    return weight, ascending, largest
