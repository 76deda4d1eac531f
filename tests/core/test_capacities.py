"""Columns that take several rows: brute force, repeated columns, a linear program, the proof."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import sparsematch as sm

pytestmark = [pytest.mark.asan, pytest.mark.wheel]


def best_by_brute_force(C, capacities, costs, maximum):
    """The least objective of whole costs, row by row, for each number of rows in the columns."""
    (rows, cols), sizes = costs, np.zeros(len(capacities), int)
    best = {tuple(sizes.tolist()): Fraction(0)}
    for i in range(C.shape[0]):
        now = {used: total + Fraction(rows[i]) for used, total in best.items()}
        places = zip(C.indices[C.indptr[i] : C.indptr[i + 1]], C.data[C.indptr[i] :], strict=False)
        for (used, total), (j, weight) in itertools.product(best.items(), list(places)):
            more = (*used[:j], used[j] + 1, *used[j + 1 :])
            cost = total + Fraction(weight)
            if more[j] <= capacities[j] and cost < now.get(more, cost + 1):
                now[more] = cost
        best = now
    most = max(map(sum, best)) if maximum else 0
    room = {used: np.subtract(capacities, used) for used in best if sum(used) >= most}
    return min(best[used] + int(n @ np.asarray(cols, int)) for used, n in room.items())


def check(A, capacities, costs, maximum):
    """Compare a small problem of whole costs with brute force, as costs and as weights."""
    C, wanted = sp.csr_array(A), None
    for sign in (1, -1):
        found = sm.maximum_weight_matching(
            sign * A,
            maximize=sign < 0,
            unmatched_cost=costs,
            cardinality="maximum" if maximum else "any",
            capacities=np.array(capacities, int),
        )
        wanted = best_by_brute_force(C, capacities, costs, maximum) if sign > 0 else wanted
        assert sign * Fraction(found.objective) == wanted
        mate = found.matching.row_mate
        assert np.all(np.bincount(mate[mate >= 0], minlength=A.shape[1]) <= capacities)
        assert sm.is_optimal_matching(sign * A, found, tolerance=0)


@pytest.mark.parametrize("shape", [(1, 2), (3, 1), (2, 2), (3, 2)])
def test_all_small_ones(shape):
    """Entries that are absent, 0 or 1, capacities from 0 to 2."""
    costs = np.zeros(shape[0]), np.zeros(shape[1])
    for k, chosen in enumerate(itertools.product((-1, 0, 1), repeat=shape[0] * shape[1])):
        D = np.reshape(chosen, shape)
        A = sp.coo_array((D[D >= 0], np.nonzero(D >= 0)), shape=shape)
        every = list(itertools.product(range(3), repeat=shape[1]))
        for capacities in every if len(chosen) < 6 else every[k % 9 :: 9]:
            check(A.asformat(("csr", "csc")[k % 2]), capacities, costs, True)


@pytest.mark.parametrize("maximum", [False, True])
def test_costs_of_unmatched_rows_and_columns(maximum):
    rng = np.random.default_rng(48 + maximum)
    for _ in range(100):
        shape = tuple(rng.integers(0, 6, 2).tolist())
        places = np.nonzero(rng.random(shape) < rng.random())
        values = rng.integers(-3, 4, places[0].size).astype(float)
        A = sp.coo_array((values, places), shape=shape).asformat(rng.choice(["csr", "csc"]))
        capacities, *costs = rng.integers(0, 4, shape[1]), *(rng.integers(-3, 4, n) for n in shape)
        check(A, capacities, tuple(costs), maximum)


def problem(seed, index=np.int32, layout="csr"):
    """A matrix of doubles, capacities of about as many rows as it has."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(60, 200)), int(rng.integers(2, 20))
    A = sp.random_array(shape, density=0.3, rng=rng, data_sampler=rng.normal).asformat(layout)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    return A, rng.integers(0, 2 * shape[0] // shape[1] + 1, shape[1])


@pytest.mark.parametrize(
    ("index", "layout"), [(np.int32, "csr"), (np.int32, "csc"), (np.int64, "csc")]
)
def test_beside_repeated_columns_and_a_linear_program(index, layout):
    for seed in range(4):
        A, capacities = problem(seed, index, layout)
        before = A.copy()
        repeated = sp.csr_array(A)[:, np.repeat(np.arange(A.shape[1]), capacities)]
        for cardinality in ("any", "maximum"):
            how = {"maximize": seed % 2 == 0, "cardinality": cardinality}
            found = sm.maximum_weight_matching(A, capacities=capacities, **how)
            plain = sm.maximum_weight_matching(repeated, **how)
            assert found.objective == pytest.approx(plain.objective, rel=1e-12)
            assert found.matching.row_mate.dtype == found.matching.col_mate.dtype == index
            assert sm.is_optimal_matching(A, found)
            if cardinality == "maximum":
                assert found.cardinality == plain.cardinality
                continue
            cost, sign = sp.coo_array(A), -1 if how["maximize"] else 1
            ones, entry = np.ones(A.nnz), np.arange(A.nnz)
            sides = [
                sp.csr_array((ones, (side, entry)), shape=(n, A.nnz))
                for side, n in zip(cost.coords, A.shape, strict=True)
            ]
            limits = np.append(np.ones(A.shape[0]), capacities)
            best = linprog(sign * cost.data, A_ub=sp.vstack(sides), b_ub=limits)
            assert found.objective == pytest.approx(sign * best.fun, rel=1e-9)
            u, v = sign * found.row_dual, sign * found.col_dual
            assert u.sum() + capacities @ v == pytest.approx(best.fun, rel=1e-9)
        assert abs(A - before).nnz == 0


@pytest.mark.parametrize("cardinality", ["any", "maximum"])
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_the_check_finds_what_is_wrong(cardinality, layout):
    A, capacities = problem(9, layout=layout)
    found = sm.maximum_weight_matching(A, cardinality=cardinality, capacities=capacities)
    assert sm.is_optimal_matching(A, replace(found))
    mates, names = found.matching.row_mate, found.matching.col_mate
    row, col = found.matching.pairs()[0][0], found.matching.pairs()[1][0]
    up, down, other = found.row_dual.copy(), found.col_dual.copy(), mates.copy()
    up[row] += 1e-6
    down[col] -= 1e-6
    other[row] = -1
    wrong = [
        {"matching": sm.Matching(other, names)},
        {"matching": sm.Matching(np.where(mates >= 0, col, -1), names)},
        {"matching": sm.Matching(mates, np.roll(names, 1))},
        {"matching": sm.Matching(mates, np.full_like(names, -1))},
        {"matching": sm.Matching(mates + 100, names)},
        {"row_dual": up},
        {"col_dual": down},
        {"objective": found.objective + 1e-6},
        {"capacities": None},
        {"capacities": capacities[1:]},
        {"capacities": np.maximum(capacities - 1, 0)},
        {"capacities": np.full(capacities.size, np.nan)},
    ]
    for change in wrong:
        assert not sm.is_optimal_matching(A, replace(found, **change)), change
    with pytest.raises(ValueError, match="optimum has capacities, but must be one of single rows"):
        sm.entry_roles(A, optimum=found)


def test_fewer_pairs_are_no_maximum():
    A = sp.csr_array([[-1.0], [-2.0]])
    found = sm.maximum_weight_matching(A, capacities=1)
    assert sm.is_optimal_matching(A, found)
    assert not sm.is_optimal_matching(A, replace(found, maximum_cardinality=True))


def test_one_row_beside_two_columns_is_not_all():
    found = sm.maximum_weight_matching(sp.csr_array([[3, 1], [4, 2]]), capacities=2)
    assert found.matching.row_mate.tolist() == [0, 0]
    assert (found.unmatched_cols.tolist(), found.is_perfect) == ([1], False)


@pytest.mark.parametrize(
    ("capacities", "error", "text"),
    [
        ([1], ValueError, r"capacities has shape \(1,\), not \(\) or \(2,\)"),
        ([[1, 2]], ValueError, r"capacities has shape \(1, 2\), not"),
        (-1, ValueError, "capacities must not be negative, but one is -1"),
        ([1, -2], ValueError, "capacities must not be negative, but one is -2"),
        (1.5, TypeError, "capacities must be integers, one for all columns or for each, or None"),
        (True, TypeError, "capacities must be integers"),
        ("2", TypeError, "capacities must be integers"),
        (2**70, TypeError, "capacities must be integers"),
    ],
)
def test_wrong_capacities(capacities, error, text):
    with pytest.raises(error, match=text):
        sm.maximum_weight_matching(sp.csr_array(np.eye(2)), capacities=capacities)


def test_any_numbers():
    A = sp.csr_array(np.array([[1e308, -1e308], [1.7e308, 1e-300]]))
    found = sm.maximum_weight_matching(A, capacities=np.uint64(2**64 - 1), cardinality="maximum")
    assert found.matching.row_mate.tolist() == [0, 0]
    assert sm.is_optimal_matching(A, found)
    with pytest.raises(ValueError, match=r"must not be above 2\*\*960"):
        sm.maximum_weight_matching(A, capacities=2, unmatched_cost=(0, 1e300))


def test_no_columns():
    found = sm.maximum_weight_matching(sp.csr_array((3, 0)), capacities=[])
    assert found.matching.row_mate.tolist() == [-1, -1, -1]
