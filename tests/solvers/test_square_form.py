"""The block form that a factorisation finds is that of the general search."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy.sparse as sp

import oracle
import sparsematch as sm
from sparsematch import solvers


def check(dense, rng):
    """Compare with the general search; returns whether there is a perfect matching."""
    A = sp.csc_array(dense * rng.uniform(0.5, 1.5, dense.shape))
    if sm.structural_rank(A) < len(dense):
        if rng.random() < 0.1:  # to say why takes its time
            with pytest.raises(solvers.SingularMatrixError):
                solvers.analyse(A)
            with pytest.raises(solvers.SingularMatrixError):
                solvers.splu(A)
        return False
    form, expected = solvers.analyse(A).form, sm.block_triangular_form(A)
    assert sm.is_block_form(A, form)
    assert oracle.canonical(form) == oracle.canonical(expected)
    assert form.structural_rank == len(dense)
    b = rng.standard_normal(len(dense))
    x = solvers.splu(A).solve(b)
    assert np.allclose(A @ x, b, rtol=1e-8, atol=1e-8 * max(1.0, np.abs(x).max()))
    return True


def patterns(n):
    """All patterns of n x n, but for the order of rows, which is shuffled."""
    rng = np.random.default_rng(n)
    for rows in combinations_with_replacement(range(2**n), n):
        yield (np.array(rng.permutation(rows))[:, np.newaxis] >> np.arange(n) & 1).astype(bool)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_small_patterns(n):
    rng = np.random.default_rng(8)
    regular = [dense for dense in patterns(n) if dense.any(0).all() and check(dense, rng)]
    assert len(regular) == {1: 1, 2: 4, 3: 51, 4: 1998}[n]


def test_coupled_patterns():
    """Pieces of three rows, entries above them, rows and columns shuffled."""
    rng = np.random.default_rng(9)
    pieces = list(patterns(3))
    n_regular = 0
    for _ in range(500):
        count = rng.integers(2, 6)
        dense = np.triu(rng.random((3 * count, 3 * count)) < 0.2, 1)
        for k in range(count):
            dense[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = pieces[rng.integers(len(pieces))]
        dense |= np.eye(3 * count, dtype=bool) & (rng.random(3 * count) < 0.7)
        shuffled = dense[rng.permutation(3 * count)][:, rng.permutation(3 * count)]
        n_regular += check(shuffled, rng)
    assert n_regular > 200
