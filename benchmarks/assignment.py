"""Measure maximum_weight_matching beside SciPy and OR-tools, and print a markdown table.

    python benchmarks/assignment.py                     # all problems
    python benchmarks/assignment.py tracking grid       # some of them
    python benchmarks/assignment.py --write docs/howto/match_by_cost.md

All costs are whole numbers, as OR-tools needs them. SciPy's min_weight_full_bipartite_matching and
OR-tools' linear_sum_assignment match everything: for rows and columns that may stay unmatched they
get partners of their own, one for each row (SciPy), or one for each row and column and a mirrored
edge for each edge (OR-tools, where both sides have to be matched); at maximum cardinality these
are more expensive than all edges. In the min-cost flow an edge from each row to the sink serves.
These graphs are made outside the timed part, ours inside: that favours the others. Problems with
`full` are given to `csgraph.min_weight_full_bipartite_matching` here. Medians of processor time,
each in a process of its own, stopped at the limit; a certificate is checked, objectives must agree.
"""

import importlib.util
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import driver
import matrices


class Problem(NamedTuple):
    """Costs, or gains, of pairs; costs of rows and columns that are unmatched."""

    A: Any
    unmatched: tuple[Any, Any] = (0, 0)
    maximize: bool = False
    cardinality: str = "any"
    full: bool = False


def places(rng, n_rows, n_cols, degree):
    """Return random places, none twice."""
    A = matrices.pattern(
        np.repeat(np.arange(n_rows), degree),
        rng.integers(0, n_cols, degree * n_rows),
        (n_rows, n_cols),
    )
    return sp.csr_array(A.astype(float))


