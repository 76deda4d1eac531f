"""Numerically singular matrices: what numerical_defects finds of what was planted, and its times.

    python benchmarks/singular.py planted FOLDER            # 400 planted ones in its .npz matrices
    python benchmarks/singular.py planted FOLDER --names "[a-m]*" --oracles
    python benchmarks/singular.py claims FOLDER             # its matrices as they are
    python benchmarks/singular.py times                     # against splu, large ones

Without a folder, or where it is absent, matrices are made. `planted` replaces rows and columns of
regular matrices by combinations of others and attaches parts without reference (`planted.py`); a
case is found exactly if as many dependences are named as there are, on both sides, and the planted
sets are among them. A claim is wrong whose residual, recomputed in long double, is above the
tolerance. `--oracles` asks others, too, as formulas and on up to `--dense` rows: the support of the
null vectors of a dense SVD, of the matrix and of the equilibrated one (MATLAB's way; the union of
the sets is compared); entries above 0.1 of the singular vectors of the smallest singular values
(IDAES's SVD toolbox; the union); an irreducible set by a linear program, least sum of magnitudes
(IDAES's degeneracy hunter), up to 400 rows; nearly parallel rows or columns.
"""

import collections
import fnmatch
import pathlib
import resource
import time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.linalg import svds

import driver
import matrices
import planted
import sparsematch
from sparsematch import solvers
from sparsematch._blame.defects import numerical_defects

#: Rows up to which the linear program is solved.
PROGRAM_ROWS = 400
#: Where IDAES's SVD toolbox cuts singular vectors of length one.
IDAES_CUT = 0.1


# ---- matrices


def made(rng):
    """Yield regular matrices, for where there is no folder."""
    for name in ("circuit", "dense_random", "mesh", "grid"):
        A = matrices.build(name, 8, int(rng.integers(1 << 30))).astype(np.float64)
        A = sp.csr_array(A[: min(A.shape), : min(A.shape)] + 3 * sp.eye_array(min(A.shape)))
        A.data *= rng.uniform(0.5, 2, A.nnz) * rng.choice([-1, 1], A.nnz)
        yield name, A


def given(args, rng):
    """Yield the square matrices with values of the folder, without stored zeros."""
    if args.folder is None or not args.folder.is_dir():
        yield from made(rng)
        return
    for path in sorted(args.folder.glob(f"{args.names}.npz")):
        A = sp.load_npz(path)
        if A.shape[0] != A.shape[1] or A.shape[0] > args.rows or A.dtype.kind not in "fc":
            continue
        A = sp.csr_array(A)
        A.sum_duplicates()
        A.eliminate_zeros()
        if A.nnz and np.isfinite(A.data).all():
            yield path.stem, A


# ---- other ways


def null_vectors(A, cut):
    """Return the left and right singular vectors of singular values below a cut, by a dense SVD."""
    u, s, vh = np.linalg.svd(A.toarray())
    few = int((s <= cut * s[0]).sum())
    return u[:, A.shape[0] - few :], vh[A.shape[0] - few :].T


def supports(vectors, cut):
    """Return the places where one of the vectors is large."""
    return set(np.flatnonzero((np.abs(vectors) > cut).any(axis=1)).tolist())


def by_svd(A, cut, support):
    """Whether a dense SVD shows the union of the planted sets, on each side where some are."""

    def answer(case):
        vectors = null_vectors(A, cut or A.shape[0] * np.finfo(float).eps)
        return all(
            set().union(*sets) == supports(found, support)
            and len(sets) <= found.shape[1] == case.deficiency
            for found, sets in zip(vectors, (case.rows, case.cols), strict=True)
            if sets
        )

    return answer


def program(B, vectors):
    """Yield the support of the combination with the least sum of magnitudes, for each vector."""
    n = B.shape[0]
    balance = sp.hstack([B.T, -B.T]).tocsc()
    seen = set()
    for vector in vectors.T:
        order = np.argsort(-np.abs(vector))
        start = next((int(row) for row in order if row not in seen), int(order[0]))
        bounds = [(0, None)] * (2 * n)
        bounds[start], bounds[n + start] = (1, 1), (0, 0)
        found = linprog(np.ones(2 * n), A_eq=balance, b_eq=np.zeros(n), bounds=bounds)
        if found.x is not None:
            y = np.abs(found.x[:n] - found.x[n:])
            yield frozenset(np.flatnonzero(y > 1e-6 * y.max()).tolist())
            seen |= set(np.flatnonzero(y > 1e-6 * y.max()).tolist())


