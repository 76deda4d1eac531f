"""Matrices on which careless algorithms fail: exponential searches, deep recursion, repeats, hubs.

No times are asserted; an algorithm that does not return is ended by pytest's timeout.
"""

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import oracle
import sparsematch as sm
from calls import certify, grid, random_matrix, scrambled, solve
from gallery import pattern

pytestmark = [pytest.mark.large]
if gpu_calls.HAS_GPU:  # the stand-in for one has other things to show than speed
    pytestmark.append(pytest.mark.every_backend)


def long_ladder(n):
    """Bidiagonal, the last row needs the first column: one augmenting path through all rows."""
    i = np.arange(n)
    return pattern(np.r_[i, i[:-1]], np.r_[np.r_[i[:-1], 0], i[:-1] + 1], (n, n))


def band(n, width=3):
    """All the entries within `width` of the diagonal, but the diagonal itself."""
    offsets = [k for k in range(-width, width + 1) if k]
    return sp.csr_array(sp.diags_array([np.ones(n - abs(k)) for k in offsets], offsets=offsets))


@pytest.mark.parametrize("workers", [1, 2])
def test_long_ladder(compiled, workers):
    """Half a million rows in one path: nothing recurses."""
    m, _ = solve(long_ladder(500_000), compiled, workers=workers)
    assert m.is_perfect


@pytest.mark.parametrize("n", [100, 200])
def test_scrambled_grid(compiled, n):
    """SciPy does not finish the second within 45 seconds."""
    A = scrambled(grid(n), seed=127)
    m, _ = solve(A, compiled)
    certify(A, m, rank=n * n)


@pytest.mark.parametrize("degree", [2, 2.7, 3.5])
def test_random_near_the_threshold(degree):
    """Around degree e, what degree one cannot settle is hardest."""
    A = random_matrix(200_000, 200_000, degree, seed=137)
    ranks = set()
    for method in ("auto", "hopcroft_karp", "push_relabel", "ms_bfs_graft", "pothen_fan"):
        m = sm.maximum_transversal(A, method=method, workers=2)
        certify(A, m)
        ranks.add(m.cardinality)
    assert len(ranks) == 1


def test_repeats(compiled):
    """Every entry a hundred times, shuffled: more entries in a row than there are columns."""
    rng = np.random.default_rng(139)
    B = random_matrix(300, 280, 2.5, seed=149).tocoo()
    order = rng.permutation(100 * B.nnz)
    A = pattern(np.tile(B.row, 100)[order], np.tile(B.col, 100)[order], B.shape)
    m, _ = solve(A, compiled)
    certify(A, m, rank=oracle.rank(B))


def test_hubs(compiled):
    """A few full rows and columns among empty ones."""
    n = 20_000
    rows = np.r_[np.repeat([3, n // 2], n), np.arange(n), np.arange(n)]
    cols = np.r_[np.tile(np.arange(n), 2), np.full(n, 7), np.full(n, n - 2)]
    A = pattern(rows, cols, (n, n))
    m, _ = solve(A, compiled, workers=2)
    certify(A, m, rank=4)


@pytest.mark.parametrize(
    "shape", [(30_000, 200), (200, 30_000), (1, 100_000), (100_000, 1)], ids=str
)
def test_extreme_shapes(compiled, shape):
    A = random_matrix(*shape, 60_000 / shape[0], seed=151)
    m, _ = solve(A, compiled, workers=2)
    certify(A, m, rank=min(shape))


def test_deficient_square(exact):
    """Blocks of more rows than columns: most searches fail, what failed is not searched again."""
    block = sp.csr_array(np.ones((7, 3)))
    A = scrambled(sp.kron(sp.eye_array(60), sp.hstack([block, sp.csr_array((7, 4))])), seed=157)
    m, _ = solve(A, exact)
    certify(A, m, rank=180)


@pytest.mark.parametrize("n", [4000, 16_000, 64_000])
def test_hopcroft_karp_keeps_its_bound(n):
    """Long strips with holes: many phases, but O(sqrt(n)), and few scans of an entry in each."""
    A = sp.kron(sp.eye_array(n // 8), band(8, 1)) + sp.kron(band(n // 8, 1), sp.eye_array(8))
    kept = np.flatnonzero(np.random.default_rng(3).random(n) > 0.01)
    A = scrambled(sp.csr_array(A)[kept][:, kept], seed=173)
    m, run = sm.maximum_transversal(A, method="hopcroft_karp", init="none", return_info=True)
    (step,) = run.steps
    certify(A, m)
    assert 20 < step.phases <= 2 * m.cardinality**0.5 + 2
    assert step.edges <= 2 * A.nnz * (step.phases + 1)


def test_deep_strong_components():
    """A cycle through all rows is one block; without its last entry, all blocks have one row."""
    n = 300_000
    i = np.arange(n)
    cycle = pattern(np.r_[i, i], np.r_[i, (i + 1) % n], (n, n))
    path = pattern(np.r_[i, i[:-1]], np.r_[i, i[:-1] + 1], (n, n))
    assert sm.block_triangular_form(cycle).n_blocks == 1
    form = sm.block_triangular_form(scrambled(path, seed=163))
    assert form.n_blocks == n
    C = form.permute(scrambled(path, seed=163))
    assert sp.tril(C, -1).nnz == 0
    assert np.all(C.diagonal() == 1)
    assert sm.connected_components(scrambled(path, seed=163)).n_components == 1
