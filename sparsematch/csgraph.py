"""Drop-in for the matching functions of ``scipy.sparse.csgraph``.

Names, signatures, results and messages are the same.

Change the import, and nothing else. Unlike SciPy's, these functions take exponential time on no
matrix, and accept duplicate entries. Which of several maximum matchings is returned may
differ, as it may between versions of SciPy.
"""

from __future__ import annotations  # readable names in help()

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sparsematch._api.transversal import maximum_matching
from sparsematch._api.weighted import full_matching
from sparsematch._base.arrays import FloatArray, on_gpu
from sparsematch._base.errors import warn
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.foreign import from_other_library
from sparsematch._input.weighted import as_signed
from sparsematch._types.bipartite import BipartiteCSR, keep_entries
from sparsematch._types.sparse_like import SparseLike

__all__ = ["maximum_bipartite_matching", "min_weight_full_bipartite_matching", "structural_rank"]
__dir__ = __all__.copy  # lists these alone

_LARGEST = np.iinfo(np.int32).max


def maximum_bipartite_matching(graph: SparseLike, perm_type: str = "row") -> NDArray[np.int32]:
    """Find a maximum matching of the rows and columns of a sparse matrix.

    Parameters
    ----------
    graph : sparse array or matrix, shape (n_rows, n_cols)
        In CSR, CSC or COO format. Every stored entry is an edge, whatever its value. A matrix of
        ``cupyx.scipy.sparse``, which has no such function, is processed on its GPU.
    perm_type : {"row", "column"}, optional
        Which mates to return. Anything else means ``"row"``, as it does in SciPy.

    Returns
    -------
    ndarray of int32, shape (n_cols,) or (n_rows,)
        With ``"row"``, ``perm[j]`` is the row matched with column j; with ``"column"``, ``perm[i]``
        is the column matched with row i. -1 means unmatched. A CuPy array if `graph` is on a GPU.

    Raises
    ------
    TypeError, ValueError
        If `graph` is not sparse, or in another format; does not have two dimensions, has more than
        2**31 - 1 entries or a larger column index, or its index arrays are inconsistent.

    See Also
    --------
    sparsematch.maximum_transversal : In the same time both sides, any format, other algorithms.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch.csgraph import maximum_bipartite_matching
    >>> graph = csr_array([[0, 1, 0], [1, 1, 1], [0, 0, 1]])
    >>> maximum_bipartite_matching(graph, perm_type="column")
    array([1, 0, 2], dtype=int32)
    >>> graph[maximum_bipartite_matching(graph)].diagonal()
    array([1, 1, 1])
    """
    graph = _as_graph(graph)
    pattern = as_bipartite(graph, name="graph")
    if pattern.dtype != np.int32:
        indices, nnz = pattern.indices[: pattern.nnz], pattern.nnz
        for name, largest in ("indptr", nnz), ("indices", indices.max() if indices.size else 0):
            if int(largest) > _LARGEST:
                raise ValueError(f"{name} values too large for csgraph")
    matching = maximum_matching(pattern)[0]
    return (matching.row_mate if perm_type == "column" else matching.col_mate).astype(np.int32)


def min_weight_full_bipartite_matching(
    biadjacency: SparseLike, maximize: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Find a matching of all rows, or of all columns if there are fewer, of least total weight.

    Parameters
    ----------
    biadjacency : sparse array or matrix, shape (n_rows, n_cols)
        Of real numbers, in CSR, CSC or COO format. Explicit zeros are no edges, nor are infinite
        weights that could not be part of a finite sum.
    maximize : bool, optional
        Find one of greatest weight.

    Returns
    -------
    row_ind, col_ind : ndarray
        The matched rows, ascending, and the column of each. ``biadjacency[row_ind, col_ind].sum()``
        is the weight.

    Raises
    ------
    TypeError, ValueError
        If `biadjacency` is not sparse, in another format, or not of real numbers; no full matching
        exists, a weight is NaN or makes the sum infinite the good way, or the index arrays are
        inconsistent.

    Warns
    -----
    UserWarning
        If there are explicit zeros, which are removed.

    See Also
    --------
    sparsematch.maximum_sum_transversal, sparsematch.maximum_product_transversal :
        By the same algorithm, for matrices that have no full matching too, with a proof.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch.csgraph import min_weight_full_bipartite_matching
    >>> biadjacency = csr_array([[7, 4, 3], [6, 8, 0]])
    >>> rows, cols = min_weight_full_bipartite_matching(biadjacency)
    >>> rows.tolist(), cols.tolist()
    ([0, 1], [2, 0])
    """
    A = _as_graph(biadjacency)
    if not issparse(A):
        raise TypeError("biadjacency is on a GPU, but this is done in host memory; get() copies it")
    weighted = as_signed(A, name="biadjacency", must_be_finite=False)
    cost = -weighted.weight if maximize else weighted.weight
    matching = full_matching(*_edges(weighted.graph, cost), weighted.largest)
    (rows,) = (matching.row_mate >= 0).nonzero()
    return rows, matching.row_mate[rows].astype(np.int32)


def structural_rank(graph: SparseLike) -> np.int64:
    """Compute the structural rank: the largest rank that a matrix with this pattern can have.

    Parameters
    ----------
    graph : sparse array or matrix, shape (n_rows, n_cols)
        In any format. Every stored entry counts, whatever its value. A matrix of
        ``cupyx.scipy.sparse`` is processed on its GPU.

    Returns
    -------
    numpy.int64
        The number of pairs in a maximum matching, in host memory in any case.

    Raises
    ------
    TypeError, ValueError
        If `graph` is not sparse, not of two dimensions, or its index arrays are inconsistent.

    Warns
    -----
    SparseEfficiencyWarning
        If `graph` is in none of CSC, CSR and COO.

    See Also
    --------
    sparsematch.structural_rank : The same in the same time, and a choice of algorithms.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch.csgraph import structural_rank
    >>> print(structural_rank(csr_array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])))
    2
    """
    graph = _as_sparse(graph, "Input must be sparse")
    return np.int64(maximum_matching(as_bipartite(graph, name="graph"))[0].cardinality)


def _as_sparse(graph: Any, refusal: str) -> Any:
    graph = from_other_library(graph)
    if not (issparse(graph) or (on_gpu(graph) and hasattr(graph, "format"))):
        raise TypeError(refusal)
    return graph


def _as_graph(graph: Any) -> Any:
    graph = _as_sparse(graph, "graph must be sparse")
    if graph.format not in ("csr", "csc", "coo"):
        raise TypeError("graph must be in CSC, CSR, or COO format.")
    return graph


def _edges(graph: BipartiteCSR, cost: FloatArray) -> tuple[BipartiteCSR, FloatArray]:
    """Leave out zeros, with SciPy's warning, and entries that cost infinitely much."""
    kept = np.isfinite(cost) & (cost != 0)
    if kept.all():
        return graph, cost
    if not cost.all():
        warn(UserWarning, "explicit zero weights are removed before matching")
    if not (cost[~kept] >= 0).all():
        text = "biadjacency holds NaN, or an infinite weight that would make every sum infinite"
        raise ValueError(text)
    return keep_entries(graph, kept), cost[kept]