def by_program(B):
    """Whether linear programs show the planted sets."""

    def answer(case):
        if B.shape[0] > PROGRAM_ROWS or np.iscomplexobj(B.data):
            return None
        left, right = null_vectors(B, 1e-10)
        rows = not case.rows or set(program(B, left)) >= set(case.rows)
        return rows and (not case.cols or set(program(sp.csr_array(B.T), right)) >= set(case.cols))

    return answer


def parallel(B):
    """Return the pairs of rows whose angle is below 1e-8, as sets."""
    unit = sp.csr_array(sp.diags_array(1 / np.sqrt((abs(B) ** 2).sum(axis=1))) @ B)
    cosines = sp.triu(unit @ unit.conj().T, 1).tocoo()
    near = np.abs(cosines.data) > 1 - 1e-8
    return {frozenset(pair) for pair in zip(cosines.row[near], cosines.col[near], strict=True)}


def by_parallels(B):
    """Whether pairs that are nearly parallel are the planted sets."""

    def answer(case):
        pairs = parallel(B), parallel(sp.csr_array(B.T))
        sides = zip(pairs, (case.rows, case.cols), strict=True)
        return all(found == set(sets) for found, sets in sides)

    return answer


def others(case):
    """Return whether other ways are exact, by name."""
    B, _, _ = planted.equilibrated(case.A)
    ways = {
        "SVD": by_svd(case.A, None, 1e-6),
        "SVD, equilibrated": by_svd(B, 1e-10, 1e-6),
        "IDAES, SVD toolbox": by_svd(B, 1e-10, IDAES_CUT),
        "IDAES, least sum": by_program(B),
        "parallel": by_parallels(B),
    }
    return {name: way(case) for name, way in ways.items()}


# ---- planted ones


def run_planted(args):
    """Print the table of planted matrices, by kind and units."""
    rng = np.random.default_rng(args.seed)
    regular = [(name, A) for name, A in given(args, rng) if planted.is_regular(A, args.dense)]
    print(f"{len(regular)} regular matrices: {' '.join(name for name, _ in regular)}", flush=True)
    groups = collections.defaultdict(list)
    exact = collections.defaultdict(list)
    for name, scaled, case in planted.draw(regular, args.count, rng, args.dense):
        begin = time.perf_counter()
        verdict = planted.judge(case, numerical_defects(sp.csc_array(case.A)))
        groups[case.kind, scaled].append((verdict, time.perf_counter() - begin))
        if args.verbose and not (verdict.exact and not verdict.loose):
            sizes = [len(of) for of in case.rows], [len(of) for of in case.cols]
            print("  ", name, case.A.shape[0], case.kind, scaled, *sizes, verdict, flush=True)
        if args.oracles and case.A.shape[0] <= args.dense:
            for way, right in others(case).items():
                if right is not None:
                    exact[way].append((case.kind, right))
            exact["numerical_defects, the same"].append((case.kind, verdict.exact))
    heads = (
        "kind",
        "units",
        "cases",
        "exact",
        "rank",
        "named",
        "wrong",
        "in its units",
        "not minimal",
    )
    driver.show(heads, planted_rows(groups))
    if exact:
        print()
        heads = "way", "cases", "exact", *planted.KINDS
        driver.show(heads, (oracle_row(*item) for item in exact.items()))


def planted_rows(groups):
    """Yield a line for each kind, and the sum."""
    everything = [verdict for group in groups.values() for verdict in group]
    for key, group in [*groups.items(), (("all", None), everything)]:
        verdicts = [verdict for verdict, _ in group]
        counts = (
            sum(getattr(verdict, field) for verdict in verdicts)
            for field in ("exact", "dimension", "named", "wrong", "wrong_in_units", "loose")
        )
        units = {True: "scaled", False: "as given", None: "both"}[key[1]]
        yield key[0], units, str(len(group)), *map(str, counts)


def oracle_row(way, answers):
    """Return the cells of one way: how often it is exact, and by kind."""
    cells = []
    for kind in (None, *planted.KINDS):
        of = [right for group, right in answers if kind in (None, group)]
        cells.append(f"{sum(of)} of {len(of)}")
    return way, str(len(answers)), *cells


# ---- matrices as they are


def run_claims(args):
    """Print what is claimed of every structurally nonsingular matrix, beside a dense SVD."""
    heads = "matrix", "rows", "named", "by an SVD", "smallest", "next", "wrong", "seconds"
    driver.show(heads, claims_rows(args))


