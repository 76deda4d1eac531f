"""The block triangular form of a matrix over ranks: each has what it knows of its own vertices."""

from dataclasses import dataclass

import numpy as np

from sparsematch._base.arrays import Array, IndexArray, inverse
from sparsematch._types.block_form import BlockForm, Blocks
from sparsematch._types.mates import Frozen, frozen
from sparsematch._types.over_ranks.agreement import collect
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import call_on


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DistributedBlockForm(Blocks, Frozen):
    """A block upper triangular form of a `DistributedCSR`: coarse and fine decomposition.

    The parts and the order of rows and columns are those of `BlockForm`; here each rank has the
    places of its own rows and columns in the permuted matrix, and their fine blocks.

    Attributes
    ----------
    row_place, col_place : ndarray of int32 or int64, shapes (own rows,), (own columns,)
        Row ``first_row + k`` goes to place ``row_place[k]``: the inverse of ``row_perm``.
    row_block, col_block : ndarray of int32 or int64, shapes (own rows,), (own columns,)
        The fine block of each, from 0 at the upper left. No entry is below the diagonal blocks. The
        horizontal part, if there is one, is block 0; the vertical part, if there is one, the last.
    block_sizes : ndarray of int32 or int64, shape (own blocks, 2)
        Rows and columns of blocks ``first_block``, ``first_block + 1``, and so on; the next rank
        goes on from there.
    first_block : int
        The first block whose sizes this rank has.
    n_blocks : int
        Fine blocks of the whole matrix.
    coarse_sizes : tuple of three pairs of int
        Rows and columns of the horizontal, square and vertical part, of the whole matrix.
    matching : DistributedMatching
        The maximum transversal on which the form is built.
    """

    row_place: IndexArray
    col_place: IndexArray
    row_block: IndexArray
    col_block: IndexArray
    block_sizes: IndexArray
    first_block: int
    n_blocks: int
    coarse_sizes: tuple[tuple[int, int], ...]
    matching: DistributedMatching

    def gather(self) -> BlockForm:
        """Return the block form of the whole matrix, on every rank. Collective.

        It is of size n_rows + n_cols.
        """
        own = self.row_place, self.col_place, self.block_sizes
        call = call_on(self.matching.layout, f"gather of block form {self.matching.serial}")
        everywhere = zip(*collect(self.matching.layout.comm, call, lambda: own), strict=True)
        row_place, col_place, sizes = (np.concatenate(arrays) for arrays in everywhere)
        dtype = row_place.dtype
        ends: Array = np.concatenate([np.zeros((1, 2), dtype), np.cumsum(sizes, axis=0)])
        (h_rows, h_cols), (n_square, _), _ = self.coarse_sizes
        rank, (n_rows, n_cols) = self.structural_rank, self.shape
        coarse_rows = [0, h_rows, h_rows + n_square, rank, n_rows]
        coarse_cols = [0, h_cols - h_rows, h_cols, h_cols + n_square, n_cols]
        row_ends, col_ends = (np.ascontiguousarray(side, dtype) for side in ends.T)
        coarse = np.array(coarse_cols, dtype), np.array(coarse_rows, dtype)
        arrays = inverse(row_place), inverse(col_place), row_ends, col_ends, *coarse
        return frozen(BlockForm(*arrays, self.matching.gather()))
