"""The mates of rows and columns: what a matching holds, of a matrix or of a rank's part of one."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sparsematch._types.arrays import IndexArray, namespace


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mates:
    """Two arrays of mates: of all rows and columns, or of those of a rank; -1 means unmatched."""

    row_mate: IndexArray
    col_mate: IndexArray

    def to_matlab(self) -> IndexArray:
        """Return what MATLAB's ``p = dmperm(A)`` is: the row of each column, counted from 1, or 0.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsematch import Matching
        >>> Matching(np.array([2, -1, 0]), np.array([2, -1, 0])).to_matlab().tolist()
        [3, 0, 1]
        """
        return self.col_mate + 1

    def freeze(self) -> Self:
        """Make the arrays read-only, and return the object. CuPy knows no read-only arrays."""
        if isinstance(self.row_mate, np.ndarray):
            self.row_mate.flags.writeable = False
            self.col_mate.flags.writeable = False
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mates):
            return NotImplemented
        xp = namespace(self.row_mate)
        if xp is not namespace(other.row_mate):
            return NotImplemented
        return bool(
            xp.array_equal(self.row_mate, other.row_mate)
            and xp.array_equal(self.col_mate, other.col_mate)
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name not in ("freeze", "start")]
