"""`diagnose`: what to expect of a linear system, by one factorisation and some solves."""

from __future__ import annotations  # readable names in help()

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from sparsematch._api.explain import explain
from sparsematch._base.arrays import Array, FloatArray
from sparsematch._base.tolerances import HALF_OF_THE_DIGITS, NEARLY_SINGULAR, ROUNDING
from sparsematch._blame.dense_blocks import worst_blocks
from sparsematch._blame.expected_digits import MOST_DIGITS, digits_of, expected_errors
from sparsematch._blame.spectrum import dense_spectrum, estimated_spectrum
from sparsematch._input.bipartite import Entries, read_entries
from sparsematch._input.canonical import canonical_columns, pattern_of
from sparsematch._input.names import read_both_names
from sparsematch._numerics.backward_error import componentwise
from sparsematch._numerics.foreign_calls import FEW_ROWS
from sparsematch._numerics.scaling import logarithmic_scaling, power_of_two, product_scaling, scaled
from sparsematch._systems.checks import check_finite, check_right_hand_side, check_square
from sparsematch._systems.condition import scaled_rcond
from sparsematch._systems.errors import SingularMatrixError
from sparsematch._systems.factors import PIVOTS, BlockFactors
from sparsematch._systems.plan import begin
from sparsematch._text.diagnosis import Diagnosis
from sparsematch._text.explanation import Explanation
from sparsematch._types.diagnosis import Misscaled, Spectrum
from sparsematch._types.singularity import NumericalDefects
from sparsematch._types.sparse_like import SparseLike

#: Ratio of two conditions, of a factor to the others, that is worth a word: three digits.
_FAR, _FAR_EXPONENT = 1e3, 10


def diagnose(
    A: SparseLike,
    b: ArrayLike | None = None,
    *,
    row_names: Iterable[Any] | None = None,
    col_names: Iterable[Any] | None = None,
    rng: Any = 0,
) -> Diagnosis:
    """Say what to expect of a linear system before its solution is relied upon.

    Its numerical rank, the smallest singular values, the diagonal blocks with the worst condition,
    rows and columns in units that do not suit, and how many digits of each element of the solution
    are to be relied upon. Of a singular matrix, why it is.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        In any format. Stored zeros do not count.
    b : array_like, shape (n,), optional
        The right-hand side. By default each variable has the fewer digits of two: ``A @ ones``,
        and that whose solution has all elements equal once rows and columns are scaled.
    row_names, col_names : iterable of length n, optional
        What the equations and variables are called in the text. Made strings.
    rng : int, Generator or None, optional
        Where the random vectors of the estimates come from; by default always the same ones.

    Returns
    -------
    Diagnosis
        ``print`` it to read it.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix of numbers, or an argument is of the wrong type.
    ValueError
        If `A` is not square, `b` or the names do not fit, or a value is not finite.
    MemoryError
        If there is no room for the factors.

    See Also
    --------
    splu : Its ``condition`` and ``rcond`` are single figures.
    sparsematch.explain_singularity : Only why a matrix is singular.

    Notes
    -----
    The matrix is scaled by powers of two that make its entries as nearly 1 as can be (Curtis, Reid,
    J. Inst. Maths Applics 10, 1972), or by those of `maximum_product_transversal`, or not at all,
    if its condition is better so. Singular values are exact up to 500 rows, and by inverse
    iteration with eight vectors above. Digits: small-sample statistical condition estimation
    (Gudmundsson, Kenney, Laub, SIAM J. Matrix Anal. Appl. 16, 1995; Kenney, Laub, Reese, SIAM J.
    Sci. Comput. 19, 1998), with eight random changes of all entries by their rounding error, and of
    what the solution leaves; within one digit. Time: that of a factorisation, and of some 40 to 120
    solves, most of them eight at once; of a matrix that is singular, or nearly so, that of
    `explain_singularity` besides.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> from sparsematch.solvers import diagnose
    >>> A = csc_array([[1.0, 2.0, 0.0], [1.0, 2.0 + 1e-9, 0.0], [0.0, 1.0, 3.0]])
    >>> found = diagnose(A, [3.0, 4.0, 4.0], col_names=["p", "q", "r"])
    >>> found.rank, found.gap[0], found.digits.round().tolist()
    (3, 2, [6.0, 6.0, 6.0])
    >>> print(str(found).splitlines()[0])
    Ill-conditioned: expect less than 8 digits in 3 of 3 variables, 6 in the worst.
    """
    entries = read_entries(A, valued=True, in_host=True)
    check_square(entries.graph.shape)
    names = read_both_names(row_names, col_names, entries.graph.shape)
    columns, zeros = canonical_columns(entries, names)
    n = columns.shape[0]
    right = _right_hand_side(b, n)
    basics: dict[str, Any] = {"n": n, "n_entries": columns.nnz, "stored_zeros": zeros}
    basics |= {"row_names": names[0], "col_names": names[1]}
    why = _explain(columns, basics, numeric=False)
    if why.structural_rank < n:
        why = _explain(columns, basics)
        rank = min(why.structural_rank, why.numbers.rank if why.numbers else n)
        return Diagnosis(**basics, rank=rank, explanation=why)
    generator = np.random.default_rng(rng)
    try:
        system = _best_scaled(_System(columns, *logarithmic_scaling(columns)), columns)
    except SingularMatrixError:
        return _singular(columns, basics)
    return _regular(system, columns, right, generator, basics)


