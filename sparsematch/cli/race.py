"""How long `sparsematch.solvers` and SciPy take for a large circuit of the demonstration."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import splu

from sparsematch import solvers
from sparsematch.demo import build_circuit

__all__ = ["Race", "race"]

_REPEATS = 3
_LARGEST = 30_000


class Race(NamedTuple):
    """Seconds to factorise and solve, the best of a few, and how far the solutions differ."""

    n_rows: int
    n_blocks: int
    scipy: float
    first: float
    again: float
    difference: float


def race(n_nodes: int, *, seed: int = 0) -> Race:
    """Time both on a circuit of ten times `n_nodes`, but not of so many that it takes long."""
    circuit = build_circuit(min(10 * n_nodes, _LARGEST), seed=seed)
    A, b = circuit.matrix, circuit.rhs
    lu = solvers.splu(A)

    def again() -> Any:  # new values in the same pattern, as in the next step in time
        lu.refactorise(A)
        return lu.solve(b)

    scipy, expected = _best(lambda: splu(A).solve(b))
    first, _ = _best(lambda: solvers.splu(A).solve(b))
    later, found = _best(again)
    difference = float(np.abs(found - expected).max() / np.abs(expected).max())
    return Race(A.shape[0], lu.n_blocks, scipy, first, later, difference)


def _best(solve: Callable[[], Any]) -> tuple[float, Any]:
    seconds = []
    for _ in range(_REPEATS):
        begin = perf_counter()
        x = solve()
        seconds.append(perf_counter() - begin)
    return min(seconds), x
