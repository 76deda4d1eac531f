"""Why a matrix is numerically singular: combinations of rows and of columns that vanish."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sparsematch._base.arrays import Array, FloatArray, IndexArray, IndexPair
from sparsematch._base.tolerances import HALF_OF_THE_DIGITS

#: Members of a dependence that are looked at, beside one for each other dependence.
_CANDIDATES = 64
_OUTSIDE = 0.1  # a coefficient outside the singular blocks over one inside that is as good a choice


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dependence:
    """Rows that depend on each other, or columns: a combination of them that vanishes.

    A minimal one: without any one of its members the others are independent.

    Attributes
    ----------
    side : str
        ``"rows"``: the equations depend on each other. ``"columns"``: the variables may be changed
        along the combination, and no equation notices.
    indices : ndarray, shape (size,)
        Rows or columns of the user's matrix, ascending.
    coefficients : ndarray, shape (size,)
        ``coefficients @ A[indices]`` vanishes (``A[:, indices] @ coefficients``). The largest is 1.
    residual : float
        The largest entry of that combination over the largest of its terms: about 1e-16 if it
        vanishes but for rounding. The larger one of two, so that no units count: with columns
        multiplied by `NumericalDefects.col_scale` (rows by `row_scale`), and by powers of two that
        bring the largest entries of all rows and columns near 1.
    """

    side: str
    indices: IndexArray
    coefficients: Array
    residual: float

    @property
    def size(self) -> int:
        """How many rows or columns."""
        return self.indices.size

    @property
    def is_constant(self) -> bool:
        """Whether all coefficients are equal: the members may be shifted together."""
        return bool(np.allclose(self.coefficients, 1, rtol=0, atol=HALF_OF_THE_DIGITS))

    def __repr__(self) -> str:
        return f"Dependence({self.size} {self.side}, residual {self.residual:.0e})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SingularBlock:
    """A diagonal block of the block triangular form that is singular, or nearly so, by itself.

    Attributes
    ----------
    number : int
        Which block of the form: from the upper left.
    rows, cols : ndarray
        The block, in ascending order.
    equations, variables : tuple of Dependence
        The left and right null vectors of the block alone, whatever there is outside of it.
    rcond : float
        The least singular value of the block, rows and columns scaled so that the largest entries
        are about 1: by how little it must change to have no inverse.
    """

    number: int
    rows: IndexArray
    cols: IndexArray
    equations: tuple[Dependence, ...]
    variables: tuple[Dependence, ...]
    rcond: float

    @property
    def deficiency(self) -> int:
        """By how much its rank is too small."""
        return len(self.equations)

    @property
    def digits_lost(self) -> float:
        """Decimal digits that a solution with the block loses; at most 16 of them there are."""
        return float(-np.log10(max(self.rcond, 1e-16)))

    def __repr__(self) -> str:
        n = self.rows.size
        return f"SingularBlock({n}x{n}, rank {n - self.deficiency}, rcond {self.rcond:.0e})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumericalDefects:
    """Why a square matrix is numerically singular though its pattern is not.

    Attributes
    ----------
    n : int
        Rows and columns of the matrix.
    equations : tuple of Dependence
        Rows of the whole matrix that depend on each other, the fewest first: dropping one equation
        of each leaves independent ones.
    variables : tuple of Dependence
        Columns of the whole matrix that do: as many. Fixing one variable of each leaves none free.
    blocks : tuple of SingularBlock
        The diagonal blocks that are singular by themselves. There may be more of them than
        dependences of the whole matrix: what couples two singular blocks can raise the rank.
    tolerance : float
        The residual up to which a combination counts as vanishing.
    is_complete : bool
        Whether these are all dependences. Only some are named if they are too many, or values
        too far apart for doubles: the rank is then at most what is said.
    row_scale, col_scale : ndarray, shape (n,)
        Powers of two that make all entries as nearly 1 as can be, whatever the units are; None if
        nothing was scaled.
    near_equations, near_variables : tuple of Dependence
        Combinations that vanish up to 1e-6, if none vanishes up to the tolerance.
    """

    n: int
    equations: tuple[Dependence, ...]
    variables: tuple[Dependence, ...]
    blocks: tuple[SingularBlock, ...]
    tolerance: float
    is_complete: bool = True
    row_scale: FloatArray | None = None
    col_scale: FloatArray | None = None
    near_equations: tuple[Dependence, ...] = ()
    near_variables: tuple[Dependence, ...] = ()

    @property
    def rank(self) -> int:
        """The numerical rank; an upper bound if not all dependences are named."""
        return self.n - max(len(self.equations), len(self.variables))

    @property
    def is_singular(self) -> bool:
        """Whether the rank is less than the number of rows."""
        return self.rank < self.n

    @property
    def one_choice(self) -> IndexPair:
        """Equations (rows) and variables (columns), one choice of many, that resolve all of it.

        With an equation that fixes variable ``cols[k]`` in the place of equation ``rows[k]``, for
        all k, the matrix is nonsingular.
        """
        none = np.empty(0, np.intp)
        rows = np.concatenate([none, *(block.rows for block in self.blocks)])
        cols = np.concatenate([none, *(block.cols for block in self.blocks)])
        return one_of_each(self.equations, rows), one_of_each(self.variables, cols)

    def __repr__(self) -> str:
        return f"NumericalDefects({self.n}x{self.n}, rank {self.rank}, {len(self.blocks)} blocks)"


def members_of(lists: Iterable[IndexArray]) -> IndexArray:
    """Return what is in any of some lists of rows or columns, ascending; there is one at least."""
    lists = list(lists)
    inside = np.zeros(max(int(indices.max(initial=-1)) for indices in lists) + 1, bool)
    for indices in lists:
        inside[indices] = True
    return np.flatnonzero(inside)


def one_of_each(dependences: Sequence[Dependence], preferred: IndexArray) -> IndexArray:
    """Return a member of each dependence, such that without these the others are independent."""
    # A large one, and rather one of `preferred`, the singular blocks: what is outside follows from
    # them. Each is chosen from what is left of a dependence once those chosen before are
    # eliminated; of many members only the largest are looked at.
    if not dependences:
        return np.array([], np.intp)
    largest = []
    for each in dependences:
        weight = np.abs(each.coefficients) * np.where(np.isin(each.indices, preferred), 1, _OUTSIDE)
        most = min(_CANDIDATES + len(dependences), each.size)
        largest.append(each.indices[np.argpartition(-weight, most - 1)[:most]])
    members = members_of(largest)
    dtype = np.result_type(*(each.coefficients for each in dependences))
    left = np.zeros((len(dependences), members.size), dtype)
    for row, each in zip(left, dependences, strict=True):
        known = np.isin(each.indices, members, assume_unique=True)
        row[np.searchsorted(members, each.indices[known])] = each.coefficients[known]
    share = np.where(np.isin(members, preferred), 1, _OUTSIDE)
    chosen = []
    for k, values in enumerate(left):
        place = int(np.argmax(np.abs(values) * share))
        if values[place]:
            chosen.append(int(members[place]))
            left[k + 1 :] -= np.outer(left[k + 1 :, place] / values[place], values)
            left[k + 1 :, place] = 0
    return np.array(chosen, dependences[0].indices.dtype)
