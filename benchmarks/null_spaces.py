"""Null spaces: sparsematch.solvers.null_space beside dense decompositions.

    python benchmarks/null_spaces.py [LARGEST COLUMNS]

Prints a line for each matrix and way: reactions of a network, edges, the Laplacian and the bars of
a grid, constraints; the nullity, the seconds, the entries of the basis, and the largest entry of
``A @ vectors`` over the largest of the terms. The dense ways, up to 3,000 columns: an SVD, as
``scipy.linalg.null_space``, and what MATLAB users do for sparse matrices by hand: the last columns
of Q of the transpose (pivoted QR), and those of L, eliminated (LU), where rows are independent.
"""

import sys
import time

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sparsematch import solvers

MOST_DENSE = 3000
ZERO = 1e-12  # entries of dense bases that count as zero


def reactions(n):
    """Half as many metabolites as reactions, some of them in many."""
    rng = np.random.default_rng(0)
    m = n // 2
    weights = 1 / np.arange(1, m + 1) ** 0.5
    rows = rng.choice(m, 4 * n, p=weights / weights.sum())
    values = rng.choice([-2.0, -1.0, 1.0, 2.0], 4 * n)
    return sp.csr_array(sp.coo_array((values, (rows, np.repeat(np.arange(n), 4))), (m, n)))


def edges(n):
    """Vertices by edges of a square grid with about n edges."""
    k = int(np.sqrt(n / 2))
    at = np.arange(k * k).reshape(k, k)
    tail = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()])
    head = np.concatenate([at[1:].ravel(), at[:, 1:].ravel()])
    rows, cols = np.concatenate([tail, head]), np.tile(np.arange(tail.size), 2)
    return sp.csr_array((np.repeat([1.0, -1.0], tail.size), (rows, cols)), (k * k, tail.size))


def laplacian(n):
    """The Laplacian of a grid with about n vertices."""
    A = edges(2 * n)
    return sp.csr_array(A @ A.T)


def bars(n):
    """Bars by movements of the joints of a square truss with one diagonal in each field."""
    k = int(np.sqrt(n / 2))
    at = np.arange(k * k).reshape(k, k)
    kinds = (at[:-1], at[1:], 0, 1), (at[:, :-1], at[:, 1:], 1, 0)
    kinds += ((at[:-1, :-1], at[1:, 1:], 1, 1),)
    parts = []
    for a, b, x, y in kinds:
        a, b, bar = a.ravel(), b.ravel(), np.arange(a.size)
        columns = np.concatenate([2 * a, 2 * a + 1, 2 * b, 2 * b + 1])
        values = np.repeat([x, y, -x, -y], a.size) / np.hypot(x, y)
        parts.append(sp.coo_array((values, (np.tile(bar, 4), columns)), (a.size, 2 * k * k)))
    return sp.csr_array(sp.vstack(parts))


def constraints(n):
    """Balances of a chain of tanks with two streams each, and totals of a hundred of them."""
    m = n // 3
    balance = sp.diags_array([np.ones(m), -np.ones(m - 1)], offsets=[0, 1], shape=(m, m))
    total = sp.kron(sp.eye_array(m // 100), np.ones((1, 100)), format="csr")
    total.resize(m // 100, m)
    total = total.tocoo()
    balance = sp.hstack([balance, sp.eye_array(m), -sp.eye_array(m)])
    total = sp.csr_array((total.data, total.coords), (total.shape[0], 3 * m))
    return sp.csr_array(sp.vstack([balance, total]))


def by_qr(A):
    """The columns of Q behind the rank, of the transpose."""
    q, r, _ = scipy.linalg.qr(A.toarray().T, pivoting=True)
    size = np.abs(np.diag(r))
    return q[:, np.count_nonzero(size > size[0] * 1e-12) :]


def by_lu(A):
    """What eliminates the last rows of L, of the transpose; None where rows depend on others."""
    p, lower, upper = scipy.linalg.lu(A.toarray().T)
    m, n = A.shape
    if m >= n or np.abs(np.diag(upper)).min() < 1e-12:
        return None
    below = scipy.linalg.solve_triangular(lower[:m], lower[m:].T, trans="T", lower=True)
    return p @ np.vstack([-below, np.eye(n - m)])


WAYS = {
    "null_space": lambda A: solvers.null_space(A).vectors,
    "orthonormal": lambda A: solvers.null_space(A, basis="orthonormal").vectors,
    "SVD": lambda A: scipy.linalg.null_space(A.toarray()),
    "QR of A^T": by_qr,
    "LU of A^T": by_lu,
}


def line(name, A, way):
    """Measure one of the ways."""
    start = time.perf_counter()
    N = WAYS[way](A)
    seconds = time.perf_counter() - start
    if N is None:
        return
    N = sp.csc_array(N)
    left = abs(A @ N).max() / max(abs(N).max() * abs(A).max(), 1e-300) if N.shape[1] else 0
    entries = np.count_nonzero(np.abs(N.data) > ZERO)
    print(f"{name:12} {A.shape[0]:7,} x {A.shape[1]:7,} {way:12} nullity {N.shape[1]:6,} ", end="")
    print(f"{seconds:9.3f} s {entries:11,} entries, residual {left:.0e}", flush=True)


def main(largest=100_000):
    """Print the table."""
    solvers.null_space(edges(100), basis="orthonormal")  # imports
    for n in 1000, MOST_DENSE, 10_000, 100_000:
        for family in (reactions, edges, laplacian, bars, constraints):
            if n > largest or (family is reactions and n > MOST_DENSE):
                continue  # whose circuits have thousands of members
            A = family(n)
            for way in WAYS:
                if way == "null_space" or A.shape[1] <= MOST_DENSE:
                    line(family.__name__, A, way)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
