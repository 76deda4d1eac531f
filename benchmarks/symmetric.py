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
without and with its own matching, and of ours, of which the last is the transversal.
"""

import pathlib

import numpy as np
import scipy.sparse as sp

import driver
import ldlt
import matrices
import sparsematch as sm
from driver import three

HEADS = ["matrix", "rows", "entries", "pivots", "fill", "error", "ms"]


def is_indefinite(A):
    """Tell whether two rows and columns prove it."""
    C, diagonal = sp.coo_array(sp.triu(A, 1)), A.diagonal()
    minors = diagonal[C.row] * diagonal[C.col] - C.data**2
    return bool((minors < 0).any()) or diagonal.min() < 0 < diagonal.max()


def backward_error(A, x, b):
    """The largest residual over what roundings in A and b explain."""
    scale = abs(A) @ np.abs(x) + np.abs(b)
    return float((np.abs(A @ x - b) / np.where(scale > 0, scale, 1)).max())


def with_ours(solver, A, b):
    """Scale and order by ours; return the factorisation, the solution, and our time."""
    found = []
    seconds = driver.seconds_of(lambda: found.append(sm.symmetric_product_transversal(A)))
    best = found[0]
    if not sm.is_symmetric_transversal(A, best):
        raise AssertionError("the duals do not prove the result")
    order = best.permutation(ldlt.dissection(solver, best.compress(A)))
    factor = solver(best.scale(A), order=order).factorise()
    return factor, best.factors * factor.solve(best.factors * b), seconds


def row(path, A, solver):
    """Factorise one matrix in three ways; return the cells of its line."""
    b = A @ np.ones(A.shape[0])
    factors, solutions = [], []
    for own in (False, True):
        factors.append(solver(A, own=own).factorise())
        solutions.append(factors[-1].solve(b))
    factor, x, seconds = with_ours(solver, A, b)
    factors.append(factor)
    solutions.append(x)
    times = [*(f.analysis * 1e3 for f in factors), seconds * 1e3]
    triangle = sp.triu(A).nnz
    cells = [
        [f"{f.pivots:,}" for f in factors],
        [three(f.entries / triangle) for f in factors],
        [f"{backward_error(A, y, b):.0e}" for y in solutions],
        [three(t) for t in times],
    ]
    return [f"`{path.stem}`", f"{A.shape[0]:,}", f"{A.nnz:,}", *map(" / ".join, cells)]


def rows(args, solver):
    """Yield the cells of all matrices that are meant."""
    rng = np.random.default_rng(args.seed)
    for path in sorted(args.folder.glob("*.npz")):
        A = matrices.load(path)
        A.eliminate_zeros()
        same = A.shape[0] == A.shape[1] and np.ptp(A.data) > 0
        if not same or A.dtype.kind == "c" or abs(A - A.T).max() > 0 or not is_indefinite(A):
            continue
        if sm.structural_rank(A) < A.shape[0]:
            continue
        if args.units:
            units = sp.diags_array(10.0 ** rng.uniform(-args.units, args.units, A.shape[0]))
            A = sp.csr_array(units @ A @ units)
            A = sp.csr_array(sp.tril(A) + sp.tril(A, -1).T)  # roundings alike
        yield row(path, A.astype(float), solver)


def main():
    """Print the table."""
    parser = driver.parser(__doc__, seed=1)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--solver", choices=sorted(ldlt.SOLVERS), default="pardiso")
    text = "powers of ten of random units of rows and columns (default %(default)s)"
    parser.add_argument("--units", type=float, default=0.0, help=text)
    args = parser.parse_args()
    driver.show(HEADS, rows(args, ldlt.SOLVERS[args.solver]))


if __name__ == "__main__":
    main()
