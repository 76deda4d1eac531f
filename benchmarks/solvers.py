"""Direct solvers: sparsematch.solvers against KLU and SciPy's splu (SuperLU, COLAMD).

    python benchmarks/solvers.py [--width 8] [--cold] [MATRIX ...]

Files written by `scipy.sparse.save_npz` with values, or matrices that this folder makes, whose
square parts get random values. Microseconds of one thread's processor time, in turns, medians:
"first" analyses, factorises and solves, "again" factorises other values of the pattern, "solve"
solves for `--width` right-hand sides by the same factors. KLU is called through its C interface, by
the system's library, that of KLU_LIBRARY, or the one within PyKLU from PyPI. Then the means of
classes of matrices: a peer's time over ours, geometric, and how many of ours are slower by more
than 1.2x. Errors are normwise backward errors. With `--cold`, caches are emptied before each call,
as in a program that does other work in between.
"""

import math
import statistics
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import driver
import klu
import matrices
import sparsematch
from sparsematch import solvers

GENERATED = ("circuit", "dense_random", "mesh_scrambled")
CALLS = ("first", "again", "solve", "KLU first", "KLU again", "KLU solve", "SciPy first",
         "SciPy solve")  # fmt: skip
HEADS = ["matrix", "rows", "entries", "blocks", *CALLS, "error", "SciPy error"]
CLASSES = {
    "all": lambda rows, blocks: True,
    "reducible": lambda rows, blocks: blocks > 1,
    "irreducible": lambda rows, blocks: blocks == 1,
    "below 1,000 rows": lambda rows, blocks: rows < 1000,
    "1,000 to 10,000": lambda rows, blocks: 1000 <= rows < 10000,
    "10,000 and more": lambda rows, blocks: rows >= 10000,
}
VALUE_SETS, CHANGE, SOLVES = 8, 0.01, 3
OTHER_WORK = 8_000_000  # numbers to read: 64 MB, more than a core's own caches have


def backward_error(A, x, b):
    """Return the normwise backward error in the maximum norm; NaN without a solution."""
    if x is None:
        return math.nan
    return float(np.abs(A @ x - b).max() / (abs(A) @ np.abs(x) + np.abs(b)).max())


class Turns:
    """The times of each call, made in turns."""

    def __init__(self, cold=False):
        self._seconds = {name: [] for name in CALLS}
        self._other = np.ones(OTHER_WORK if cold else 0)

    def time(self, name, call):
        """Make a call and keep its time; return what it returns."""
        self._other.sum()
        begin = time.thread_time()
        result = call()
        self._seconds[name].append(time.thread_time() - begin)
        return result

    def medians(self):
        """Return the medians in microseconds; NaN of calls that were not made."""
        seconds = self._seconds.values()
        return [statistics.median(each) * 1e6 if each else math.nan for each in seconds]


def first(A, b):
    """Analyse, factorise and solve; return both results, so that none is freed here."""
    lu = solvers.splu(A)
    return lu, lu.solve(b)


def ours(turns, A, b, values):
    """Factorise, solve, refactorise; return the solution."""
    lu, _ = turns.time("first", lambda: first(A, b))
    for _ in range(SOLVES):
        x = turns.time("solve", lambda: lu.solve(b))
    for new in values:
        turns.time("again", lambda new=new: lu.refactorise(new))
    return x


def klus(turns, A, b, values, library):
    """Do the same by KLU."""
    k, x = klu.Klu(library, A), np.array(b, order="F")
    data, address, width = A.data.ctypes.data, x.ctypes.data, b.size // b.shape[0]
    if not turns.time("KLU first", lambda: k.first(data) and (k.solve(address, width), True)):
        raise RuntimeError("KLU finds it singular")
    for _ in range(SOLVES):
        x[:] = b
        turns.time("KLU solve", lambda: k.solve(address, width))
    for new in values:
        where = new.ctypes.data
        turns.time("KLU again", lambda where=where: k.refactorise(where))


def scipys(turns, A, b):
    """Do the same by SciPy, but for values of the same pattern; return the solution."""
    try:
        turns.time("SciPy first", lambda: splu(A).solve(b))
        lu = splu(A)
    except RuntimeError:  # it finds the matrix singular
        return None
    return turns.time("SciPy solve", lambda: lu.solve(b))


def measure(A, args, library):
    """Return the figures of one matrix, in the order of HEADS but for the name."""
    rng, turns, width = np.random.default_rng(1), Turns(args.cold), args.width
    b = rng.standard_normal((A.shape[0], width) if width > 1 else A.shape[0])
    sets = [A.data * (1 + CHANGE * rng.standard_normal(A.nnz)) for _ in range(VALUE_SETS)]
    end = time.perf_counter() + args.seconds
    for turn in range(1000):
        values = sets[turn % VALUE_SETS], sets[(turn + 3) % VALUE_SETS]
        x = ours(turns, A, b, values)
        if library:
            klus(turns, A, b, values, library)
        y = scipys(turns, A, b)
        if time.perf_counter() > end:
            break
    sizes = A.shape[0], A.nnz, solvers.analyse(A).n_blocks
    return *sizes, *turns.medians(), backward_error(A, x, b), backward_error(A, y, b)


def with_values(name, A):
    """Return the matrix in CSC; of a generated one the square part, with random values."""
    if name in matrices.NAMES:
        form = sparsematch.block_triangular_form(A)
        A = A[form.square.rows][:, form.square.cols]
        A.data = np.random.default_rng(7).standard_normal(A.nnz)
    A = sp.csc_array(A, dtype=np.float64)
    A.sum_duplicates()
    return A


def rows(chosen, args, measured):
    """Yield the cells of square matrices, and keep the figures."""
    library = klu.load()
    for name, make in chosen:
        A = with_values(name, make())
        if A.shape[0] != A.shape[1]:
            continue
        try:
            figures = measure(A, args, library)
        except RuntimeError as error:
            yield [name, str(error).splitlines()[0]]
            continue
        measured.append(figures)
        yield [f"`{name}`", *map(driver.three, figures)]


def quotients(figures):
    """Return a peer's time over ours of one matrix, by what is compared."""
    times = dict(zip(CALLS, figures[3:], strict=False))
    return {name: times[name] / times[name.split()[1]] for name in CALLS if " " in name}


def means(measured):
    """Yield the cells of each class."""
    for name, belongs in CLASSES.items():
        of_class = [quotients(each) for each in measured if belongs(each[0], each[2])]
        cells = []
        for call in [call for call in CALLS if " " in call]:
            found = [each[call] for each in of_class if not math.isnan(each[call])]
            slower = sum(quotient < 1 / 1.2 for quotient in found)
            cells.append(f"{driver.geometric_mean(found):.2f} ({slower})" if found else "-")
        yield [name, str(len(of_class)), *cells]


def main():
    """Print the table and the means."""
    parser = driver.parser(__doc__, scale=13, seed=2011)
    parser.add_argument("--width", type=int, default=1, help="right-hand sides (default 1)")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each matrix (default 0.5)")
    parser.add_argument("--cold", action="store_true", help="empty caches before each call")
    matrices.add_argument(parser, GENERATED)
    args = parser.parse_args()
    measured = []
    driver.show(HEADS, rows(matrices.chosen(parser, args), args, measured))
    print()
    driver.show(["class", "matrices", *(call for call in CALLS if " " in call)], means(measured))


if __name__ == "__main__":
    main()
