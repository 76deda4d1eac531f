"""What lines of an account have in common."""

from dataclasses import dataclass

from sparsematch._types.combination import Combination
from sparsematch._types.name_lists import Names

Line = str | Combination


@dataclass(frozen=True, slots=True)
class Wording:
    """How rows and columns are called, and how much is shown of what there may be much of."""

    rows: Names
    cols: Names
    most: int  #: Conflicts, dependences, blocks and pairs, of each kind.
    most_names: int  #: Names in a list, and terms of an equation.

    def names(self, side: str) -> Names:
        """Return the names of the rows or of the columns."""
        return self.rows if side == "rows" else self.cols
