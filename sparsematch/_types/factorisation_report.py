"""What a factorisation consists of: blocks, orders, fill, and which solver made it and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockReport:
    """A diagonal block that an external solver has factorised.

    Attributes
    ----------
    block : int
        Which block of the form: from the upper left.
    rows, entries : int
        Its size.
    solver : str
        What factorised it.
    order : str
        In which order.
    made : int
        Entries of its factors; 0 if the solver does not report them.
    seconds : float
        What one factorisation was predicted to take on one core; 0 if no prediction was needed.
    why : str
        Why this solver.
    """

    block: int
    rows: int
    entries: int
    solver: str
    order: str
    made: int
    seconds: float
    why: str

    def __str__(self) -> str:
        made = f"{self.made:,}" if self.made else "unknown"
        return (
            f"block {self.block}: {self.rows:,} rows, {self.entries:,} entries, by {self.solver} "
            f"({self.why}), order: {self.order}; entries of the factors: {made} made; "
            f"{self.seconds:.1e} s predicted"
        )


@dataclass(frozen=True, slots=True)
class FactorisationReport:
    """What a factorisation by blocks consists of.

    Attributes
    ----------
    rows, entries : int
        Rows and entries of the matrix.
    n_blocks, n_single, largest : int
        Diagonal blocks, those of one entry among them, and the rows of the largest.
    above : int
        Entries above the diagonal blocks, which are only multiplied with.
    own_predicted, own_made : int
        Entries of the factors of the blocks factorised by this package, by minimum degree.
    own_seconds : float
        What one factorisation of these blocks was predicted to take on one core.
    external : tuple of BlockReport
        The blocks that external solvers have factorised.
    asked : str
        The external solver asked for, which takes blocks of more than 16 rows; empty if none was.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import splu
    >>> lu = splu(csc_array([[4.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 3.0]]))
    >>> print(lu.report())
    3 rows, 6 entries, 2 blocks, 1 of one entry, the largest of 2 rows; 1 entry above the blocks
    factorised here: 2 blocks; entries of the factors: 5 predicted, 5 made; 3.6e-06 s predicted
    """

    rows: int
    entries: int
    n_blocks: int
    n_single: int
    largest: int
    above: int
    own_predicted: int
    own_made: int
    own_seconds: float
    external: tuple[BlockReport, ...]
    asked: str = ""

    def __str__(self) -> str:
        own = self.n_blocks - len(self.external)
        lines = [
            f"{self.rows:,} rows, {self.entries:,} entries, {_number(self.n_blocks, 'block')}, "
            f"{self.n_single:,} of one entry, the largest of {_number(self.largest, 'row')}; "
            f"{_number(self.above, 'entry', 'entries')} above the blocks"
        ]
        if own:
            why = f", as solver={self.asked!r} takes larger ones" if self.asked else ""
            lines.append(
                f"factorised here{why}: {_number(own, 'block')}; entries of the factors: "
                f"{self.own_predicted:,} predicted, {self.own_made:,} made; "
                f"{self.own_seconds:.1e} s predicted"
            )
        return "\n".join([*lines, *map(str, self.external)])


def _number(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
