"""What all results have in common that are a matching and arrays to prove it."""

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._types.mates import Frozen, Mates


class OfMatching(Frozen):
    """A frozen dataclass with a matching of the whole matrix, and arrays of its own."""

    __slots__ = ()

    matching: Mates

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole matrix."""
        return self.matching.shape

    @property
    def cardinality(self) -> int:
        """Number of matched pairs, of all ranks."""
        return self.matching.cardinality


class MatchedResult(OfMatching):
    """One of which all rows and columns are here."""

    __slots__ = ()

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
