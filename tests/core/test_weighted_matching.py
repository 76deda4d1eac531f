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
from calls import random_matrix
from sparsematch._engines.cpu.weighted import least_cost
from strategies import larger

pytestmark = pytest.mark.wheel

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


@given(
    A=larger(max_side=150),
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(KINDS),
    how=st.sampled_from(COSTS),
    maximize=st.booleans(),
    maximum=st.booleans(),
)
def test_larger_ones(A, seed, kind, how, maximize, maximum):
    rng = np.random.default_rng(seed)
    A = sp.csr_array(A) if A.format == "coo" else A
    A.sum_duplicates()
    A.data = values(rng, kind, A.nnz)
    argument, costs = unmatched_costs(rng, kind, how, A.shape)
    options = {
        "maximize": maximize,
        "unmatched_cost": argument,
        "cardinality": "maximum" if maximum else "any",
    }
    found = sm.maximum_weight_matching(A, **options)
    check(A, found, costs, maximize, maximum)
    again = sm.maximum_weight_matching(A, workers=2, **options)
    assert again.matching == found.matching
    assert np.array_equal(again.row_dual, found.row_dual)
    if maximum:
        assert found.cardinality == sm.structural_rank(A)


def matrix(entries, shape):
    rows, cols, weights = zip(*entries, strict=True)
    return sp.coo_array((weights, (rows, cols)), shape=shape)


def test_stored_zeros_are_pairs_that_weigh_nothing():
    C = matrix([(0, 0, 0.0), (0, 1, 5.0), (1, 0, 2.0), (1, 1, -2.0), (1, 1, 2.0)], (2, 2))
    found = sm.maximum_weight_matching(C, maximize=False, unmatched_cost=1)
    assert (found.objective, found.matching.row_mate.tolist()) == (0.0, [0, 1])
    found = sm.maximum_weight_matching(C, maximize=False, cardinality="maximum")
    assert found.matching.row_mate.tolist() == [0, 1]
    assert sm.maximum_weight_matching(C).weight == 7
    # no better than to leave both: not made
    assert sm.maximum_weight_matching(sp.csr_array([[2.0]]), unmatched_cost=-1).cardinality == 0
    assert sm.maximum_weight_matching(matrix([(0, 0, 0.0)], (1, 1))).cardinality == 0


def test_duals_of_whole_costs_are_rounded_to_whole_ones():
    """Tight sums stay tight, the others at most their costs, equal duals equal."""
    rng = np.random.default_rng(53)
    for fraction in (0.0, 0.25, 0.7, 1 - 1e-9, 1e-9):
        u = rng.integers(-9, 9, 40) + fraction * rng.integers(0, 2, 40)
        v = rng.integers(-9, 9, 40) - fraction * rng.integers(0, 2, 40)
        v[:10] += 1e-12 * rng.normal(size=10)
        cost = np.ceil(u[:, None] + v - 1e-6)
        rows, cols = least_cost.round_duals(u, v)
        sums = rows[:, None] + cols
        assert np.all(sums <= cost)
        tight = u[:, None] + v > cost - 1e-6
        assert np.all(sums[tight] == cost[tight])
    large = np.full(3, 2.0**40 + 0.5)
    assert least_cost.round_duals(large, large)[0] is large


def test_whole_numbers_beyond_doubles_are_rounded():
    A = sp.csr_array(np.array([[2**60 + 1, 2**60], [2**60, 0]]))
    found = sm.maximum_weight_matching(A)
    assert found.weight == 2.0**61
    assert sm.is_optimal_matching(A, found, tolerance=0)