def _right_hand_side(b: ArrayLike | None, n: int) -> Array | None:
    if b is None:
        return None
    right = np.asarray(b)
    check_right_hand_side(right, n, "N")
    if right.ndim != 1:
        raise ValueError(f"b has shape {right.shape}, but must have shape ({n},)")
    check_finite(right)
    return right


class _System:
    """A matrix scaled by powers of two, so that units do not count, and its factors."""

    def __init__(self, A: Any, rows: FloatArray, cols: FloatArray) -> None:
        self.matrix, self.row_scale, self.col_scale = scaled(A, rows, cols), rows, cols
        self.factors = BlockFactors.of(begin(self.matrix, pivots=PIVOTS))
        self.solve = self.factors.solve_unrefined

    def rcond(self, rows: FloatArray, cols: FloatArray) -> float:
        """Estimate the reciprocal condition with further factors for rows and columns."""
        return min(scaled_rcond(self.solve, self.matrix, rows, cols), 1.0) if rows.size else 1.0


def _best_scaled(system: _System, A: Any) -> _System:
    """Return another scaling, or none, if the condition is much better with that."""
    # That by logarithms suffers where entries of a row differ, the other where weak ones are on it.
    ones = np.ones(A.shape[0])
    if (rcond := system.rcond(ones, ones)) > HALF_OF_THE_DIGITS:
        return system
    others = product_scaling(A) or (ones, ones), (ones, ones)
    with np.errstate(all="ignore"):
        rconds = [system.rcond(r / system.row_scale, c / system.col_scale) for r, c in others]
    if max(rconds) > 10 * rcond:
        with suppress(SingularMatrixError):
            return _System(A, *others[int(np.argmax(rconds))])
    return system


def _singular(A: Any, basics: dict[str, Any]) -> Diagnosis:
    """Diagnose a matrix that cannot be factorised."""
    why, n = _explain(A, basics), basics["n"]
    spectrum = dense_spectrum(scaled(A, *logarithmic_scaling(A))) if n <= FEW_ROWS else None
    numbers = why.numbers
    rank = numbers.rank if numbers is not None and numbers.is_singular else n - 1
    return Diagnosis(**basics, rank=rank, spectrum=spectrum, explanation=why)


def _explain(columns: Any, basics: dict[str, Any], numeric: bool = True) -> Explanation:
    entries = Entries(pattern_of(columns), columns, "A")
    return explain(entries, basics["row_names"], basics["col_names"], numeric)


