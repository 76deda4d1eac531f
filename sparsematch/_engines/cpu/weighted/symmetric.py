"""The transversal with the largest product of a symmetric matrix: one scaling, pivots, a check.

The duals of rows and columns of an optimal transversal are optimal in each other's place, so their
mean is, too: it proves the same optimum, and its exponentials scale rows and columns alike.
"""

import numpy as np

from sparsematch._base.arrays import FloatArray, IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, worthwhile
from sparsematch._engines.cpu.weighted.transversals import maximum_product
from sparsematch._engines.edges import pairs_among
from sparsematch._engines.registry import Run
from sparsematch._types.matching import Matching
from sparsematch._types.symmetric import SymmetricTransversal
from sparsematch._types.weighted import Start, WeightedCSR, WeightedTransversal
from sparsematch._types.weighted_proof import cut_factors, warn_of_cut_factors

#: By how much scaled entries may exceed 1: 4,500 roundings. Matched ones may be below it by as many
#: roundings of the largest logarithm of a factor, which is what duals are exact to; 5e-12 was met
#: in a cycle of 20,000 rows in units up to 1e20, 1e-14 on 88 real matrices as they are.
_SCALED_TO = 1e-12


def symmetric_product(
    weighted: WeightedCSR,
    scaling: bool,
    workers: int,
    start: Start | None = None,
    best: WeightedTransversal | None = None,
) -> SymmetricTransversal:
    """Return the symmetric transversal with the largest product, from that of the matrix if known.

    Rows are sorted. Raises ValueError where magnitudes are not symmetric. Time: that of
    `maximum_product`, and O(n + nnz).
    """
    diagonal = symmetric_diagonal(weighted)
    best = best or maximum_product(weighted, False, False, Run(workers), start=start)
    mates = best.matching.row_mate.copy(), best.matching.col_mate.copy()
    dual = (best.row_dual + best.col_dual) / 2
    partner = np.empty_like(mates[0])
    factors, cut_off = _exponentials(dual)
    _core.split_pivots(_scaled_diagonal(diagonal, factors), mates, partner)
    if not cut_off:
        pattern = csr(weighted.graph)
        _core.make_pivots_ones(pattern, weighted.magnitude, diagonal, mates[0], partner, factors)
        cut_off = _keep_below_one(weighted, partner, factors, workers)
    if cut_off and scaling:
        warn_of_cut_factors("dual holds")
    arrays = partner, dual, _scaled_diagonal(diagonal, factors), factors if scaling else None
    return SymmetricTransversal(Matching(*mates), best.objective, *arrays).freeze()


def symmetric_diagonal(weighted: WeightedCSR) -> FloatArray:
    """Return the magnitudes on the diagonal, once it is known that all others are symmetric.

    Raises ValueError if they are not, naming an entry. Time: O(n + nnz).
    """
    graph, magnitude = weighted.graph, weighted.magnitude
    diagonal = np.empty(graph.n_rows)
    if (p := _core.unsymmetric_entry(csr(graph), magnitude, diagonal)) < 0:
        return diagonal
    i, j = int(np.searchsorted(graph.indptr, p, side="right")) - 1, int(graph.indices[p])
    row = slice(*graph.indptr[j : j + 2].tolist())
    mirrored = magnitude[row][graph.indices[row] == i].sum()
    raise ValueError(
        f"A is not symmetric: the absolute value of A[{i}, {j}] is {magnitude[p]}, but that of "
        f"A[{j}, {i}] is {mirrored}; where rounding is the reason, name the triangle that counts: "
        'triangle="lower"'
    )


def _exponentials(dual: FloatArray) -> tuple[FloatArray, bool]:
    """Return the factors that a dual says, and whether some had to be cut off."""
    with np.errstate(over="ignore", under="ignore"):
        factors: FloatArray = np.exp(dual)
    return factors, cut_factors(factors)


def _scaled_diagonal(diagonal: FloatArray, factors: FloatArray) -> FloatArray:
    """Return the scaled diagonal, which roundings do not take above 1."""
    with np.errstate(over="ignore", under="ignore"):
        scaled: FloatArray = diagonal * factors
        scaled *= factors
    return np.minimum(scaled, 1.0, out=scaled)


def _keep_below_one(
    weighted: WeightedCSR, partner: IndexArray, factors: FloatArray, workers: int
) -> bool:
    """Take out of the factors by how much roundings left entries above 1, and scale other rows.

    Rows that are left out have no entries in common: the largest of each becomes 1, as with Duff
    and Pralet. Tells whether some factors had to be cut off.
    """
    graph, largest = weighted.graph, np.empty_like(factors)
    threads = worthwhile(workers, graph.nnz)
    _core.largest_scaled(csr(graph), weighted.magnitude, factors, largest, threads)
    factors /= np.sqrt(np.maximum(largest, 1))
    left = partner < 0
    if not left.any():
        return False
    factors[left] = 1.0
    _core.largest_scaled(csr(graph), weighted.magnitude, factors, largest, threads)
    left &= np.diff(graph.indptr) > 0
    with np.errstate(over="ignore", divide="ignore"):
        factors[left] = 1 / largest[left]
    return cut_factors(factors)


def is_symmetric(
    weighted: WeightedCSR, transversal: SymmetricTransversal, diagonal: FloatArray, workers: int
) -> bool:
    """Tell whether pivots and factors are those of a matching that is proved to be one."""
    partner = transversal.partner
    row_mate, col_mate = transversal.matching.row_mate, transversal.matching.col_mate
    if partner.min(initial=0) < -1 or partner.max(initial=-1) >= row_mate.size:
        return False
    kept = np.flatnonzero(partner >= 0)
    paired = kept[partner[kept] != kept]
    neighbours = (row_mate[paired] == partner[paired]) | (col_mate[paired] == partner[paired])
    covered = np.array_equal(row_mate >= 0, partner >= 0)
    covered &= np.array_equal(col_mate >= 0, partner >= 0)
    if not (covered and neighbours.all() and np.array_equal(partner[partner[kept]], kept)):
        return False
    return transversal.factors is None or _is_scaled(weighted, transversal, diagonal, workers)


def _is_scaled(
    weighted: WeightedCSR, transversal: SymmetricTransversal, diagonal: FloatArray, workers: int
) -> bool:
    """Tell whether no scaled entry is above 1, matched ones are 1, and the diagonal is right.

    Where factors were cut off they scale otherwise, and must be what the dual says.
    """
    graph, factors = weighted.graph, transversal.factors
    if factors is None or not (np.isfinite(factors) & (factors > 0)).all():
        return False
    shown = _scaled_diagonal(diagonal, factors) - transversal.diagonal
    if not np.abs(shown).max(initial=0) <= _SCALED_TO:
        return False
    below = _SCALED_TO * max(1.0, float(np.abs(transversal.dual).max(initial=0)))
    said, cut_off = _exponentials(transversal.dual)
    if cut_off:
        return np.allclose(factors, said, rtol=below, atol=0)
    matched = weighted.magnitude[pairs_among(graph, transversal.matching)]
    largest = np.empty_like(factors)
    threads = worthwhile(workers, graph.nnz)
    _core.largest_scaled(csr(graph), weighted.magnitude, factors, largest, threads)
    low, high = np.sort([factors[side] for side in transversal.matching.pairs()], axis=0)
    none_above = largest.max(initial=0) <= 1 + _SCALED_TO
    return bool(none_above and (matched * low * high).min(initial=1) >= 1 - below)