def tracking(rng, n):
    """Squared distances of points in two frames, within a gate; some vanish, some appear."""
    from scipy.spatial import cKDTree

    before = rng.random((n, 2)) * n**0.5
    after = np.r_[
        before[rng.random(n) < 0.95] + rng.normal(0, 0.3, (1, 2)), rng.random((n // 20, 2)) * n**0.5
    ]
    after += rng.normal(0, 0.3, after.shape)
    near = cKDTree(before).sparse_distance_matrix(cKDTree(after), 1.5, output_type="coo_matrix")
    A = sp.csr_array(near)
    A.data = np.rint(1000 * A.data**2) + 1
    return Problem(A, (1000, 1000))


def linkage(rng, n):
    """Similarities of records of two lists, five candidates each, in per mille."""
    A = places(rng, n, n + n // 5, 5)
    A.data = rng.integers(1, 1001, A.nnz).astype(float)
    return Problem(A, maximize=True)


def signed(rng, n):
    """Gains and losses, four a row."""
    A = places(rng, n, n, 4)
    A.data = rng.integers(-(10**6), 10**6, A.nnz).astype(float)
    return Problem(A, maximize=True)


def incomplete(rng, n):
    """Recipients and donors, four known distances each: as many pairs as possible, then cost."""
    A = places(rng, n // 8, n // 8, 4)
    A.data = rng.integers(1, 5000, A.nnz).astype(float)
    return Problem(A, cardinality="maximum")


def dense(rng, n):
    """Every pair, with doubles rounded to six digits."""
    side = int((8 * n) ** 0.5)
    return Problem(sp.csr_array(rng.integers(1, 10**6, (side, side)).astype(float)), full=True)


def generated(name):
    """Random costs on the entries of a matrix, of which it has a perfect matching."""

    def make(rng, n):
        A = sp.csr_array(matrices.build(name, int(n).bit_length() - 1).astype(float))
        if name == "grid":
            A = sp.csr_array(A + sp.eye_array(A.shape[0]))
        A.data = rng.integers(1, 10**6, A.nnz).astype(float)
        return Problem(A, full=True)

    return make


PROBLEMS = {f.__name__: f for f in (tracking, linkage, signed, incomplete, dense)}
PROBLEMS |= {name: generated(name) for name in ("grid", "mesh", "circuit")}


def build(name, scale, seed):
    """Return the problem of that name, with about 2**scale rows."""
    return PROBLEMS[name](np.random.default_rng([seed, list(PROBLEMS).index(name)]), 2**scale)


class Reduced(NamedTuple):
    """Edges with whole costs, no row being left but by an edge of its own, and their sum's rest."""

    A: Any  # COO, costs at least 1
    own: Any  # None: there is no such edge
    rest: float


def reduced(problem):
    """Take the costs of columns off the edges; make every cost positive, for each row the same."""
    A = sp.coo_array(problem.A)
    data = -A.data if problem.maximize else A.data.copy()
    if problem.full:
        return Reduced(A, None, 0.0)
    (n, m), (r, q) = A.shape, problem.unmatched
    own = r if problem.cardinality == "any" else 2 * np.abs(data).max() * n
    data -= q
    shift = 1 - min(data.min(), own)
    A = sp.coo_array((data + shift, A.coords), shape=A.shape)
    return Reduced(A, np.full(n, own + shift), q * m - shift * n)


def ours(problem):
    import sparsematch as sm

    if problem.full:
        full = sm.csgraph.min_weight_full_bipartite_matching
        return lambda: full(problem.A), lambda found: problem.A[found].sum()

    def call():
        return sm.maximum_weight_matching(
            problem.A,
            maximize=problem.maximize,
            unmatched_cost=problem.unmatched,
            cardinality=problem.cardinality,
        )

    def objective(found):
        if not sm.is_optimal_matching(problem.A, found, tolerance=0):
            raise AssertionError("the duals do not prove the result")
        return found.objective

    return call, objective


def least(problem, total):
    """Return the objective, given the sum of the costs of what was reduced."""
    _, own, rest = reduced(problem)
    total += rest
    if problem.cardinality == "maximum":
        import sparsematch as sm

        total -= (own[0] + rest / own.size) * (own.size - sm.structural_rank(problem.A))
    return float(-total if problem.maximize else total)


def with_scipy(problem):
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    A, own, _ = reduced(problem)
    wide = sp.csr_array(A if own is None else sp.hstack([A, sp.diags_array(own)]))
    return (
        lambda: min_weight_full_bipartite_matching(wide),
        lambda found: least(problem, wide[found].sum()),
    )


def with_assignment(problem):
    from ortools.graph.python import linear_sum_assignment

    A, own, _ = reduced(problem)
    (n, m), (i, j) = A.shape, A.coords
    tails, heads, costs = i, j, A.data
    if own is not None:
        k, p = np.arange(n), np.arange(m)
        tails, heads = np.r_[i, k, n + p, n + j], np.r_[j, m + k, p, m + i]
        costs = np.r_[costs, own, np.zeros(m + A.nnz)]
    solver = linear_sum_assignment.SimpleLinearSumAssignment()
    solver.add_arcs_with_cost(tails, heads, costs.astype(np.int64))

    def call():
        if solver.solve() != solver.OPTIMAL:
            raise RuntimeError("OR-tools found no assignment")
        return solver.optimal_cost()

    return call, lambda total: least(problem, total)


def with_flow(problem):
    from ortools.graph.python import min_cost_flow

    A, own, _ = reduced(problem)
    (n, m), (i, j) = A.shape, A.coords
    k, sink = np.arange(n), n + m
    tails, heads = np.r_[i, n + np.arange(m)], np.r_[n + j, np.full(m, sink)]
    costs = np.r_[A.data, np.zeros(m)]
    if own is not None:
        tails, heads = np.r_[tails, k], np.r_[heads, np.full(n, sink)]
        costs = np.r_[costs, own]
    solver = min_cost_flow.SimpleMinCostFlow()
    ones = np.ones(tails.size, np.int64)
    solver.add_arcs_with_capacity_and_unit_cost(tails, heads, ones, costs.astype(np.int64))
    solver.set_nodes_supplies(np.r_[k, sink], np.r_[ones[:n], -n])

    def call():
        if solver.solve() != solver.OPTIMAL:
            raise RuntimeError("OR-tools found no flow")
        return solver.optimal_cost()

    return call, lambda total: least(problem, total)


SOLVERS = {
    "sparsematch, ms": ("sparsematch", ours),
    "SciPy": ("scipy", with_scipy),
    "OR-tools assignment": ("ortools", with_assignment),
    "OR-tools min-cost flow": ("ortools", with_flow),
}


def prepare(solver, name, scale, seed):
    """Return the call of one solver, and what makes the objective of its result."""
    call, objective = SOLVERS[solver][1](build(name, scale, seed))
    return call, lambda result: {"objective": float(objective(result))}


def row(name, args, solvers):
    """Return the cells of one problem: ours in milliseconds, the others as multiples of it."""
    A = build(name, args.scale, args.seed).A
    found = [
        driver.measure(
            prepare, solver, name, args.scale, args.seed, repeats=args.repeats, limit=args.limit
        )
        for solver in solvers
    ]
    objectives = {figures["objective"] for figures in found if "objective" in figures}
    if len(objectives) != 1:
        raise AssertionError(f"{name}: objectives differ: {objectives}")
    unit = found[0]["seconds"]
    cells = [driver.ratio(figures, unit, args.limit) for figures in found[1:]]
    shape = f"{A.shape[0]:,} x {A.shape[1]:,}"
    return [f"`{name}`", shape, f"{A.nnz:,}", driver.three(1e3 * unit), *cells]


def main():
    """Print the table, and write it to the file that is given."""
    parser = driver.parser(__doc__, write=True, scale=17, seed=2011, repeats=3, limit=60.0)
    text = f"of {', '.join(PROBLEMS)}; default: all"
    parser.add_argument("names", nargs="*", metavar="PROBLEM", default=list(PROBLEMS), help=text)
    args = parser.parse_args()
    if unknown := set(args.names) - set(PROBLEMS):
        parser.error(f"unknown problems: {', '.join(sorted(unknown))}")
    solvers = [name for name, (package, _) in SOLVERS.items() if importlib.util.find_spec(package)]
    conditions = driver.conditions(args, "scale", "seed", "limit")
    heads = ["problem", "rows x columns", "entries", *solvers]
    lines = driver.table(heads, (row(name, args, solvers) for name in args.names))
    driver.publish(lines, args, "table of assignments", conditions)


if __name__ == "__main__":
    main()
