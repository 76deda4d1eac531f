"""Labels of rows and columns: component, group in the block form, cover, violators."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray


class BlockLabels(NamedTuple):
    """Where each row stands in the block triangular form; a matched column is with its mate."""

    #: Shape (n_rows,). 0: horizontal part, 1 to `n_square`: blocks of the square part from upper
    #: left, ``n_square + 1``: matched rows of the vertical part, ``n_square + 2``: unmatched rows.
    row_group: IndexArray
    n_square: int  #: Number of blocks of the square part.


class BlockPermutation(NamedTuple):
    """The permutations of a block triangular form."""

    #: The rows by group; the unmatched columns, then the mates of the rows.
    row_perm: IndexArray
    col_perm: IndexArray
    #: Where each block of rows and of columns begins, and where all end.
    row_blocks: IndexArray
    col_blocks: IndexArray
    #: How many rows come before the square part, the vertical part, the unmatched rows.
    first_square: int
    first_vertical: int
    rank: int


def groups_of_blocks(n_square: int, shape: tuple[int, int], rank: int) -> tuple[int, int]:
    """Return the group that is the first block, and that behind the last."""
    # There is a horizontal part where columns are unmatched, a vertical part where rows are.
    n_rows, n_cols = shape
    return int(n_cols == rank), n_square + 1 + int(rank < n_rows)


#: The coarse parts of the Dulmage-Mendelsohn decomposition.
HORIZONTAL, SQUARE, VERTICAL = 0, 1, 2
Parts: TypeAlias = NDArray[np.int8]


class CoarseParts(NamedTuple):
    """The coarse Dulmage-Mendelsohn decomposition: the part of each row and column.

    The parts do not depend on the matching. With rows and columns in the order of the parts, a
    matrix is block upper triangular: horizontal part (more columns than rows), square part, and
    vertical part (more rows than columns).

    Attributes
    ----------
    row_part : ndarray of int8, shape (n_rows,)
        0: horizontal part, 1: square part, 2: vertical part. Of a `DistributedCSR`, the own rows.
    col_part : ndarray of int8, shape (n_cols,)
        The same of the columns.
    sizes : tuple of three pairs of int
        Rows and columns of each part, of the whole matrix.
    """

    row_part: Parts
    col_part: Parts
    sizes: tuple[tuple[int, int], ...]

    def __repr__(self) -> str:
        names = ("horizontal", "square", "vertical")
        parts = (f"{name} {m}x{n}" for name, (m, n) in zip(names, self.sizes, strict=True))
        return f"CoarseParts({', '.join(parts)})"


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

    def __repr__(self) -> str:
        noun = "component" if self.n_components == 1 else "components"
        shape = f"{self.row_labels.size}x{self.col_labels.size}"
        return f"Components({shape}, {self.n_components} {noun})"


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

    def __repr__(self) -> str:
        return f"VertexCover(rows {self.rows.size}, columns {self.cols.size})"


@dataclass(frozen=True, slots=True, eq=False)
class HallViolators:
    """Connected pieces of the vertical (horizontal) part, a minimal Hall violator of each."""

    #: Shapes (n_rows,), (n_cols,). The piece of each row and column, -1 for those outside the part.
    row_piece: IndexArray
    col_piece: IndexArray
    n_pieces: int  #: How many there are.
    #: The rows of the violators, columns for the horizontal part, one violator after the other.
    members: IndexArray
    #: The columns (rows) of the violators, -1 in the place of each one's first row.
    partners: IndexArray
    #: Shape (n_pieces + 1,). Where the violator of each piece begins, and the end of the last.
    starts: IndexArray
