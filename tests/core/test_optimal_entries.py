"""Which entries are in no, some or every optimal matching, beside all matchings there are."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm

pytestmark = pytest.mark.wheel
COSTS = {"nothing": (0, 0), "one": (0.5, 0.5), "many": ([1.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.5])}


def matchings(present):
    """All of them, as sets of the places of their entries."""
    found = [frozenset()]
    for i in range(present.shape[0]):
        for m in list(found):
            used = {j for _, j in m}
            found += [m | {(i, j)} for j in np.flatnonzero(present[i]).tolist() if j not in used]
    return found


def roles_by_brute_force(W, present, objective, maximum):
    """The role of every place, given the objective of a matching, which is to be greatest."""
    every = matchings(present)
    if maximum:
        most = max(map(len, every))
        every = [m for m in every if len(m) == most]
    values = [objective(m) for m in every]
    best = [m for m, value in zip(every, values, strict=True) if value > max(values) - 1e-9]
    roles = np.zeros(W.shape, np.int8)
    for place in itertools.product(*map(range, W.shape)):
        n = sum(place in m for m in best)
        roles[place] = (n > 0) + (n == len(best))
    return roles


def check(W, present, cost, layout="csr"):
    A = sp.coo_array((W[present], np.nonzero(present)), W.shape).asformat(layout)
    places = A.tocoo().coords
    rows, cols = (np.resize(side, n) for side, n in zip(cost, W.shape, strict=True))
    for sign, maximum in itertools.product((1, -1), (False, True)):

        def objective(m, sign=sign):
            left = rows.sum() + cols.sum() - sum(rows[i] + cols[j] for i, j in m)
            return sign * sum(W[place] for place in m) - left

        best = sm.maximum_weight_matching(
            A,
            maximize=sign > 0,
            unmatched_cost=(rows, cols),
            cardinality="maximum" if maximum else "any",
        )
        expected = roles_by_brute_force(W, present, objective, maximum)
        np.testing.assert_array_equal(sm.entry_roles(A, optimum=best), expected[places])


@pytest.mark.parametrize("cost", COSTS)
def test_all_small_ones(cost):
    """Of two rows and two columns whose entries are 0, 1, 2 or missing."""
    for entries in itertools.product((np.nan, 0.0, 1.0, 2.0), repeat=4):
        W = np.reshape(entries, (2, 2))
        check(W, ~np.isnan(W), COSTS[cost])


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (3, 2), (1, 3), (3, 4)])
def test_larger_ones(shape, cost):
    rng = np.random.default_rng(shape)
    for trial in range(15):
        W = rng.integers(-1, 3, shape) if trial % 3 else rng.normal(size=shape)
        layout = ("csr", "csc", "coo")[trial % 3]
        check(W.astype(float), rng.random(shape) < 0.7, COSTS[cost], layout)


@pytest.mark.parametrize("find", [sm.maximum_product_transversal, sm.maximum_sum_transversal])
def test_transversals(find):
    """Zeros are no entries of theirs; what is repeated has the role of the sum."""
    rng = np.random.default_rng(1)
    for n, m in [(2, 2), (3, 3), (3, 4), (4, 3)] * 8:
        W = rng.choice([0.0, 0.1, 0.2, 0.4], (n, m))
        A = sp.csr_array((n, m))  # every entry twice, of which one is half of it
        A.indptr, A.indices = 2 * m * np.arange(n + 1), np.tile(np.repeat(np.arange(m), 2), n)
        A.data = np.repeat(W.ravel() / 2, 2)
        size = W if find is sm.maximum_sum_transversal else np.log(np.maximum(W, 1e-9))
        expected = roles_by_brute_force(W, W > 0, lambda m, of=size: sum(of[p] for p in m), True)
        found = sm.entry_roles(A, optimum=find(A)).reshape(n, m, 2)
        np.testing.assert_array_equal(found, np.stack([expected, expected], 2))


def test_what_is_refused():
    A = sp.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    best = sm.maximum_sum_transversal(A)
    with pytest.raises(ValueError, match="not both"):
        sm.entry_roles(A, optimum=best, matching=best.matching)
    with pytest.raises(TypeError, match="optimum must be a WeightedTransversal or a WeightedM"):
        sm.entry_roles(A, optimum=best.matching)
    with pytest.raises(ValueError, match="must be of a product or sum"):
        sm.entry_roles(A, optimum=sm.bottleneck_transversal(A))
    with pytest.raises(ValueError, match="do not prove"):
        sm.entry_roles(2 * A, optimum=best)
    with pytest.raises(ValueError, match=r"A has shape \(3, 3\)"):
        sm.entry_roles(sp.eye_array(3, format="csr"), optimum=best)
    none = sp.csr_array((3, 0))
    assert sm.entry_roles(none, optimum=sm.maximum_sum_transversal(none)).size == 0
