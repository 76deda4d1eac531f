"""Least squares by `lstsq` where the rank is known, in any units, against exact ranks and an SVD.

Dense parts of low rank coupled to independent columns, in natural order; products of low rank;
repeated, zero and combined rows and columns; coarse parts; pieces; tall, wide and square, real and
complex; of small integers, whose rank is exact, modulo a prime, or of normal numbers, whose rank
is that of an SVD with a gap from NOTHING to LEAST. Units of the whole from 1e-300 to 1e300; also of
each column where columns are independent, of each row where rows are: the rank is defined there.
What fails: a rank that is another, an x that is not the shortest with the least residual to
TOLERANCE times the condition (15 % are basic: at most as many elements as the rank), a residual's
norm that is another, each without an IllConditionedWarning; such a warning at a condition below
CLEAR; another warning or exception.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from exact_ranks import exact_rank
from sparsematch.solvers import IllConditionedWarning, lstsq

# Singular values beside the largest, columns or rows scaled: none is in between.
LEAST, NOTHING = 1e-10, 1e-14
CLEAR = 1e6
TOLERANCE = 1e-12
LARGEST_UNIT = 996  # 2^996 is 1e300
FORMATS = "csr", "csc", "coo"


class Numbers:
    """Matrices of one kind of numbers."""

    def __init__(self, rng):
        self.rng, self.real, self.exact = rng, rng.random() < 0.7, rng.random() < 0.5

    def part(self, shape):
        exact = self.exact
        return self.rng.integers(-3, 4, shape) * 1.0 if exact else self.rng.standard_normal(shape)

    def __call__(self, *shape):
        return self.part(shape) if self.real else self.part(shape) + 1j * self.part(shape)

    def thin(self, *shape):
        return self(*shape) * (self.rng.random(shape) < self.rng.choice([0.05, 0.1, 0.3, 0.7, 1]))

    def low_rank(self, m, n):
        k = int(self.rng.integers(0, min(m, n, 5) + 1))
        return self(m, k) @ self(k, n)


def coupled(numbers, m, n):
    """A dense part of low rank, and rows with columns of their own that are coupled to it."""
    q = int(numbers.rng.integers(0, min(m, n) + 1))
    own = np.eye(q) if numbers.rng.random() < 0.5 else np.tril(numbers.thin(q, q), -1) + np.eye(q)
    dense, zeros = numbers.low_rank(m - q, n - q), np.zeros((m - q, q))
    D = np.block([[dense, zeros], [numbers.thin(q, n - q), own]])
    return D[:, ::-1] if numbers.rng.random() < 0.3 else D


def with_combinations(numbers, m, n):
    """Rows and columns that are combinations of two others, or zero."""
    D, rng = numbers.thin(m, n), numbers.rng
    for side in (D, D.T):
        for k in np.flatnonzero(rng.random(len(side)) < 0.3):
            side[k] = rng.integers(-2, 3, 2) @ side[rng.integers(0, len(side), 2)]
    return D


def coarse_parts(numbers, m, n):
    """All three on the diagonal, of full rank or not, and entries above them."""
    rng, D = numbers.rng, np.zeros((m, n), complex if not numbers.real else float)
    rows, cols = (np.sort(rng.integers(0, size + 1, 2)) for size in (m, n))
    for i, j, end in zip((0, *rows), (0, *cols), (*rows, m), strict=True):
        D[i:end, j:] = numbers.thin(end - i, n - j)
    return D


def in_pieces(numbers, m, n):
    makes = numbers.rng.choice(len(KINDS) - 1, 3)
    return block_diag(*(KINDS[k](numbers, m // 3, n // 3) for k in makes))


KINDS = (
    coupled,
    lambda numbers, m, n: coupled(numbers, n, m).T,
    Numbers.low_rank,
    lambda numbers, m, n: numbers.thin(m, min(m, n) // 2) @ numbers.thin(min(m, n) // 2, n),
    Numbers.thin,
    with_combinations,
    coarse_parts,
    in_pieces,
)


def clear_rank(D, exact):
    """The rank, or None where rounding leaves it in doubt: columns scaled, or rows."""
    ranks = {exact_rank(D)} if exact else set()
    for axis in (0, 1):
        norms = np.linalg.norm(D, axis=axis, keepdims=True)
        s = np.linalg.svd(D / np.where(norms > 0, norms, 1), compute_uv=False)
        s = s / s.max(initial=1e-300)
        ranks |= {int((s > LEAST).sum()), int((s > NOTHING).sum())}
    return ranks.pop() if len(ranks) == 1 else None


class Known:
    """A matrix of known rank in units of about 1, its right-hand sides, and what solves it."""

    def __init__(self, rng):
        self.rng, numbers = rng, Numbers(rng)
        most = 240 if rng.random() < 0.02 else 60 if rng.random() < 0.3 else 15
        m, n = (int(k) for k in rng.integers(1, most + 1, 2))
        n = m if rng.random() < 0.25 else n
        D = KINDS[rng.integers(len(KINDS))](numbers, m, n)
        if rng.random() < 0.4:
            D = D[rng.permutation(len(D))][:, rng.permutation(D.shape[1])]
        self.D, (m, n) = D, D.shape
        self.b = numbers(m, *rng.integers(1, 4, int(rng.random() < 0.5)))
        if rng.random() < 0.4:
            self.b = D @ numbers(n, *self.b.shape[1:])
        self.rank = clear_rank(D, numbers.exact) if D.size else 0

    def solve(self):
        """Return the solution, its error's size for an error of 1 in D and b, and the residual."""
        u, s, vh = np.linalg.svd(self.D, full_matrices=False)
        u, s, vh = u[:, : self.rank], s[: self.rank], vh[: self.rank]
        x = vh.conj().T @ ((u.conj().T @ self.b).T / s).T
        residual = np.linalg.norm(self.b - self.D @ x, axis=0)
        self.condition = s[0] / s[-1] if self.rank else 1.0
        size, least = np.linalg.norm(x, axis=0), s[-1] if self.rank else 1.0
        change = self.condition * (size + residual / least)
        return x, change + np.linalg.norm(self.b, axis=0) / least, residual

    def units(self):
        """Exponents of the units of rows and columns, with which x is that of D."""
        rng, (m, n) = self.rng, self.D.shape
        rows, cols = np.zeros(m, int), np.zeros(n, int)
        whole = int(rng.integers(-LARGEST_UNIT, LARGEST_UNIT + 1)) if rng.random() < 0.6 else 0
        width = int(rng.choice([0, 0, 3, 30, LARGEST_UNIT - abs(whole)]))
        if self.rank == n and rng.random() < 0.5:
            cols = rng.integers(-width, width + 1, n)
        elif self.rank == m:
            rows = rng.integers(-width, width + 1, m)
        return rows, cols + whole


