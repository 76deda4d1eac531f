"""Measure maximum_product_transversal against min_weight_full_bipartite_matching of SciPy.

    python benchmarks/weighted.py FOLDER             # its .npz matrices of more than 50,000 entries
    python benchmarks/weighted.py FOLDER --entries 0 --limit 60

Prints a markdown table. Matrices without a full matching are left out, since SciPy refuses them,
and so are those with equal values only. Times are medians of processor time after one call that is
not counted. Ours is the call as a user makes it: checks, logarithms, search, factors. SciPy's is
the search alone, on costs made outside the timed part and shifted away from zero; it runs in a
process of its own and is stopped at the limit. Every result of ours is proved by its duals, and
SciPy's objective, where it finished, must be the same. "rounded" is `approximate=True`.
"""

import argparse
import multiprocessing
import pathlib
import queue
from time import thread_time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

import sparsematch as sm
from compare import line, three
from measure import median

HEAD = (
    "matrix",
    "rows x columns",
    "entries",
    "product, ms",
    "rounded, ms",
    "sum, ms",
    "bottleneck, ms",
    "SciPy, ms",
)


def load(path):
    """The matrix in canonical form, without explicit zeros."""
    A = sp.csr_array(sp.load_npz(path))
    A.sum_duplicates()
    A.eliminate_zeros()
    return A


def scipy(path, repeats, answers):
    """The child: SciPy's time, and the sum of the logarithms that it finds."""
    A = load(path)
    cost = -np.log(np.abs(A.data))
    shift = 1 - cost.min()
    C = sp.csr_array((cost + shift, A.indices, A.indptr), shape=A.shape)
    answers.put("ready")
    seconds, (rows, cols) = median(
        lambda: min_weight_full_bipartite_matching(C), thread_time, repeats
    )
    answers.put((seconds, float(np.log(np.abs(A[rows, cols])).sum())))


def peer(path, repeats, limit):
    """SciPy's seconds and objective, or None if it does not finish."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    child = context.Process(target=scipy, args=(path, repeats, answers))
    child.start()
    try:
        answers.get(timeout=60)
        return answers.get(timeout=limit)
    except queue.Empty:
        return None
    finally:
        child.kill()
        child.join()


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
        times[name], found[name] = median(lambda call=call: call(A), thread_time, args.repeats)
        if not sm.is_optimal_transversal(
            A, found[name], tolerance=0.7 if name == "rounded" else None
        ):
            raise AssertionError(f"{path.stem}: {name}: the duals do not prove the result")
    theirs = peer(path, args.repeats, args.limit)
    if theirs and not np.isclose(theirs[1], found["product"].objective, rtol=1e-9, atol=1e-6):
        raise AssertionError(
            f"{path.stem}: SciPy's objective is {theirs[1]}, ours {found['product'].objective}"
        )
    shown = three(theirs[0] * 1e3) if theirs else f"> {args.limit * 1e3:,.0f}"
    cells = [
        f"`{path.stem}`",
        f"{A.shape[0]:,} x {A.shape[1]:,}",
        f"{A.nnz:,}",
        *(three(t * 1e3) for t in times.values()),
    ]
    return [*cells, shown], (theirs[0] if theirs else args.limit) / times["product"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument(
        "--entries",
        type=int,
        default=50_000,
        help="leave out matrices with no more (default 50000)",
    )
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for SciPy (default 20)")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print(line([*HEAD, "SciPy / product"]))
    print(line(["---", *["---:"] * len(HEAD)]))
    ratios = []
    for path in sorted(args.folder.glob("*.npz")):
        A = load(path)
        if (
            A.nnz <= args.entries
            or np.ptp(np.abs(A.data)) == 0
            or sm.structural_rank(A) < min(A.shape)
        ):
            continue
        cells, ratio = row(path, A, args)
        ratios.append(ratio)
        print(line([*cells, three(ratio)]), flush=True)
    if not ratios:
        raise SystemExit(f"no matrix to measure in {args.folder}")
    mean = np.exp(np.mean(np.log(ratios)))
    print(f"\ngeometric mean of {len(ratios)} ratios: {three(mean)}, least {three(min(ratios))}")


if __name__ == "__main__":
    main()
