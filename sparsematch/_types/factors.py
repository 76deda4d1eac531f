"""What the solvers need of a back-end: a plan of the blocks, and numbers by that plan."""

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.arrays import IndexArray


class BlockPlan(Protocol):
    """A matrix cut into the diagonal blocks of a block form, and what is above them."""

    @property
    def row_perm(self) -> IndexArray: ...  #: The permuted matrix is A[row_perm][:, col_perm].
    @property
    def col_perm(self) -> IndexArray: ...
    @property
    def outside(self) -> list[int]: ...  #: Blocks that the caller is to factorise.
    @property
    def n_upper(self) -> int: ...  #: Entries above the diagonal blocks.
    #: Entries of L + U of all other blocks if pivots stay on the diagonal.
    @property
    def predicted_inside(self) -> int: ...
    def block(self, k: int, ascending: bool, /) -> tuple[IndexArray, IndexArray, IndexArray]:
        """Return the columns of block k: indptr, rows, and the place of each entry in the values.

        Rows are ascending in each column if that is wanted.
        """

    #: Of blocks for which there was a choice: which entries are the diagonal, the order, the
    #: kernel; of L + U, if pivots stay there, entries and multiplications; seconds predicted.
    #: An order "given" is the user's.
    @property
    def chosen(self) -> dict[int, tuple[str, str, str, float, float, float]]: ...
    @property
    def seconds(self) -> float: ...  #: Predicted of the blocks that are not `outside`.


class QuickAnalysis(NamedTuple):
    """What a first analysis finds about a square matrix with a perfect matching."""

    #: Its block form.
    row_perm: IndexArray
    col_perm: IndexArray
    row_blocks: IndexArray
    #: The largest absolute value, and the 1-norm; not finite if a value is not.
    largest: float
    norm: float
    plan: BlockPlan  #: What to factorise, and how.


class BlockLU(Protocol):
    """The numbers of a factorisation by a plan, each diagonal block scaled by powers of two."""

    @property
    def row_of(self) -> IndexArray: ...  #: The row of the permuted matrix that is each pivot.
    @property
    def entries(self) -> int: ...  #: Those of L and U and the diagonal.
    #: The largest entry of U over that of the scaled block; 1 where the core factorises nothing.
    @property
    def growth(self) -> NDArray[np.float64]: ...
    #: Of factors that were made in one call, which have their own: the plan; indptr and indices of
    #: the columns; row_perm, col_perm and row_blocks of the block form.
    @property
    def plan(self) -> BlockPlan: ...
    @property
    def pattern(self) -> tuple[IndexArray, IndexArray]: ...
    @property
    def form(self) -> tuple[IndexArray, IndexArray, IndexArray]: ...
    def suspects(self, small: float, /) -> list[int]:
        """Return the blocks with pivots smaller than `small` times their largest entry."""

    @property
    def values(self) -> NDArray[Any]: ...  #: A copy of those of the matrix.
    def factorise(
        self, values: NDArray[Any], preference: float, small: float, /
    ) -> tuple[str, int, list[int]] | None:
        """Compute the numbers, the diagonal preferred so much; below 0: with the same pivots.

        Returns None where all is well; else how it went (an ``Outcome`` of gilbert_peierls.hpp),
        in which block, and the blocks with pivots smaller than `small` times their largest entry.
        """

    def refactorise_quickly(
        self, indptr: Any, indices: Any, values: Any, small: float, /
    ) -> tuple[str, int, list[int]] | Literal[False] | None:
        """Do as `factorise` with the same pivots, of the arrays of a matrix with the same pattern.

        `indices` are None where there are only values. False, nothing being changed, where the
        arrays are others or a value is not finite.
        """

    def solve(
        self, b: NDArray[Any], side: str, external: Any, check: bool, /
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return solutions, one behind the other, and the backward error of each, 0 where small.

        `external` solves in place with a block that is left to it.
        """

    def solve_quickly(self, b: Any, x: NDArray[Any], side: str, check: bool, /) -> float:
        """Write the solution of one right-hand side, and return its backward error, 0 if small.

        -1 where `b` is no contiguous vector of the type of the numbers. No block may be external.
        """

    def rcond(self, k: int, /) -> float:
        """Estimate the reciprocal condition of scaled block k in the 1-norm, from above."""

    def solve_scaled(self, k: int, x: NDArray[Any], adjoint: bool, /) -> None:
        """Solve with scaled block k, or its conjugate transpose, in place; `x` has n elements."""

    def scaled_values(self, k: int, /) -> NDArray[Any]:
        """Return the entries of scaled block k, in the order of ``BlockPlan.block``."""


class UpperTrapezoid(NamedTuple):
    """R of a QR factorisation by rows, those of dead columns left out.

    Row k has the entries ``start[k]`` to ``start[k + 1]``; the first is in the column of its pivot,
    and no later row has one there. Columns are those of the matrix.
    """

    start: IndexArray
    columns: IndexArray
    values: NDArray[Any]
    top: NDArray[Any]  #: The rows of Q^H applied to the right-hand sides that belong to rows of R.


#: How the core names a matrix, its transpose and its conjugate transpose.
SIDES = ("N", "T", "H")
