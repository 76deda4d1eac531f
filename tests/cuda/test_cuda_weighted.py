"""Weighted transversals on a GPU; as threaded C++ where there is none."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import sparsematch as sm
from calls import random_matrix
from gpu_calls import CUPY, host, one_call, values_to_gpu
from sparsematch._engines.cuda.weighted import auction, least_cost, primal_dual
from weights import JOBS, check, check_scaling, weighted, with_values

pytestmark = pytest.mark.kernels

BOTH = pytest.mark.parametrize("job", ["product", "sum"])


def solve(A, job, **how):
    """The result on the GPU, its arrays there; the same in host memory."""
    with one_call:
        found = JOBS[job](values_to_gpu(A), **how)
        assert (
            sm.is_optimal_transversal(
                values_to_gpu(A), found, tolerance=how.get("tolerance") or None
            )
            or found.approximate
        )
    arrays = found.matching.row_mate, found.matching.col_mate, found.row_dual, found.col_dual
    assert all(isinstance(array, CUPY.ndarray) for array in arrays)
    scales = (None if s is None else host(s) for s in (found.row_scale, found.col_scale))
    here = sm.WeightedTransversal(
        found.matching.get(),
        job,
        found.objective,
        host(found.row_dual),
        host(found.col_dual),
        *scales,
        found.approximate,
        found.dual_unit,
        found.gap,
    )
    return here


def check_exact(A, job, **how):
    """The optimum, proved by its duals on either side, and no worse than that of the host."""
    here, best = solve(A, job, **how), JOBS[job](A)
    check(A, here, job)
    assert sm.is_optimal_transversal(A, here)
    assert here.objective == pytest.approx(best.objective, rel=1e-12, abs=1e-10)
    assert here.gap <= 1e-9 * max(1, abs(best.objective))
    return here


def banded(n, rng):
    values = [rng.uniform(-1, 1, n - abs(k)) for k in range(-3, 4)]
    return sp.csr_array(sp.diags_array(values, offsets=range(-3, 4), shape=(n, n)))


def coupled(rng):
    """A wide part, a square one and a tall one, each coupled to the next."""
    A = sp.block_array(
        [
            [random_matrix(20, 35, 3, 1), random_matrix(20, 30, 1, 2), random_matrix(20, 18, 1, 3)],
            [None, random_matrix(30, 30, 3, 4) + sp.eye_array(30), random_matrix(30, 18, 1, 5)],
            [None, None, random_matrix(40, 18, 3, 6)],
        ],
        format="csr",
    )
    return with_values(A, rng)


def random_full(n, rng, kind):
    """A random matrix with a transversal, badly scaled or with ties."""
    A = random_matrix(n, n, 4, 7) + sp.csr_array((np.ones(n), (np.arange(n), rng.permutation(n))))
    return with_values(sp.csr_array(A), rng, kind)


LARGER = {
    "banded": lambda rng: banded(700, rng),
    "coupled": coupled,
    "wide": lambda rng: with_values(random_matrix(150, 400, 3, 8), rng),
    "tall": lambda rng: with_values(random_matrix(400, 150, 3, 9), rng, "ties"),
    "lognormal": lambda rng: random_full(900, rng, "wide"),
    "ties": lambda rng: random_full(900, rng, "ties"),
}


@given(A=weighted())
@settings(max_examples=25)
@BOTH
def test_any_matrix(job, A):
    check_exact(A, job)


@BOTH
@pytest.mark.parametrize("name", LARGER)
def test_larger_ones(name, job):
    A = LARGER[name](np.random.default_rng(5))
    found = check_exact(A, job)
    if job == "product":
        check_scaling(A, found)


@pytest.mark.parametrize("name", ["banded", "lognormal", "ties"])
@pytest.mark.parametrize("narrow", [0, 10**9])
def test_the_auction_leaves_an_optimum(name, narrow, monkeypatch):
    """Held at once; its rounds by all blocks, and by one alone."""
    monkeypatch.setattr(least_cost, "POLICY", least_cost.Policy(slow=-1.0, left=0.0))
    for module in (auction, primal_dual):
        monkeypatch.setattr(module, "NARROW", narrow)
    bids = []
    held = auction.bid
    monkeypatch.setattr(auction, "bid", lambda *args: bids.append(held(*args)))
    check_exact(LARGER[name](np.random.default_rng(6)), "product")
    assert any(rounds for rounds, _ in bids)


def test_many_launches_find_the_same(monkeypatch):
    monkeypatch.setattr(auction, "ROUNDS", 2)
    for name in ("banded", "lognormal"):
        check_exact(LARGER[name](np.random.default_rng(12)), "product")


def test_launches_have_fewer_rounds_the_more_entries_there_are(monkeypatch):
    """As a round may scan them all, and Ctrl-C waits for a launch."""
    monkeypatch.setattr(auction, "ENTRIES", 100)
    for entries, rounds in ((0, 2000), (100, 2000), (1000, 200), (10**9, 1)):
        values = np.empty(0), np.broadcast_to(0.0, entries)
        assert auction.Assignment(*values, *[np.empty(0)] * 5).rounds == rounds


@pytest.mark.parametrize("name", ["banded", "coupled", "lognormal"])
@pytest.mark.parametrize("power", [295, -295])
def test_the_auction_of_very_large_and_small_costs(name, power, monkeypatch):
    """Whose squares are no doubles."""
    monkeypatch.setattr(least_cost, "POLICY", least_cost.Policy(slow=-1.0, left=0.0))
    A = LARGER[name](np.random.default_rng(13)) * 10.0**power
    for tolerance in (0.0, 1e-3 * abs(A).max()):
        found = solve(A, "sum", tolerance=tolerance)
        best = sm.maximum_sum_transversal(A).objective
        assert best - tolerance * found.cardinality * 2 <= found.objective <= best * (1 + 1e-12)


@BOTH
def test_the_host_gets_what_takes_too_many_phases(job, monkeypatch):
    monkeypatch.setattr(least_cost, "POLICY", least_cost.Policy(entries=10**12, least=0, seen=1))
    for name in ("banded", "coupled"):
        check_exact(LARGER[name](np.random.default_rng(7)), job)


@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("tolerance", [0.01, 0.5])
def test_a_tolerance_bounds_the_gap(name, tolerance):
    A = LARGER[name](np.random.default_rng(8))
    best, found = sm.maximum_product_transversal(A), solve(A, "product", tolerance=tolerance)
    n = best.cardinality
    assert found.cardinality == n
    assert found.gap <= tolerance * n * 1.01 + 1e-9
    assert best.objective - found.objective <= found.gap + 1e-9 * abs(best.objective)
    scaled = abs(found.scale(sp.csr_array(A)))
    assert scaled.data.max() <= 1 + 1e-9
    rows, cols = found.matching.pairs()
    assert scaled[rows, cols].min() >= np.exp(-1.01 * tolerance)


def test_scaled_and_permuted_on_the_gpu():
    A = sp.csr_matrix(LARGER["lognormal"](np.random.default_rng(11)))
    with one_call:
        found = sm.maximum_product_transversal(values_to_gpu(A))
        scaled, permuted = (f(values_to_gpu(A)).get() for f in (found.scale, found.permute))
    p = host(found.matching.as_permutation())
    expected = sp.diags_array(host(found.row_scale)) @ A @ sp.diags_array(host(found.col_scale))
    assert abs(scaled - expected).max() <= 1e-12
    assert abs(permuted - scaled[p]).max() == 0
    assert np.allclose(abs(permuted.diagonal()), 1, rtol=1e-12)
    with pytest.raises(TypeError, match="of CuPy, the transversal being on a GPU"):
        found.scale(A)


def test_rounded_to_powers_of_two():
    A = LARGER["lognormal"](np.random.default_rng(9))
    found, best = solve(A, "product", approximate=True), sm.maximum_product_transversal(A)
    assert sm.is_optimal_transversal(A, found, tolerance=0.7)
    assert best.objective - found.objective <= np.log(2) * A.shape[0]
    check_scaling(A, found)


def test_sums_beyond_doubles():
    A = sp.csr_array([[1.7e308, 1.0], [1.6e308, 1.5e308]])
    found = solve(A, "sum")
    assert found.matching.row_mate.tolist() == [0, 1]
    assert sm.is_optimal_transversal(A, found)
    n = 10
    A = sp.diags_array([np.ones(n), np.full(n - 1, 1.7e308)], offsets=[0, 1], format="csr")
    found = solve(A, "sum")
    assert found.dual_unit > 1
    assert found.objective == n
    assert sm.is_optimal_transversal(A, found)


@pytest.mark.filterwarnings("ignore:factors beyond")
def test_only_factors_beyond_doubles_are_cut_off():
    """Those of rows within, whose columns' are beyond, are the exponentials of their duals."""
    rng = np.random.default_rng(14)
    for _ in range(5):
        values = 10 ** rng.uniform(-300, 300, 40), 10 ** rng.uniform(-300, 300, 39)
        A = sp.csr_array(sp.diags_array(values, offsets=[0, 1]))
        found = solve(A, "product")
        assert found.row_scale.min() == np.finfo(float).tiny
        assert sm.is_optimal_transversal(A, found)


