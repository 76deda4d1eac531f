"""Least squares: sparsematch.solvers.lstsq beside SciPy's lsmr.

    python benchmarks/least_squares.py FOLDER
    python benchmarks/least_squares.py FOLDER --names "mip_*"

Prints a line for each rectangular .npz matrix of FOLDER that is not of booleans, with a random
right-hand side: the rank, the seconds and the backward error of lstsq; the seconds and the steps of
lsmr, which aims at 1e-12, and whether it came there before 20 times as many steps as the longer
side has; and by how much lsmr's residual, and its x, are longer than those of lstsq, in units of
the right-hand side and of x. Times are of a process of its own for each. The last lines count.
"""

import fnmatch
import pathlib

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsmr

import driver
import matrices
from sparsematch import solvers

TOLERANCE, STEPS = 1e-12, 20
#: Stops of lsmr that mean it has converged to the tolerance, or to rounding errors.
CONVERGED = 0, 1, 2, 4, 5


def load(path):
    """Return the matrix by columns, or None if it is not one that is meant."""
    A = matrices.load(path)
    if A.shape[0] == A.shape[1] or A.dtype == bool or A.nnz == 0:
        return None
    return sp.csc_array(A).astype(np.result_type(A.dtype, float))


def right_hand_side(A):
    """Return random numbers."""
    return np.random.default_rng(0).standard_normal(A.shape[0])


def figures(A, x):
    """Return the lengths of the residual and of x in units that both ways share."""
    b = right_hand_side(A)
    norms = np.linalg.norm(b - A @ x), np.linalg.norm(x)
    return {"residual": norms[0] / np.linalg.norm(b), "x": norms[1]}


def prepare_lstsq(path):
    """Our call."""
    A = load(pathlib.Path(path))
    b = right_hand_side(A)

    def check(found):
        error = float(found.backward_error)
        return {"rank": int(found.rank), "error": error} | figures(A, found.x)

    return (lambda: solvers.lstsq(A, b)), check


def prepare_lsmr(path):
    """SciPy's."""
    A = load(pathlib.Path(path))
    b, rows, most = right_hand_side(A), sp.csr_array(A), STEPS * max(A.shape)

    def call():
        return lsmr(rows, b, atol=TOLERANCE, btol=TOLERANCE, conlim=0, maxiter=most)

    def check(found):
        x, stop, steps = found[:3]
        return {"steps": steps, "converged": stop in CONVERGED} | figures(A, x)

    return call, check


def excess(ours, theirs, what):
    """How much longer theirs is, by Pythagoras; negative: shorter."""
    difference = theirs[what] ** 2 - ours[what] ** 2
    length = np.sign(difference) * np.sqrt(abs(difference))
    return f"{length / (ours['x'] if what == 'x' else 1):.0e}"


def rows(args, found):
    """Yield the cells of each matrix, and note the figures."""
    paths = (p for p in args.folder.glob("*.npz") if fnmatch.fnmatch(p.stem, args.names))
    for path in sorted(paths, key=lambda file: file.stat().st_size):
        if (A := load(path)) is None:
            continue
        cells = [f"`{path.stem}`", "x".join(f"{side:,}" for side in A.shape)]
        options = {"repeats": args.repeats, "limit": args.limit}
        ours, theirs = (
            driver.measure(way, str(path), **options) for way in (prepare_lstsq, prepare_lsmr)
        )
        found.append((ours, theirs))
        for way in (ours, theirs):
            if "failed" in way:
                cells += [way["failed"], "", ""]
            elif way is ours:
                cells += [f"{way['seconds']:.4f}", f"{way['rank']:,}", f"{way['error']:.0e}"]
            else:
                ended = "yes" if way["converged"] else "no"
                cells += [f"{way['seconds']:.4f}", f"{way['steps']:,}", ended]
        both = "failed" not in ours and "failed" not in theirs
        yield [*cells, *(excess(ours, theirs, what) if both else "" for what in ("residual", "x"))]


def summary(found):
    """Yield what is to be said of all."""
    ours = [way for way, _ in found if "failed" not in way]
    good = sum(way["error"] <= TOLERANCE for way in ours)
    yield f"lstsq: {good} of {len(found)} with a backward error of at most {TOLERANCE:.0e}."
    pairs = [(o, t) for o, t in found if "failed" not in o and t.get("converged")]
    yield f"lsmr: {len(pairs)} of {len(found)} converged."
    if pairs:
        speed = driver.geometric_mean([t["seconds"] / o["seconds"] for o, t in pairs])
        slower = sum(o["seconds"] > t["seconds"] for o, t in pairs)
        yield f"Of these, time of lsmr over that of lstsq: {speed:.2f}; lsmr is faster on {slower}."


def main():
    """Print the table, and the counts."""
    parser = driver.parser(__doc__, repeats=3, limit=60.0)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--names", default="*", help="pattern of the names of matrices")
    args = parser.parse_args()
    heads = (
        "matrix", "shape", "lstsq, s", "rank", "backward error", "lsmr, s", "steps", "converged",
        "residual longer", "x longer",
    )  # fmt: skip
    found = []
    driver.show(heads, rows(args, found))
    for line in summary(found):
        print(f"\n{line}")


if __name__ == "__main__":
    main()
