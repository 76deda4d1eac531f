"""Augmentation along all paths of a forest at once.

Path-parallel, as Algorithm 4 of Azad, Buluc (IPDPS 2016): the walker of a path stands at a minor,
matches it to its parent, and goes on to the minor that the parent was matched to, which has been
noted when the minor was reached: a step is one exchange, not two. Trees are disjoint, so walkers
never meet. A rank moves its walkers as far as it owns the minors; parents get mates at the end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.matching.forest import Forest

_Array = NDArray[Any]

#: Whether walkers are left is asked after so many exchanges.
_STEPS = 4


def augment(forest: Forest) -> tuple[int, int]:
    """Augment along the path to each leaf; return how many paths end here, and their edges.

    Reads: leaves, parents. Writes: both mates. Collective. Time: O(own vertices of paths).
    """
    side, exchange = forest.side, forest.side.exchange
    leaves = forest.leaf[forest.leaf >= 0]
    pairs: list[tuple[_Array, _Array]] = [(leaves[:0], leaves[:0])]
    (minors,) = exchange.deliver(side.minor_starts, leaves)
    while exchange.any(minors.size > 0):
        for _ in range(_STEPS):
            onward = _walk(forest, minors, pairs)
            (minors,) = exchange.deliver(side.minor_starts, onward)
    majors, partners = map(np.concatenate, zip(*pairs, strict=True))
    majors, mates = exchange.deliver(side.major_starts, majors, partners)
    forest.major_mate[majors - side.first_major] = mates
    return leaves.size, 2 * partners.size - leaves.size


def _walk(forest: Forest, minors: _Array, pairs: list[tuple[_Array, _Array]]) -> _Array:
    """Move walkers as far as this rank owns the minors; return where the others own them."""
    side = forest.side
    onward = [minors[:0]]
    while minors.size:
        own = minors - side.first_minor
        majors = forest.minor_parent[own]
        forest.minor_mate[own] = majors
        pairs.append((majors, minors))
        before = forest.minor_before[own]
        minors = before[before >= 0]
        here = (minors >= side.first_minor) & (minors < side.first_minor + side.n_minors)
        onward.append(minors[~here])
        minors = minors[here]
    return np.concatenate(onward)
