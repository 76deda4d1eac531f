"""Linear systems of all kinds against dense NumPy and SciPy: factorise, refactorise, solve.

Patterns of 1 to 69 rows, fourteen kinds of values, chains of refactorisations, transposed, several
right-hand sides, easy ones first. A solution fails whose normwise backward error is above 1e-9
where that of NumPy or SciPy is below 1e-12; so does a SingularMatrixError at a row-scaled condition
below 1e10, a right-hand side that is changed, a wrong dtype or shape.
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp

from harness import main
from sparsematch import solvers
from sparsematch.solvers import SingularMatrixError
from systems import RIGHT_HAND_SIDES, System, backward_error, condition

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


def check_refused(A, rng):
    """Values that are not finite are refused."""
    bad = A.copy()
    bad.data = bad.data.astype(np.result_type(A.data, np.float64))
    bad.data.flat[rng.integers(bad.data.size)] = rng.choice([np.nan, np.inf])
    try:
        solvers.splu(bad)
    except ValueError:
        return
    yield "a value that is not finite was accepted"


def check_sparse(A, M, rng):
    """Sparse right-hand sides, of one column and of several."""
    B = sp.random_array((len(M), 3), density=0.3, rng=rng, format="csc")
    X = solvers.spsolve(A, B)
    if not sp.issparse(X):
        yield "the solution for a sparse right-hand side is dense"
    elif backward_error(M, X.toarray(), B.toarray()) > POOR:
        yield "sparse right-hand sides: backward error"
    x = solvers.spsolve(A, sp.csc_array(rng.standard_normal((len(M), 1))))
    if x.shape != (len(M),):
        yield f"the solution for one sparse column has shape {x.shape}"


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
    if rng.random() < 0.2 and condition(M) < 1e8:
        yield from check_sparse(A, M, rng)
    if rng.random() < 0.05:
        yield from check_refused(A, rng)
    if system.format == "bsr":
        return
    for _ in range(int(rng.integers(1, 5))):
        kind, new = system.values()
        A, M = system.sparse(new), system.dense(new)
        try:
            yield from check(refactorise(lu, A, rng), M, rng, f"again, {kind}")
        except SingularMatrixError:
            yield from check_singular(M, f"again, {kind}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    sys.exit(main(case))
