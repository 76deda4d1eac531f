"""`spilu` where dropping leaves no pivot or an unstable factorisation: what it tries, and says."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import gmres

from sparsematch import solvers
from sparsematch.solvers import _ilu

COARSE = {"drop_tol": 0.3, "fill_factor": 1.5}


def of_whole_numbers(n, seed):
    """Whole numbers from -3 to 3, whose pivots cancel exactly."""
    rng = np.random.default_rng(seed)
    there = rng.random((n, n)) < rng.choice([2, 3, 4]) / n
    A = there * rng.integers(-3, 4, (n, n))
    A[np.arange(n), rng.permutation(n)] += 1
    return sp.csc_array(A.astype(float))


@pytest.mark.parametrize(("n", "seed", "tried"), [(15, 14, 2), (22, 6, 3)])
def test_no_pivot_is_left_as_asked(n, seed, tried):
    A = of_whole_numbers(n, seed)
    ilu = solvers.spilu(A, **COARSE)
    assert len(ilu.attempts) == tried
    assert ilu.attempts[:2] == ("product", "product, ordered by A + A'")
    assert f"{ilu.attempts[-1]} after {tried - 1} failed" in repr(ilu)
    x, info = gmres(A, A @ np.ones(n), M=ilu, rtol=1e-12)
    assert info == 0
    assert np.allclose(x, 1)


class Fake:
    """SciPy's function: leaves no pivot a number of times, then is unstable by given factors."""

    def __init__(self, no_pivot=0, factors=()):
        self.no_pivot, self.factors, self.asked = no_pivot, list(factors), []

    def __call__(self, matrix, **options):
        self.asked.append(options)
        if len(self.asked) <= self.no_pivot:
            raise RuntimeError("Factor is exactly singular")
        factor = self.factors.pop(0) if self.factors else 1.0
        real = sp.linalg.spilu(sp.csc_array(matrix))

        class Factors:
            nnz = real.nnz

            @staticmethod
            def solve(b, trans="N"):
                return factor * real.solve(b, trans)

        return Factors


def attempts(monkeypatch, fake, A=None, **options):
    monkeypatch.setattr(_ilu, "_spilu", fake)
    return solvers.spilu(of_whole_numbers(15, 14) if A is None else A, **options).attempts


def test_what_is_tried_in_which_order(monkeypatch):
    fake = Fake(no_pivot=4)
    assert attempts(monkeypatch, fake, fill_factor=3) == (
        "product",
        "product, ordered by A + A'",
        "product, drop_tol=1e-05",
        "product, drop_tol=1e-06",
        "structure",
    )
    assert fake.asked[1]["permc_spec"] == "MMD_AT_PLUS_A"
    assert fake.asked[1]["options"] == {"SymmetricMode": True}
    assert [asked["fill_factor"] for asked in fake.asked] == [3, 3, 6, 6, 3]
    fake = Fake(no_pivot=3)
    found = attempts(monkeypatch, fake, permc_spec="NATURAL", drop_tol=0.1, pivoting="structure")
    assert found == (
        "structure",
        "structure, drop_tol=1e-02",
        "structure, drop_tol=1e-03",
        "product",
    )
    assert {asked["permc_spec"] for asked in fake.asked} == {"NATURAL"}


def test_no_pivot_is_left_by_any_attempt(monkeypatch):
    with pytest.raises(solvers.SingularMatrixError, match=r"structure.*smaller drop_tol"):
        attempts(monkeypatch, Fake(no_pivot=9))


def test_where_nothing_is_dropped_less_cannot_be(monkeypatch):
    fake = Fake(no_pivot=9)
    with pytest.raises(solvers.SingularMatrixError, match="has no inverse"):
        attempts(monkeypatch, fake, drop_tol=0)
    assert len(fake.asked) == 3


def test_an_unstable_factorisation_is_not_kept(monkeypatch):
    assert len(attempts(monkeypatch, Fake(factors=[1e20, np.nan]))) == 3


def test_where_all_are_unstable_the_least_is_kept_with_a_warning(monkeypatch):
    fake = Fake(factors=[1e20, 1e17, 1e18, np.inf, 1e19])
    with pytest.warns(solvers.IllConditionedWarning, match=r"unstable: .*e\+17"):
        found = attempts(monkeypatch, fake)
    assert found[0] == "product"
    assert len(found) == 5
    assert found[-1] == "product, ordered by A + A'"


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("form", ["csc", "csr", "coo", "bsr"])
def test_factors_in_any_units_and_format(kind, form):
    """Products of two of an entry and its factors may be beyond the range of doubles."""
    n, rng = 12, np.random.default_rng(5)
    A = sp.csc_array(np.eye(n) * 4 + rng.uniform(-1, 1, (n, n)) * (rng.random((n, n)) < 0.3))
    units = [sp.diags_array(2.0 ** rng.integers(-500, 500, n)) for _ in range(2)]
    B = (units[0] @ A @ units[1])[rng.permutation(n)].astype(kind) * (1j if kind is complex else 1)
    ilu = solvers.spilu(sp.csc_array(B).asformat(form), 0.0)
    x = ilu.solve(B @ (1 / units[1].diagonal()))
    assert np.allclose(x * units[1].diagonal(), 1)
    assert ilu.dtype == B.dtype


def test_zeros_and_duplicates_are_what_scipy_takes_them_for():
    rows, cols = np.array([0, 1, 0, 1, 1, 0]), np.array([0, 0, 1, 1, 1, 0])
    A = sp.coo_array((np.array([1.0, 2, 3, 4, -4, -1]), (rows, cols)), shape=(2, 2))
    ilu = solvers.spilu(A)
    assert np.allclose(ilu.solve(A @ [1.0, 2.0]), [1, 2])
    assert ilu.nnz == 4
