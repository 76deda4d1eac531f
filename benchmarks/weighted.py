"""Measure maximum_product_transversal against min_weight_full_bipartite_matching of SciPy.

    python benchmarks/weighted.py FOLDER             # its .npz matrices of more than 50,000 entries
    python benchmarks/weighted.py FOLDER --entries 0 --limit 60
    python benchmarks/weighted.py --same-pattern 10000   # that many matrices of 300 rows

Prints a markdown table. Matrices without a full matching are left out, since SciPy refuses them,
and so are those with equal values only. Times are medians of processor time after one call that is
not counted. Ours is the call as a user makes it: checks, logarithms, search, factors. SciPy's is
the search alone, on costs made outside the timed part and shifted away from zero, in a process of
its own that is stopped at the limit. Every result of ours is proved by its duals, and
SciPy's objective, where it finished, must be the same. "rounded" is `approximate=True`.

--same-pattern: microseconds a matrix by `analyse_transversal`, of random matrices whose values have
logarithms with a standard deviation of 3 and differ from those of the first by the factor shown;
"step" is `maximum_product` from the result of the matrix before, "loop" a call for each.
"""

import pathlib
from time import thread_time

import numpy as np
import scipy.sparse as sp

import driver
import matrices
import sparsematch as sm
from driver import three

HEADS = [
    "matrix", "rows x columns", "entries", "product, ms", "rounded, ms", "sum, ms",
    "bottleneck, ms", "SciPy, ms", "SciPy / product",
]  # fmt: skip


def load(path):
    """The matrix without explicit zeros."""
    A = matrices.load(path)
    A.eliminate_zeros()
    return A


def scipy(path):
    """SciPy's search; its check is the sum of the logarithms that it finds."""
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    A = load(path)
    cost = -np.log(np.abs(A.data))
    C = sp.csr_array((cost + 1 - cost.min(), A.indices, A.indptr), shape=A.shape)
    return (
        lambda: min_weight_full_bipartite_matching(C),
        lambda found: {"objective": float(np.log(np.abs(A[found])).sum())},
    )


def row(path, A, args):
    """Measure one matrix; return the cells of its line, and SciPy's time over ours."""
    calls = {
        "product": sm.maximum_product_transversal,
        "rounded": lambda A: sm.maximum_product_transversal(A, approximate=True),
        "sum": sm.maximum_sum_transversal,
        "bottleneck": sm.bottleneck_transversal,
    }
    times, found = {}, {}
    for name, call in calls.items():
        times[name], found[name] = driver.median(
            lambda call=call: call(A), thread_time, args.repeats
        )
        if not sm.is_optimal_transversal(
            A, found[name], tolerance=0.7 if name == "rounded" else None
        ):
            raise AssertionError(f"{path.stem}: {name}: the duals do not prove the result")
    theirs = driver.measure(scipy, str(path), repeats=args.repeats, limit=args.limit)
    objective = found["product"].objective
    if not np.isclose(theirs.get("objective", objective), objective, rtol=1e-9, atol=1e-6):
        raise AssertionError(f"{path.stem}: SciPy's objective is {theirs}, ours {objective}")
    cells = [
        f"`{path.stem}`",
        f"{A.shape[0]:,} x {A.shape[1]:,}",
        f"{A.nnz:,}",
        *(three(t * 1e3) for t in times.values()),
        driver.ratio(theirs, 1e-3, args.limit),
        driver.ratio(theirs, times["product"], args.limit),
    ]
    return cells, theirs.get("seconds", args.limit) / times["product"]


def same_pattern(k):
    """Yield a line for each kind of values: what a matrix takes in a batch, a step, a loop."""
    rng, n = np.random.default_rng(0), 300
    A = sp.csr_array(sp.random_array((n, n), density=5 / n, rng=rng) + sp.eye_array(n))
    analysis, first = sm.analyse_transversal(A), rng.normal(0, 3, A.nnz)

    def steps(values):
        last = None
        for row in values:
            last = analysis.maximum_product(row, start=last)
            yield last

    def loop(values):
        for row in values:
            yield sm.maximum_product_transversal(
                sp.csr_array((row, A.indices, A.indptr), shape=A.shape)
            )

    for spread in (0.01, 0.1, 1.0, None):
        noise = rng.normal(0, 3 if spread is None else spread, (k, A.nnz))
        values = np.exp(noise if spread is None else first + noise)
        few, times = values[: max(1, k // 10)], []
        for call, given in (
            (analysis.maximum_products, values),
            (lambda values: list(steps(values)), few),
            (lambda values: list(loop(values)), few),
        ):
            seconds, found = driver.median(
                lambda call=call, given=given: call(given), thread_time, 3
            )
            times.append(seconds / len(given) * 1e6)
            if call == analysis.maximum_products:
                objectives = found.objective
            elif not np.allclose([T.objective for T in found], objectives[: len(few)], rtol=1e-12):
                raise AssertionError("the objectives differ")
        name = "unlike each other" if spread is None else f"exp({spread} x normal)"
        yield [name, *map(three, times)]


def rows(args, ratios):
    """Yield the cells of the matrices that SciPy accepts, and keep its times over ours."""
    for path in sorted(args.folder.glob("*.npz")):
        A = load(path)
        few = A.nnz <= args.entries or np.ptp(np.abs(A.data)) == 0
        if few or sm.structural_rank(A) < min(A.shape):
            continue
        cells, ratio = row(path, A, args)
        ratios.append(ratio)
        yield cells


def main():
    """Print the table and the mean of the ratios."""
    parser = driver.parser(__doc__, limit=20.0, repeats=5)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--same-pattern", type=int, default=0, metavar="K")
    text = "leave out matrices with no more (default %(default)s)"
    parser.add_argument("--entries", type=int, default=50_000, help=text)
    args = parser.parse_args()
    if args.same_pattern:
        driver.show(
            ["values", "batch, us", "step, us", "loop, us"], same_pattern(args.same_pattern)
        )
        return
    if args.folder is None:
        parser.error("name a folder, or --same-pattern")
    ratios = []
    driver.show(HEADS, rows(args, ratios))
    if not ratios:
        parser.error(f"no matrix to measure in {args.folder}")
    mean = three(driver.geometric_mean(ratios))
    print(f"\ngeometric mean of {len(ratios)} ratios: {mean}, least {three(min(ratios))}")


if __name__ == "__main__":
    main()
