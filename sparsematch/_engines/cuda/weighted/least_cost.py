"""A maximum matching of least cost on the device, in the user's rows and columns.

The phases solve square matrices whose rows can all be matched. Another one is first cut to its two
parts by the Dulmage-Mendelsohn decomposition, each of which has all its rows, or all its columns,
in every maximum matching; then a square one is made of it and its transpose, in which vertices that
may stay free have an entry of cost 0 with their copies. Its duals are averaged over the copies.
"""

from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import BoolArray, FloatArray, FloatPair, namespace, unmatched
from sparsematch._engines.cuda.core import host_fallback
from sparsematch._engines.cuda.core.alternating_bfs import reached_from_free
from sparsematch._engines.cuda.matching import auto
from sparsematch._engines.cuda.weighted import auction, primal_dual
from sparsematch._engines.cuda.weighted.auction import Assignment
from sparsematch._engines.edges import pairs_among, places
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import Run, operations
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.weighted import LeastCost
from sparsematch._types.weighted_proof import unit_of


class Policy(NamedTuple):
    """When what is done. Evidence: five families of 12 to 21 million entries on an H100."""

    #: The auction is held, once, where a phase leaves more than this share of the rows free that
    #: were. Ties, which it is slow on, never come to that; 2 million random rows took 5 s without.
    slow: float = 0.6
    #: The least bids of its phases, in units of the deviation of the duals.
    eps: tuple[float, ...] = (1 / 8, 1 / 64)
    #: The share of the rows that it may leave free.
    left: float = 1 / 1024
    #: Rounds of a phase of it: what is left is left to the searches.
    rounds: int = 2_000
    #: The host gets the matrix where the phases to come are expected to take longer: entries for
    #: which it takes as long as a phase; least number of phases; how many of the last tell. A
    #: phase takes 5 ms on an H200, whatever the size; 16 cores 1 us an entry where paths are long.
    entries: int = 5_000
    least: int = 16
    seen: int = 8


POLICY = Policy()


class Parts(NamedTuple):
    """Stored rows and columns of the vertical part, and the maximum matching that shows them."""

    major_below: BoolArray
    minor_below: BoolArray
    major_mate: Any
    minor_mate: Any


def least_cost(
    graph: BipartiteCSR, cost: FloatArray, tolerance: float, run: Run
) -> tuple[LeastCost, float]:
    """Return a maximum matching, its duals, and by how much it may cost more than the best."""
    # Its pairs cost at most `tolerance` more than their duals, but for rounding. Duals of unmatched
    # rows and columns are the largest of their side. Workspace: 4 indices and 4 doubles a row and
    # column, where some stay unmatched twice as much again as the matrix. Time: that of the phases.
    # What will be launched compiles beside what CuPy compiles. About one entry a row is tight.
    tight = graph._replace(indices=graph.indices[: graph.n_major], known_nnz=graph.n_major)
    auto.preload(graph)
    auction.load(graph.dtype)
    primal_dual.load(graph.dtype)
    auto.preload(tight)
    unit = unit_of(graph, cost)
    cost = cost if unit == 1 else cost / unit
    matching, first = Matching.start(graph), Run(run.workers, detailed=run.detailed)
    auto.improve(graph, matching, first)
    run.include(first)
    if matching.cardinality == graph.n_rows == graph.n_cols:
        whole = _problem(graph.indptr, graph.indices[: graph.nnz], cost)
        sides = run.timed("phases", _assign, whole, tolerance / unit, run)[3:]
    else:
        sides = run.timed("phases", _assign_parts, graph, cost, matching, tolerance / unit, run)
    row_mate, col_mate = graph.orient(*sides[:2])
    row_dual, col_dual = graph.orient(*sides[2:])
    if graph.n_rows and graph.n_cols:  # both sides around the same value
        u, v = row_dual, col_dual
        shift = float(np.rint(float(v.max() + v.min() - u.max() - u.min()) / 4))
        u += shift
        v -= shift
    found = LeastCost(Matching(row_mate, col_mate), row_dual, col_dual, unit)
    return found.in_units_of_costs(), _gap(graph, cost, found) * unit


