"""A Newton iteration on a GPU beside the CPU: new values for one pattern, factorised and solved.

    python benchmarks/newton_on_gpu.py FILE.npz
    python benchmarks/newton_on_gpu.py FILE.npz --steps 100 --change 0.01 --solver cudss

FILE is a square matrix of SciPy's `save_npz` with values, such as the Jacobian of a power flow.
Each step multiplies every entry by 1 + `--change` times a normal number of its own, drawn before
the clock starts and the same on both; then it factorises with the plan of the first step, and
solves for one right-hand side. On the GPU values and right-hand sides are there already, and
solutions stay there; the clock stops when the device has finished.

Milliseconds on the wall: "first" is analysis, factorisation and solution of the first matrix, a
second time in the process, so that libraries are loaded; "step" is the mean of all steps. "error"
is the largest normwise backward error of the last solution. The CPU has one thread unless
OPENBLAS_NUM_THREADS says otherwise; SciPy factorises from scratch in each of at most ten steps.
"""

import argparse
import pathlib
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import driver
import matrices
from sparsematch import solvers

SCIPYS_STEPS = 10


def values_of_steps(A, steps, change, seed):
    """Yield the values of each step, in the order of the data."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield A.data * (1 + change * rng.standard_normal(A.nnz))


def backward_error(A, x, b):
    """Return the normwise backward error in the maximum norm."""
    norm = abs(A).sum(axis=1).max()
    return float(np.abs(A @ x - b).max() / (norm * np.abs(x).max() + np.abs(b).max()))


def timed(first, step, values, wait):
    """Return the milliseconds of the first matrix and of a step, and the last solution."""
    first()
    wait()
    begin = time.perf_counter()
    state = first()
    wait()
    middle = time.perf_counter()
    for new in values:
        x = step(state, new)
    wait()
    end = time.perf_counter()
    return (middle - begin) * 1e3, (end - middle) * 1e3 / len(values), x


def by_scipy(A, values, b):
    """SciPy's SuperLU, each matrix from scratch."""

    def solve(new):
        return splu(sp.csc_array((new, A.indices, A.indptr), shape=A.shape)).solve(b)

    values = values[:SCIPYS_STEPS]
    first, step, x = timed(lambda: solve(A.data), lambda _, new: solve(new), values, lambda: None)
    return first, step, x, values[-1]


def on_cpu(A, values, b):
    """`splu` in host memory."""

    def first():
        lu = solvers.splu(A)
        lu.solve(b)
        return lu

    def step(lu, new):
        lu.refactorise(new)
        return lu.solve(b)

    return *timed(first, step, values, lambda: None), values[-1]


def on_gpu(A, values, b, solver):
    """`splu` on the current GPU, everything there already."""
    import cupy
    import cupyx.scipy.sparse

    there = cupyx.scipy.sparse.csc_matrix(sp.csc_matrix(A))
    right, new_values = cupy.asarray(b), [cupy.asarray(new) for new in values]

    def first():
        lu = solvers.splu(there, solver=solver)
        lu.solve(right)
        return lu

    def step(lu, new):
        lu.refactorise(new)
        return lu.solve(right)

    wait = cupy.cuda.get_current_stream().synchronize
    first_time, step_time, x = timed(first, step, new_values, wait)
    return first_time, step_time, cupy.asnumpy(x), values[-1]


def rows(A, args):
    """Yield the cells of the table."""
    values = list(values_of_steps(A, args.steps, args.change, args.seed))
    b = np.random.default_rng(args.seed).standard_normal(A.shape[0])
    ways = {
        "SciPy, from scratch": lambda: by_scipy(A, values, b),
        "CPU": lambda: on_cpu(A, values, b),
        f"GPU, {args.solver}": lambda: on_gpu(A, values, b, args.solver),
    }
    for name, measure in ways.items():
        try:
            first, step, x, last = measure()
        except ImportError as error:
            yield [name, f"{error}", "", ""]
            continue
        matrix = sp.csc_array((last, A.indices, A.indptr), shape=A.shape)
        figures = driver.three(first), driver.three(step), f"{backward_error(matrix, x, b):.0e}"
        yield [name, *figures]


def main():
    """Print the table."""
    parser = driver.parser(__doc__, write=True, seed=2011)
    parser.add_argument("file", type=pathlib.Path, metavar="FILE.npz")
    parser.add_argument("--steps", type=int, default=100, help="default %(default)s")
    parser.add_argument("--change", type=float, default=0.01, help="default %(default)s")
    parser.add_argument("--solver", default="auto", help="that of the GPU (default %(default)s)")
    args = parser.parse_args()
    A = sp.csc_array(matrices.load(args.file), dtype=np.float64)
    print(f"{args.file.stem}: {A.shape[0]:,} rows, {A.nnz:,} entries\n")
    lines = driver.table(["", "first", "step", "error"], rows(A, args))
    driver.publish(lines, args, "table of Newton steps", conditions(args))


def conditions(args: argparse.Namespace) -> str:
    """Say what is measured, and on which GPU."""
    try:
        import cupy

        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        return driver.conditions(
            args,
            "steps",
            "change",
            packages=("SciPy", "CuPy"),
            device=f"{driver.processor()}, {name}",
        )
    except Exception:
        return driver.conditions(args, "steps", "change")


if __name__ == "__main__":
    main()
