"""Time every engine on every matrix, and print a markdown table.

    python benchmarks/engines.py                              # about 2**14 rows each
    python benchmarks/engines.py mesh mesh_scrambled --scale 17 --engines ms_bfs_graft push_relabel

An exact engine starts from the matching that `cheap` makes, a heuristic and `auto` from the empty
one. Times are medians of the engines' own, in milliseconds and in products of the matrix with a
vector; transposes have a column, the check of the matrix and its explanation a line. Results are
checked outside the timed part. `ms_bfs_graft` is also run without grafting and without changes of
direction, as in Figure 7 of its paper (Azad, Buluç, Pothen, 2017).
"""

import statistics
import time
from functools import partial

import numpy as np

import driver
import matrices
import sparsematch
from driver import three

HEADS = ["matrix", "engine", "ms", "SpMV", "its transpose, SpMV", "pairs", "entries scanned"]
ENGINES = [engine for engine in sparsematch.engines() if engine.kind != "approximate"]
SLOW = {"reference"}  # in Python: on small matrices only
SMALL = 5_000  # rows
GRAFTING = [
    {"grafting": grafting, "direction": direction}
    for grafting, direction in ((True, False), (False, True), (False, False))
]


def cases(wanted):
    """Yield engines and options."""
    for engine in ENGINES:
        if not wanted or engine.name in wanted:
            yield engine, {}
            if engine.name == "ms_bfs_graft":
                yield from ((engine, options) for options in GRAFTING)


def report(A, engine, options, start, args):
    """Return the median seconds of an engine, and the last matching and report."""
    how = {"workers": args.workers, "options": options, "return_info": True}
    if engine.kind == "heuristic":
        how |= {"init": engine.name, "method": "none"}
    else:
        how |= {"method": engine.name, "initial": None if engine.name == "auto" else start}
    seconds = []
    for _ in range(args.repeats + 1):
        matching, info = sparsematch.maximum_transversal(A, **how)
        seconds.append(sum(step.seconds for step in info.steps))
    check = sparsematch.is_maximal if engine.kind == "heuristic" else sparsematch.is_maximum
    if not check(A, matching):
        raise AssertionError(f"{engine.name}: the matching is not {check.__name__[3:]}")
    return statistics.median(seconds[1:]), matching, info


def rows(chosen, args):
    """Yield the cells of each matrix and engine as soon as they are measured."""
    for name, make in chosen:
        A = matrices.pattern_of(make())
        x = np.ones(A.shape[1], np.float32)
        unit, _ = driver.median(lambda A=A, x=x: A @ x, time.perf_counter, 7)
        start = sparsematch.maximum_transversal(A, init="cheap", method="none")
        best = sparsematch.maximum_transversal(A)
        for words, call in (
            ("check of the matrix", partial(view, A)),
            ("explanation", partial(sparsematch.explain_singularity, A, matching=best)),
        ):
            seconds, _ = driver.median(call, time.perf_counter, args.repeats)
            yield [f"`{name}`", words, three(1e3 * seconds), three(seconds / unit), *[""] * 3]
        for engine, options in cases(args.engines):
            if engine.name in SLOW and A.shape[0] > SMALL:
                continue
            seconds, matching, info = report(A, engine, options, start, args)
            shown = ", ".join([f"`{engine.name}`", *(f"{k}={v}" for k, v in options.items())])
            times = 1e3 * seconds, seconds / unit, info.transpose_seconds / unit
            counts = matching.cardinality, sum(step.edges for step in info.steps)
            yield [f"`{name}`", shown, *map(three, times), *(f"{count:,}" for count in counts)]


def view(A):
    """The check that each call makes of its matrix."""
    return sparsematch.BipartiteCSR.from_arrays(A.indptr, A.indices, A.shape)


def main():
    """Print the table."""
    parser = driver.parser(__doc__, scale=14, seed=2011, repeats=3, workers=1)
    parser.add_argument("--engines", nargs="+", metavar="NAME", help="some engines only")
    matrices.add_argument(parser)
    args = parser.parse_args()
    driver.show(HEADS, rows(matrices.chosen(parser, args), args))


if __name__ == "__main__":
    main()
