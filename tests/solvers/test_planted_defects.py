"""Dependences that were planted are found, all of them and no others, and every claim is true."""

import numpy as np
import scipy.sparse as sp

import planted
from sparsematch.solvers._defects import numerical_defects

#: Cases of each kind, every second one with rows and columns in units from 1e-6 to 1e6.
CASES = 10


def plate(rng, m=9):
    """Five-point differences with uneven conductances and a reference all around."""
    path = sp.diags_array([-np.ones(m - 1)] * 2, offsets=[-1, 1])
    grid = sp.kron(path, sp.eye_array(m)) + sp.kron(sp.eye_array(m), path)
    weights = rng.uniform(0.5, 2, m * m)
    return sp.csr_array(sp.diags_array(weights) @ (grid + 4 * sp.eye_array(m * m)))


def scattered(rng, n=90):
    """Four entries a row in random places, and a diagonal that keeps it regular."""
    A = sp.random_array((n, n), density=4 / n, rng=rng, data_sampler=rng.standard_normal)
    return sp.csr_array(A + 3 * sp.eye_array(n))


def staircase(rng, n=80):
    """Blocks of eight rows, one coupled to the next: reducible."""
    A = np.kron(np.eye(n // 8), np.ones((8, 8))) + np.kron(np.eye(n // 8, k=1), np.eye(8))
    A *= rng.uniform(-1, 1, (n, n)) * (rng.random((n, n)) < 0.5)
    return sp.csr_array(A + 2 * np.eye(n))


def cases(rng):
    """Yield planted matrices of all kinds whose truth is certain."""
    for kind in planted.KINDS:
        found = 0
        while found < CASES:
            make = (plate, scattered, staircase)[found % 3]
            case = planted.plant(make(rng), kind, rng, scaled=found % 2 == 1)
            if planted.is_true(case, dense=1000):
                found += 1
                yield case


def test_planted_sets_are_found_exactly():
    """In 95% at least; never is a set named whose combination does not vanish."""
    missed = []
    for number, case in enumerate(cases(np.random.default_rng(35))):
        verdict = planted.judge(case, numerical_defects(case.A))
        assert verdict.wrong == verdict.wrong_in_units == 0, (number, case.kind)
        if not verdict.exact:
            missed.append((number, case.kind, verdict))
    assert len(missed) <= 0.05 * CASES * len(planted.KINDS), missed


def test_the_judge_is_strict():
    """A set too few, a set too large and a wrong coefficient are noticed."""
    rng = np.random.default_rng(5)
    case = planted.plant(scattered(rng), "rows", rng, scaled=True)
    assert planted.is_true(case, dense=1000)
    members = sorted(case.rows[0])
    B = case.balanced
    assert planted.is_minimal(B, members, 1e-6)
    assert not planted.is_minimal(B, members[1:], 1e-6)
    assert not planted.is_minimal(B, sorted({*members, *range(B.shape[0])}), 1e-6)
    weights = np.linalg.svd(B[members].toarray())[0][:, -1] * case.row_units[members]
    assert planted.residual(case.A, members, weights, case.col_units) < 1e-14
    weights[0] *= 1.01
    assert planted.residual(case.A, members, weights, case.col_units) > 1e-4
