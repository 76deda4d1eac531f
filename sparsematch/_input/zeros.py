"""Stored zeros: entries like all others, unless a call drops them.

The value of an entry is the sum of what is stored in its place, as ``A.toarray()`` has it; it is
zero if it equals 0, so -0.0 is, and NaN is not.
"""

from typing import Any

from sparsematch._base.arrays import advising, on_gpu
from sparsematch._input.duplicates import add_up, add_up_on_gpu, has_duplicates
from sparsematch._types.bipartite import BipartiteCSR, keep_entries


def no_values(name: str) -> ValueError:
    """Word why the zeros of a pattern cannot be dropped."""
    return ValueError(
        f'{name} has no values, so none of its entries is known to be zero: zeros="drop" needs a '
        "matrix that has some"
    )


@advising
def split_zeros(graph: BipartiteCSR, data: Any) -> tuple[BipartiteCSR, int, Any]:
    """Return the pattern of the entries that are not zero, how many are, and the others' values."""
    # `data` are the values, one for each entry of `graph`, in the same memory. If none is zero,
    # both come back as they are. Time: O(nnz), where indices ascend; else they are sorted first.
    given, places = data, graph
    if on_gpu(data):
        places, data = add_up_on_gpu(graph, data)
    elif has_duplicates(graph):
        places, data = add_up(graph, data)
    keep = data != 0
    n_zeros = keep.size - int(keep.sum())
    return (keep_entries(places, keep), n_zeros, data[keep]) if n_zeros else (graph, 0, given)