def _problem(indptr: Any, indices: Any, cost: FloatArray) -> Assignment:
    xp, n = namespace(indptr), indptr.size - 1
    mates = unmatched(n, indptr), unmatched(n, indptr)
    return Assignment(indptr, indices, cost, *mates, xp.empty(n), xp.empty(n))


def _assign(problem: Assignment, tolerance: float, run: Run) -> Assignment:
    """Match all rows: pairs cost at most `tolerance` more than their duals, but for rounding."""
    if not problem.n:
        return problem
    workers, largest = run.workers, max(float(problem.cost.max()), -float(problem.cost.min()))
    auction.initialise(problem)
    may_bid = not tolerance
    if tolerance:
        run.timed("auction", _hold_auction, problem, largest, tolerance)
    free = primal_dual.match_tight(problem, _near(problem, largest, tolerance), workers)
    phases = primal_dual.Phases(problem, largest)
    most = max(POLICY.least, problem.indices.size / POLICY.entries)
    left = [free]  # free rows, phase by phase
    while free and _phases_to_come(left) <= most:
        before = free
        phases.move_duals()
        free = primal_dual.match_tight(problem, _near(problem, largest, tolerance), workers)
        if may_bid and free > max(POLICY.slow * before, POLICY.left * problem.n):
            may_bid = False
            run.timed("auction", _hold_auction, problem, largest, tolerance)
            free = primal_dual.match_tight(problem, _near(problem, largest, tolerance), workers)
        left.append(free)
    return _on_host(problem, run) if free else problem


def _phases_to_come(left: list[int]) -> float:
    """Return how many phases match the rest, if each matches the share that the last ones did."""
    if len(left) <= POLICY.seen:
        return 0.0
    share = log(left[-1 - POLICY.seen] / left[-1]) / POLICY.seen
    return log(left[-1]) / share if share > 0 else inf


def _near(problem: Assignment, largest: float, tolerance: float) -> primal_dual.Tolerances:
    """Return what counts as zero: some roundings of the largest cost or dual."""
    duals = problem.col_dual
    largest = max(largest, float(duals.max()), -float(duals.min()))
    return primal_dual.Tolerances(2.0**-48 * largest, max(2.0**-46 * largest, tolerance))


def _hold_auction(problem: Assignment, largest: float, tolerance: float) -> None:
    """Let the free rows bid, with ever smaller least bids."""
    primal_dual.part_worse(problem, _near(problem, largest, tolerance))  # the duals of rows
    if not largest:
        return
    sides = problem.row_dual, problem.col_dual
    # squares of the duals themselves may be beyond the range of doubles
    deviation = largest * sum(float((side / largest).std()) for side in sides)
    most = 4 * largest
    for share in POLICY.eps:
        eps = max(share * deviation, tolerance / 2, 2.0**-40 * most)
        if not eps:
            return  # costs are too near to 0 for less
        primal_dual.part_worse(problem, primal_dual.Tolerances(0.0, eps))
        auction.bid(problem, eps, most, int(POLICY.left * problem.n), POLICY.rounds)


def _on_host(problem: Assignment, run: Run) -> Assignment:
    """Solve on the host what is left: the matrix and its costs are copied, all is copied back."""
    n, indptr, indices = problem.n, problem.indptr, problem.indices
    here = host_fallback.on_host(BipartiteCSR(n, n, indptr, indices, "cupy", False, indices.size))
    cost: Any = problem.cost
    found = operations(WeightedOps, "numpy").least_cost(here, cost.get(), run)
    mates = found.matching.row_mate, found.matching.col_mate
    for there, array in zip(problem[3:], (*mates, found.row_dual, found.col_dual), strict=True):
        there[:] = host_fallback.to_device(array, there)
    return problem


