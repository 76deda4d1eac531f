"""Systems solved block by block: every format, new values, and no solution."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator, gmres

from calls import here, outside
from sparsematch import solvers
from sparsematch._systems import plan

pytestmark = [pytest.mark.asan, pytest.mark.wheel]

FORMS = ("csr", "csc", "coo")


def staircase(rng, sizes, density=0.3, kind=float):
    """Dense enough diagonal blocks, entries above them, rows and columns in random order."""
    n = sum(sizes)
    A, start = np.triu(rng.random((n, n)) < density / 3, 1) * rng.standard_normal((n, n)), 0
    for m in sizes:
        block = slice(start, start + m)
        A[block, block] = (rng.random((m, m)) < density) * rng.standard_normal((m, m))
        start += m
    A += np.diag(3 + rng.random(n) + np.abs(A).sum(axis=1))
    A = A.astype(kind)
    if kind is complex:
        A *= np.exp(2j * np.pi * rng.random((n, n)))
    return A[rng.permutation(n)][:, rng.permutation(n)]


@st.composite
def systems(draw):
    """A dense nonsingular matrix, the same sparse, and a right-hand side or several."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=8))
    kind = draw(st.sampled_from((float, complex)))
    dense = staircase(rng, sizes, draw(st.floats(0.1, 0.9)), kind)
    shape = (len(dense),) if draw(st.booleans()) else (len(dense), draw(st.integers(1, 4)))
    b = rng.standard_normal(shape)
    if draw(st.booleans()):
        b = b + 1j * rng.standard_normal(shape)
    return dense, sp.coo_array(dense).asformat(draw(st.sampled_from(FORMS))), b


def turned(A, trans):
    return {"N": A, "T": A.T, "H": A.conj().T}[trans]


def check(dense, lu, b):
    for trans in "NTH":
        x = lu.solve(b, trans)
        assert x.shape == b.shape
        assert np.allclose(turned(dense, trans) @ x, b, rtol=1e-9, atol=1e-9)


@given(systems(), st.integers(0, 2**32))
def test_new_values(system, seed):
    """New numbers with the same pivots, and with pivots that no longer do."""
    dense, A, b = system
    before = [array.copy() for array in (A.data, b)]
    lu = solvers.splu(A)
    check(dense, lu, b)
    assert lu.shape == A.shape
    assert all(map(np.array_equal, before, (A.data, b)))
    dense = dense * (1 + np.random.default_rng(seed).random(dense.shape))
    dense *= np.exp2(np.random.default_rng(seed).integers(-3, 3, len(dense)))[:, np.newaxis]
    B = A.copy()
    B.data = dense[A.tocoo().row, A.tocoo().col]
    lu.refactorise(B)
    check(dense, lu, b)
    lu.refactorise(B.data)
    check(dense, lu, b)


FORMATS = "csr", "csc", "coo", "bsr", "dia", "lil", "dok"


def is_close(x, want):
    return np.allclose(x, want, rtol=0, atol=1e-12 * (1 + np.abs(want).max(initial=0)))


@given(st.data())
@settings(max_examples=60)
def test_every_type_shape_side_and_sparse_right_hand_side(data):
    """Of matrices and right-hand sides in any format, of any type of numbers and any strides."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n, form = int(rng.integers(1, 9)), data.draw(st.sampled_from(FORMATS))
    code, right, side = (data.draw(st.sampled_from(of)) for of in ("bhlfdFD", "bhlfdFD", "NTH"))
    dense = rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < 0.4) + np.diag(np.full(n, 50))
    dense = (dense + 1j * np.tril(dense, -1) if code in "FD" else dense).astype(code)
    dense = dense[rng.permutation(n)]
    A = getattr(sp, f"{form}_array")(dense)
    b = rng.integers(-9, 9, (2 * n, int(rng.integers(0, 4)) or 1)).astype(right)
    b = data.draw(st.sampled_from((lambda b: b[:n], lambda b: b[::-2], lambda b: b[::2, 0])))(b)
    want = np.linalg.solve(turned(dense, side).astype(complex), b.astype(complex))
    lu = solvers.splu(A)
    assert is_close(lu.solve(b, side), want)
    lu.refactorise(A)
    assert is_close(lu.solve(np.asfortranarray(b), side), want)
    if b.ndim == 2 and side == "N":
        sparse = getattr(sp, f"{data.draw(st.sampled_from(FORMATS))}_array")(b)
        for solve in (solvers.spsolve, solvers.PatternSolver()):
            for x in (solve(A, sparse), solve(A, b)):
                assert is_close(x.toarray() if sp.issparse(x) else x, want.reshape(x.shape))


def test_external_blocks():
    rng = np.random.default_rng(1)
    for kind in (float, complex):
        dense = staircase(rng, [5, 1, 9, 2, 1, 1, 20], 0.8, kind)
        analysis = solvers.analyse(sp.csc_array(dense), solver=outside())
        assert len(analysis.outside) >= 3
        lu = analysis.factorise(sp.csc_array(dense))
        for b in (rng.standard_normal(len(dense)), rng.standard_normal((len(dense), 3)) + 1j):
            check(dense, lu, b)
            lu.refactorise(sp.csc_array(dense))
            check(dense, lu, b)
            check(dense, analysis.factorise(sp.csc_array(dense)), b)
        assert lu.nnz > 0
        assert np.isfinite(lu.growth)


def revision(factors):
    """How often blocks of its pattern have been planned again."""
    return getattr(factors, "analysis", factors)._plan.blocks.revision


def filling(n=400, density=0.006, seed=7):
    """A random matrix on a cycle, with a tiny diagonal: every pivot moves, against the order."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=density, random_state=rng, format="csc")
    cycle = sp.csc_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n))
    return sp.csc_array(A + 1e-9 * sp.eye_array(n, format="csc") + cycle)


