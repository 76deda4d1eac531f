"""Costs of the entries of a matrix over ranks, reduced by the duals of a maximum-norm scaling.

The cost of an entry a is ``-log(abs(a))``. With the largest entry of each row, then of each column,
scaled to 1, no entry is larger, and reduced costs are not negative: the scaling in the maximum norm
of Knight, Ruiz, Ucar, A symmetry preserving algorithm for matrix scaling (SIAM J. Matrix Anal.
Appl. 35, 2014), rows first. The larger side is not scaled: the sum of its duals would depend on
which of its vertices are matched.
"""

import numpy as np

from sparsematch._base.arrays import Array, FloatArray
from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.core.sides import Side
from sparsematch._types.over_ranks.matrix import DistributedCSR


class ScaledCosts:
    """The entries of the own rows, with reduced costs."""

    # Each is the cost less the duals of its row and column, which are 0 without an entry.
    def __init__(self, A: DistributedCSR, exchange: Exchange) -> None:
        """Scale the magnitudes that are the values of the matrix. Collective."""
        assert A.values is not None
        self.A, self.side, self.exchange = A, Side.of_rows(A, exchange), exchange
        self.cost: FloatArray = -np.log(A.values)
        self.row_dual, self.col_dual = np.zeros(self.side.n_majors), np.zeros(self.side.n_minors)
        if A.n_rows <= A.n_cols:
            self.row_dual = self.row_duals(self.col_dual)
            for begin, end in self.side.slices():
                self.cost[begin:end] -= self.row_dual[self.rows_of(begin, end)]
        if A.n_rows >= A.n_cols:
            self.col_dual = self.least_of_cols(np.zeros(self.side.n_majors))
            for begin, end in self.side.slices():
                self.cost[begin:end] -= self.of_cols(self.col_dual, begin, end)
        np.maximum(self.cost, 0, out=self.cost)

    def rows_of(self, begin: int, end: int) -> Array:
        """Return the own rows, counted from the first, of a range of entries."""
        return self.side.majors_of_entries(begin, end) - self.side.first_major

    def of_cols(self, table: Array, begin: int, end: int) -> Array:
        """Return the values of the owners' tables for the columns of own entries. Collective."""
        return self.exchange.lookup(self.A.col_starts, self.A.indices[begin:end], table)

    def least_of_cols(self, row_dual: FloatArray) -> FloatArray:
        """Return the least cost less the row's dual in own columns; 0 of none. Collective."""
        A = self.A
        least = np.full(self.side.n_minors, np.inf)
        for begin, end in self.side.slices():
            less = self.cost[begin:end] - row_dual[self.rows_of(begin, end)]
            cols, less = self.exchange.alltoallv(A.col_starts, A.indices[begin:end], less)
            np.minimum.at(least, cols - A.first_col, less)
        return np.where(np.isinf(least), 0, least)

    def row_duals(self, col_dual: FloatArray) -> FloatArray:
        """Return the largest dual of each own row, given those of the columns. Collective."""
        least = np.full(self.side.n_majors, np.inf)
        for begin, end in self.side.slices():
            less = self.cost[begin:end] - self.of_cols(col_dual, begin, end)
            np.minimum.at(least, self.rows_of(begin, end), less)
        return np.where(np.isinf(least), 0, least)

    def find(self, rows: Array, cols: Array) -> Array:
        """Return where own rows, counted from the first, have entries in columns; -1 for none."""
        # The lists ascend. Time: O(log(degree)) each.
        indptr, indices = self.side.indptr, self.side.indices
        low, last = indptr[rows], indptr[rows + 1]
        high = last.copy()
        while np.any(open_ := low < high):
            middle = (low + high) // 2
            # an empty range is not read beyond the end of the lists
            below = open_ & (indices[np.minimum(middle, indices.size - 1)] < cols)
            low = np.where(below, middle + 1, low)
            high = np.where(open_ & ~below, middle, high)
        found = low < last
        found[found] = indices[low[found]] == cols[found]
        return np.where(found, low, -1)
