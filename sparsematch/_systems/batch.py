"""Systems of one pattern and many values in one call: what is given, over workers, and refused."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.sparse.linalg import MatrixRankWarning

from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import Array
from sparsematch._base.errors import check_choice, warn, wrong_type
from sparsematch._systems.errors import NotFiniteError, SingularMatrixError
from sparsematch._types.factors import SIDES

#: The errors of items, by their numbers.
Refused = dict[int, SingularMatrixError | NotFiniteError]
#: Other items that an error names.
_MOST = 10


def read_batch(
    xp: Any, values: Any, b: Any, sizes: tuple[int, int], trans: Any, singular: Any
) -> tuple[Any, type]:
    """Return right-hand sides, shape (k, n), for k matrices; the type of the solutions."""
    # `sizes`: entries of the pattern, and its rows. TypeError or ValueError if something is wrong.
    check_choice("trans", trans, SIDES)
    check_choice("singular", singular, ("raise", "nan"))
    nnz, n = sizes
    for name, array in (("values", values), ("b", b)):
        if array.dtype.kind not in "biufc":
            raise wrong_type(name, array, f"an array of numbers, not of {array.dtype}")
    if values.ndim != 2 or values.shape[1] != nnz:
        raise ValueError(f"values has shape {values.shape}, but must have shape (k, {nnz})")
    k = len(values)
    if b.shape not in ((n,), (k, n)):
        raise ValueError(f"b has shape {b.shape}, but must have shape ({n},) or ({k}, {n})")
    kind = np.complex128 if "c" in (values.dtype.kind, b.dtype.kind) else np.float64
    return xp.broadcast_to(b, (k, n)), kind


def solve_over_workers(
    analysis: Any, values: Array, b: Array, trans: Any, kind: type, workers: int | None
) -> tuple[Array, Refused]:
    """Factorise and solve the items of a batch in host memory; return those refused, too."""
    k, n = b.shape
    x: Array = np.empty((k, n), kind)
    refused, stopped = Refused(), threading.Event()

    def solve(begin: int, end: int) -> None:
        lu = None
        for i in range(begin, end):
            if stopped.is_set():
                return
            try:
                if lu is None:
                    lu = analysis.factorise(values[i])
                else:
                    lu.refactorise(values[i])
                x[i] = lu.solve(b[i], trans)
            except (SingularMatrixError, NotFiniteError) as error:
                refused[i] = error

    threads = min(resolve_workers(workers), k)
    if threads <= 1:
        solve(0, k)
        return x, refused
    ends = [k * (rank + 1) // threads for rank in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        try:
            list(pool.map(solve, [0, *ends], ends))
        finally:
            stopped.set()  # Ctrl-C waits for one item of each
    return x, refused


def finish(x: Any, refused: Refused, singular: str) -> Any:
    """Return the solutions, NaN for what is refused if that is wanted; else raise of the first."""
    if not refused:
        return x
    items = sorted(refused)
    others = ", ".join(map(str, items[1 : _MOST + 1])) + ", ..." * (len(items) > _MOST + 1)
    if singular == "nan":
        x[items] = np.nan
        text = f"{len(items):,} of {len(x):,} matrices are singular, or not finite: their solutions"
        warn(MatrixRankWarning, f"{text} are NaN (items {items[0]}{', ' * bool(others)}{others})")
        return x
    error = refused[items[0]]
    more = f"; refused as well, of {len(x):,}: {others}" if others else ""
    error.args = (f"item {items[0]}: {error.args[0]}{more}", *error.args[1:])
    raise error