def singular_values(B, dense):
    """All of them, descending; of larger matrices the largest and an estimate of the least."""
    if B.shape[0] <= dense:
        return np.linalg.svd(B.toarray(), compute_uv=False)
    return np.array(
        [svds(B, 1, return_singular_vectors=False)[0], planted.smallest_singular_value(B)]
    )


def claims_rows(args):
    """Yield the cells of a matrix; deficiencies are those of the product-scaled matrix."""
    rng = np.random.default_rng(args.seed)
    for name, A in given(args, rng):
        if sparsematch.structural_rank(A) < A.shape[0]:
            continue
        begin = time.perf_counter()
        found = numerical_defects(sp.csc_array(A))
        seconds = time.perf_counter() - begin
        transversal = sparsematch.maximum_product_transversal(A)
        rows, cols = transversal.row_scale, transversal.col_scale
        s = singular_values(transversal.scale(A), args.dense)
        few = int((s <= found.tolerance * s[0]).sum())
        sides = (
            (found.equations, A, (found.col_scale, cols)),
            (found.variables, sp.csr_array(A.T), (found.row_scale, rows)),
        )
        wrong = sum(
            planted.residual(of, claim.indices, claim.coefficients, scale) > found.tolerance
            for claims, of, units in sides
            for claim in claims
            for scale in units
        )
        named = f"{len(found.equations)}, {len(found.variables)}"
        least = f"{s[-1] / s[0]:.1e}", f"{s[max(len(s) - few - 1, 0)] / s[0]:.1e}"
        yield f"`{name}`", f"{A.shape[0]:,}", named, str(few), *least, str(wrong), f"{seconds:.2f}"


# ---- times


def grid(n, rng):
    """The weights of a square grid: fills in."""
    side = round(n**0.5)
    path = sp.diags_array(np.ones(side - 1), offsets=1, shape=(side, side))
    W = (sp.kron(path, sp.eye_array(side)) + sp.kron(sp.eye_array(side), path)).tocoo()
    W.data = rng.uniform(0.5, 2, W.nnz)
    return sp.csr_array(W + W.T)


def rings(sizes, rng):
    """The weights of directed cycles with chords over one to three nodes: little fill."""
    sizes = np.asarray(sizes)
    size = np.repeat(sizes, sizes)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    node = np.arange(size.size)
    steps = np.ones(node.size, int), rng.integers(2, 5, node.size)
    head = np.concatenate([start + (node - start + step) % size for step in steps])
    W = sp.coo_array((rng.uniform(0.5, 2, head.size), (np.tile(node, 2), head)))
    return sp.csr_array(W, shape=(node.size,) * 2)


def tied(W, tie):
    """Return the Laplacian of weights, every tenth node tied to a reference, if it is tied."""
    ties = tie * (np.arange(W.shape[0]) % 10 == 0)
    return sp.csr_array(sp.diags_array(W.sum(axis=1) + ties) - W)


