"""Iterative refinement of the columns of a solution, for NumPy's arrays and CuPy's.

Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 12.
"""

from collections.abc import Callable
from typing import Any

from sparsematch._base.arrays import namespace
from sparsematch._numerics.scaling import column_norms

Values = Any  # of NumPy or CuPy
Change = Callable[[Values], Values]

#: A step goes on to the next if it has made some error so much smaller: what converges more slowly
#: takes more steps than another factorisation does.
_GAIN = 0.5
_STEPS = 4


def refine(
    x: Values, measure: Callable[[Values], tuple[Values, Values]], correct: Change, *, good: float
) -> tuple[Values, Values, Values]:
    """Add what `correct` makes of what is left, to each column as long as its error shrinks."""
    # ``measure(x)`` returns column errors and what is left of them, residuals or such. Columns with
    # errors up to `good` or not finite take no step. Returns the solution, errors and what is left.
    xp = namespace(x)
    errors, left = measure(x)
    for _ in range(_STEPS):
        if not xp.flatnonzero((errors > good) & xp.isfinite(errors)).size:
            break
        trial = x + correct(left)
        errors_of_trial, left_of_trial = measure(trial)
        better = errors_of_trial < errors
        goes_on = xp.flatnonzero(errors_of_trial <= _GAIN * errors).size > 0
        x = xp.where(better, trial, x)
        left = xp.where(better, left_of_trial, left)
        errors = xp.where(better, errors_of_trial, errors)
        if not goes_on:
            break
    return x, errors, left


def refine_norms(x: Values, left: Change, correct: Change) -> tuple[Values, Values]:
    """Refine by ``correct(left(x))`` while 2-norms of what is left shrink; return these, too."""
    return refine(x, lambda x: (column_norms(r := left(x)), r), correct, good=0.0)[:2]
