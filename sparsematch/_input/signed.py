"""A matrix of any library as a pattern with the real values of its entries."""

from typing import Any

import numpy as np

from sparsematch._base.pieces import in_pieces
from sparsematch._input.bipartite import read_entries
from sparsematch._input.duplicates import add_up, has_duplicates, type_of_sums
from sparsematch._types.bipartite import entry_place
from sparsematch._types.weighted import SignedCSR


def as_signed(A: Any, *, name: str = "A", threads: int = 1) -> SignedCSR:
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
    if has_duplicates(graph, threads):
        graph, data = add_up(graph, data, type_of_sums(data.dtype))
    with np.errstate(over="ignore"):
        weight = data.astype(np.float64, copy=False)
    finite = in_pieces(
        lambda begin, end: bool(np.isfinite(weight[begin:end]).all()), weight.size, threads
    )
    if not all(finite):
        p = int(np.flatnonzero(~np.isfinite(weight))[0])
        i, j = entry_place(graph, p)
        raise ValueError(f"{name}[{i}, {j}] is {data[p]}, but weights must be finite doubles")
    return SignedCSR(graph, weight)
