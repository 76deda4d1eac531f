"""Blocks factorised front by front: columns that wait for a pivot, new values, both sides."""

import ctypes
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from calls import few, limited
from sparsematch import solvers
from sparsematch._engines.cpu.blas import thread_functions
from sparsematch.solvers import SingularMatrixError
from test_elimination import random_on_a_grid
from test_markowitz import small_patterns

FRONTS = limited(forced="fronts", few_rows=1)
SIDES = {"N": lambda A: A, "T": lambda A: A.T, "H": lambda A: A.conj().T}


def check(lu, A, check=False, most=1e-9):
    """Solve with all sides; without `check` by the factors alone."""
    M, rng = A.toarray(), np.random.default_rng(1)
    for b in (rng.standard_normal(len(M)), rng.standard_normal((len(M), 3))):
        for trans, side in SIDES.items():
            x = lu.solve(b, trans, check=check)
            terms = abs(side(M)) @ np.abs(x) + np.abs(b)
            assert np.abs(side(M) @ x - b).max() <= most * terms.max()


def kernels(lu):
    return {way[2] for way in lu.analysis._plan.blocks.chosen.values()}


@pytest.mark.parametrize("seed", [0, 1])
def test_all_small_patterns(seed):
    """Beside dense elimination, with zeros and ties: singular ones are found to be so."""
    rng = np.random.default_rng(seed)
    factorised = 0
    for n, bits in small_patterns():
        A = np.zeros(n * n, complex if bits % 3 == 0 else float)
        places = [k for k in range(n * n) if bits >> k & 1]
        A[places] = rng.choice([1.0, -1.0, 2.0, 1e-3, 0.0], len(places))
        M = A.reshape(n, n) * (1 + 1j if A.dtype == complex else 1)
        sparse = sp.csc_array(M)
        try:
            lu = solvers.splu(sparse, solver=FRONTS)
        except SingularMatrixError:
            assert np.linalg.matrix_rank(M) < n
            continue
        if np.linalg.cond(M) < 1e12:
            check(lu, sparse)
            lu.refactorise(2 * sparse)
            check(lu, 2 * sparse)
            factorised += kernels(lu) == {"fronts"}
    assert factorised > 50


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("n", [12, 40])
def test_columns_wait_where_complete_rows_are_zero(kind, n):
    """A saddle point without a diagonal below: each row there waits for one of its neighbours."""
    rng = np.random.default_rng(2)
    G = random_on_a_grid(n, n).astype(kind)
    G = G @ G.T.conj() + sp.eye_array(n * n)
    J = sp.random_array((n, n * n), density=4 / n, rng=rng) + sp.eye_array(n, n * n)
    A = sp.csc_array(sp.block_array([[G, J.T], [J, None]]))
    lu = solvers.splu(A, solver=FRONTS, pivoting="structure")
    assert kernels(lu) == {"fronts"}
    check(lu, A)
    B = A.copy()
    B.data *= rng.uniform(0.5, 2, B.nnz)
    for C in (B, A):
        lu.refactorise(C)
        check(lu, C)


def test_new_values_that_need_other_pivots():
    """The old ones become tiny, one front after the other; then zeros leave no inverse."""
    A = random_on_a_grid(9, 9)
    A.setdiag(4)
    lu = solvers.splu(A, solver=FRONTS, pivoting="structure")
    before = lu.row_perm.copy()
    for k in (0, 40, 80):
        B = A.copy()
        B[k, k] = 1e-12
        lu.refactorise(B)
        check(lu, B, most=1e-12)
    lu.refactorise(A)
    check(lu, A)
    assert sorted(lu.row_perm) == sorted(before)
    singular = A.copy()
    singular.data[singular.indptr[3] : singular.indptr[4]] = 0
    with pytest.raises(SingularMatrixError):
        lu.refactorise(singular)
    lu.refactorise(A)
    check(lu, A)


@pytest.mark.parametrize(("pivoting", "growth"), [("structure", 1e6), ("product", 10)])
def test_rows_and_columns_of_all_scales(pivoting, growth):
    """Duals of the largest product make its entries the largest."""
    rng = np.random.default_rng(3)
    A = random_on_a_grid(12, 12)
    A.setdiag(6)
    rows, cols = (sp.diags_array(10.0 ** rng.uniform(-9, 9, 144)) for _ in range(2))
    B = sp.csc_array(rows @ A @ cols)
    lu = solvers.splu(B, solver=FRONTS, pivoting=pivoting)
    x = np.ones(144) / cols.diagonal()
    assert np.allclose(lu.solve(B @ x) * cols.diagonal(), 1, atol=1e-6)
    assert lu.growth < growth


