"""A matrix, and how calls are to read it."""

from dataclasses import dataclass
from typing import Any

from sparsematch._base.above import above
from sparsematch._types.choices import Zeros


@dataclass(frozen=True, slots=True, eq=False)
class MatrixView:
    """What `view` returns; every call takes it for its matrix, which each call reads."""

    matrix: Any
    zeros: Zeros = "keep"
    device: str | None = None

    @property
    def shape(self) -> Any:
        """Rows and columns."""
        return self.matrix.shape

    def read(self) -> Any:
        """Return what calls read, values and all, as a matrix of SciPy or CuPy."""
        return above("read_entries")(self, valued=True).matrix


def without_view(A: Any) -> tuple[Any, bool]:
    """Return the matrix of a view that stays where it is, and whether its zeros are dropped."""
    # For calls that need to know of zeros that do not count. A view on another device stays one.
    if isinstance(A, MatrixView) and A.device is None:
        return A.matrix, A.zeros == "drop"
    return A, False
