"""Fill: orders and factorisations of the largest diagonal block, beside other packages.

    python benchmarks/fill.py [MATRIX ...]

Files written by `scipy.sparse.save_npz`, or matrices that this folder makes; those without values
of their own get random ones. "METIS" is the entries, in millions, of L + U of the symmetrised
pattern in the order of pymetis, pivots on the diagonal; what our nested dissection and minimum
degree make is given in those, or in millions where pymetis is not installed. Then seconds of one
thread's processor time to analyse, factorise and solve, and entries in millions: sparsematch's
splu; SuperLU by COLAMD, and by minimum degree of A + A' in symmetric mode; UMFPACK by kvxopt, if
that is there. Each in a process of its own.
"""

import importlib.util
import tempfile

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import driver
import matrices
import orders
import sparsematch
from solvers import with_values
from sparsematch import solvers

DEFAULT = ("circuit", "mesh_scrambled", "grid_scrambled")
ORDERS = "dissection", "minimum degree"
LEAF = 200  # vertices of a part that minimum degree orders, as in splu


def block(name, A):
    """Return the largest diagonal block of a square matrix, by columns."""
    A = with_values(name, A)
    if (A.data == A.data[:1]).all():  # a pattern
        A.data = np.random.default_rng(7).standard_normal(A.nnz)
    form = sparsematch.block_triangular_form(A)
    k = int(np.argmax(np.diff(form.row_blocks)))
    inside = slice(*form.row_blocks[k : k + 2])
    rows, cols = np.sort(form.row_perm[inside]), np.sort(form.col_perm[inside])
    return sp.csc_array(sp.csr_array(A)[rows][:, cols])


def load(path):
    """Return a block from a file, by columns."""
    B = sp.csc_array(sp.load_npz(path))
    B.sort_indices()
    return B


def dissection(path):
    """Prepare nested dissection; its check has the fill of all orders."""
    B = load(path)
    both = sp.csr_array(sp.csc_array((np.ones(B.nnz), B.indices, B.indptr), shape=B.shape))
    both = sp.csr_array(both + both.T)
    both.setdiag(0)
    both.eliminate_zeros()

    def fill(order):
        counts = orders.elimination_tree(both, order)[2]
        return 2 * float(counts.sum(dtype=float)) + B.shape[0]

    def check(order):
        found = {"dissection": fill(order)}
        found["minimum degree"] = fill(orders.elimination_order(both, False, LEAF))
        if importlib.util.find_spec("pymetis"):
            import pymetis

            found["METIS"] = fill(
                pymetis.nested_dissection(xadj=both.indptr, adjncy=both.indices)[0]
            )
        return found

    return lambda: orders.elimination_order(both, True, LEAF), check


def has_umfpack():
    """Tell whether kvxopt, which brings it, is installed."""
    return importlib.util.find_spec("kvxopt") is not None


def umfpack(B, b):
    """Solve by UMFPACK; entries are not reported."""
    from kvxopt import matrix, spmatrix
    from kvxopt import umfpack as library

    columns = np.repeat(np.arange(b.size), np.diff(B.indptr))
    x = matrix(b)
    library.linsolve(spmatrix(B.data, B.indices.astype(np.int64), columns, B.shape), x)
    return np.array(x).ravel(), 0


def solved(lu, b):
    """Return a solution by factors, and their entries."""
    return lu.solve(b), lu.nnz


WAYS = {
    "splu": lambda B, b: solved(solvers.splu(B), b),
    "COLAMD": lambda B, b: solved(splu(B), b),
    "symmetric mode": lambda B, b: solved(
        splu(
            B,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.1,
            options={"SymmetricMode": True},
        ),
        b,
    ),
    "UMFPACK": umfpack,
}


HEADS = ["matrix", "rows", "entries", "METIS", *ORDERS, *WAYS, "error"]


def factorisation(way, path):
    """Prepare one of `WAYS`."""
    B = load(path)
    b = np.random.default_rng(1).standard_normal(B.shape[0])

    def check(result):
        x, made = result
        error = np.abs(B @ x - b).max() / (abs(B) @ np.abs(x) + np.abs(b)).max()
        return {"made": made, "error": float(error)}

    return lambda: WAYS[way](B, b), check


def seconds(found):
    """Return the cell of a factorisation: seconds, and entries in millions if they are known."""
    if "failed" in found:
        return found["failed"]
    made = f" ({found['made'] / 1e6:.2f})" if found["made"] else ""
    return driver.three(found["seconds"]) + made


def cells(name, B, path, args):
    """Return those of one block, which is in a file, too."""
    common = {"repeats": args.repeats, "limit": args.limit}
    there = [way for way in WAYS if way != "UMFPACK" or has_umfpack()]
    order = driver.measure(dissection, path, **common)
    found = {way: driver.measure(factorisation, way, path, **common) for way in there}
    unit = order.get("METIS", 1e6)
    return [
        f"`{name}`",
        *(f"{size:,}" for size in (B.shape[0], B.nnz)),
        f"{unit / 1e6:.2f}" if "METIS" in order else "",
        *(f"{order[of] / unit:.2f}" if of in order else order["failed"] for of in ORDERS),
        *(seconds(found[way]) if way in found else "" for way in WAYS),
        f"{found['splu'].get('error', np.nan):.0e}",
    ]


def rows(chosen, args):
    """Yield the cells of each matrix that is square."""
    with tempfile.TemporaryDirectory() as folder:
        for name, make in chosen:
            A = make()
            if name not in matrices.NAMES and A.shape[0] != A.shape[1]:
                continue
            B, path = block(name, A), f"{folder}/block.npz"
            sp.save_npz(path, B, compressed=False)
            yield cells(name, B, path, args)


def main():
    """Print the table."""
    parser = driver.parser(__doc__, scale=13, seed=2011, repeats=2, limit=60.0)
    matrices.add_argument(parser, DEFAULT)
    args = parser.parse_args()
    print(driver.conditions(args, "scale", "seed", "limit"), end="\n\n")
    driver.show(HEADS, rows(matrices.chosen(parser, args), args))


if __name__ == "__main__":
    main()
