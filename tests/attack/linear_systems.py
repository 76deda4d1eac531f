"""Linear systems of all kinds against dense NumPy and SciPy: factorise, refactorise, solve.

Patterns of 1 to 69 rows, fourteen kinds of values, chains of refactorisations, transposed, several
right-hand sides, easy ones first. A solution fails whose normwise backward error is above 1e-9
where that of NumPy or SciPy is below 1e-12; so does a SingularMatrixError at a row-scaled condition
below 1e10, a right-hand side that is changed, a wrong dtype or shape.
"""

import numpy as np
import scipy.sparse as sp

from sparsematch import solvers
from sparsematch.solvers import SingularMatrixError

# Backward errors: ours is a failure above the first where another's is below the second.
POOR, GOOD = 1e-9, 1e-12
WELL_CONDITIONED = 1e10  # with rows scaled, far from singular in double precision
PIVOTING = "auto", "structure", "product"
TRANSPOSED = {"N": lambda M: M, "T": lambda M: M.T, "H": lambda M: M.conj().T}


def others(M, b, trans):
    """The least backward error of dense NumPy and SciPy's SuperLU, or None if both fail."""
    A = TRANSPOSED[trans](M)
    kind = np.result_type(M, b, np.float64)
    found = []
    for solve in (
        lambda: np.linalg.solve(A, b),
        lambda: sp.linalg.splu(sp.csc_array(A.astype(kind))).solve(np.asarray(b, kind)),
    ):
        try:
            error = backward_error(A, solve(), np.asarray(b))
        except (np.linalg.LinAlgError, RuntimeError):
            continue
        if np.isfinite(error):
            found.append(error)
    return min(found, default=None)


def check_solution(lu, M, b, trans, tag):
    """What is wrong with the solution of one system."""
    kept = b.copy()
    x = lu.solve(b, trans)
    if not np.array_equal(b, kept) or np.shares_memory(x, b):
        yield f"{tag}: the right-hand side is changed or shared"
    want = np.result_type(lu.dtype, b.dtype, np.float64)
    if (x.shape, x.dtype) != (b.shape, want):
        yield f"{tag}: {x.shape} of {x.dtype}, not {b.shape} of {want}"
        return
    error = backward_error(TRANSPOSED[trans](M), x, b) if np.isfinite(x).all() else np.inf
    if error > POOR and (other := others(M, b, trans)) is not None and other < GOOD:
        yield (
            f"{tag}, {len(M)} rows, trans {trans!r}: backward error {error:.1e}, {other:.1e} by "
            f"NumPy or SciPy, condition {condition(M):.1e}"
        )


def check(lu, M, rng, tag):
    """Solve with all transposes twice, often with an easy right-hand side first."""
    n = len(M)
    for again in range(2):
        for trans in TRANSPOSED:
            if not again and rng.random() < 0.4:
                b = np.zeros(n)
            else:
                b = RIGHT_HAND_SIDES[rng.integers(len(RIGHT_HAND_SIDES))](rng, n)
            yield from check_solution(lu, M, b, trans, tag)


def factorise(A, rng):
    """Factorise by one of the two calls."""
    pivoting = PIVOTING[rng.integers(len(PIVOTING))]
    if rng.random() < 0.3:
        return solvers.analyse(A, pivoting=pivoting).factorise(A)
    return solvers.splu(A, pivoting=pivoting)


def refactorise(lu, A, rng):
    """Factorise other values by one of the three calls."""
    if rng.random() < 0.5:
        return lu.analysis.factorise(A)
    lu.refactorise(A if rng.random() < 0.7 else A.data)
    return lu


def check_singular(M, tag):
    if (k := condition(M)) < WELL_CONDITIONED:
        yield f"{tag}, {len(M)} rows: called singular, condition {k:.1e}"


def case(rng):
    system = System(rng)
    kind, values = system.values()
    A, M = system.sparse(values), system.dense(values)
    try:
        lu = factorise(A, rng)
        yield from check(lu, M, rng, f"fresh, {kind}")
    except SingularMatrixError:
        yield from check_singular(M, f"fresh, {kind}")
        return
    if system.format == "bsr":
        return
    for _ in range(int(rng.integers(1, 5))):
        kind, new = system.values()
        A, M = system.sparse(new), system.dense(new)
        try:
            yield from check(refactorise(lu, A, rng), M, rng, f"again, {kind}")
        except SingularMatrixError:
            yield from check_singular(M, f"again, {kind}")