def test_one_front_and_a_chain():
    """A full matrix, and a band: bit by bit the same each time."""
    rng = np.random.default_rng(4)
    full = sp.csc_array(rng.standard_normal((150, 150)))
    diagonals = rng.standard_normal((41, 300))
    band = sp.csc_array(sp.diags_array(diagonals, offsets=range(-20, 21), shape=(300, 300)))
    for A in (full, band):
        lu, again = (solvers.splu(A, solver=FRONTS) for _ in range(2))
        check(lu, A, check=True, most=1e-14)
        b = rng.standard_normal(A.shape[0])
        assert np.array_equal(lu.solve(b), again.solve(b))
        assert np.array_equal(lu.perm_r, again.perm_r)


def shared_by_workers(rng):
    """A tree with large fronts above, columns that wait there, one front, blocks, tiny pivots."""
    path = sp.diags_array([1.0, 4, -1.5], offsets=[-1, 0, 1], shape=(13, 13))
    plane = sp.kron(path, np.eye(13)) + sp.kron(np.eye(13), path)
    cube = sp.csc_array(sp.kron(plane, np.eye(13)) + sp.kron(np.eye(169), path))
    J = sp.random_array((200, cube.shape[0]), density=2e-3, rng=rng) + sp.eye_array(200, 13**3)
    yield "cube", cube
    yield "waiting", sp.block_array([[cube, J.T], [J, None]])
    yield "dense", sp.csc_array(rng.standard_normal((700, 700)))
    grids = [random_on_a_grid(20 + k, 20) + 3 * sp.eye_array(20 * (20 + k)) for k in range(8)]
    yield "blocks", sp.block_diag(grids)
    yield "tiny", sp.random_array((900, 900), density=0.01, rng=rng) + 1e-7 * sp.eye_array(900)


@pytest.mark.tsan
@pytest.mark.parametrize("kind", [float, pytest.param(complex, marks=pytest.mark.large)])
def test_factors_do_not_depend_on_the_number_of_workers(monkeypatch, kind):
    """To the last bit: those of the first values, and of other ones."""
    monkeypatch.setenv("SPARSEMATCH_CORES", "8")
    rng = np.random.default_rng(5)
    for name, A in shared_by_workers(rng):
        A = sp.csc_array(A.astype(kind) * (1 if kind is float else 1 + 0.5j))
        b, factors = rng.standard_normal(A.shape[0]), rng.uniform(0.9, 1.1, A.nnz)
        seen = set()
        for workers in (1, *few(2, 5, 8)):
            lu = solvers.splu(A, solver=FRONTS, pivoting="structure", workers=workers)
            assert kernels(lu) == {"fronts"}, name
            x = lu.solve(b, check=False)
            lu.refactorise(A.data * factors)
            y = lu.solve(b, "T", check=False)
            seen.add((x.tobytes(), y.tobytes(), lu.nnz, lu.growth))
        assert len(seen) == 1, name
        scale = abs(A) @ abs(x) + abs(b)
        assert (abs(A @ x - b) <= 1e-8 * scale.max()).all(), name


@pytest.mark.tsan
@pytest.mark.parametrize("workers", [1, 4])
def test_by_several_workers_singular_ones_are_found(monkeypatch, workers):
    """In a subtree, and in the fronts that all share; good values after that."""
    monkeypatch.setenv("SPARSEMATCH_CORES", "8")
    A = dict(shared_by_workers(np.random.default_rng(6)))["cube"]
    analysis = solvers.analyse(A, solver=FRONTS, workers=workers)
    for k in (0, A.shape[0] // 2):
        B = A.copy()
        B.data[B.indptr[k] : B.indptr[k + 1]] = 0
        with pytest.raises(SingularMatrixError):
            analysis.factorise(B)
    check(analysis.factorise(A), A)


def test_blas_has_one_thread_meanwhile_and_then_as_many_as_before():
    addresses = thread_functions()
    if not all(addresses):
        pytest.skip("SciPy's BLAS is not the OpenBLAS of its wheels")
    get = ctypes.CFUNCTYPE(ctypes.c_int)(addresses[0])
    set_number = ctypes.CFUNCTYPE(None, ctypes.c_int)(addresses[1])
    before = get()
    A = dict(shared_by_workers(np.random.default_rng(7)))["cube"]
    lu, ended, seen = solvers.splu(A, solver=FRONTS), threading.Event(), set()

    def watch():
        while not ended.is_set():
            seen.add(get())

    watcher = threading.Thread(target=watch)
    set_number(2)
    try:
        watcher.start()
        for _ in range(200):
            lu.refactorise(A)
            if seen == {1, 2}:
                break
        assert get() == 2
        ended.set()
        watcher.join()
        assert seen == {1, 2}
    finally:
        ended.set()
        set_number(before)
