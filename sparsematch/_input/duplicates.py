"""Entries in the same place, whose values are added up, as SciPy does; and stored zeros.

Zeros are entries like all others, unless a call drops them. The value of an entry is the sum of
what is stored in its place, as ``A.toarray()`` has it; it is zero if it equals 0, so -0.0 is, and
NaN is not.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import SORTED_AT_ONCE, Array, advising, groups, namespace, on_gpu
from sparsematch._types.bipartite import BipartiteCSR, keep_entries, list_of_each, with_arrays


def has_duplicates(graph: BipartiteCSR) -> bool:
    """Tell whether indices of some list do not strictly ascend: there may be duplicates."""
    nnz = graph.nnz
    falls = namespace(graph.indptr).zeros(nnz + 1, bool)
    falls[1:-1] = graph.indices[1:nnz] <= graph.indices[: max(nnz - 1, 0)]
    falls[graph.indptr] = False  # a list begins
    return bool(falls.view(np.int8).max())  # see `n_set`


def type_of_sums(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type in which weights are added up: not that of integers or half precision."""
    wide = dtype.kind in "biu" or dtype.itemsize < 4
    return np.dtype(np.float64) if wide else dtype.newbyteorder("=")


def add_up(graph: BipartiteCSR, data: Array, dtype: Any = None) -> tuple[BipartiteCSR, Array]:
    """Sort the entries of each row, and add up those in the same place, in host memory."""
    # Sums are of the type `dtype`, by default that of `data`; half precision is added up as single.
    dtype = np.dtype(dtype or data.dtype)
    dtype = np.dtype(np.float32) if dtype == np.float16 else dtype  # which SciPy does not have
    cuts = np.arange(SORTED_AT_ONCE, graph.nnz, SORTED_AT_ONCE)
    ends = np.unique([*np.searchsorted(graph.indptr[:-1], cuts), graph.n_major])
    indices, sums = graph.indices[: graph.nnz].copy(), data[: graph.nnz].astype(dtype)
    starts = np.zeros(graph.n_major + 1, graph.dtype)
    for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        begin, end = graph.indptr[first], graph.indptr[last]
        arrays = sums[begin:end], indices[begin:end]  # which SciPy overwrites
        indptr = graph.indptr[first : last + 1] - begin
        A = sp.csr_array((*arrays, indptr), shape=(last - first, graph.n_minor))
        A.sum_duplicates()
        starts[first + 1 : last + 1] = starts[first] + A.indptr[1:]
        indices[starts[first] : starts[last]] = A.indices
        sums[starts[first] : starts[last]] = A.data
    return with_arrays(graph, starts, indices[: starts[-1]]), sums[: starts[-1]]


def add_up_on_gpu(graph: BipartiteCSR, data: Any) -> tuple[BipartiteCSR, Any]:
    """Do the same on a GPU, in the order in which they are stored; nothing where none repeats."""
    # Time: that of a sort, and a pass over the places for the largest number of entries in one.
    xp, nnz = namespace(data), graph.nnz
    minor, major = graph.indices[:nnz], list_of_each(graph.indptr, nnz)
    entry = xp.arange(nnz, dtype=graph.dtype)
    order = xp.lexsort(xp.stack([entry, minor, major.astype(graph.dtype)]))
    major, minor, data = major[order], minor[order], data[order]
    first, _ = groups(major, minor)
    size = xp.diff(xp.concatenate([first, xp.full(1, nnz, first.dtype)]))
    sums = data[first]
    longer, k = xp.flatnonzero(size > 1), 1
    while longer.size:
        sums[longer] += data[first[longer] + k]
        k += 1
        longer = longer[size[longer] > k]
    indptr = xp.searchsorted(first, graph.indptr)  # how many places begin before each row
    return with_arrays(graph, indptr, minor[first]), sums


def no_values(name: str) -> ValueError:
    """Word why the zeros of a pattern cannot be dropped."""
    return ValueError(
        f'{name} has no values, so none of its entries is known to be zero: zeros="drop" needs a '
        "matrix that has some"
    )


@advising
def split_zeros(graph: BipartiteCSR, data: Any) -> tuple[BipartiteCSR, int, Any]:
    """Return the pattern of the entries that are not zero, how many are, and the others' values."""
    # `data` are the values, one for each entry of `graph`, in the same memory. If none is zero or
    # repeated, both come back as they are. Time: O(nnz) where indices ascend; else of a sort, too.
    given, places = data, graph
    if on_gpu(data):
        places, data = add_up_on_gpu(graph, data)
    elif has_duplicates(graph):
        places, data = add_up(graph, data)
    keep = data != 0
    n_zeros = namespace(keep).flatnonzero(~keep).size
    changed = n_zeros or places.nnz < graph.nnz
    return (keep_entries(places, keep), n_zeros, data[keep]) if changed else (graph, 0, given)