@pytest.mark.parametrize(
    "pool",
    [
        (1e308, 1.7e308, -1.7e308, 1, 0),
        (5e-324, -5e-324, 1e-323, 1e-310, 0),
        (5e-324, 1e-200, -1, 1e200, -1e308),
        (1e297, -3e297, 2e300, 1),
    ],
)
def test_any_finite_doubles(pool):
    """In exact arithmetic, to the rounding of the largest."""
    rng = np.random.default_rng(43)
    for _ in range(60):
        shape = tuple(rng.integers(1, 4, 2).tolist())
        D, costs = rng.choice(pool, shape), tuple(rng.choice(pool, n) for n in shape)
        A = sp.coo_array((D.ravel(), np.indices(shape).reshape(2, -1)), shape=shape)
        maximize, maximum = (bool(flag) for flag in rng.integers(0, 2, 2))
        found = sm.maximum_weight_matching(
            A,
            maximize=maximize,
            unmatched_cost=costs,
            cardinality="maximum" if maximum else "any",
        )
        entries = [[(j, Fraction(w)) for j, w in enumerate(row)] for row in D.tolist()]
        best = best_by_brute_force(entries, shape, costs, maximize, maximum)
        m, sign = found.matching, -1 if maximize else 1
        weights = [Fraction(w) for w in D[m.pairs()]]
        paid = [Fraction(c) for c in (*costs[0][m.row_mate < 0], *costs[1][m.col_mate < 0])]
        objective = sum(weights) + sign * sum(paid)
        largest = Fraction(np.abs(np.r_[D.ravel(), *costs]).max())
        assert abs(objective - best) <= largest / 2**46
        assert sm.is_optimal_matching(A, found)
        if abs(objective) > Fraction(np.finfo(float).max):
            objective = np.inf if objective > 0 else -np.inf
        near = float(largest / 2**46)
        assert found.objective == pytest.approx(float(objective), rel=1e-12, abs=near)


def test_the_check_finds_what_is_wrong():
    """Other pairs, other duals, other sums: of each option."""
    rng = np.random.default_rng(23)
    A = sp.csr_array(random_matrix(30, 34, 4, seed=29)[:, :34])
    A.data = rng.normal(size=A.nnz)
    B = A.copy()
    B.data = rng.normal(size=A.nnz)
    for maximize in (True, False):
        for cardinality in ("any", "maximum"):
            options = {"maximize": maximize, "cardinality": cardinality}
            found = sm.maximum_weight_matching(A, unmatched_cost=(0.1, 0.2), **options)
            other = sm.maximum_weight_matching(B, unmatched_cost=(0.1, 0.2), **options)
            assert sm.is_optimal_matching(A, replace(found))
            up, down = found.row_dual.copy(), found.col_dual.copy()
            up[found.matching.pairs()[0][0]] += 1e-6
            down[found.matching.pairs()[1][0]] -= 1e-6
            wrong = [
                {"matching": other.matching},
                {"matching": other.matching, "weight": other.weight, "objective": other.objective},
                {"row_dual": other.row_dual, "col_dual": other.col_dual},
                {"row_dual": up},
                {"col_dual": down},
                {"row_dual": np.full(30, np.inf)},
                {"row_dual": np.full(30, np.nan)},
                {"row_dual": found.row_dual[1:]},
                {"col_unmatched_cost": np.full(33, 0.2)},
                {"weight": found.weight + 1e-6},
                {"objective": np.nextafter(found.objective + 1e-6, 9)},
                {"objective": np.nan},
                {"maximize": not maximize},
                {"col_unmatched_cost": np.full(34, 0.3)},
                {"col_unmatched_cost": np.full(34, np.inf)},
                {"dual_unit": 2.0},
                {"dual_unit": np.inf},
            ]
            for change in wrong:
                assert not sm.is_optimal_matching(A, replace(found, **change)), change
            assert not sm.is_optimal_matching(2 * A, found)


