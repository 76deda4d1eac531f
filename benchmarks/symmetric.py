"""Measure what symmetric_product_transversal does for LDL^T factorisations, by PARDISO or SSIDS.

    python benchmarks/symmetric.py FOLDER                  # PARDISO: pypardiso, from PyPI
    python benchmarks/symmetric.py FOLDER --solver ssids   # cmeel-spral, from PyPI
    python benchmarks/symmetric.py FOLDER --units 6        # rows and columns in units up to 1e6

Prints a markdown table of the .npz matrices of FOLDER that are symmetric, of full structural rank,
of real numbers that are not all alike, and indefinite, as a 2 x 2 principal minor proves. Three
figures a cell: by the solver without scaling and matching; with its own, as its manual advises for
indefinite matrices; with ours in place of it. Orders are nested dissection (METIS) by the solver
itself, ours one of the compressed graph.

"pivots" are those that PARDISO perturbs, or SSIDS delays; "fill" is entries of the factor over
those of a triangle of the matrix; "error" is the componentwise backward error of one solution,
after the two steps of refinement of PARDISO, after none of SSIDS. "ms" is the time of its analysis
without and with its own matching, with ours, and last of our transversal. A way that takes longer
than the limit is stopped.
"""

import os
import pathlib

import numpy as np
import scipy.sparse as sp

import driver
import ldlt
import matrices
import sparsematch as sm
from driver import three

HEADS = ["matrix", "rows", "entries", "pivots", "fill", "error", "ms"]
KINDS = "without", "own", "ours"


def is_indefinite(A):
    """Tell whether two rows and columns prove it."""
    C, diagonal = sp.coo_array(sp.triu(A, 1)), A.diagonal()
    minors = diagonal[C.row] * diagonal[C.col] - C.data**2
    return bool((minors < 0).any()) or diagonal.min() < 0 < diagonal.max()


def load(path, units, seed):
    """Return the matrix in other units if these are not 0; None if it is not one that is meant."""
    A = matrices.load(path)
    A.eliminate_zeros()
    wanted = A.shape[0] == A.shape[1] and A.dtype.kind != "c" and np.ptp(A.data) > 0
    if not wanted or abs(A - A.T).max() > 0 or not is_indefinite(A):
        return None
    if sm.structural_rank(A) < A.shape[0]:
        return None
    if units:
        powers = np.random.default_rng(seed).uniform(-units, units, A.shape[0])
        D = sp.diags_array(10.0**powers)
        T = sp.tril(D @ A @ D)
        A = T + sp.tril(T, -1).T  # roundings alike
    return sp.csr_array(A, dtype=float)


def backward_error(A, x, b):
    """The largest residual over what roundings in A and b explain."""
    scale = abs(A) @ np.abs(x) + np.abs(b)
    return float((np.abs(A @ x - b) / np.where(scale > 0, scale, 1)).max())


def with_ours(solver, A, b):
    """Scale and order by ours; return the factorisation, the solution, and our time."""
    found = []
    seconds = driver.seconds_of(lambda: found.append(sm.symmetric_product_transversal(A)))
    best = found[0]
    compressed = solver(sp.csr_array(best.compress(A), dtype=float))  # METIS by the solver
    factor = solver(best.scale(A), order=best.permutation(compressed.order)).factorise()
    factor.analysis += compressed.analysis
    return factor, best.factors * factor.solve(best.factors * b), seconds


def solution(path, solver, kind, units, seed):
    """Factorise and solve in one of the ways; the check has the figures."""
    A = load(pathlib.Path(path), units, seed)
    b, Solver = A @ np.ones(A.shape[0]), ldlt.SOLVERS[solver]

    def call():
        if kind == "ours":
            return with_ours(Solver, A, b)
        factor = Solver(A, own=kind == "own").factorise()
        return factor, factor.solve(b), 0

    def check(found):
        factor, x, seconds = found
        if not sm.is_symmetric_transversal(A, sm.symmetric_product_transversal(A)):
            raise AssertionError(f"{path}: the duals do not prove the result")
        return {
            "pivots": f"{factor.pivots:,}",
            "fill": three(factor.entries / sp.triu(A).nnz),
            "error": f"{backward_error(A, x, b):.0e}",
            "ms": three(factor.analysis * 1e3) + f" / {three(seconds * 1e3)}" * (kind == "ours"),
        }

    return call, check


def rows(args):
    """Yield the cells of all matrices that are meant."""
    for path in sorted(args.folder.glob("*.npz")):
        A = load(path, 0, 0)
        if A is None:
            continue
        found = [
            driver.measure(
                solution, str(path), args.solver, kind, args.units, args.seed,
                repeats=1, limit=args.limit,
            )
            for kind in KINDS
        ]  # fmt: skip
        figures = (
            " / ".join(f.get(head, f">{args.limit:.0f} s") for f in found) for head in HEADS[3:]
        )
        yield [f"`{path.stem}`", f"{A.shape[0]:,}", f"{A.nnz:,}", *figures]


def main():
    """Print the table."""
    parser = driver.parser(__doc__, seed=1, limit=60.0)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--solver", choices=sorted(ldlt.SOLVERS), default="pardiso")
    text = "powers of ten of random units of rows and columns (default %(default)s)"
    parser.add_argument("--units", type=float, default=0.0, help=text)
    # One thread; SSIDS does not start without cancellation.
    for name, value in (("OMP_NUM_THREADS", "1"), ("OMP_CANCELLATION", "true")):
        os.environ.setdefault(name, value)
    driver.show(HEADS, rows(parser.parse_args()))


if __name__ == "__main__":
    main()
