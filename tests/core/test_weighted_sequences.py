"""Weighted transversals of many matrices with one pattern, beside single calls.

Bit by bit for any number of workers; to single calls up to rounding, with a proof of their own.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparsematch as sm
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import operations
from strategies import matrices
from weights import check_scaling

pytestmark = [pytest.mark.asan, pytest.mark.wheel]
FIELDS = (
    "row_mate", "col_mate", "cardinality", "objective", "row_dual", "col_dual", "row_scale",
    "col_scale",
)  # fmt: skip


def eye(n):
    return sp.eye_array(n, format="csr")


def dense_random(shape, density, seed):
    """A matrix with a full diagonal and random entries."""
    rng = np.random.default_rng(seed)
    return sp.csr_array((rng.random(shape) < density) | np.eye(*shape, dtype=bool)).astype(float)


def with_data(A, values):
    A = A.copy()
    A.data = np.asarray(values)
    return A


def draw_values(rng, A, k, kind):
    """Values of k matrices: near each other, unlike each other, with ties, or with zeros."""
    size = (k, A.data.size)
    if kind in ("ties", "zeros"):
        return rng.integers(kind == "ties", 3, size).astype(float)
    first = rng.normal(0, 3, size[1:])
    return np.exp(rng.normal(0, 3, size) if kind == "unlike" else first + rng.normal(0, 0.1, size))


def assert_same(A, found, single):
    """The same pairs and objective as a single call, with a proof of its own."""
    assert found.cardinality == single.cardinality
    assert found.objective == pytest.approx(single.objective, rel=1e-12, abs=1e-12)
    assert sm.is_optimal_transversal(A, found)
    if found.row_scale is not None:
        check_scaling(A, found)


@given(
    A=matrices(max_side=25, max_entries=100),
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(("near", "unlike", "ties", "zeros")),
)
def test_batches_and_sequences_are_single_calls(A, seed, kind):
    """Of any shape and format, deficient, with int32 and int64 indices and repeated entries."""
    values = draw_values(np.random.default_rng(seed), A, 4, kind)
    analysis = sm.analyse_transversal(A)
    batch, last = analysis.maximum_products(values), None
    assert (len(batch), batch.shape, analysis.nnz) == (4, A.shape, A.data.size)
    for k, found in enumerate(batch):
        B = with_data(A, values[k])
        single = sm.maximum_product_transversal(B)
        assert_same(B, found, single)
        last = analysis.maximum_product(values[k] if k % 2 else B, start=last)
        assert_same(B, last, single)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("shape", [(90, 90), (70, 90), (90, 70)])
@pytest.mark.parametrize("kind", ["near", "unlike", "zeros"])
def test_larger_ones_by_any_number_of_workers(layout, shape, kind, monkeypatch):
    monkeypatch.setenv("SPARSEMATCH_CORES", "4")
    rng = np.random.default_rng(5)
    A = dense_random(shape, 0.05, 5).asformat(layout)
    values = draw_values(rng, A, 120, kind)
    analysis = sm.analyse_transversal(A)
    one, three = (analysis.maximum_products(values, workers=w) for w in (1, 3))
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(three, field))
    for k in range(0, 120, 7):
        B = with_data(A, values[k])
        assert_same(B, one[k], sm.maximum_product_transversal(B))


@pytest.mark.parametrize("dtype", ["f4", "c16", "c8", "i8", ">f8", "u1", "?"])
def test_values_of_any_type(dtype):
    rng = np.random.default_rng(3)
    D = dense_random((40, 40), 0.1, 3)
    A = sp.csr_array((40, 40))  # every entry twice
    A.indptr, A.indices = 2 * D.indptr, np.repeat(D.indices, 2)
    A.data = np.ones(A.indices.size)
    values = rng.integers(-9, 10, (6, A.data.size)) * (1j if dtype[0] == "c" else 1)
    values = (values % 256 if dtype == "u1" else values).astype(dtype)
    for found, row in zip(sm.analyse_transversal(A).maximum_products(values), values, strict=True):
        single = sm.maximum_product_transversal(with_data(A, row))
        assert_same(with_data(A, row.astype(complex)), found, single)


def test_logarithms_of_batches_are_those_of_numpy():
    """Of all magnitudes, near 1, and beyond normal doubles."""
    rng = np.random.default_rng(4)
    ends = [5e-324, 2.3e-308, 1.0, 1 - 2**-53, 1 + 2**-52, 0.5**0.5, 2**0.5, 1.7976931348623157e308]
    x = np.concatenate([2 ** rng.uniform(-1022, 1023, 5000), rng.uniform(0.5, 2, 5000), ends])
    found = sm.analyse_transversal(eye(1)).maximum_products(x[:, None], scaling=False).objective
    np.testing.assert_array_max_ulp(found, np.log(x), 2)


def test_a_search_begins_with_the_duals_and_pairs_given():
    """With equal values they are the result, while a search from scratch finds other duals."""
    rng = np.random.default_rng(1)
    A = dense_random((300, 300), 0.02, 1)
    A = with_data(A, np.exp(rng.normal(0, 3, A.nnz)))
    analysis, first = sm.analyse_transversal(A), sm.maximum_product_transversal(A)
    graph = sm.BipartiteCSR.from_arrays(A.indptr, A.indices, A.shape)
    start = operations(WeightedOps, "numpy").central_duals(graph, A.data, first)
    again = analysis.maximum_product(A, start=start)
    np.testing.assert_array_equal(again.matching.row_mate, first.matching.row_mate)
    np.testing.assert_allclose(np.ptp(again.row_dual - start.row_dual), 0, atol=1e-9)
    assert np.ptp(first.row_dual - start.row_dual) > 1


def test_a_start_need_not_be_right():
    rng = np.random.default_rng(2)
    A = dense_random((60, 60), 0.08, 2)
    A = with_data(A, np.exp(rng.normal(0, 3, A.nnz)))
    analysis, single = sm.analyse_transversal(A), sm.maximum_product_transversal(A)
    mates = np.full(60, 7), np.full(60, 999)
    for dual in (np.zeros(60), rng.normal(0, 5, 60), np.full(60, 1e300), np.full(60, -1e16)):
        for row_mate in (single.matching.row_mate, mates[0], np.arange(60), mates[1]):
            start = replace(
                single, matching=sm.Matching(row_mate, mates[1]), row_dual=dual, col_dual=dual
            )
            assert_same(A, analysis.maximum_product(A, start=start), single)


def test_no_matrices():
    batch = sm.analyse_transversal(eye(3)).maximum_products(np.empty((0, 3)))
    assert len(batch) == 0
    assert batch.row_mate.shape == batch.col_scale.shape == (0, 3)
    assert list(batch) == []
    with pytest.raises(IndexError, match="there are 0 results, but number 0"):
        batch[0]


def test_results_are_read_only_and_shown_in_a_line():
    analysis = sm.analyse_transversal(eye(3))
    batch = analysis.maximum_products(np.ones((2, 3)))
    assert (type(analysis), type(batch)) == (sm.TransversalAnalysis, sm.TransversalBatch)
    assert (repr(analysis), repr(batch)) == (
        "TransversalAnalysis(3x3, 3 entries)",
        "TransversalBatch(2 of 3x3)",
    )
    with pytest.raises(ValueError, match="read-only"):
        batch.row_dual[0, 0] = 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
@pytest.mark.parametrize("workers", [1, 3])
def test_what_is_not_finite_is_named(bad, dtype, workers, monkeypatch):
    monkeypatch.setenv("SPARSEMATCH_CORES", "4")
    A = sp.csc_array(np.triu(np.ones((30, 30))))
    values = np.ones((200, A.nnz), dtype)
    values[150, 4] = values[37, 4] = bad  # entry 4 of the columns: row 1 of column 2
    with pytest.raises(ValueError, match=r"matrix 37: A\[1, 2\] is .*, which is not finite"):
        sm.analyse_transversal(A).maximum_products(values, workers=workers)
    with pytest.raises(ValueError, match=r"A\[1, 2\] is .*, which is not finite"):
        sm.analyse_transversal(A).maximum_product(values[37])


def test_values_too_large_for_a_double_are_named():
    values = np.ones((2, 3), complex)
    values[1, 2] = 1.5e308 + 1.5e308j
    with pytest.raises(ValueError, match=r"matrix 1: A\[2, 2\] is .*, which is too large"):
        sm.analyse_transversal(eye(3)).maximum_products(values)


def test_factors_beyond_doubles_are_cut_off_with_a_warning():
    values = np.array([[1.0, 1.0], [1e308, 1e-320]])
    A = sp.csr_array(np.eye(2))
    with pytest.warns(RuntimeWarning, match="factors beyond the range") as caught:
        batch = sm.analyse_transversal(A).maximum_products(values)
    assert caught[0].filename == __file__
    assert np.isfinite(batch.row_scale).all()
    batch = sm.analyse_transversal(A).maximum_products(values, scaling=False)
    assert batch.row_scale is batch[-2].row_scale is None


@pytest.mark.parametrize("values", [[1e308, 1e308, 1], [np.inf, -np.inf, 1], [1e308j, 1e308j, 1]])
def test_sums_that_are_not_finite_are_refused_without_a_warning(values):
    """Though their terms may be finite."""
    A = sp.coo_array((np.ones(3), ([0, 0, 1], [0, 0, 1])))
    analysis = sm.analyse_transversal(A)
    with pytest.raises(ValueError, match=r"A\[0, 0\] is .*, which is not finite"):
        analysis.maximum_product(values)
    with pytest.raises(ValueError, match=r"matrix 1: A\[0, 0\] is .*, which is not finite"):
        analysis.maximum_products([[1, 1, 1], values])


NAN = np.full(3, np.nan)


def other(**changes):
    return replace(sm.maximum_product_transversal(eye(3)), **changes)


@pytest.mark.parametrize(
    ("kind", "message", "values", "settings"),
    [
        (ValueError, r"values has shape \(2,\), but must have shape \(3,\)", [1, 2], {}),
        (ValueError, r"values has shape \(1, 3\), but must have shape \(3,\)", [[1, 2, 3]], {}),
        (TypeError, "values must be numbers, not <U1", ["a", "b", "c"], {}),
        (TypeError, "values must be numbers, not object", None, {}),
        (TypeError, "values must be an array of numbers", [[1], [1, 2], 3], {}),
        (ValueError, r"A has shape \(2, 2\), but the matrix that was analysed has", eye(2), {}),
        (ValueError, "another pattern", sp.eye_array(3, k=1, format="csr") + eye(3), {}),
        (TypeError, "start must be a WeightedTransversal", [1, 2, 3], {"start": 3}),
        (TypeError, "scaling must be True or False", [1, 2, 3], {"scaling": 1}),
        (
            ValueError,
            r"start has shape \(2, 2\), but the matrix has shape \(3, 3\)",
            [1, 2, 3],
            {"start": sm.maximum_product_transversal(eye(2))},
        ),
        (
            ValueError,
            "start is the transversal of a sum",
            [1, 2, 3],
            {"start": sm.maximum_sum_transversal(eye(3))},
        ),
        (
            ValueError,
            r"start\[1\]\[0\] is nan",
            [1, 2, 3],
            {"start": other(col_dual=np.full(3, np.nan))},
        ),
        (ValueError, r"start\[1\] has shape", [1, 2, 3], {"start": other(col_dual=np.zeros(2))}),
        (
            ValueError,
            r"start\[1\]\[2\] is inf",
            [1, 2, 3],
            {"start": (np.zeros(3), [1, 2, np.inf])},
        ),
        (
            TypeError,
            r"start\[0\] must be real numbers",
            [1, 2, 3],
            {"start": (["a"] * 3, np.zeros(3))},
        ),
    ],
)
def test_what_is_refused(kind, message, values, settings):
    analysis = sm.analyse_transversal(eye(3))
    with pytest.raises(kind, match=message):
        analysis.maximum_product(values, **settings)


def test_many_values_of_another_shape_are_refused():
    analysis = sm.analyse_transversal(eye(3))
    for values in ([1, 2, 3], np.ones((2, 4)), np.ones((1, 2, 3))):
        with pytest.raises(ValueError, match=r"but must have shape \(k, 3\)"):
            analysis.maximum_products(values)
    with pytest.raises(TypeError, match="scaling must be"):
        analysis.maximum_products(np.ones((2, 3)), scaling=None)


def test_the_pattern_is_a_copy():
    A = sp.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    analysis = sm.analyse_transversal(A)
    A.indices[:] = 0
    assert analysis.maximum_product([1.0, 2.0, 3.0, 4.0]).matching.row_mate.tolist() == [1, 0]


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_central_duals_prove_the_same_matching(layout):
    """And keep other entries further from it; pairs with nothing beside them stay finite."""
    rng = np.random.default_rng(4)
    A = dense_random((40, 40), 0.1, 4)
    A = with_data(A, np.exp(rng.normal(0, 3, A.nnz)))
    A = sp.block_diag([A, np.array([[2.0]]), np.array([[1e-9]])], format=layout)
    found = sm.maximum_product_transversal(A)
    graph = sm.BipartiteCSR.from_arrays(A.indptr, A.indices, A.shape, layout=layout)
    central = operations(WeightedOps, "numpy").central_duals(graph, np.abs(A.data), found)
    central = replace(central, row_scale=None, col_scale=None)
    assert sm.is_optimal_transversal(A, central)

    def slack(result):
        C = A.tocoo()
        slack = -np.log(np.abs(C.data)) - result.row_dual[C.row] - result.col_dual[C.col]
        return np.sort(slack[result.matching.row_mate[C.row] != C.col])

    assert slack(central)[0] > 1e-6 > slack(found)[10]
    A = sp.csr_array(np.triu(np.ones((3, 3)), 1))  # of which there is no full matching
    found = sm.maximum_product_transversal(A)
    graph = sm.BipartiteCSR.from_arrays(A.indptr, A.indices, A.shape)
    assert operations(WeightedOps, "numpy").central_duals(graph, A.data, found) is found


def least_by_brute_force(C):
    """The least cost of as many pairs of finite cost as possible, and how many these are."""
    best = {0: (0, 0.0)}  # columns in use: less the number of pairs, cost
    for row in C:
        now = dict(best)
        for used, (pairs, total) in best.items():
            for j in np.flatnonzero(np.isfinite(row) & ~(used >> np.arange(row.size) & 1 > 0)):
                key, found = used | 1 << int(j), (pairs - 1, total + row[j])
                now[key] = min(now.get(key, found), found)
        best = now
    pairs, total = min(best.values())
    return -pairs, total


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (4, 4), (2, 5), (5, 2), (3, 4)])
def test_least_costs_by_brute_force(shape, layout):
    """Tied, infinite, deficient, of either sign; bit by bit for any number of workers."""
    rng = np.random.default_rng(shape)
    C = np.concatenate([
        rng.integers(0, 3, (40, *shape)).astype(float),
        rng.choice([0.0, 1.0, 5.0, np.inf], (60, *shape)),
        rng.normal(size=(20, *shape)),
        rng.integers(-9, 9, shape) * rng.choice([1, 1.01], (20, *shape)),
        np.full((1, *shape), np.inf),
    ])  # fmt: skip
    A = sp.coo_array(np.ones(shape)).asformat(layout)
    values = np.stack([c[A.tocoo().coords] for c in C])
    analysis = sm.analyse_transversal(A)
    batch, other = (analysis.least_costs(values, workers=w) for w in (1, 3))
    for field in FIELDS[:6]:
        np.testing.assert_array_equal(getattr(batch, field), getattr(other, field))
    assert isinstance(batch, sm.LeastCostBatch)
    for k, found in enumerate(batch):
        pairs, total = least_by_brute_force(C[k])
        assert (found.cardinality, batch.cardinality[k]) == (pairs, pairs)
        assert found.objective == pytest.approx(total, rel=1e-12, abs=1e-12)
        finite = np.isfinite(C[k])
        B = sp.coo_array((C[k][finite], np.nonzero(finite)), shape=shape)
        assert sm.is_optimal_matching(B, found)


LEAST, GREATEST = (
    partial(sm.maximum_weight_matching, maximize=maximize, cardinality="maximum")
    for maximize in (False, True)
)


@pytest.mark.parametrize("kind", ["normal", "ties", "deficient"])
@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_sums_and_costs_from_any_start_by_brute_force(n, kind):
    """Those of other values, wrong mates, duals alone."""
    rng, last = np.random.default_rng(n), {}
    for trial in range(25):
        C = rng.normal(size=(n, n)) if kind == "normal" else rng.integers(-2, 3, (n, n))
        absent = rng.random((n, n)) < 0.25 * (kind == "deficient")
        A = sp.coo_array((C[~absent], np.nonzero(~absent)), C.shape).asformat(
            ["csr", "csc"][trial % 2]
        )
        duals = rng.normal(0, 10.0 ** rng.integers(-1, 9), (2, n))
        mates = sm.Matching(*rng.integers(-1, n, (2, n)))
        size = np.where(C == 0, -np.inf, np.abs(C))
        for find, sign, costs in (
            (LEAST, 1, C),
            (GREATEST, -1, -C),
            (sm.maximum_sum_transversal, -1, -size),
        ):
            pairs, total = least_by_brute_force(np.where(absent, np.inf, costs))
            starts = [None, tuple(duals)]
            if find in last:
                starts += last[find], replace(last[find], matching=mates, row_dual=duals[0])
            for start in starts:
                found = last[find] = find(A, start=start)
                assert found.cardinality == pairs
                assert found.objective == pytest.approx(sign * total, abs=1e-12)
                if find is sm.maximum_sum_transversal:
                    assert sm.is_optimal_transversal(A, found)
                else:
                    assert sm.is_optimal_matching(A, found)


def test_duals_that_are_optimal_stay():
    """While a search from scratch finds others."""
    for find, diagonal, other in ((LEAST, 1, 6), (sm.maximum_sum_transversal, 6, 1)):
        A = sp.csr_array(np.full((2, 2), other) + (diagonal - other) * np.eye(2, dtype=int))
        row_dual = np.array([0, 2])
        cost = diagonal if find is LEAST else -diagonal
        found = find(A, start=(row_dual, cost - row_dual))
        assert np.ptp(found.row_dual - row_dual) == 0
        assert np.ptp(find(A).row_dual - row_dual) > 1


@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e300, -1e300])
def test_costs_that_are_refused(bad):
    analysis = sm.analyse_transversal(eye(3))
    with pytest.raises(ValueError, match=r"values of matrix 2: A\[1, 1\] is .*, but costs must be"):
        analysis.least_costs([[1, 2, 3], [np.inf, 2, 3], [1, bad, 3]])
    with pytest.raises(TypeError, match="values must be real numbers, not complex128"):
        analysis.least_costs(np.ones((1, 3), complex))
    assert len(analysis.least_costs(np.ones((0, 3)))) == 0
    assert repr(analysis.least_costs(np.ones((2, 3)))) == "LeastCostBatch(2 of 3x3)"
