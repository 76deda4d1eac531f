"""Direct solvers: sparsematch.solvers against SciPy's splu (SuperLU, COLAMD) and KLU.

Given files written by `scipy.sparse.save_npz`, these are measured; otherwise matrices that this
folder makes. Times are the best of several calls, in milliseconds, wall clock, one thread; results
are checked outside the timed part. KLU is left out where its library is not installed.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import klu
import sparsematch
from matrices import build
from sparsematch import solvers

GENERATED = ("circuit", "dense_random", "mesh_scrambled")
HEAD = (
    "matrix", "rows", "entries", "blocks", "largest", "splu", "analyse", "factorise", "again",
    "solve", "splu solve", "KLU analyse", "KLU factorise", "KLU again", "fill", "splu fill",
    "error", "splu error", "splu / factorise",
)  # fmt: skip


def best(call, repeats, limit=1.0):
    """Return the least time in milliseconds, and the last result; slow calls are repeated less."""
    seconds, spent = [], 0.0
    while len(seconds) < repeats and spent < limit:
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
        spent += seconds[-1]
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
    """Return the figures of one matrix, in the order of HEAD but for the name."""
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


def matrices(paths, scale):
    """Yield names and matrices: those of the files, or the generated ones with random values."""
    for path in paths:
        yield path.stem, sp.load_npz(path)
    for name in () if paths else GENERATED:
        A = build(name, scale)
        form = sparsematch.block_triangular_form(A)
        A = A[form.square.rows][:, form.square.cols]
        A.data = np.random.default_rng(7).standard_normal(A.nnz)
        yield name, A


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "files", nargs="*", type=Path, help="matrices written by scipy.sparse.save_npz"
    )
    parser.add_argument(
        "--scale", type=int, default=13, help="generated matrices have about 2**scale rows"
    )
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    library = klu.load()
    print("| " + " | ".join(HEAD) + " |\n|" + " --- |" * len(HEAD))
    ratios = {True: [], False: []}
    for name, A in matrices(args.files, args.scale):
        A = sp.csc_array(A, dtype=np.float64)
        A.sum_duplicates()
        if A.shape[0] != A.shape[1]:
            continue
        try:
            figures = measure(A, args.repeats, library)
        except RuntimeError as error:
            print(f"| {name} | {str(error).splitlines()[0]} |", flush=True)
            continue
        if not math.isnan(figures[-1]):
            ratios[figures[2] > 1].append(figures[-1])
        print("| " + " | ".join([f"`{name}`", *map(cell, figures)]) + " |", flush=True)
    for reducible, found in ratios.items():
        if found:
            kind = "reducible" if reducible else "irreducible"
            mean = f"{math.exp(np.mean(np.log(found))):.2f} in geometric mean"
            print(f"\n{kind}: splu / factorise {mean}, {min(found):.2f} at least")


if __name__ == "__main__":
    main()