def diagonal_blocks(rng, n):
    D = np.triu(rng.random((n, n)) < 0.3)
    for k in range(0, n, max(1, n // 4)):
        block = D[k : k + 4, k : k + 4]
        block |= rng.random(block.shape) < 0.6
    return D


def arrow(rng, n):
    D = np.zeros((n, n), bool)
    D[0] = D[:, 0] = True
    return D


def few_in_a_row(rng, n):
    D = np.zeros((n, n), bool)
    D[np.arange(n)[:, np.newaxis], rng.integers(0, n, (n, 3))] = True
    return D


def path_with_a_full_row(rng, n):
    D = np.eye(n, k=1, dtype=bool) | np.eye(n, k=-1, dtype=bool)
    D[rng.integers(n)] = True
    return D


def band(rng, n):
    return abs(np.subtract.outer(np.arange(n), np.arange(n))) <= rng.integers(1, 4)


def triangle_with_a_full_column(rng, n):
    D = np.tri(n, dtype=bool)
    D[:, -1] = True
    return D


PATTERNS = (
    lambda rng, n: rng.random((n, n)) < rng.choice([0.05, 0.1, 0.3, 0.7]),
    diagonal_blocks,
    arrow,
    lambda rng, n: np.triu(np.ones((n, n), bool), -1),
    band,
    lambda rng, n: np.ones((n, n), bool),
    triangle_with_a_full_column,
    few_in_a_row,
    path_with_a_full_row,
)


def pattern(rng, n):
    """A pattern with a full diagonal, which two permutations mostly hide."""
    D = PATTERNS[rng.integers(len(PATTERNS))](rng, n)
    np.fill_diagonal(D, True)
    if rng.random() < 0.6:
        D = D[rng.permutation(n)]
    if rng.random() < 0.6:
        D = D[:, rng.permutation(n)]
    return D


def some(values, rng, factor):
    """Three tenths of the values times a factor."""
    return np.where(rng.random(values.size) < 0.3, factor * values, values)


def normal(rng, k):
    return rng.standard_normal(k)


def complex_normal(rng, k):
    return normal(rng, k) + 1j * normal(rng, k)


#: By name: k values.
VALUES = {
    "normal": normal,
    "signs": lambda rng, k: rng.choice([-1.0, 1.0], k),
    "over 16 magnitudes": lambda rng, k: normal(rng, k) * 10.0 ** rng.uniform(-8, 8, k),
    "over 200 magnitudes": lambda rng, k: normal(rng, k) * 10.0 ** rng.uniform(-100, 100, k),
    "small integers": lambda rng, k: rng.integers(-2, 3, k).astype(float),
    "with zeros": lambda rng, k: some(normal(rng, k), rng, 0.0),
    "near the threshold": lambda rng, k: rng.choice([0.0101, 1.0, -1.0, 0.0099], k),
    "complex": complex_normal,
    "some tiny": lambda rng, k: some(normal(rng, k), rng, 1e-14),
    "near underflow": lambda rng, k: normal(rng, k) * 1e-290,
    "near overflow": lambda rng, k: normal(rng, k) * 1e290,
    "integers": lambda rng, k: rng.integers(1, 1000, k),
    "single precision": lambda rng, k: normal(rng, k).astype(np.float32),
    "complex of single precision": lambda rng, k: complex_normal(rng, k).astype(np.complex64),
}
FORMATS = "csc", "csr", "coo", "csc_matrix", "bsr"

RIGHT_HAND_SIDES = (
    normal,
    lambda rng, n: rng.standard_normal((n, 3)),
    lambda rng, n: np.asfortranarray(rng.standard_normal((n, 2))),
    lambda rng, n: rng.integers(-5, 5, n),
    complex_normal,
    lambda rng, n: rng.standard_normal((n, 4))[:, ::2],
    lambda rng, n: normal(rng, 2 * n)[::2].astype(np.float32),
    lambda rng, n: np.eye(n)[:, : min(n, 3)],
)


class System:
    """A pattern, a format, and values that change."""

    def __init__(self, rng):
        self.rng = rng
        self.n = int(rng.integers(1, 13) if rng.random() < 0.6 else rng.integers(13, 70))
        self.places = np.nonzero(pattern(rng, self.n))
        self.format = FORMATS[rng.integers(len(FORMATS))]
        self.wide = rng.random() < 0.3

    def values(self):
        """Name the kind of some new values, and return them."""
        kind = list(VALUES)[self.rng.integers(len(VALUES))]
        return kind, VALUES[kind](self.rng, self.places[0].size)

    def sparse(self, values):
        """The matrix in its format, with indices of 32 or 64 bits."""
        coords = tuple(side.astype(np.int32) for side in self.places)
        A = sp.coo_array((values, coords), shape=(self.n, self.n))
        if self.format == "csc_matrix":
            return sp.csc_matrix(A)
        A = A.asformat(self.format)
        if self.wide and self.format in ("csc", "csr"):
            A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
        return A

    def dense(self, values):
        """The same for NumPy."""
        M = np.zeros((self.n, self.n), complex if np.iscomplexobj(values) else float)
        M[self.places] = values
        return M


def backward_error(M, x, b):
    """The normwise backward error, the largest of all columns, in long double."""
    is_complex = any(np.iscomplexobj(array) for array in (M, x, b))
    dtype = np.clongdouble if is_complex else np.longdouble
    M, x, b = M.astype(dtype), x.astype(dtype), b.astype(dtype)
    if x.ndim == 1:
        x, b = x[:, np.newaxis], b[:, np.newaxis]
    residual = abs(M @ x - b).max(axis=0)
    scale = (abs(M) @ abs(x) + abs(b)).max(axis=0)
    return float(np.where(scale > 0, residual / np.where(scale > 0, scale, 1), residual).max())


def condition(M):
    """The condition in the 2-norm, rows scaled to a largest entry of 1; infinite for NaN."""
    largest = abs(M).max(axis=1)
    largest[largest == 0] = 1
    try:
        return float(np.linalg.cond(M / largest[:, np.newaxis]))
    except np.linalg.LinAlgError:
        return np.inf