def times(values, exponents):
    parts = np.ascontiguousarray(values)[..., np.newaxis].view(float)
    return np.ldexp(parts, exponents[..., np.newaxis]).view(values.dtype)[..., 0]


def along(b, exponents):
    return exponents.reshape(-1, *[1] * (b.ndim - 1))


def judge(known, found, rows, cols, tag):
    """What is wrong with a solution that was not warned of."""
    if found.rank != known.rank:
        yield f"{tag}: rank {found.rank}, right is {known.rank}"
        return
    want, change, residual = known.solve()
    x = times(found.x, along(found.x, cols))
    off = np.linalg.norm(x - want, axis=0)
    if not found.minimum_norm:
        if np.count_nonzero(x.any(axis=-1) if x.ndim > 1 else x) > known.rank:
            yield f"{tag}: more elements in a basic solution than the rank is"
    elif not (off <= TOLERANCE * change).all():
        yield f"{tag}: x off by {np.max(off):.1e}, {np.max(off / change):.1e} of its sensitivity"
    if not rows.any():
        size = 1e-300 + residual + change * np.linalg.norm(known.D)
        off = np.abs(found.residual_norm - residual) / size
        if not (off <= TOLERANCE).all():
            yield f"{tag}: the residual's norm is off by {np.max(off):.1e}"


def case(rng):
    known = Known(rng)
    if known.rank is None:
        return
    rows, cols = known.units()
    D = times(known.D, rows[:, np.newaxis] + cols)
    b = times(known.b, along(known.b, rows))
    if not np.isfinite(D).all():
        return
    A = sp.csr_array(D).asformat(FORMATS[rng.integers(len(FORMATS))])
    tag = f"{D.shape[0]} x {D.shape[1]}, {D.dtype}, rank {known.rank}"
    tag += f", units 2^{np.append(cols, 0).min()}...{np.append(cols, 0).max()}"
    tag += f", of rows 2^{np.append(rows, 0).min()}...{np.append(rows, 0).max()}"
    shortest = rows.any() or rng.random() < 0.85  # a basic one is made by columns
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = lstsq(A, b, minimum_norm=bool(shortest))
    if others := [w for w in seen if w.category is not IllConditionedWarning]:
        yield f"{tag}: {others[0].category.__name__}: {others[0].message}"
    if not seen:
        yield from judge(known, found, rows, cols, tag)
        return
    known.solve()
    if known.condition < CLEAR:
        yield f"{tag}: warned of at a condition of {known.condition:.0e}: {seen[0].message}"