def blocks(n, rng, deficiency, regular):
    """Many blocks, one of a tenth of the rows; columns of the singular ones depend, each alone."""
    grids = [grid(n // 100, rng) for _ in range(5)]
    sizes = [n // 10, *[n // 100] * 5, *[n // 1000] * 100, *[10] * (n // 50)]
    W = sp.csr_array(sp.block_diag([rings(sizes, rng), *grids]))
    sizes = np.array([*sizes, *(part.shape[0] for part in grids)])
    ends = np.cumsum(sizes)
    singular = [0, *(1 + rng.permutation(105)[: deficiency - 1]).tolist()]
    tie = np.ones(sizes.size)
    tie[singular] = float(regular)
    part = rng.integers(0, sizes.size, n // 4)
    low, size = (ends - sizes)[part], sizes[part]
    rows, first, step = rng.integers(0, n, n // 4), rng.integers(0, size), rng.integers(1, size)
    fit = rows < low
    pair = np.r_[(low + first)[fit], (low + (first + step) % size)[fit]]
    values = np.repeat([0.5, -0.5], fit.sum())
    couplings = sp.coo_array((values, (np.tile(rows[fit], 2), pair)), shape=(n, n))
    square = sp.block_diag([tied(W, np.repeat(tie, sizes)), sp.eye_array(n - ends[-1])])
    sets = [frozenset(range(ends[of] - sizes[of], ends[of])) for of in singular]
    return sp.csr_array(square + couplings), sets


def large(name, n, deficiency, regular):
    """Return a matrix that is singular, or the same made regular."""
    rng = np.random.default_rng(17)
    if name == "blocks":
        A, cols = blocks(n, rng, deficiency, regular)
        builder = planted.Builder(A, rng)
        builder.sets["columns"] = cols
        return builder.finish(name, 0, scaled=False)
    W = grid(n, rng) if name == "grid" else rings([n], rng)
    builder = planted.Builder(tied(W, float(regular or deficiency > 1)), rng)
    if deficiency == 1:
        builder.sets["columns"].append(frozenset(range(W.shape[0])))
        return builder.finish(name, 0, scaled=False)
    while len(builder.sets["rows"]) < deficiency and not regular:
        before = builder.A
        builder.combine("rows", int(rng.integers(2, 7)))
        if sparsematch.structural_rank(builder.A) < W.shape[0]:
            builder.A = before
            builder.sets["rows"].pop()
    return builder.finish(name, 0, scaled=False)


def memory():
    """Return the most memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def prepare_splu(name, n, deficiency):
    """The factorisation of the matrix made regular."""
    A = large(name, n, deficiency, True).A
    before = memory()
    return (lambda: solvers.splu(A)), lambda lu: {"memory": memory() - before, "fill": lu.nnz}


def prepare_defects(name, n, deficiency):
    """The defects of the singular matrix; the check is the judge's."""
    case = large(name, n, deficiency, False)
    before = memory()

    def check(found):
        used = memory() - before
        verdict = planted.judge(case, found)
        return {"memory": used, "verdict": list(vars(verdict).values())}

    return (lambda: numerical_defects(case.A)), check


def run_times(args):
    """Print times and memory of large matrices, each call in a process of its own."""
    heads = (
        "matrix", "rows", "deficiency", "splu, s", "defects, s", "ratio", "splu, MiB",
        "defects, MiB", "found", "exact", "wrong",
    )  # fmt: skip
    driver.show(heads, times_rows(args))


def attempt(prepare, *given, **options):
    """Measure; what ends in an error is a figure, too."""
    try:
        return driver.measure(prepare, *given, **options)
    except RuntimeError as error:
        return {"failed": str(error).strip().splitlines()[-1][:60]}


def times_rows(args):
    """Yield the cells of each large matrix and deficiency."""
    few = args.rows // 10
    for name, n in (("ring", few), ("grid", few), ("blocks", args.rows)):
        if not fnmatch.fnmatch(name, args.names):
            continue
        for deficiency in (1, 5, 50):
            given = name, n, deficiency
            options = {"repeats": args.repeats, "limit": args.limit}
            lu, found = (
                attempt(what, *given, **options) for what in (prepare_splu, prepare_defects)
            )
            cells = [name, f"{n:,}", str(deficiency)]
            if "failed" in lu or "failed" in found:
                shown = (of.get("failed") or f"{of['seconds']:.2f}" for of in (lu, found))
                yield [*cells, *shown, *[""] * 6]
                continue
            exact, right, wrong, in_units, *_ = found["verdict"]
            seconds = lu["seconds"], found["seconds"]
            yield [
                *cells,
                *(f"{value:.2f}" for value in (*seconds, seconds[1] / seconds[0])),
                *(f"{figures['memory']:,.0f}" for figures in (lu, found)),
                *("yes" if value else "no" for value in (right, exact)),
                str(wrong + in_units),
            ]


def main():
    """Run what is named."""
    parser = driver.parser(__doc__, seed=2011, repeats=1, limit=120.0)
    runs = {"planted": run_planted, "claims": run_claims, "times": run_times}
    parser.add_argument("what", choices=runs, help="what to measure")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="of .npz files")
    options = {
        "names": (str, "*", "pattern of the names of matrices"),
        "count": (int, 400, "planted matrices"),
        "rows": (int, None, "most rows of a matrix (6,000), of `times` the rows (1,000,000)"),
        "dense": (int, 1000, "rows up to which a dense SVD is the truth"),
    }
    for name, (kind, default, text) in options.items():
        parser.add_argument(f"--{name}", type=kind, default=default, help=text)
    parser.add_argument("--oracles", action="store_true", help="ask the other ways, too")
    parser.add_argument("--verbose", action="store_true", help="print what is not exact")
    args = parser.parse_args()
    args.rows = args.rows or (1_000_000 if args.what == "times" else 6_000)
    runs[args.what](args)


if __name__ == "__main__":
    main()
