"""Preconditioning: GMRES with SciPy's spilu, and with sparsematch.solvers.spilu.

    python benchmarks/preconditioning.py FOLDER
    python benchmarks/preconditioning.py FOLDER --write docs/howto/precondition.md

Prints how many of the .npz matrices of FOLDER are solved that are square, of full structural rank
and of real numbers that are not all alike: with an incomplete factorisation that drops as SciPy
does ("default"), with pivots on the diagonal ("no pivoting"), and with much dropped ("coarse").
"Solved" means a residual of at most 1e-6 of the right-hand side, which is the matrix times random
numbers, after at most 300 steps of GMRES, restarted after 50, that aim at 1e-8. The last rows are
of those matrices that have zeros on the diagonal. Below the table are the matrices that are not
solved by "product", with the reason.
"""

import pathlib
import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, gmres
from scipy.sparse.linalg import spilu as scipy_spilu

import driver
import matrices
import sparsematch
from sparsematch import solvers

OPTIONS = {
    "default": {},
    "no pivoting": {"diag_pivot_thresh": 0.0},
    "coarse": {"drop_tol": 1e-2, "fill_factor": 3.0},
}
KINDS = "SciPy", "structure", "product"
TARGET, SOLVED, RESTART, CYCLES = 1e-8, 1e-6, 50, 6


def load(path):
    """Return the matrix by columns, or None if it is not one that is meant."""
    A = sp.csc_array(matrices.load(path))
    if A.shape[0] != A.shape[1] or A.dtype.kind == "c" or A.nnz == 0 or np.ptp(A.data) == 0:
        return None
    return A.astype(float) if sparsematch.structural_rank(A) == A.shape[0] else None


def factorise(A, kind, options):
    """Return the incomplete factorisation by SciPy, or ours."""
    if kind == "SciPy":
        return scipy_spilu(A, **options)
    return solvers.spilu(A, pivoting=kind, **options)


def solve(A, kind, options):
    """Return how it ended in a word or two, and what the factorisation had to try."""
    try:
        ilu = factorise(A, kind, options)
    except RuntimeError:
        return "no pivot", 0
    b = A @ np.random.default_rng(0).standard_normal(A.shape[0])
    M = LinearOperator(A.shape, ilu.solve, dtype=float)
    x, _ = gmres(A, b, M=M, rtol=TARGET, restart=RESTART, maxiter=CYCLES)
    tried = len(getattr(ilu, "attempts", ("as asked",)))
    error = np.linalg.norm(A @ x - b) / np.linalg.norm(b)
    return ("solved" if error <= SOLVED else f"residual {error:.0e}"), tried


def prepare(path, kind):
    """Return the call that solves with all options; the check has what it found."""
    A = load(pathlib.Path(path))
    warnings.simplefilter("ignore")
    return (
        lambda: {name: solve(A, kind, options) for name, options in OPTIONS.items()},
        lambda found: {"ended": found},
    )


def ended(path, kind, limit):
    """Return how one kind ended, in a process that is stopped after the limit."""
    found = driver.measure(prepare, str(path), kind, repeats=0, limit=limit)
    of = found.get("ended") or {name: [found["failed"], 0] for name in OPTIONS}
    return {(kind, name): how for name, how in of.items()}


def rows(found, zeros):
    """Yield the cells of the table."""
    for names, what in ((list(found), "all"), (zeros, "zeros on the diagonal")):
        for name in OPTIONS:
            solved = (
                sum(found[file][kind, name][0] == "solved" for file in names) for kind in KINDS
            )
            again = sum(found[file]["product", name][1] > 1 for file in names)
            yield [f"{name}, {what} ({len(names)})", *map(str, solved), str(again)]


def lost(found):
    """Yield a line for each option: what is not solved by product, and why."""
    for name in OPTIONS:
        left = [
            f"{file} ({of['product', name][0]}"
            f"{'; SciPy solves it' if of['SciPy', name][0] == 'solved' else ''})"
            for file, of in found.items()
            if of["product", name][0] != "solved"
        ]
        yield ""
        yield f"{name}, not solved by product: {', '.join(left) or 'none'}."


def measured(folder, limit):
    """Return what all ways found of each matrix, and which matrices have zeros on the diagonal."""
    found, zeros = {}, []
    for path in sorted(folder.glob("*.npz"), key=lambda file: file.stat().st_size):
        if (A := load(path)) is None:
            continue
        if np.count_nonzero(A.diagonal()) < A.shape[0]:
            zeros.append(path.stem)
        found[path.stem] = of = {}
        for kind in KINDS:
            of |= ended(path, kind, limit)
    return found, zeros


def main():
    """Print the table, and what is lost."""
    parser = driver.parser(__doc__, write=True, limit=60.0)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    args = parser.parse_args()
    found, zeros = measured(args.folder, args.limit)
    heads = ["solved", "SciPy", '`"structure"`', '`"product"`', "tried again by product"]
    lines = [*driver.table(heads, rows(found, zeros)), *lost(found)]
    driver.publish(lines, args, "table of preconditioners", driver.conditions(args, "limit"))


if __name__ == "__main__":
    main()