def test_false_duals_prove_nothing():
    A = LARGER["banded"](np.random.default_rng(10))
    with one_call:
        found = sm.maximum_product_transversal(values_to_gpu(A))
        assert sm.is_optimal_transversal(values_to_gpu(A), found)
        assert not sm.is_optimal_transversal(values_to_gpu(2 * A), found)
        for wrong in (found.objective + 1, np.nan):
            other = replace(found, objective=wrong)
            assert not sm.is_optimal_transversal(values_to_gpu(A), other)
        other = replace(found, col_scale=2 * found.col_scale)
        assert not sm.is_optimal_transversal(values_to_gpu(A), other)
        other = replace(found, row_scale=None, col_scale=None)
        other.col_dual[3] = np.nan
        assert not sm.is_optimal_transversal(values_to_gpu(A), other)
        found = sm.maximum_product_transversal(values_to_gpu(A))
        found.row_dual[3] += 1.0
        assert not sm.is_optimal_transversal(values_to_gpu(A), found)
        found.row_dual[3] = np.nan
        assert not sm.is_optimal_transversal(values_to_gpu(A), found)


def test_what_is_refused():
    A = sp.csr_matrix([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(ValueError, match=r"A\[0, 1\] is nan"):
        sm.maximum_product_transversal(values_to_gpu(A))
    A = sp.csr_matrix([[1.0, 2.0], [2.0, 3.0]])
    with one_call:
        found = replace(sm.maximum_sum_transversal(values_to_gpu(A)), job="bottleneck")
        with pytest.raises(TypeError, match="in host memory only"):
            sm.is_optimal_transversal(values_to_gpu(A), found)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="tolerance"):
            sm.maximum_product_transversal(A, tolerance=wrong)
    with pytest.raises(TypeError, match="tolerance"):
        sm.maximum_sum_transversal(A, tolerance=None)


@pytest.mark.parametrize("how", [{}, {"tolerance": 0.5}])
@BOTH
def test_stages(job, how):
    """Steps of the first matching, then phases; of a deficient matrix, too, and in place."""
    for shape in ((60, 60), (40, 70)):
        A = with_values(random_matrix(*shape, 3, seed=8), np.random.default_rng(8))
        _, info = JOBS[job](values_to_gpu(A), return_info=True, **how)
        stages = [step.engine for step in info.steps]
        assert stages[0] == "reading"
        assert stages[-1] == "costs and duals"
        assert "phases" in stages
        assert ("auction" in stages) or not how
        assert ("scale factors" in stages) == (job == "product")
        assert all(step.seconds >= 0 for step in info.steps)
