"""Checks of arguments that all factorisations have in common."""

from collections.abc import Collection
from typing import Any, get_args

from sparsematch._base.errors import unknown_choice, wrong_type
from sparsematch._types.choices import Pivoting
from sparsematch._types.factors import SIDES

PIVOTING = get_args(Pivoting)


def check_choice(argument: str, value: Any, choices: Collection[str]) -> None:
    """Raise TypeError or ValueError unless the value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise unknown_choice(argument, value, choices)


def check_square(shape: tuple[int, ...]) -> None:
    """Raise ValueError unless a sparse matrix is square."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"A must be square, but has shape {shape}; sparsematch.solvers.lstsq solves systems of "
            "any shape"
        )


def check_right_hand_side(b: Any, n: int, trans: Any) -> None:
    """Raise TypeError or ValueError unless an array of NumPy or CuPy fits, and `trans` is known."""
    check_choice("trans", trans, SIDES)
    if b.dtype.kind not in "biufc":
        raise wrong_type("b", b, f"an array of numbers, not of {b.dtype}")
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ValueError(f"b has shape {b.shape}, but must have shape ({n},) or ({n}, k)")


def refuse_on_gpu(row_names: Any, col_names: Any) -> None:
    """Raise ValueError for arguments that a factorisation on a GPU has no use for."""
    for argument, value in (("row_names", row_names), ("col_names", col_names)):
        if value is not None:
            raise ValueError(
                f"{argument} is given for a matrix on a GPU, of which errors explain nothing: "
                "sparsematch.explain_singularity(A.get(), row_names, col_names, numeric=True) does"
            )
