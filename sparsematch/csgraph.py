"""Drop-in for the matching functions of ``scipy.sparse.csgraph``.

Names, signatures, results and messages are the same.

Change the import, and nothing else. Unlike SciPy's, these functions do not take exponential time on
some matrices, and accept duplicate entries. Which of several maximum matchings is returned may
differ, as it may between versions of SciPy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sparsematch._api.transversal import maximum_matching
from sparsematch._types.bipartite import as_bipartite, pydata_to_scipy

__all__ = ["maximum_bipartite_matching", "structural_rank"]

_LARGEST = np.iinfo(np.int32).max


def maximum_bipartite_matching(graph: Any, perm_type: str = "row") -> NDArray[np.int32]:
    """Find a maximum matching of the rows and columns of a sparse matrix.

    Parameters
    ----------
    graph : sparse array or matrix, shape (n_rows, n_cols)
        In CSR, CSC or COO format. Every stored entry is an edge, whatever its value.
    perm_type : {"row", "column"}, optional
        Whether to return the row matched with each column, or the column matched with each row.
        Anything else means ``"row"``, as it does in SciPy.

    Returns
    -------
    ndarray of int32, shape (n_cols,) or (n_rows,)
        With ``"row"``, ``perm[j]`` is the row matched with column j, so that ``graph[perm]`` has no
        zeros on its diagonal if every column is matched; with ``"column"``, ``perm[i]`` is the
        column matched with row i. -1 means unmatched.

    Raises
    ------
    TypeError
        If `graph` is not sparse, or in another format.
    ValueError
        If `graph` does not have two dimensions, has more than 2**31 - 1 entries or a larger column
        index, or its index arrays are inconsistent.

    See Also
    --------
    sparsematch.maximum_transversal : Both sides at once, any format, a choice of algorithms.

    Notes
    -----
    Time: that of `sparsematch.maximum_transversal`.

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
    graph = pydata_to_scipy(graph)
    if not issparse(graph):
        raise TypeError("graph must be sparse")
    if graph.format not in ("csr", "csc", "coo"):
        raise TypeError("graph must be in CSC, CSR, or COO format.")
    pattern = as_bipartite(graph, name="graph")
    if pattern.dtype != np.int32:
        _refuse_what_int32_cannot_hold(pattern.indptr, pattern.indices)
    matching, _ = maximum_matching(pattern)
    mates = matching.row_mate if perm_type == "column" else matching.col_mate
    return mates.astype(np.int32)


def structural_rank(graph: Any) -> np.int64:
    """Compute the structural rank: the largest rank that a matrix with this pattern can have.

    Parameters
    ----------
    graph : sparse array or matrix, shape (n_rows, n_cols)
        In any format. Every stored entry counts, whatever its value.

    Returns
    -------
    numpy.int64
        The number of pairs in a maximum matching.

    Raises
    ------
    TypeError
        If `graph` is not sparse.
    ValueError
        If it does not have two dimensions, or its index arrays are inconsistent.

    Warns
    -----
    SparseEfficiencyWarning
        If `graph` is in none of CSC, CSR and COO.

    See Also
    --------
    sparsematch.structural_rank : The same, and a choice of algorithms.

    Notes
    -----
    Time: that of `sparsematch.maximum_transversal`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch.csgraph import structural_rank
    >>> print(structural_rank(csr_array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])))
    2
    """
    graph = pydata_to_scipy(graph)
    if not issparse(graph):
        raise TypeError("Input must be sparse")
    return np.int64(maximum_matching(as_bipartite(graph, name="graph"))[0].cardinality)


def _refuse_what_int32_cannot_hold(indptr: NDArray[Any], indices: NDArray[Any]) -> None:
    for name, largest in ("indptr", indptr[-1]), ("indices", indices[: indptr[-1]].max(initial=0)):
        if largest > _LARGEST:
            raise ValueError(f"{name} values too large for csgraph")
