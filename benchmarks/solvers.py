"""Direct solvers: sparsematch.solvers against SciPy's splu (SuperLU, COLAMD) and KLU.

    python benchmarks/solvers.py [MATRIX ...]

Files written by `scipy.sparse.save_npz` with values, or matrices that this folder makes, whose
square parts get random values. Times are the best of several calls, in milliseconds, wall clock,
one thread; results are checked outside the timed part. KLU is left out where its library is not
installed, by the system or within PyKLU from PyPI.
"""

import math

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import driver
import klu
import matrices
import sparsematch
from sparsematch import solvers

GENERATED = ("circuit", "dense_random", "mesh_scrambled")
HEADS = [
    "matrix", "rows", "entries", "blocks", "largest", "splu", "analyse", "factorise", "again",
    "solve", "splu solve", "KLU analyse", "KLU factorise", "KLU again", "fill", "splu fill",
    "error", "splu error", "splu / factorise",
]  # fmt: skip


def best(call, repeats):
    """Return the least time in milliseconds, and the last result."""
    seconds, result = driver.times(call, repeats)
    return min(seconds) * 1e3, result


def backward_error(A, x, b):
    """Return the normwise backward error in the infinity norm."""
    norm = abs(A).sum(axis=1).max()
    return float(np.abs(A @ x - b).max() / (norm * np.abs(x).max() + np.abs(b).max()))


def superlu(A):
    """Factorise with SciPy; None where it finds the matrix singular."""
    try:
        return splu(A)
    except RuntimeError:
        return None


def measure(A, repeats, library):
    """Return the figures of one matrix, in the order of HEADS but for the name."""
    b = A @ np.ones(A.shape[0])
    t_splu, reference = best(lambda: superlu(A), repeats)
    t_analyse, analysis = best(lambda: solvers.analyse(A), repeats)
    analysis.factorise(A)  # if a block turns out too heavy, it is in the plan now
    t_factorise, lu = best(lambda: analysis.factorise(A), repeats)
    t_again, _ = best(lambda: lu.refactorise(A), repeats)
    t_solve, x = best(lambda: lu.solve(b), repeats)
    t_splu_solve, y = best(lambda: reference.solve(b), repeats) if reference else (math.nan, None)
    t_klu = (math.nan,) * 3
    if library:
        t_first, k = best(lambda: klu.Klu(library, A), repeats)
        t_klu = (
            t_first,
            best(lambda: k.factorise(A.data), repeats)[0],
            best(lambda: k.refactorise(A.data), repeats)[0],
        )
    largest = int(np.diff(analysis.form.row_blocks).max())
    errors = backward_error(A, x, b), backward_error(A, y, b) if reference else math.nan
    sizes = A.shape[0], A.nnz, analysis.n_blocks, largest
    times = t_splu, t_analyse, t_factorise, t_again, t_solve, t_splu_solve, *t_klu
    fill = lu.nnz, reference.nnz if reference else math.nan
    return *sizes, *times, *fill, *errors, t_splu / t_factorise if reference else math.nan


def cell(value):
    """Write a number for the table."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def with_values(name, A):
    """Return the matrix in CSC; of a generated one the square part, with random values."""
    if name in matrices.NAMES:
        form = sparsematch.block_triangular_form(A)
        A = A[form.square.rows][:, form.square.cols]
        A.data = np.random.default_rng(7).standard_normal(A.nnz)
    return sp.csc_array(A, dtype=np.float64)


def rows(chosen, repeats, ratios):
    """Yield the cells of square matrices, and keep the last figure by whether there are blocks."""
    library = klu.load()
    for name, make in chosen:
        A = with_values(name, make())
        if A.shape[0] != A.shape[1]:
            continue
        try:
            figures = measure(A, repeats, library)
        except RuntimeError as error:
            yield [name, str(error).splitlines()[0]]
            continue
        if not math.isnan(figures[-1]):
            ratios["reducible" if figures[2] > 1 else "irreducible"].append(figures[-1])
        yield [f"`{name}`", *map(cell, figures)]


def main():
    """Print the table and the means."""
    parser = driver.parser(__doc__, scale=13, seed=2011, repeats=5)
    matrices.add_argument(parser, GENERATED)
    args = parser.parse_args()
    ratios = {"reducible": [], "irreducible": []}
    driver.show(HEADS, rows(matrices.chosen(parser, args), args.repeats, ratios))
    for kind, found in ratios.items():
        if found:
            mean = f"{driver.geometric_mean(found):.2f} in geometric mean"
            print(f"\n{kind}: splu / factorise {mean}, {min(found):.2f} at least")


if __name__ == "__main__":
    main()
