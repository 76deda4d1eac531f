"""Clusters of one or two vertices, from a list of edges, as torch-cluster finds them."""

from __future__ import annotations  # readable names in help()

from typing import Any

import numpy as np

from sparsematch._api.arguments import Rng
from sparsematch._api.general import approximate_matching
from sparsematch._base.arrays import IndexArray, namespace, stable_order
from sparsematch._base.dlpack import as_array
from sparsematch._base.errors import check_count
from sparsematch._input.assembled import compressed_matrix
from sparsematch._types.choices import ApproximateMethod

__all__ = ["graclus_cluster"]


def graclus_cluster(
    row: Any,
    col: Any,
    weight: Any = None,
    num_nodes: int | None = None,
    *,
    method: ApproximateMethod = "auto",
    rng: Rng = None,
    workers: int | None = None,
) -> IndexArray:
    """Merge vertices in pairs along heavy edges: the cluster of each vertex.

    Arguments and result are those of torch-cluster's function of the same name.

    Parameters
    ----------
    row, col : array of int, shape (n_edges,)
        The ends of the edges; of NumPy, CuPy, or any library that has the DLPack protocol. An edge
        may be listed once or in both directions; loops are skipped.
    weight : array of real numbers, shape (n_edges,), optional
        The absolute values count. Edges that are repeated in one direction are added up, and of
        two directions the heavier one counts. By default all edges weigh the same.
    num_nodes : int, optional
        Number of vertices; by default one more than the largest in `row` and `col`.
    method, rng, workers : optional
        As in `sparsematch.approximate_matching`.

    Returns
    -------
    ndarray of int, shape (num_nodes,)
        The smaller vertex of each vertex's pair, or itself, of the type of `row`. A CuPy array if
        the edges are on a GPU; ``torch.from_dlpack`` makes a tensor of either without a copy.

    Raises
    ------
    TypeError, ValueError
        If the edges are no integers, the weights no numbers, or not all in the same memory; an
        array is not of shape (n_edges,), or a vertex is out of range.

    See Also
    --------
    sparsematch.coarsen : The matrix of the clusters.
    sparsematch.approximate_matching : The same on a matrix, with the weight of the matching.

    Notes
    -----
    Dhillon, Guan, Kulis, Weighted graph cuts without eigenvectors: a multilevel approach (IEEE
    TPAMI 29, 2007). Time: O(n_edges), expected, after the edges are sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsematch.graclus import graclus_cluster
    >>> row, col = np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4])
    >>> graclus_cluster(row, col, np.array([1.0, 3.0, 2.0, 2.0]))
    array([0, 1, 1, 3, 3])
    """
    row, col = as_array(row, "row"), as_array(col, "col")
    weight = None if weight is None else as_array(weight, "weight")
    n = _check(row, col, weight, num_nodes)
    xp = namespace(row)
    values = xp.ones(row.size, np.float32) if weight is None else weight
    A, weights = _by_rows(row, col, values, n), weight is not None
    matching = approximate_matching(
        A, method=method, weights=weights, rng=rng, workers=workers, symmetrize=True
    )
    own, mate = xp.arange(n, dtype=row.dtype), matching.mate.astype(row.dtype)
    return xp.where(mate >= 0, xp.minimum(own, mate), own)


def _check(row: Any, col: Any, weight: Any, num_nodes: int | None) -> int:
    """Return the number of vertices, or raise."""
    xp = namespace(row)
    for name, array in (("row", row), ("col", col), ("weight", weight)):
        if array is None:
            continue
        if namespace(array) is not xp:
            raise TypeError(f"row and {name} must both be in host memory, or both on a GPU")
        kinds, numbers = ("biufc", "numbers") if name == "weight" else ("iu", "integers")
        if array.dtype.kind not in kinds and array.size:
            raise TypeError(f"{name} must hold {numbers}, not {array.dtype}")
        if array.shape != (row.size,):
            raise ValueError(
                f"{name} has shape {array.shape}, but must have shape ({row.size},), one number "
                "for each edge"
            )
    largest = max(int(row.max()), int(col.max())) if row.size else -1
    num_nodes = largest + 1 if num_nodes is None else num_nodes
    check_count("num_nodes", num_nodes)
    least = min(int(row.min()), int(col.min())) if row.size else 0
    if least < 0 or largest >= num_nodes:
        raise ValueError(
            f"an edge ends at vertex {least if least < 0 else largest}, but vertices are counted "
            f"from 0 and there are {num_nodes} of them"
        )
    return int(num_nodes)


def _by_rows(row: Any, col: Any, values: Any, n: int) -> Any:
    """Return the matrix of the edges, where SciPy's and CuPy's constructors would add them up."""
    xp = namespace(row)
    index = np.int32 if max(n, row.size) < 2**31 - 8 else np.int64
    order = stable_order(row)
    indptr = xp.searchsorted(row[order], xp.arange(n + 1, dtype=row.dtype)).astype(index)
    return compressed_matrix("csr", (n, n), indptr, col[order].astype(index), values[order])
