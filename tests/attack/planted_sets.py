"""Singular matrices of which we planted why, and regular ones: what is named, and what is warned.

    python tests/attack/planted_sets.py SEED SETS REGULAR SINGULAR

SETS matrices have rows that depend on each other: of any shape, beside empty and equal equations
that the structure shows, with coefficients over six orders, noise of 1e-12, islands up to 500, in
units over 12 orders. REGULAR matrices are asked in three systems of units. SINGULAR ones are
factorised and solved: a silent one ends with neither an error nor a warning, and a solution that
is wrong, where it is singular to working precision: noise of 1e-12 leaves others a few digits. The
judge knows what was planted, and residuals in long double; nothing of the package.
"""

import sys
import warnings
from collections import Counter

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from sparsematch import explain_singularity, solvers

#: Smallest singular value, all maxima 1, of what is regular, and what a residual may be.
CLEAR, VANISHES = 1e-6, 1e-9
#: Smallest singular value, all maxima 1, of what is singular to working precision.
SINGULAR = 1e-14


def maxima_one(A, sweeps=20):
    """Return the matrix with the largest entries of rows and columns near 1, and both factors."""
    rows, cols = np.ones(A.shape[0]), np.ones(A.shape[1])
    for _ in range(sweeps):
        B = np.abs(A) * rows[:, None] * cols
        row, col = B.max(axis=1), B.max(axis=0)
        rows, cols = rows / np.sqrt(np.where(row, row, 1)), cols / np.sqrt(np.where(col, col, 1))
    return A * rows[:, None] * cols, rows, cols


def regular(rng, n):
    """Return a matrix of a clear rank: a ring, a band, or scattered entries."""
    while True:
        share = rng.choice([2, 4, 8]) / n
        A = np.where(rng.random((n, n)) < share, rng.uniform(0.2, 1, (n, n)), 0)
        A *= rng.choice([-1, 1], (n, n))
        A += np.diag(rng.uniform(1, 3, n))[:, rng.permutation(n) if rng.random() < 0.5 else ...]
        if np.linalg.svd(maxima_one(A)[0], compute_uv=False)[-1] > CLEAR:
            return A


def dependent(rng, A, size, orders=1.5):
    """Replace a row by a combination of `size` - 1 others; return the members."""
    members = rng.choice(A.shape[0], size, replace=False)
    factors = rng.choice([-1, 1], size - 1) * 10 ** rng.uniform(-orders, 0, size - 1)
    A[members[0]] = factors @ A[members[1:]]
    return frozenset(members.tolist())


def island(rng, size):
    """Return the Laplacian of a ring or a tree without reference."""
    tail = np.arange(1, size)
    head = np.array([rng.integers(max(0, k - 5), k) for k in tail])
    W = np.zeros((size, size))
    W[tail, head] = 10 ** rng.uniform(-1, 1, size - 1)
    W += W.T
    return np.diag(W.sum(axis=1)) - W


def planted(rng, kind):
    """Return a matrix, and the sets of its rows that depend on each other."""
    A = regular(rng, n := int(rng.integers(20, 120)))
    sets = []
    if kind == "island":
        L = island(rng, int(rng.integers(3, 500)))
        A = block_diag(A, L)
        sets = [frozenset(range(n, A.shape[0]))]
        where = rng.permutation(A.shape[0])
        return A[np.argsort(where)][:, rng.permutation(A.shape[0])], [
            frozenset(where[list(one)].tolist()) for one in sets
        ]
    sets.append(dependent(rng, A, int(rng.integers(2, 12)), 6 if kind == "six orders" else 1.5))
    if kind == "rectangular":
        more = rng.uniform(0.2, 1, (n, int(rng.integers(1, 9)))) * (rng.random((n, 1)) < 0.3)
        more[min(sets[0])] = 0
        outside = ~np.isin(np.arange(n), list(sets[0]))
        A = np.hstack([A, more * outside[:, None]])
    elif kind == "structure":
        A = block_diag(A, np.ones((1, 2)), np.ones((2, 1)))
        sets.append(frozenset({n + 1, n + 2}))
    elif kind == "noise":
        A *= 1 + 1e-12 * rng.standard_normal(A.shape)
    elif kind == "units":
        A = A * 10 ** rng.uniform(-6, 6, A.shape[1]) * 10 ** rng.uniform(-6, 6, (A.shape[0], 1))
    return A, sets


def is_false(A, one):
    """Tell whether a named set of rows does not vanish with all maxima at 1."""
    _, _, cols = maxima_one(A)
    terms = one.coefficients[:, None].astype(np.longdouble) * A[one.indices] * cols
    return float(np.abs(terms.sum(axis=0)).max()) > VANISHES * float(np.abs(terms).max())


KINDS = "rectangular", "structure", "six orders", "noise", "island", "units"


def plant_all(rng, count):
    """Print how many are named exactly, and how many named sets are false."""
    tried, exact, false = Counter(), Counter(), 0
    for k in range(count):
        kind = KINDS[k % len(KINDS)]
        A, sets = planted(rng, kind)
        found = explain_singularity(sp.csc_array(A), numeric=True).numbers
        named = {frozenset(one.indices.tolist()) for one in found.equations}
        tried[kind] += 1
        exact[kind] += named == set(sets)
        for claims, of in ((found.equations, A), (found.variables, A.T)):
            false += sum(is_false(of, one) for one in claims)
    by_kind = ", ".join(f"{kind} {exact[kind]} of {tried[kind]}" for kind in KINDS)
    print(f"planted: {exact.total()} of {count} exact ({by_kind}); {false} false sets", flush=True)


def ask_regular(rng, count):
    """Print how many regular ones are called singular, or warned of though they are solved."""
    called = warned = 0
    for _ in range(count):
        A = regular(rng, n := int(rng.integers(20, 120)))
        for orders in (0, 6, 12):
            units = 10 ** rng.uniform(-orders / 2, orders / 2, (2, n))
            B = sp.csc_array(A * units[0] * units[1][:, None])
            called += explain_singularity(B, numeric=True).is_numerically_singular
            x = 1 / units[0]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                solution = solvers.spsolve(B, B @ x)
            warned += bool(caught) and np.abs(solution / x - 1).max() < 1e-8
    print(f"regular: {called} of {3 * count} called singular, {warned} warned of", flush=True)


def solve_singular(rng, count):
    """Print how many singular ones are solved without a word, though the solution is wrong."""
    tried, silent, regular_ones = Counter(), Counter(), 0
    for k in range(count):
        A, _ = planted(rng, kind := KINDS[2 + k % 4])
        tried[kind] += 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                x = solvers.spsolve(sp.csc_array(A), A @ np.ones(A.shape[1]))
            except solvers.SingularMatrixError:
                continue
        if not caught and np.abs(x - 1).max() > 1e-3:
            is_singular = np.linalg.svd(maxima_one(A)[0], compute_uv=False)[-1] <= SINGULAR
            silent[kind] += is_singular
            regular_ones += not is_singular
    by_kind = ", ".join(f"{kind} {silent[kind]} of {tried[kind]}" for kind in tried)
    more = f"{regular_ones} of less than three digits are regular"
    print(f"singular: {silent.total()} of {count} silent ({by_kind}); {more}", flush=True)


def main(seed=1, sets=600, regular_ones=200, singular=2000):
    """Run the three parts."""
    generator = np.random.default_rng(int(seed))
    plant_all(generator, int(sets))
    ask_regular(generator, int(regular_ones))
    solve_singular(generator, int(singular))


if __name__ == "__main__":
    main(*sys.argv[1:])
