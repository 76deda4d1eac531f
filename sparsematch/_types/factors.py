"""What the solvers need of a back-end: an analysis of a matrix, and numbers by it."""

from typing import Any, Literal, NamedTuple, Protocol

from sparsematch._base.arrays import Array, FloatArray, IndexArray, IndexPair

#: Blocks that may be singular, each with whether the last values made it one.
Weak = list[tuple[int, bool]]
#: What is to be said of a factorisation: "done", or what is amiss ("unmatched", "not finite", "not
#: zero", "singular"), the block where, and the weak ones. None: nothing at all.
Found = tuple[str, int, Weak] | None


class BlockAnalysis(Protocol):
    """The entries of a matrix, its block form, and a plan of its diagonal blocks.

    It never changes, so that factorisations share it.
    """

    n: int  #: Rows, and columns.
    form: tuple[IndexArray, IndexArray, IndexArray]  #: Rows, columns, starts.
    starts: IndexArray  #: Of the diagonal blocks, once there is a plan.
    #: Both ordered within each block: the permuted matrix is A[row_perm][:, col_perm].
    row_perm: IndexArray
    col_perm: IndexArray
    by_rows: bool  #: Whether the entries were given so.
    given: IndexPair  #: indptr and indices, as they were.
    columns: IndexPair  #: Those of the columns.
    #: Which of the entries given each of the columns' is; empty if all, in order.
    places: IndexArray
    outside: list[int]  #: Blocks that the caller is to factorise.
    n_upper: int  #: Entries above the diagonal blocks.
    #: Entries of L + U of all other blocks if pivots stay on the diagonal.
    predicted_inside: int

    def block(self, k: int, ascending: bool, /) -> tuple[IndexArray, IndexArray, IndexArray]:
        """Return the columns of block k: indptr, rows, and the places of entries in the values."""
        # Rows are ascending in each column if that is wanted.

    #: Of blocks for which there was a choice: which entries are the diagonal, the order, the
    #: kernel; of L + U, if pivots stay there, entries and multiplications; seconds predicted.
    #: An order "given" is the user's.
    chosen: dict[int, tuple[str, str, str, float, float, float]]
    seconds: float  #: Predicted of the blocks that are not `outside`.
    revision: int  #: How many analyses of the same pattern it has replaced.


class BlockLU(Protocol):
    """A matrix with an analysis and the numbers of a factorisation, blocks scaled by powers of two.

    A block that fills up has another analysis made.
    """

    analysis: BlockAnalysis
    is_complex: bool
    result: Found  #: Of the last step.

    def match(self, row_mate: IndexArray, /) -> Found:
        """Go on by a perfect matching where none was found, or searched for."""

    def refactorise(self, indptr: Any, indices: Any, values: Any, /) -> Found | Literal[False]:
        """Factorise the values of a matrix with the same entries, by the same pivots if they do."""
        # `indices`: None with values alone. False, nothing changed, if types or the pattern differ.

    def repeat(self, preference: float, /) -> "BlockLU":
        """Return other factors of the same values, the diagonal preferred so much."""

    def solve(self, b: Any, x: Array, side: str, check: bool, external: Any, /) -> float:
        """Write solutions of the shape of `b`; return the largest backward error, 0 if small."""
        # `external`, if it can be called, solves in place with a block that is left to it. -1 where
        # `b` is neither vector nor matrix of contiguous rows, or of another type than the numbers.

    row_of: IndexArray  #: The row of the permuted matrix that is each pivot.
    entries: int  #: Those of L and U and the diagonal.
    #: The largest entry of U over that of the scaled block; 1 where the core factorises nothing.
    growth: FloatArray
    values: Array  #: Those of the columns: a copy.

    #: Rows, columns and values of the entries that were added where there was no pivot, in the
    #: units of the matrix; the policy's `no_pivot` says where that is.
    added: tuple[IndexArray, IndexArray, Array]

    #: Of a single block: indptr, rows and values of the columns of L below its diagonal, and of U
    #: above; the diagonal of U; the factors of rows, by pivot, and of columns.
    triangles: tuple[tuple[Array, ...], tuple[Array, ...], Array, FloatArray, FloatArray]

    def rcond(self, k: int, /) -> float:
        """Estimate the reciprocal condition of block k, scaled, in the 1-norm, from above."""

    def relative_condition(
        self, size: FloatArray, unit: FloatArray, side: str, external: Any, /
    ) -> float:
        """Estimate the condition of a solution of these sizes, its errors in these units."""
        # Without elements, both are those of the scaling.

    def solve_scaled(self, k: int, x: Array, adjoint: bool, /) -> None:
        """Solve with scaled block k, or its conjugate transpose, in place; `x` has n elements."""


class UpperTrapezoid(NamedTuple):
    """R of a QR factorisation by rows, those of dead columns left out.

    Row k has the entries ``start[k]`` to ``start[k + 1]``; the first is in the column of its pivot,
    and no later row has one there. Columns are those of the matrix.
    """

    start: IndexArray
    columns: IndexArray
    values: Array
    top: Array  #: The rows of Q^H applied to the right-hand sides that belong to rows of R.


#: How the core names a matrix, its transpose and its conjugate transpose.
SIDES = ("N", "T", "H")
