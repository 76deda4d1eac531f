"""What the tests of weighted transversals share: values, brute force, checks of a result."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

import oracle
import sparsematch as sm
from strategies import matrices

JOBS = {
    "product": sm.maximum_product_transversal,
    "sum": sm.maximum_sum_transversal,
    "bottleneck": sm.bottleneck_transversal,
}


def with_values(A, rng, kind="wide"):
    """A copy of A with random values: badly scaled, small integers with ties, or with zeros."""
    A = A.copy()
    if kind == "wide":
        A.data = rng.choice([-1, 1], A.data.size) * 10 ** rng.uniform(-12, 12, A.data.size)
    else:
        A.data = rng.integers(0 if kind == "zeros" else 1, 4, A.data.size).astype(float)
    return A


KINDS = ("wide", "ties", "zeros")


@st.composite
def weighted(draw, **how):
    """A matrix of any shape, format and index type, with values."""
    A = draw(matrices(**how))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return with_values(A, rng, draw(st.sampled_from(KINDS)))


def magnitudes(A):
    """The magnitudes as a dense array, duplicate entries added up."""
    return np.abs(sp.coo_array(A).toarray())


def weight(job, values):
    """What the job makes as large as possible, of the magnitudes of the matched entries."""
    if job == "bottleneck":
        return min(values, default=np.inf)
    return float(np.sum(np.log(values) if job == "product" else values))


def best_weight(D, job):
    """By brute force, over all transversals of the largest size: (size, weight)."""
    if D.shape[0] > D.shape[1]:
        D = D.T
    n_rows, n_cols = D.shape
    best = (0, weight(job, []))
    for cols in itertools.permutations(range(n_cols), n_rows):
        values = [D[i, j] for i, j in enumerate(cols) if D[i, j] > 0]
        best = max(best, (len(values), weight(job, values)))
    return best


def all_transversals(D):
    """Row mates of many transversals, the largest ones among them."""
    n_rows, n_cols = D.shape
    for cols in itertools.permutations(range(max(n_rows, n_cols)), n_rows):
        yield np.array([j if j < n_cols and D[i, j] else -1 for i, j in enumerate(cols)])


def exact_sum(D, row_mate):
    """The sum of the matched entries, as a fraction."""
    return sum((Fraction(D[i, j]) for i, j in enumerate(row_mate) if j >= 0), Fraction(0))


def check(A, found, job):
    """Fail unless the matching is maximum, has its stated weight, and its duals prove that best."""
    D = magnitudes(A)
    A = sp.csr_array(D)
    m = found.matching
    oracle.assert_matching(A, m.row_mate, m.col_mate)
    assert m.cardinality == sm.structural_rank(A)
    rows, cols = m.pairs()
    assert found.job == job
    assert found.objective == pytest.approx(weight(job, D[rows, cols]), rel=1e-12, abs=1e-10)
    if job != "bottleneck":
        i, j = D.nonzero()
        cost = -np.log(D[i, j]) if job == "product" else -D[i, j]
        u, v = found.row_dual, found.col_dual
        near = 1e-12 * max([1, *np.abs(u), *np.abs(v), *np.abs(cost)])
        assert np.all(u[i] + v[j] <= cost + near)
        assert np.sum(u[rows]) + np.sum(v[cols]) == pytest.approx(-found.objective, abs=100 * near)
        for dual, free in ((u, m.row_mate < 0), (v, m.col_mate < 0)):
            assert not free.any() or dual[free].min() >= dual.max() - near


def check_scaling(A, found):
    """Scaled entries lie within [0, 1], matched ones are 1."""
    S = sp.csr_array(magnitudes(A))
    S.data *= np.repeat(found.row_scale, np.diff(S.indptr)) * found.col_scale[S.indices]
    rows, cols = found.matching.pairs()
    assert S.data.max(initial=0) <= 1 + 1e-10
    lowest = 0.5 if found.approximate else 1 - 1e-12
    assert S.toarray()[rows, cols].min(initial=1) >= lowest
