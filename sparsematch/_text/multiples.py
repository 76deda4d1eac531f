"""Rows, or columns, that are multiples of one another, gathered from the pairs that show it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._types.singularity import Dependence


class Multiples(NamedTuple):
    """Rows or columns each of which is a multiple of the first, the smallest."""

    side: str
    indices: IndexArray
    factors: Array  #: The first is 1.
    residual: float  #: The largest of the pairs.


def gather(dependences: Iterable[Dependence]) -> list[Dependence | Multiples]:
    """Return dependences, those of two that share members as one, in the place of the first."""
    neighbours: dict[int, list[tuple[int, Any, float]]] = {}
    for one in dependences:
        if one.size == 2:
            (i, j), (x, y) = one.indices.tolist(), one.coefficients
            neighbours.setdefault(i, []).append((j, -x / y, one.residual))
            neighbours.setdefault(j, []).append((i, -y / x, one.residual))
    out: list[Dependence | Multiples] = []
    seen: set[int] = set()
    for one in dependences:
        if one.size != 2:
            out.append(one)
        elif int(one.indices[0]) not in seen:
            out.append(_reached(one, neighbours))
            seen.update(out[-1].indices.tolist())
    return out


def _reached(one: Dependence, neighbours: dict[int, list[tuple[int, Any, float]]]) -> Multiples:
    """Return all that are multiples of one of a pair, by way of other pairs."""
    first = int(one.indices[0])
    factor, queue, residual = {first: 1.0}, [first], 0.0
    for k in queue:
        for other, times, size in neighbours[k]:
            residual = max(residual, size)
            if other not in factor:
                factor[other] = factor[k] * times
                queue.append(other)
    indices = np.array(sorted(factor), one.indices.dtype)
    factors = np.array([factor[k] for k in indices.tolist()])
    base = int(np.argmin(np.round(np.abs(factors), 8)))  # the first of those that are as small
    order = np.r_[base, np.delete(np.arange(indices.size), base)]
    return Multiples(one.side, indices[order], factors[order] / factors[base], residual)
