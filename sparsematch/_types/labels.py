"""What the back-ends say about each row and column: connected component, part and block of the block form, cover."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsematch._types.arrays import IndexArray

HORIZONTAL, SQUARE, VERTICAL = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class BlockLabels:
    """Where each row and column stands in the block triangular form.

    Attributes
    ----------
    row_part, col_part : ndarray of int8, shapes (n_rows,), (n_cols,)
        HORIZONTAL, SQUARE or VERTICAL.
    row_block, col_block : ndarray of int32 or int64, shapes (n_rows,), (n_cols,)
        The block within the square part, numbered from the upper left; -1 outside it.
    n_square : int
        Number of blocks of the square part.
    """

    row_part: NDArray[np.int8]
    col_part: NDArray[np.int8]
    row_block: IndexArray
    col_block: IndexArray
    n_square: int


class Components(NamedTuple):
    """The connected components of a matrix seen as a bipartite graph.

    Attributes
    ----------
    n_components : int
        How many there are; an empty row or column is one by itself.
    row_labels : ndarray of int32 or int64, shape (n_rows,)
        The component of each row, from 0 to ``n_components - 1``.
    col_labels : ndarray of int32 or int64, shape (n_cols,)
        The component of each column.
    """

    n_components: int
    row_labels: IndexArray
    col_labels: IndexArray


class VertexCover(NamedTuple):
    """Rows and columns that together contain every entry of a matrix.

    Attributes
    ----------
    rows : ndarray of int32 or int64
        The rows of the cover, in ascending order.
    cols : ndarray of int32 or int64
        The columns of the cover, in ascending order.
    """

    rows: IndexArray
    cols: IndexArray

    @property
    def size(self) -> int:
        """Rows and columns together."""
        return self.rows.size + self.cols.size
