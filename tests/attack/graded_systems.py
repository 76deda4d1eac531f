"""Solutions whose elements differ by orders of magnitude, measured row by row.

Small integers and patterns of linear_systems.py, real and complex, in units of up to 1e140 and
with entries of 1e290; chains of refactorisations, transposed, several right-hand sides, easy first.
The right-hand side is that of a known solution of which one element is up to 1e10 times the others.
A solution fails whose componentwise backward error is above 1e-12 without an IllConditionedWarning.
So does any warning where the matrix without its units has a condition below 1e6, unless rows or
columns differ by more than 1e5: no scaling that is cheap finds all such units.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from linear_systems import TRANSPOSED, pattern
from sparsematch import solvers
from sparsematch.solvers import IllConditionedWarning, SingularMatrixError

GOOD, WELL_CONDITIONED = 1e-12, 1e6
#: Greatest decimal exponents of the units of rows and columns, and of a factor of all entries.
UNITS = (0, 0, 0), (140, 0, 0), (0, 140, 0), (140, 140, 0), (2, 2, 290), (60, 60, 150), (0, 0, 290)


def backward_error(A, x, b):
    """Oettli and Prager's; of rows whose terms are tiny Arioli's, Demmel's and Duff's.

    In long double, of the range of which no product is beyond. What x loses near the least double
    is not counted.
    """
    wide = np.clongdouble if any(map(np.iscomplexobj, (A, x, b))) else np.longdouble
    A, x, b = (np.asarray(v, wide) for v in (A, x, b))
    x, b = x.reshape(len(A), -1), b.reshape(len(A), -1)
    lost = abs(A).sum(axis=1, keepdims=True) * np.longdouble(2) ** -1073
    residual = np.maximum(abs(A @ x - b) - lost, 0)
    size = abs(A) @ abs(x) + abs(b)
    by_norm = abs(A).max(axis=1, keepdims=True) * abs(x).max(axis=0)
    tiny = 1000 * len(A) * np.finfo(float).eps * (by_norm + abs(b))
    size = np.where(size <= tiny, size + by_norm, size)
    return float((residual / np.where(size > 0, size, 1)).max())


class Graded:
    """A matrix without units, which change with the values."""

    def __init__(self, rng):
        self.rng = rng
        self.n = int(rng.integers(2, 9) if rng.random() < 0.7 else rng.integers(9, 40))
        self.pattern = pattern(rng, self.n)
        self.is_complex = rng.random() < 0.3
        self.most = UNITS[rng.integers(len(UNITS))]
        self.draw()

    def numbers(self, shape):
        """Small integers or normal numbers."""
        rng, small = self.rng, self.rng.random() < 0.6
        draw = (lambda: rng.integers(-4, 5, shape)) if small else lambda: rng.standard_normal(shape)
        return draw() + 1j * draw() if self.is_complex else draw() * 1.0

    def units(self, exponent):
        return 10.0 ** self.rng.uniform(-exponent, exponent, self.n)

    def draw(self):
        """Draw other values on the pattern."""
        self.plain = np.where(self.pattern, self.numbers(self.pattern.shape), 0)
        self.rows, self.cols = self.units(self.most[0]), self.units(self.most[1])
        self.factor = 10.0 ** self.rng.choice([-self.most[2], self.most[2]])
        self.matrix = self.factor * (self.rows[:, np.newaxis] * self.plain * self.cols)
        condition = np.linalg.cond(self.plain)
        self.is_easy = condition < WELL_CONDITIONED and max(self.most[:2]) <= 2

    def sparse(self):
        rows, cols = np.nonzero(self.pattern)
        A = sp.coo_array((self.matrix[rows, cols], (rows, cols)), shape=self.matrix.shape)
        return A.asformat("csc" if self.n % 2 else "csr")

    def right_hand_side(self, trans, width):
        """Return that of a graded solution: with units, small integers as often as not."""
        rng, y = self.rng, self.numbers((self.n, width))
        y[rng.integers(0, self.n, width), np.arange(width)] *= 10.0 ** rng.uniform(4, 10, width)
        units = self.rows if trans == "N" else self.cols
        b = TRANSPOSED[trans](self.plain) @ y
        return (b * units[:, np.newaxis]) * self.factor


def check(lu, system, tag):
    """Solve with all transposes, after easy right-hand sides, which would earn trust."""
    rng = system.rng
    for trans in rng.permutation(list(TRANSPOSED)):
        b = system.right_hand_side(trans, int(rng.choice([1, 1, 2, 5])))
        if not np.isfinite(b).all():
            continue
        b = b[:, 0] if b.shape[1] == 1 else b
        for _ in range(int(rng.integers(3))):
            lu.solve(rng.choice([0.0, 1.0]) * np.ones(system.n), trans)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            x = lu.solve(b, trans)
        words = f"{tag}, {system.n} rows, trans {trans!s}, units {system.most}: "
        if any(w.category is not IllConditionedWarning for w in warned):
            yield words + f"warned by others: {warned[0].message}"
        if warned and system.is_easy:
            yield words + f"warned: {warned[0].message}"
        error = backward_error(TRANSPOSED[trans](system.matrix), x, b)
        if not warned and not error <= GOOD:
            yield words + f"backward error {error:.1e}"


def case(rng):
    system = Graded(rng)
    lu = None
    for again in range(int(rng.integers(1, 4))):
        if again:
            system.draw()
        A = system.sparse()
        if not np.isfinite(A.data).all():
            return
        tag = "again" if again else "fresh"
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                if lu is None:
                    lu = solvers.splu(A)
                else:
                    lu.refactorise(A)
        except SingularMatrixError:
            if system.is_easy:
                yield f"{tag}, {system.n} rows, units {system.most}: called singular"
            return
        if warned and system.is_easy:
            yield f"{tag}, {system.n} rows, units {system.most}: warned: {warned[0].message}"
        warnings.simplefilter("ignore")
        yield from check(lu, system, tag)
