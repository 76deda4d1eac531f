"""Matchings of greatest or least weight, full or not: brute force, NetworkX, duals, their check."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import oracle
import sparsematch as sm
from calls import frozen, random_matrix
from strategies import larger, with_index_type

pytestmark = [pytest.mark.asan, pytest.mark.wheel]

KINDS = ("ties", "whole", "normal", "lognormal", "positive")
COSTS = ("none", "scalar", "sides", "arrays", "rows alone")


def values(rng, kind, n):
    """Signed weights: few or many whole numbers, or doubles of similar or very unequal size."""
    if kind in {"ties", "whole"}:
        bound = 2 if kind == "ties" else 10**9
        return rng.integers(-bound, bound, n, endpoint=True).astype(float)
    if kind == "lognormal":
        return rng.choice([-1, 1], n) * 10 ** rng.uniform(-300, 300, n)
    return rng.uniform(0, 5000, n) if kind == "positive" else rng.normal(size=n)


def unmatched_costs(rng, kind, how, shape):
    """The argument, and what it means for each row and column."""
    rows, cols = (values(rng, kind, n) for n in shape)
    one, two = values(rng, kind, 2).tolist()
    none = tuple(np.zeros(n) for n in shape)
    return {
        "none": (None, none),
        "scalar": (one, (np.full(shape[0], one), np.full(shape[1], one))),
        "sides": ((one, two), (np.full(shape[0], one), np.full(shape[1], two))),
        "arrays": ((rows, cols), (rows, cols)),
        "rows alone": ((rows.tolist(), None), (rows, none[1])),
    }[how]


def best_by_brute_force(entries, shape, costs, maximize, maximum):
    """The best objective, in exact arithmetic: row by row, for each set of columns in use."""
    sign = -1 if maximize else 1
    rows, cols = ([Fraction(c) for c in side.tolist()] for side in costs)
    best = {0: Fraction(0)}
    for i in range(shape[0]):
        now = {used: total + rows[i] for used, total in best.items()}
        for used, total in best.items():
            for j, weight in entries[i]:
                with_j, cost = used | 1 << j, total + sign * weight
                if not used >> j & 1 and cost < now.get(with_j, cost + 1):
                    now[with_j] = cost
        best = now
    if maximum:
        size = max(used.bit_count() for used in best)
        best = {used: total for used, total in best.items() if used.bit_count() == size}
    left = {used: sum(c for j, c in enumerate(cols) if not used >> j & 1) for used in best}
    return sign * min(total + left[used] for used, total in best.items())


def check(A, found, costs, maximize, maximum):
    """Fail unless the pairs are entries, weigh what is said, and the duals are as documented."""
    D, m = sp.coo_array(A), found.matching
    pattern = sp.csr_array((np.ones(D.nnz), D.coords), shape=D.shape)
    oracle.assert_matching(pattern, m.row_mate, m.col_mate)
    W = D.toarray().astype(float)
    weights = W[m.pairs()]
    paid = np.r_[costs[0][m.row_mate < 0], costs[1][m.col_mate < 0]]
    objective = weights.sum() - paid.sum() if maximize else weights.sum() + paid.sum()
    near = 1e-12 * max(
        [np.finfo(float).tiny, *np.abs(W).ravel(), *map(abs, (*costs[0], *costs[1]))]
    )
    assert found.weight == pytest.approx(weights.sum(), rel=1e-12, abs=near)
    assert found.objective == pytest.approx(objective, rel=1e-12, abs=near)
    sign = -1 if maximize else 1
    u, v = (sign * found.dual_unit * side for side in (found.row_dual, found.col_dual))
    near = max(near, 1e-12 * np.abs(np.r_[u, v]).max(initial=0))
    assert np.all(u[D.row] + v[D.col] <= sign * W[D.row, D.col] + near)
    assert np.all(np.abs(u[m.pairs()[0]] + v[m.pairs()[1]] - sign * weights) <= near)
    for dual, cost, free in zip((u, v), costs, (m.row_mate < 0, m.col_mate < 0), strict=True):
        excess = dual - cost
        if maximum:
            assert not free.any() or excess[free].min() >= excess.max() - near
        else:
            assert np.all(excess <= near)
            assert np.all(np.abs(excess[free]) <= near)
    if not maximum:
        assert sign * (u.sum() + v.sum()) == pytest.approx(objective, rel=1e-9, abs=100 * near)
    assert sm.is_optimal_matching(A, found)


def small_one(seed):
    """Compare one small problem with brute force; return it, and what was found."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(0, 7, 2).tolist())
    kind, how = rng.choice(KINDS), rng.choice(COSTS)
    maximize, maximum = (bool(flag) for flag in rng.integers(0, 2, 2))
    n = int(rng.integers(0, 1 + min(shape[0] * shape[1], 18))) if min(shape) else 0
    rows, cols = (rng.integers(0, max(side, 1), n) for side in shape)
    A = sp.coo_array((values(rng, kind, n), (rows, cols)), shape=shape)
    if kind == "lognormal":
        A.sum_duplicates()  # whose order is another one
    A = A.asformat(rng.choice(["coo", "csr", "csc"]))
    argument, costs = unmatched_costs(rng, kind, how, shape)
    found = sm.maximum_weight_matching(
        A,
        maximize=maximize,
        unmatched_cost=argument,
        cardinality="maximum" if maximum else "any",
    )
    check(A, found, costs, maximize, maximum)
    D = sp.coo_array(A)
    D.sum_duplicates()
    entries = [[] for _ in range(shape[0])]
    for i, j, weight in zip(D.row.tolist(), D.col.tolist(), D.data.tolist(), strict=True):
        entries[i].append((j, Fraction(weight)))
    best = best_by_brute_force(entries, shape, costs, maximize, maximum)
    largest = np.abs(np.r_[D.data, *costs]).max(initial=0)
    if kind in {"ties", "whole"}:
        assert Fraction(found.objective) == best
        assert sm.is_optimal_matching(A, found, tolerance=0)
    else:
        assert abs(Fraction(found.objective) - best) <= Fraction(largest) * Fraction(2) ** -46
    return A, argument, maximize, maximum, found


@pytest.mark.parametrize("part", range(10))
def test_against_brute_force(part):
    for seed in range(40 * part, 40 * part + 40):
        small_one(seed)