def kernels(analysis):
    """Those of blocks for which there was a choice."""
    return [way[2] for way in analysis._plan.blocks.chosen.values()]


def test_a_block_that_fills_up_is_left_to_another_kernel():
    A, b = filling(600), np.random.default_rng(1).standard_normal(600)
    analysis = solvers.analyse(A, matching=np.arange(600), solver=here(overrun=0.0))
    assert kernels(analysis) == []
    lu = analysis.factorise(A)
    assert kernels(lu.analysis) == ["own"], (
        "fronts are given up as well: what is left takes its time"
    )
    assert lu.analysis is not analysis
    assert kernels(analysis) == [], "an analysis never changes"
    assert (revision(analysis), revision(lu)) == (0, 2)
    lu.refactorise(2 * A)
    later = lu.analysis.factorise(A)
    assert revision(lu) == revision(later) == 2, "the new plan is kept"
    assert np.allclose(2 * A @ lu.solve(b), b)
    assert np.allclose(A @ later.solve(b), b)


def test_values_choose_the_diagonal_of_a_block_that_fills_up():
    """Where pivoting may follow the values, that is tried before the block is given away."""
    A, n = filling().tocoo(), 400
    analysis = solvers.analyse(A, solver=here(overrun=1.0, by_values=(0, 0, 0)))
    on_diagonal = analysis.form.matching.row_mate[A.row] == A.col
    A.data = np.where(on_diagonal, 1e-9, np.random.default_rng(7).uniform(0.1, 1.1, A.nnz))
    A = A.tocsc()
    k = int(np.argmax(analysis.form.block_sizes))
    lu = analysis.factorise(A.tocoo())
    assert revision(lu) >= 1
    assert revision(analysis) == 0
    assert lu.analysis._plan.blocks.chosen[k][0] == "product"
    blocks = lu.analysis._plan.blocks
    assert A[blocks.row_perm][:, blocks.col_perm].diagonal().min() >= 0.1
    b = np.random.default_rng(1).standard_normal(n)
    assert np.allclose(A @ lu.solve(b), b)


def test_no_search_for_new_values(monkeypatch):
    """Matching, block search, ordering: once."""
    A = sp.csc_array(staircase(np.random.default_rng(2), [3, 1, 6, 1]))
    analysis = solvers.analyse(A)

    def forbidden(*args, **kwargs):
        raise AssertionError("the pattern was searched again")

    monkeypatch.setattr(plan, "_remembered_settings", forbidden)
    lu = analysis.factorise(A)
    lu.refactorise(A)
    analysis.factorise(A.data)
    assert np.allclose(A @ lu.solve(np.ones(11)), 1)


@pytest.mark.parametrize("pivoting", ["structure", "product"])
def test_pivoting(pivoting):
    dense = staircase(np.random.default_rng(4), [7, 1, 8])
    for chosen in (pivoting, "auto"):
        check(dense, solvers.splu(sp.csc_array(dense), pivoting=chosen), np.ones(16))
    ilu = solvers.spilu(sp.csc_array(dense), 0.0, pivoting=pivoting)
    check(dense, ilu, np.ones(16))
    check(dense, ilu, 1j * np.ones((16, 2)))


def test_permutations_in_superlus_convention():
    """Of rows and columns where each goes: the inverse of what comes to each place."""
    ours = solvers.splu(sp.csc_array(staircase(np.random.default_rng(6), [9, 3, 1])))
    for order, places in (ours.row_perm, ours.perm_r), (ours.col_perm, ours.perm_c):
        assert np.array_equal(places[order], np.arange(13))
        assert places.dtype == order.dtype


def test_as_preconditioner():
    dense = staircase(np.random.default_rng(7), [20, 1, 30])
    A, b = sp.csc_array(dense), np.ones(51)
    lu, ilu = solvers.splu(A), solvers.spilu(A)
    for M in (lu, lu.as_operator(), ilu, ilu.as_operator()):
        steps = []
        x, info = gmres(A, b, M=M, rtol=1e-10, callback=steps.append, callback_type="pr_norm")
        assert info == 0
        assert len(steps) <= 5
        assert np.allclose(A @ x, b)
    assert np.allclose(aslinearoperator(lu) @ np.eye(51), np.linalg.inv(dense))
    assert np.allclose(lu.as_operator().H @ b, np.linalg.solve(dense.T, b))


def test_condition_and_growth():
    for sizes in ([3], [9, 1, 12]):
        dense = staircase(np.random.default_rng(8), sizes)
        lu = solvers.splu(sp.csc_array(dense))
        exact = np.linalg.cond(dense, 1)
        assert exact / 3 <= lu.condition() <= exact * (1 + 1e-9)
        assert 0 < lu.growth < 1e4


def test_an_external_solver_of_the_user():
    """Any callable of the shape of an adapter will do."""
    made = []

    class Dense:
        nnz = 0

        def __init__(self, indptr, rows, values, memory):
            self.pattern = rows, indptr
            made.append(self)
            self.refactorise(values)

        def refactorise(self, values):
            self.A = sp.csc_array((values, *self.pattern)).toarray()

        def solve(self, b, trans):
            return np.linalg.solve(turned(self.A, trans), b)

    dense = staircase(np.random.default_rng(9), [6, 1, 8], 0.9)
    check(dense, solvers.splu(sp.csc_array(dense), solver=outside(Dense)), np.ones((15, 2)))
    assert made
    assert isinstance(solvers.analyse(sp.csc_array(dense), solver=Dense), solvers.Analysis)
    assert isinstance(solvers.splu(sp.csc_array(dense)), solvers.BlockTriangularLU)
    assert isinstance(solvers.spilu(sp.csc_array(dense)), solvers.TransversalILU)
