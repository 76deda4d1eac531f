"""Loops from start to end: one pattern, new values and a solution in each step.

    python benchmarks/loops.py FILE ... [--steps 200]

FILE is a square matrix of SciPy's `save_npz` with values. Two kinds of steps:

newton      as of power flows: every row and column has a state that walks, and an entry changes
            with both of its states, by up to a tenth between two steps
transient   as of circuits: a fifth of the columns are of devices, whose entries sway over a
            decade; the others stay

Values and right-hand sides are drawn before the clock starts. Each package analyses and factorises
the first matrix; then each step factorises the next and solves. KLU through its C interface
refactorises with the same pivots, whatever comes of it; kvxopt analyses once, and has KLU choose
pivots in each step. SciPy factorises each, at most `--scipy` of them, times their number.
Milliseconds of processor time of one thread, the least of several runs in turns; "error" is the
largest normwise backward error.
"""

import functools
import importlib.util
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import driver
import klu
import matrices
from solvers import backward_error, with_values
from sparsematch import solvers

HEADS = ["matrix", "kind", "rows", "ours", "KLU", "kvxopt", "SciPy", "fastest / ours", "error",
         "KLU's error", "kvxopt's error"]  # fmt: skip
WALK, COUPLING, DEVICES, DECADE = 0.02, 0.1, 0.2, 1.0


def newton(A, steps, rng):
    """Yield values that change with the states of their rows and columns."""
    columns = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    angle = np.zeros(A.shape[0])
    for _ in range(steps):
        angle += WALK * rng.standard_normal(angle.size)
        between = angle[A.indices] - angle[columns]
        yield A.data * np.cos(between) * (1 + COUPLING * np.sin(angle[columns]))


def transient(A, steps, rng):
    """Yield values of which those of some columns sway."""
    columns = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    device = rng.random(A.shape[0]) < DEVICES
    phase = rng.uniform(0, 2 * np.pi, A.shape[0])
    for step in range(steps):
        sway = 10 ** (DECADE / 2 * np.sin(phase + 2 * np.pi * step / steps))
        yield A.data * np.where(device, sway, 1)[columns]


def ours(A, values, b):
    """Return the solutions by one factorisation, refactorised."""
    lu = solvers.splu(A)
    out = []
    for new in values:
        lu.refactorise(new)
        out.append(lu.solve(b))
    return out


def klus(A, values, b, library):
    """Return the solutions by KLU's refactorisation."""
    k = klu.Klu(library, A)
    k.first(A.data.ctypes.data)
    out = []
    for new in values:
        x = b.copy()
        k.refactorise(new.ctypes.data)
        k.solve(x.ctypes.data)
        out.append(x)
    return out


def kvxopts(A, values, b):
    """Return the solutions by kvxopt, whose matrix gets the values of each step."""
    import kvxopt
    from kvxopt import klu as of_kvxopt

    columns = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    M = kvxopt.spmatrix(A.data, A.indices.astype(np.int64), columns, A.shape)
    symbolic = of_kvxopt.symbolic(M)
    out = []
    for new in values:
        M.V = kvxopt.matrix(new)
        numeric = of_kvxopt.numeric(M, symbolic)
        x = kvxopt.matrix(b)
        of_kvxopt.solve(M, symbolic, numeric, x)
        out.append(np.array(x).ravel())
    return out


def scipys(A, values, b):
    """Return the solutions by SciPy."""
    return [splu(sp.csc_array((new, A.indices, A.indptr), A.shape)).solve(b) for new in values]


def measure(A, make, args, library):
    """Return milliseconds and errors by package."""
    rng = np.random.default_rng(3)
    values, b = list(make(A, args.steps, rng)), rng.standard_normal(A.shape[0])
    few = values[: args.scipy]
    loops = {"ours": functools.partial(ours, A, values, b)}
    if library:
        loops["KLU"] = functools.partial(klus, A, values, b, library)
    if importlib.util.find_spec("kvxopt"):
        loops["kvxopt"] = functools.partial(kvxopts, A, values, b)
    loops["SciPy"] = functools.partial(scipys, A, few, b)
    seconds, errors = {}, {}
    for turn in range(args.repeats):
        for name, loop in loops.items():
            if name == "SciPy" and turn:
                continue
            begin = time.thread_time()
            found = loop()
            took = time.thread_time() - begin
            took *= len(values) / len(few) if name == "SciPy" else 1
            seconds[name] = min(took, seconds.get(name, took))
            errors[name] = max(
                backward_error(sp.csc_array((new, A.indices, A.indptr), A.shape), x, b)
                for new, x in zip(values, found, strict=False)
            )
    return seconds, errors


def rows(chosen, args, gains):
    """Yield the cells of each matrix and kind, and keep the fastest peer's time over ours."""
    library = klu.load()
    for name, load in chosen:
        A = with_values(name, load())
        for kind in args.kinds:
            make = {"newton": newton, "transient": transient}[kind]
            seconds, errors = measure(A, make, args, library)
            gain = min(each for who, each in seconds.items() if who != "ours") / seconds["ours"]
            gains[kind].append(gain)
            cells = [f"{seconds[who] * 1e3:.1f}" if who in seconds else "-"
                     for who in ("ours", "KLU", "kvxopt", "SciPy")]  # fmt: skip
            shown = [f"{errors[who]:.0e}" if who in errors else "-"
                     for who in ("ours", "KLU", "kvxopt")]  # fmt: skip
            yield [f"`{name}`", kind, f"{A.shape[0]:,}", *cells, f"{gain:.2f}", *shown]


def main():
    """Print the table and the means."""
    parser = driver.parser(__doc__, scale=13, seed=2011, repeats=3)
    parser.add_argument("--steps", type=int, default=200, help="of each loop (default 200)")
    parser.add_argument("--scipy", type=int, default=10, help="of SciPy's (default 10)")
    kinds = ["newton", "transient"]
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds)
    matrices.add_argument(parser, ())
    args = parser.parse_args()
    gains = {kind: [] for kind in args.kinds}
    driver.show(HEADS, rows(matrices.chosen(parser, args), args, gains))
    for kind, found in gains.items():
        mean = driver.geometric_mean(found)
        print(f"\n{kind}: the fastest peer's time over ours {mean:.2f} in geometric mean, "
              f"{min(found):.2f} at least")  # fmt: skip


if __name__ == "__main__":
    main()
