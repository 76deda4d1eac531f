"""One factorisation, analysis, `PatternSolver` and least squares, each from eight threads."""

import itertools
import threading
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from calls import outside, random_matrix
from sparsematch import solvers
from sparsematch._systems import factors as factors_module
from sparsematch._systems import lu as lu_module
from sparsematch._systems.external import SuperLUFactor, Unreliable
from sparsematch.solvers import PatternSolver
from test_solvers import turned
from test_threads import at_once

pytestmark = pytest.mark.tsan


def system(n, kind=float, seed=0):
    """Coupled blocks, of one row to n / 2, that are diagonally dominant."""
    rng = np.random.default_rng(seed)
    sizes = [n // 2, 1, n // 4, 1, 1, n // 8]
    blocks = [random_matrix(k, k, 3, seed=seed + k) + 9 * sp.eye_array(k) for k in sizes]
    A = sp.csc_array(sp.block_diag(blocks))
    A = sp.csc_array(A + sp.triu(sp.random_array(A.shape, density=2 / n, random_state=rng), 1))
    A.data = A.data.astype(kind) * (1 + 0.5j if kind is complex else 1)
    return A


def is_solved(A, b, trans, x):
    return np.allclose(turned(A, trans) @ x, b, rtol=1e-9, atol=1e-9)


#: What a factorisation finds out when it is first asked.
LAZY = ("rcond", "row_perm", "perm_c", "nnz", "growth", "n_blocks", "analysis")


@pytest.mark.parametrize(
    "way", [{}, {"pivoting": "product"}, {"solver": outside()}], ids=["auto", "product", "outside"]
)
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("n", [40, 1000])
def test_one_factorisation(n, kind, way):
    A = system(n, kind)
    rng = np.random.default_rng(1)
    lu = solvers.splu(A, **way)
    bs = rng.standard_normal(A.shape[0]), rng.standard_normal((A.shape[0], 3)) + 1j
    cases = list(itertools.product(bs, "NTH", (True, False)))
    tasks = [partial(lu.solve, b, trans, check=check) for b, trans, check in cases]
    looks = [lambda name=name: getattr(lu, name) for name in LAZY] + [lu.report, lu.condition]
    found = at_once([*looks, *tasks, *tasks])[len(looks) :]
    for (b, trans, _), x in zip(cases * 2, found, strict=True):
        assert is_solved(A, b, trans, x)


def test_solutions_that_other_pivots_are_tried_for(monkeypatch):
    """Who first tries that replaces the factors, while others solve with them."""
    solve = factors_module.BlockFactors.solve

    def poor_at_first(factors, *args):
        x, errors = solve(factors, *args)
        return x, errors + (factors.preference != factors_module.PARTIAL)

    monkeypatch.setattr(factors_module.BlockFactors, "solve", poor_at_first)
    monkeypatch.setattr(lu_module, "WholeMatrix", None)  # not needed
    A = system(200)
    b = np.random.default_rng(2).integers(-9, 9, A.shape[0])  # converted by what is replaced
    for way in ({}, {"solver": outside()}):
        lu = solvers.splu(A, **way)
        for x in at_once([partial(lu.solve, b, trans) for trans in "NTH"] * 8)[::3]:
            assert is_solved(A, b, "N", x)
        assert lu._factors.preference == factors_module.PARTIAL


def test_one_analysis():
    """External factors keep what they have learnt with the analysis."""
    A = system(400)
    for analysis in (solvers.analyse(A), solvers.analyse(A, solver=outside())):
        b = np.ones(A.shape[0])
        solve = lambda k, analysis=analysis, b=b: analysis.factorise(k * A).solve(b)
        for k, x in enumerate(at_once([partial(solve, k + 1.0) for k in range(24)])):
            assert is_solved((k + 1.0) * A, b, "N", x)


def test_an_external_solver_that_turns_out_useless():
    """Each thread finds that out, and one of them replaces it; calls of others do not overlap."""
    inside, most, start = [0], [0], threading.Event()

    class Useless(SuperLUFactor):
        shared = False

        def solve(self, b, trans):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            start.wait(0.01)
            inside[0] -= 1
            raise Unreliable("of no use")

    A = system(400)
    lu, b = solvers.splu(A, solver=outside(Useless)), np.ones(A.shape[0])
    assert all(is_solved(A, b, "N", x) for x in at_once([partial(lu.solve, b)] * 16))
    assert most == [1]


def test_one_pattern_solver():
    """More patterns than it keeps, with values that change; callers share each of them."""
    matrices = [system(40, kind, seed) for seed in range(4) for kind in (float, complex)]
    solver = PatternSolver(patterns=2)
    cases = [(k * A, np.arange(1.0, A.shape[0] + 1)) for k in (1, 2) for A in matrices] * 4
    for (A, b), x in zip(cases, at_once([partial(solver, *case) for case in cases]), strict=True):
        assert is_solved(A, b, "N", x)


@pytest.mark.parametrize("kind", [float, complex])
def test_least_squares(kind):
    """Tall, wide, and of low rank, against those found alone."""
    rng = np.random.default_rng(3)
    tall = random_matrix(120, 80, 3, seed=5).astype(kind) * (1 + 1j if kind is complex else 1)
    low = sp.csr_array(tall[:, :40] @ random_matrix(40, 80, 3, seed=7))
    matrices = tall, sp.csr_array(tall.T), low
    cases = [(A, rng.standard_normal(A.shape[0])) for A in matrices] * 8
    expected = [np.linalg.lstsq(A.toarray(), b)[0] for A, b in cases]
    found = at_once([partial(solvers.lstsq, *case) for case in cases])
    for x, result in zip(expected, found, strict=True):
        assert np.allclose(result.x, x, rtol=1e-7, atol=1e-7)
