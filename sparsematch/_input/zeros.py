"""Stored zeros: entries like all others, unless a call drops them.

The value of an entry is the sum of what is stored in its place, as ``A.toarray()`` has it; it is
zero if it equals 0, so -0.0 is, and NaN is not.
"""

from typing import Any

from sparsematch._input.compressed import check_values
from sparsematch._input.duplicates import add_up, add_up_on_gpu, has_duplicates
from sparsematch._types.arrays import BoolArray, advising, on_gpu
from sparsematch._types.bipartite import BipartiteCSR, keep_entries
from sparsematch._types.errors import unknown_choice


def check_choice(explicit_zeros: Any) -> None:
    """Raise unless it is one of the choices."""
    if not isinstance(explicit_zeros, str) or explicit_zeros not in ("keep", "drop"):
        raise unknown_choice("explicit_zeros", explicit_zeros, ("keep", "drop"))


def no_values(name: str) -> ValueError:
    """Word why the zeros of a pattern cannot be dropped."""
    return ValueError(
        f'{name} has no values, so none of its entries is known to be zero: explicit_zeros="drop" '
        "needs a matrix that has some"
    )


def drop_zeros(graph: BipartiteCSR, data: Any, name: str, threads: int = 1) -> BipartiteCSR:
    """Return the pattern of the entries that are not zero: `graph` itself if none is.

    `data` are the values, one for each index of `graph` or more, in the same memory. Raises
    TypeError if they are no numbers, ValueError if there are fewer. Time: O(nnz), where indices
    ascend; else they are sorted first.
    """
    places, keep = _compare(graph, data, name, threads)
    return graph if keep.all() else keep_entries(places, keep)


def count_zeros(graph: BipartiteCSR, data: Any, name: str, threads: int = 1) -> int:
    """Count the places whose value is zero; the rest is as in `drop_zeros`."""
    _, keep = _compare(graph, data, name, threads)
    return keep.size - int(keep.sum())


@advising
def _compare(
    graph: BipartiteCSR, data: Any, name: str, threads: int
) -> tuple[BipartiteCSR, BoolArray]:
    """Return the different places, and which have a value other than zero."""
    check_values(data, graph.nnz, name)
    data = data[: graph.nnz]
    if on_gpu(data):
        graph, data = add_up_on_gpu(graph, data)
    elif has_duplicates(graph, threads):
        graph, data = add_up(graph, data)
    return graph, data != 0
