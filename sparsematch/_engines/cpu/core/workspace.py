"""Arrays that are given to be overwritten."""

from typing import NamedTuple

from sparsematch._base.arrays import IndexArray
from sparsematch._types.matching import Matching


class Workspace(NamedTuple):
    """An index for each row and for each column, in arrays whose values are lost.

    Results are written over mates or labels that are no longer needed: fresh memory costs time when
    it is first touched, and raises the peak of a call by two vectors.
    """

    rows: IndexArray
    cols: IndexArray

    @classmethod
    def of(cls, matching: Matching) -> "Workspace":
        """Give up the mates of a matching."""
        return cls(matching.row_mate, matching.col_mate)
