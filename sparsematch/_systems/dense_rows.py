"""Rows with very many entries, cut into pieces so that they do not fill up a QR factorisation.

Adlers, Björck, Matrix stretching for sparse least squares problems (Numer. Linear Algebra Appl. 7,
2000). The residual of a row in k pieces is the sum of those of the pieces, between which k - 1
added columns shift it at will: at best each has a k-th of it. So with pieces multiplied by sqrt(k),
and a right-hand side divided by that for each, the sum of squares is that of the row, the solution
is the same, and so is what the matrix maps to zero, but for the elements that belong to the added
columns. These are orthogonal to right-hand sides: R^-H B^H b is Q^H b, as without pieces.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

#: A row is dense if it has more entries than this times the square root of the columns, as dense
#: vertices in amd.hpp. Time of lstsq, not cut over cut: lpi_cplex1 19, lpi_ceria3d 8, lp_fit2p 1.4,
#: 1 to 10 dense rows below a diagonal of 300 to 3900 elements 1.04 to 77.
_DENSITY = 10


def cut_dense_rows(B: Any, right: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Return a matrix, a csr_array, with dense rows in pieces, and right-hand sides for it."""
    # Added columns are last. The same matrix if no row is dense, or columns would more than double.
    n_rows, n = B.shape
    lengths = np.diff(B.indptr)
    is_dense = lengths > _DENSITY * np.sqrt(n)
    width = int(np.sqrt(n)) + 1  # columns whose entries make a piece, the same in all rows
    added = np.count_nonzero(is_dense) * (n // width)  # columns, at most
    if not 0 < added <= n:
        return B, right
    row = np.repeat(np.arange(n_rows), lengths)
    cut = is_dense[row]
    key, piece = np.unique(row[cut] * width + B.indices[cut] // width, return_inverse=True)
    row_of = key // width
    factor = np.sqrt(np.bincount(row_of, minlength=n_rows))
    data = B.data * np.where(cut, factor[row], 1)
    row[cut] = n_rows + piece
    linked = np.flatnonzero(row_of[1:] == row_of[:-1])  # pieces with another behind them
    behind = n + np.arange(linked.size)
    ones = np.ones(linked.size)
    values, shape = np.concatenate([data, ones, -ones]), (n_rows + key.size, n + linked.size)
    rows = np.concatenate([row, n_rows + linked, n_rows + linked + 1])
    cols = np.concatenate([B.indices, behind, behind])
    stretched = sp.csr_array((values, (rows, cols)), shape)
    whole = np.where(is_dense[:, np.newaxis], 0, right)
    return stretched, np.concatenate([whole, right[row_of] / factor[row_of, np.newaxis]])