def test_fewer_pairs_are_no_maximum():
    A = sp.csr_array([[-1.0]])
    found = sm.maximum_weight_matching(A)
    assert sm.is_optimal_matching(A, found)
    assert not sm.is_optimal_matching(A, replace(found, maximum_cardinality=True))
    turned = sm.Matching(np.array([0]), np.array([-1]))
    assert not sm.is_optimal_matching(A, replace(found, matching=turned))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(value):
    A = sp.csr_array(np.array([[1, 2], [3.0, 4]]))
    A.data[2] = value
    for B in (A, A.tocsc()):
        with pytest.raises(ValueError, match=r"A\[1, 0\] is .*; weights must be finite"):
            sm.maximum_weight_matching(B)
    A.data[2] = 3
    with pytest.raises(ValueError, match=r"unmatched_cost is .*, but must be finite"):
        sm.maximum_weight_matching(A, unmatched_cost=value)
    with pytest.raises(ValueError, match=r"unmatched_cost\[1\]\[1\] is .*, but must be"):
        sm.maximum_weight_matching(A, unmatched_cost=(1, [0, value]))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"maximize": 1}, TypeError, "maximize must be True or False, not int"),
        ({"cardinality": "all"}, ValueError, "cardinality is 'all', but must be one of 'any', 'm"),
        ({"cardinality": None}, TypeError, "cardinality must be a string, one of 'any', 'maximum'"),
        ({"unmatched_cost": (1, 2, 3)}, ValueError, "unmatched_cost has 3 members, but must have"),
        ({"unmatched_cost": np.ones(2)}, TypeError, "unmatched_cost must be None, a number, or"),
        ({"unmatched_cost": "1"}, TypeError, "unmatched_cost must be real numbers, one for all or"),
        ({"unmatched_cost": (1j, 0)}, TypeError, r"unmatched_cost\[0\] must be real numbers"),
        ({"unmatched_cost": ([1], 0)}, ValueError, r"unmatched_cost\[0\] has shape \(1,\), but"),
        ({"unmatched_cost": (0, np.ones(3))}, ValueError, r"unmatched_cost\[1\] has shape \(3,\)"),
        ({"workers": 0}, ValueError, "workers"),
    ],
)
def test_wrong_arguments(options, error, text):
    with pytest.raises(error, match=text):
        sm.maximum_weight_matching(sp.csr_array(np.eye(2)), **options)


def test_wrong_matrices():
    with pytest.raises(TypeError, match="A must be a SciPy sparse array or matrix, not list"):
        sm.maximum_weight_matching([[1]])
    with pytest.raises(ValueError, match=r"A\[0, 0\] is .*, which is"):
        sm.maximum_weight_matching(sp.csr_array(np.array([[np.longdouble("1e4000")]])))
    with pytest.raises(TypeError, match="A must hold real numbers, not complex128"):
        sm.maximum_weight_matching(sp.csr_array([[1j]]))
    A = sp.csr_array(np.eye(2))
    found = sm.maximum_weight_matching(A)
    with pytest.raises(TypeError, match="found must be a WeightedMatching, not sparsematch"):
        sm.is_optimal_matching(A, found.matching)
    with pytest.raises(ValueError, match=r"A has shape \(2, 3\), but \(2, 2\) was matched"):
        sm.is_optimal_matching(sp.csr_array((2, 3)), found)
    with pytest.raises(ValueError, match="tolerance is -1, but must not be negative"):
        sm.is_optimal_matching(A, found, tolerance=-1)


def test_shown_in_a_line():
    A = sp.csr_array([[1.5, 0, 0], [0, 0, -1]])
    assert isinstance(sm.maximum_weight_matching(A), sm.WeightedMatching)
    assert repr(sm.maximum_weight_matching(A)) == (
        "WeightedMatching(2x3, greatest objective 1.5, cardinality 1)"
    )
    assert repr(sm.maximum_weight_matching(A, maximize=False)) == (
        "WeightedMatching(2x3, least objective -1, cardinality 1)"
    )


@pytest.mark.parametrize("cardinality", ["any", "maximum"])
def test_a_large_cost_for_all_does_not_drown_the_weights(cardinality):
    """As many unmatched in any case: the differences of their costs alone count."""
    rng = np.random.default_rng(47)
    W = rng.normal(size=(20, 30))
    best = W[linear_sum_assignment(W)].sum()
    for A in (sp.csr_array(W), sp.csc_array(W)):
        found = sm.maximum_weight_matching(
            A, maximize=False, unmatched_cost=1e12, cardinality=cardinality
        )
        assert found.weight == pytest.approx(best, rel=1e-12)
