"""What checking solutions costs, and backward errors beside SciPy's, on matrices in a folder.

    python benchmarks/solver_checks.py FOLDER [MOST_ROWS]

FOLDER holds matrices as SciPy's save_npz writes them; those with values that SciPy solves are
taken. Times are the least of seven, of one right-hand side, warm; the share is of a whole solve.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sparsematch import solvers


def backward_error(A, x, b):
    """Normwise."""
    return np.abs(A @ x - b).max() / (abs(A) @ np.abs(x) + np.abs(b)).max()


def least_time(call, times=7):
    """Seconds of the fastest call."""
    best = np.inf
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def compare(A, b):
    """Return the share of checking in a solve, both backward errors, and whether it warned."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        lu = solvers.splu(A)
        ours = backward_error(A, lu.solve(b), b)
        right = b.astype(lu.dtype)[:, np.newaxis]
        checked, plain = (
            least_time(lambda check=check: lu._factors.solve(right, "N", check))
            for check in (True, False)
        )
    theirs = backward_error(A, splu(A).solve(b), b)  # last: it may crash if A is singular
    return 1 - plain / checked, ours, theirs, bool(caught)


def main(folder, most_rows=30_000):
    """Print a line for each matrix, and the figures of all."""
    rows = []
    for path in sorted(Path(folder).glob("*.npz")):
        A = sp.csc_array(sp.load_npz(path))
        if A.shape[0] != A.shape[1] or not 0 < A.shape[0] <= most_rows or A.dtype.kind not in "fc":
            continue
        A = A.astype(complex if A.dtype.kind == "c" else float)
        if np.ptp(np.abs(A.data)) == 0:  # a pattern
            continue
        try:
            found = compare(A, np.random.default_rng(0).standard_normal(A.shape[0]))
        except RuntimeError:
            continue
        rows.append(found)
        print(f"{path.stem:30s} share {found[0]:.2f} ours {found[1]:.1e} SciPy {found[2]:.1e}"
              + " warned" * found[3], flush=True)  # fmt: skip
    share, ours, theirs, warned = map(np.array, zip(*rows, strict=True))
    ratio = ours / np.maximum(theirs, np.finfo(float).eps)
    print(
        f"{len(rows)} matrices: share of checking {np.median(share):.2f} in the median, "
        f"{share.max():.2f} at most; backward error at most {np.nanmax(ratio):.1f} of SciPy's "
        f"(or of 2e-16), more than ten of it {(ratio > 10).sum()}; warned {warned.sum()}"
    )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
