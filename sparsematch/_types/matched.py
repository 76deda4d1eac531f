"""What all results have in common that are a matching and arrays to prove it."""

from typing import Self

import numpy as np

from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.matching import Matching


class MatchedResult:
    """A frozen dataclass with a matching of the whole matrix, and arrays of its own."""

    __slots__ = ()

    matching: Matching

    def freeze(self) -> Self:
        """Make the arrays read-only, and return the object. CuPy knows no read-only arrays."""
        self.matching.freeze()
        for name in self.__dataclass_fields__:  # type: ignore[attr-defined]
            array = getattr(self, name)
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.matching.shape

    @property
    def cardinality(self) -> int:
        """Number of matched pairs."""
        return self.matching.cardinality

    @property
    def is_perfect(self) -> bool:
        """Whether every row and every column is matched."""
        return self.matching.is_perfect

    @property
    def unmatched_rows(self) -> IndexArray:
        """Rows without a column, in ascending order."""
        return _free(self.matching.row_mate)

    @property
    def unmatched_cols(self) -> IndexArray:
        """Columns without a row, in ascending order."""
        return _free(self.matching.col_mate)


def _free(mate: IndexArray) -> IndexArray:
    return namespace(mate).flatnonzero(mate < 0).astype(mate.dtype, copy=False)