def _assign_parts(
    graph: BipartiteCSR, cost: FloatArray, matching: Matching, tolerance: float, run: Run
) -> tuple[Any, ...]:
    """Match what can be matched; return mates and duals of the stored rows and columns."""
    xp, n, m = namespace(cost), graph.n_major, graph.n_minor
    mates = graph.orient(matching.row_mate, matching.col_mate)
    parts = Parts(*reached_from_free(graph, *mates)[:2], *mates)
    major, minor = places(graph)
    coupling = ~parts.major_below[major] & parts.minor_below[minor]
    inner = ~coupling
    doubled = _double(major[inner], minor[inner], cost[inner], parts, graph.dtype)
    found = _assign(doubled, tolerance, run)
    major_mate = xp.where(found.row_mate[:n] < m, found.row_mate[:n], -1).astype(graph.dtype)
    minor_mate = xp.where(found.col_mate[:m] < n, found.col_mate[:m], -1).astype(graph.dtype)
    u = (found.row_dual[:n] + found.col_dual[m:]) / 2
    v = (found.col_dual[:m] + found.row_dual[n:]) / 2
    coupled = major[coupling], minor[coupling], cost[coupling]
    _join(coupled, parts, (u, v), (major_mate < 0, minor_mate < 0))
    return major_mate, minor_mate, u, v


def _double(
    major: Any, minor: Any, cost: FloatArray, parts: Parts, dtype: "np.dtype[Any]"
) -> Assignment:
    """Return the square matrix of the entries, their transpose, and those of cost 0."""
    # Rows are the stored rows, then copies of the stored columns; columns the other way round.
    xp, n, m = namespace(cost), parts.major_mate.size, parts.minor_mate.size
    below = xp.flatnonzero(parts.major_below)
    above = xp.flatnonzero(~parts.minor_below)
    if not (m and int(parts.minor_mate.min()) < 0):
        above = above[:0]
    rows = xp.concatenate([major, n + minor, below, n + above])
    cols = xp.concatenate([minor, m + major, m + below, above])
    costs = xp.concatenate([cost, cost, xp.zeros(below.size + above.size)])
    order = xp.argsort(rows, kind="stable")
    if costs.size > np.iinfo(dtype).max:
        dtype = np.dtype(np.int64)
    indptr = xp.searchsorted(rows[order], xp.arange(n + m + 1)).astype(dtype)
    return _problem(indptr, cols[order].astype(dtype), costs[order])


def _join(
    coupled: tuple[Any, Any, FloatArray],
    parts: Parts,
    duals: FloatPair,
    free: tuple[BoolArray, BoolArray],
) -> None:
    """Shift the duals of one part against the other's, to prove the whole optimal."""
    # Entries that couple rows above with columns below must cost no less than the sum of their
    # duals; no dual may be above those of the unmatched rows, all below, and columns, all above.
    i, j, cost = coupled
    u, v = duals
    above, below = ~parts.major_below, parts.minor_below
    shift = max(0.0, float((u[i] + v[j] - cost).max())) if cost.size else 0.0
    for inner, outer in (v[below], v[free[1]]), (u[above], u[free[0]]):
        if inner.size and outer.size:
            shift = max(shift, float(inner.max()) - float(outer.min()))
    u[above] -= shift
    v[~below] += shift


def _gap(graph: BipartiteCSR, cost: FloatArray, found: LeastCost) -> float:
    """Return by how much a matching may cost more than the best, in units of its duals."""
    # No entry may cost less than its duals. By how much its pairs do, and by how much free vertices
    # are below the largest dual of their side. Time: O(n_rows + n_cols + nnz).
    mates = graph.orient(found.matching.row_mate, found.matching.col_mate)
    duals = graph.orient(found.row_dual, found.col_dual)
    pairs = namespace(cost).flatnonzero(mates[0] >= 0)
    matched = cost[pairs_among(graph, found.matching)]
    worse = matched - duals[0][pairs] - duals[1][mates[0][pairs]]
    total = float(worse.sum()) if pairs.size else 0.0
    for dual, mate in zip(duals, mates, strict=True):
        free = dual[mate < 0]
        if free.size:
            total += float((dual.max() - free).sum())
    return max(total, 0.0)
