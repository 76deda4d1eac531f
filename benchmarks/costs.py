"""Costs: the table by which splu chooses orders and kernels, measured, and how far off it is.

    python benchmarks/costs.py FILE ...

Files written by `scipy.sparse.save_npz`, square, with values. Of each the largest diagonal block is
factorised in every way that can be asked for: the diagonal of the pattern and that of the largest
product, by each kernel that is installed; seconds are one thread's processor time, less those of a
call on one row. Every other matrix is fitted to, by logarithms, outliers counting less: the row of
each kernel for cost.hpp of the core, which is compared with what is there. The others judge: the
share of predictions within a factor of two, by the fit and by the table, and the time of what splu
chooses over that of the best way, analysis included: the geometric mean and the worst.
"""

import functools
import itertools
import math
import time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import least_squares

import driver
import orders
from fill import block
from sparsematch import solvers
from sparsematch._systems.named_solvers import find_solver, installed

CLOCK = time.process_time
DIAGONALS = "structure", "product"
SEARCHES = dict.fromkeys(("given", "product", "dissection", "by_values"), (0.0, 0.0, 0.0))


def only(kernel):
    """Return what leaves every block to one kernel, in order of minimum degree."""
    others = set(orders.kernel_costs()) - {kernel}
    policy = SEARCHES | dict.fromkeys(others, (1e9, 1e9, 1e9, 1e9))
    return find_solver("auto")._replace(policy=policy | {"available": [kernel], "few_rows": 1})


@functools.cache
def call():
    """Return the seconds of a factorisation of one row: what a block adds to is its cost."""
    one = sp.eye_array(1, format="csc")
    return driver.median(functools.partial(solvers.analyse(one).factorise, one), CLOCK, 99)[0]


def ways(A, kernels):
    """Measure each: what is known of the block, and seconds to analyse and to factorise."""
    for pivoting, kernel in itertools.product(DIAGONALS, kernels):
        analyse = functools.partial(solvers.analyse, A, pivoting=pivoting, solver=only(kernel))
        planning, analysis = driver.median(analyse, CLOCK, 3)
        chosen = analysis._plan.blocks.chosen.values()
        *_, found, fill, work, seconds = max(chosen, key=lambda way: way[3], default=(0,) * 6)
        if seconds < 2 and found == kernel:
            factorise = functools.partial(analysis.factorise, A)
            making, _ = driver.median(factorise, CLOCK, 3)
            yield kernel, (1.0, A.nnz, fill, work), planning, making


def fit(rows):
    """Return coefficients of least error of the logarithm; rows have features and seconds."""
    if not rows:
        return np.zeros(4)
    features, seconds = (np.array(part) for part in zip(*rows, strict=True))
    units = np.array([1e-6, 1e-8, 1e-8, 1e-10])

    def errors(logarithms):
        return np.log(features @ (units * np.exp(logarithms)) / seconds)

    return units * np.exp(least_squares(errors, np.ones(4), loss="soft_l1", f_scale=0.2).x)


def near(rows, cost):
    """Return the share of predictions within a factor of two."""
    return np.mean([0.5 < np.dot(f, cost) / t < 2 for f, t in rows])


def measure(paths):
    """Return the ways of each matrix, and the times of what is chosen over the best."""
    kernels = ["own", "fronts", *installed().get("available", ())]
    known, regret = [], []
    for path in paths:
        A = block(path.stem, sp.load_npz(path))
        measured = list(ways(A, kernels)) if A.shape[0] >= 32 else []
        if not measured:
            continue
        known.append(measured)
        splu = functools.partial(solvers.splu, A)
        chosen, _ = driver.median(splu, CLOCK, 3)
        regret.append(chosen / min(planning + making for *_, planning, making in measured))
        print(f"{path.stem:24} {A.shape[0]:8} {A.nnz:9} {regret[-1]:6.2f}", flush=True)
    return kernels, known, regret


def main():
    """Measure and print."""
    options = driver.parser(__doc__)
    options.add_argument("files", nargs="+", type=driver.pathlib.Path, metavar="FILE")
    kernels, known, regret = measure(options.parse_args().files)
    for kernel in kernels:
        halves = [
            [
                (f, max(t - call(), 1e-6))
                for ways in known[half::2]
                for k, f, _, t in ways
                if k == kernel
            ]
            for half in (0, 1)
        ]
        cost, table = fit(halves[0]), orders.kernel_costs()[kernel]
        text = ", ".join(f"{c:.2g}" for c in cost)
        by_fit, by_table = near(halves[1], cost), near(halves[1], table)
        print(f"{kernel}: {{{text}}}; of {len(halves[1])} within a factor of two:")
        print(f"    {by_fit:.0%} by the fit, {by_table:.0%} by the table")
    others = np.array(regret[1::2])
    mean = math.exp(np.log(others).mean())
    print(f"chosen over the best: {mean:.3f} in geometric mean, {others.max():.2f} at worst")


if __name__ == "__main__":
    main()