def _regular(
    system: _System, A: Any, b: Array | None, rng: Generator, basics: dict[str, Any]
) -> Diagnosis:
    """Diagnose a matrix that can be factorised."""
    n, S = basics["n"], system.matrix
    spectrum = dense_spectrum(S) if n <= FEW_ROWS else estimated_spectrum(S, system.solve, rng)
    rank, why = n, None
    if spectrum is not None and n:
        rank = n - int((spectrum.smallest <= ROUNDING * spectrum.largest).sum())
        if rank < n or _nearly_dependent(spectrum):
            why = _explain(A, basics)
            seen = why.numbers
            near = isinstance(seen, NumericalDefects) and seen.near_equations + seen.near_variables
            why = why if near or why.is_numerically_singular else None
    rcond = system.rcond(1 / system.row_scale, 1 / system.col_scale)
    scaled_rcond = system.rcond(np.ones(n), np.ones(n))
    starts = system.factors.plan.starts
    return Diagnosis(
        **basics,
        rank=rank,
        spectrum=spectrum,
        n_blocks=starts.size - 1,
        largest_block=int(np.diff(starts).max(initial=0)),
        blocks=worst_blocks(S, system.factors),
        rcond=rcond,
        scaled_rcond=scaled_rcond,
        misscaled=_misscaled(system, rcond, scaled_rcond),
        explanation=why,
        **(_digits(system, b, rng) if rank == n else {}),
    )


def _nearly_dependent(spectrum: Spectrum) -> bool:
    """Tell whether a few singular values are small, and clearly so: of many there is no account."""
    below, ratio = spectrum.gap
    small = NEARLY_SINGULAR * spectrum.largest
    return below > 0 and ratio >= _FAR and bool(spectrum.smallest[-below] <= small)


def _digits(system: _System, b: Array | None, rng: Generator) -> dict[str, Any]:
    """Return the digits of a solution, which a scaling does not change, and its backward error."""
    # Without b the fewer of two: they go with how large its elements are.
    S, n = system.matrix, system.matrix.shape[0]
    if b is None:
        with np.errstate(all="ignore"):
            rights = [S @ np.ones(n), S @ (1 / system.col_scale)]
    else:
        rights = [b * system.row_scale]
    digits, vanishing, backward = np.full(n, MOST_DIGITS), np.ones(n, bool), 0.0
    for right in rights:
        with np.errstate(all="ignore"):
            right /= np.abs(right).max(initial=0) or 1.0  # squares shall not overflow
            x = system.factors.solve(right, "N")[0]
        errors = expected_errors(S, x, right, system.solve, rng)
        own = np.nan_to_num(digits_of(errors, x))
        vanishing &= (own < 1) & (errors <= HALF_OF_THE_DIGITS * np.abs(x).max(initial=0))
        digits = np.minimum(digits, own)
        left = componentwise(S, x[:, np.newaxis], right[:, np.newaxis])[0]
        backward = max(backward, float(left))
    found: dict[str, Any] = {"digits": digits, "vanishing": np.flatnonzero(vanishing)}
    return found | {"backward_error": backward, "of_several": b is None}


def _misscaled(system: _System, rcond: float, scaled_rcond: float) -> tuple[Misscaled, ...]:
    """Name rows and columns whose units make the condition worse, if scaling them improves much."""
    if not rcond * _FAR <= scaled_rcond:
        return ()
    named, parts = [], []
    for side, scale in (("rows", system.row_scale), ("columns", system.col_scale)):
        exponents = np.log2(scale)
        middle = np.floor(np.median(exponents))
        far = np.abs(exponents - middle) >= _FAR_EXPONENT
        factors = power_of_two(exponents - middle)
        named += [Misscaled(side, i, float(factors[i])) for i in np.flatnonzero(far).tolist()]
        parts.append(power_of_two(np.where(far, -middle, -exponents)))
    if not named or system.rcond(*parts) < 10 * rcond:
        return ()
    return tuple(sorted(named, key=lambda each: -abs(np.log2(each.factor))))
