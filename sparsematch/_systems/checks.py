"""Checks of arguments that all factorisations have in common."""

from typing import Any, get_args

import numpy as np

from sparsematch._base.errors import check_choice, wrong_type
from sparsematch._base.tolerances import EPSILON
from sparsematch._types.choices import Pivoting
from sparsematch._types.factors import SIDES

PIVOTING = get_args(Pivoting)


def check_square(shape: tuple[int, ...]) -> None:
    """Raise ValueError unless a sparse matrix is square."""
    if len(shape) != 2 or shape[0] != shape[1]:
        other = "sparsematch.solvers.lstsq solves systems of any shape"
        raise ValueError(f"A must be square, but has shape {shape}; {other}")


def read_rcond(rcond: Any, A: Any, shape: tuple[int, int]) -> float:
    """Return what counts as zero, by default the rounding error of the type times a size."""
    if rcond is None:
        dtype, eps = getattr(A, "dtype", None), EPSILON
        if isinstance(dtype, np.dtype) and dtype.kind in "fc" and dtype.itemsize:
            eps = max(float(np.finfo(dtype).eps), EPSILON)
        return eps * max(*shape, 50)
    if isinstance(rcond, bool) or not isinstance(rcond, float | int | np.floating | np.integer):
        raise wrong_type("rcond", rcond, "a number")
    if not 0 <= rcond < 1:
        raise ValueError(f"rcond is {rcond}, but must be at least 0 and less than 1")
    return float(rcond)


def check_right_hand_side(b: Any, n: int, trans: Any) -> None:
    """Raise TypeError or ValueError unless an array of NumPy or CuPy fits, and `trans` is known."""
    if trans not in SIDES:
        check_choice("trans", trans, SIDES)
    if b.dtype.kind not in "biufc":
        raise wrong_type("b", b, f"an array of numbers, not of {b.dtype}")
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ValueError(f"b has shape {b.shape}, but must have shape ({n},) or ({n}, k)")


def check_finite(b: Any) -> None:
    """Raise ValueError unless right-hand sides are finite, naming the first element that is not."""
    if not (finite := np.isfinite(b)).all():
        place = tuple(np.argwhere(~finite)[0].tolist())
        raise ValueError(f"b{list(place)} is {b[place]}, but values must be finite")


def refuse_on_gpu(row_names: Any, col_names: Any, order: Any = "blocks") -> None:
    """Raise ValueError for arguments that a factorisation on a GPU has no use for."""
    if not isinstance(order, str) or order != "blocks":
        raise ValueError("order is given for a matrix on a GPU, whose solver chooses it")
    for argument, value in (("row_names", row_names), ("col_names", col_names)):
        if value is not None:
            raise ValueError(
                f"{argument} is given for a matrix on a GPU, of which errors explain nothing: "
                "sparsematch.explain_singularity(A.get(), row_names, col_names, numeric=True) does"
            )
