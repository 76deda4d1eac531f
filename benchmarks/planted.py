"""Real matrices made singular on purpose, and the judge of what is said about them.

`plant` replaces rows or columns of a regular matrix by combinations of others, or attaches a part
without reference. What was planted is checked by `is_true`, and `judge` compares it with a result
of `numerical_defects`: it recomputes every residual from the matrix, in long double.
"""

import dataclasses

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import sparsematch as sm

#: Smallest singular value, the largest entry of every row being 1, of what counts as independent:
#: far above every tolerance, and above what noise of 1e-12 makes of a dependence.
CLEAR = 1e-7
#: Relative change of every entry of a noisy matrix.
NOISE = 1e-12
#: On which sides the set of a floating part is its nodes alone.
FLOATING = ("rows",), ("columns",), ("rows", "columns")
#: Kinds, and of how many of a hundred matrices.
KINDS = {"rows": 25, "columns": 13, "floating": 12, "two": 18, "three": 16, "noise": 16}


@dataclasses.dataclass(frozen=True)
class Planted:
    """A singular matrix, and the sets of its rows and columns that depend on each other."""

    kind: str
    A: sp.csc_array
    rows: tuple[frozenset, ...]
    cols: tuple[frozenset, ...]
    row_units: np.ndarray
    col_units: np.ndarray

    @property
    def deficiency(self):
        """By how much the rank is too small."""
        return max(len(self.rows), len(self.cols))

    @property
    def balanced(self):
        """The matrix in the units that it was planted in: entries near 1 in every row and column.

        A scaling that is computed from the matrix would be another judge: that of the largest
        product, for one, has factors of exp(1000) where a row depends on others far away.
        """
        scaled = sp.diags_array(self.row_units) @ self.A @ sp.diags_array(self.col_units)
        return sp.csr_array(scaled)


# ---- units


def equilibrated(A):
    """Return powers of two that bring the largest entry of columns, then of rows, near 1."""
    magnitude = abs(A).tocsc()
    cols = np.exp2(-np.round(np.log2(magnitude.max(axis=0).toarray().ravel())))
    magnitude = magnitude @ sp.diags_array(cols)
    rows = np.exp2(-np.round(np.log2(magnitude.max(axis=1).toarray().ravel())))
    return sp.csr_array(sp.diags_array(rows) @ A @ sp.diags_array(cols)), rows, cols


def smallest_singular_value(B):
    """By inverse iteration; zero where SuperLU finds the matrix singular."""
    try:
        lu = splu(sp.csc_matrix(B))
    except RuntimeError:
        return 0.0
    x = np.random.default_rng(0).standard_normal(B.shape[0]).astype(B.dtype)
    for _ in range(6):
        x /= np.linalg.norm(x)
        x = lu.solve(lu.solve(x), trans="H")
        if not np.isfinite(x).all() or not x.any():
            return 0.0
    return float(np.linalg.norm(x) ** -0.5)


def is_regular(A, dense):
    """Whether a matrix can be planted in: regular, by an SVD if it has up to `dense` rows."""
    if A.shape[0] != A.shape[1] or A.shape[0] < 20 or sm.structural_rank(A) < A.shape[0]:
        return False
    B, _, _ = equilibrated(A)
    if A.shape[0] <= dense:
        return np.linalg.svd(B.toarray(), compute_uv=False)[-1] > CLEAR
    return smallest_singular_value(B) > CLEAR


# ---- planting


class Builder:
    """An equilibrated matrix, and what has been planted in it."""

    def __init__(self, A, rng):
        self.A, self.rows_unit, self.cols_unit = equilibrated(A)
        self.n, self.rng = A.shape[0], rng
        self.sets = {"rows": [], "columns": []}

    def combine(self, side, size, shared=False):
        """Replace a row, or a column, by a combination of `size` - 1 others."""
        A = self.A if side == "rows" else self.A.T.tocsr()
        taken = set().union(*self.sets[side])
        free = np.setdiff1d(np.arange(self.n), list(taken))
        choose = self.nearby if self.rng.random() < 0.5 else self.anywhere
        members = choose(A, free, size)
        if shared and taken:
            members[-1] = self.rng.choice(sorted(taken & set(range(self.n))) or members[-1:])
        coefficients = self.rng.choice([-1, 1], size - 1) * 10 ** self.rng.uniform(
            -1.5, 0, size - 1
        )
        keep = np.ones(A.shape[0])
        keep[members[0]] = 0
        places = np.full(size - 1, members[0]), members[1:]
        change = sp.coo_array((coefficients, places), shape=A.shape) + sp.diags_array(keep)
        A = sp.csr_array(change @ A)
        self.A = A if side == "rows" else A.T.tocsr()
        self.sets[side].append(frozenset(members.tolist()))

    def anywhere(self, A, free, size):
        """Return some rows."""
        return self.rng.choice(free, size, replace=False)

    def nearby(self, A, free, size):
        """Return a row and others that share columns with it, or with those: less fill."""
        columns, found, seen = A.T.tocsr(), [int(self.rng.choice(free))], set(free.tolist())
        seen.discard(found[0])
        for row in found:
            for column in A.indices[A.indptr[row] : A.indptr[row + 1]][:8]:
                others = columns.indices[columns.indptr[column] : columns.indptr[column + 1]][:20]
                new = [other for other in others.tolist() if other in seen]
                found += new
                seen.difference_update(new)
            if len(found) >= 3 * size:
                break
        if len(found) < size:
            return self.anywhere(A, free, size)
        return np.r_[found[0], self.rng.choice(found[1:], size - 1, replace=False)]

    def float_part(self, sides):
        """Attach the Laplacian of a graph without reference; the sets are on these sides."""
        L = laplacian(self.rng, int(self.rng.integers(3, 60)))
        size, n = L.shape[0], self.A.shape[0]
        right = self.coupling(size, balanced="columns" in sides)
        left = self.coupling(size, balanced="rows" in sides).T
        right.resize(n, size)
        left.resize(size, n)
        if "columns" not in sides:  # the potentials feed the rest: only its equations depend
            left = None
        elif "rows" not in sides:
            right = None
        self.A = sp.csr_array(sp.block_array([[self.A, right], [left, L]]))
        self.rows_unit = np.r_[self.rows_unit, np.ones(size)]
        self.cols_unit = np.r_[self.cols_unit, np.ones(size)]
        for side in sides:
            self.sets[side].append(frozenset(range(n, n + size)))

    def coupling(self, size, balanced):
        """Return three entries of some rows on a part; balanced: differences of potentials."""
        rows = self.rng.choice(self.n, 3, replace=False)
        to, other = self.rng.integers(0, size, 3), self.rng.integers(1, size, 3)
        values = self.rng.uniform(0.2, 1, 3)
        C = sp.coo_array((values, (rows, to)), shape=(self.n, size)).tolil()
        if balanced:
            for row, first, step, value in zip(rows, to, other, values, strict=True):
                C[row, (first + step) % size] = -value
        return C.tocoo()

    def finish(self, kind, noise, scaled):
        """Return the matrix in the units of the one given, or in others, and scrambled."""
        A = self.A.tocoo()
        A.eliminate_zeros()
        rows, cols = 1 / self.rows_unit, 1 / self.cols_unit
        if scaled:
            rows = rows * 10 ** self.rng.uniform(-6, 6, rows.size)
            cols = cols * 10 ** self.rng.uniform(-6, 6, cols.size)
        values = A.data * (1 + noise * self.rng.standard_normal(A.nnz)) * rows[A.row] * cols[A.col]
        new = self.rng.permutation(A.shape[0]), self.rng.permutation(A.shape[1])
        result = sp.csc_array(sp.coo_array((values, (new[0][A.row], new[1][A.col])), A.shape))
        sets = [
            tuple(frozenset(place[list(of)].tolist()) for of in self.sets[side])
            for side, place in zip(("rows", "columns"), new, strict=True)
        ]
        units = np.empty(rows.size), np.empty(cols.size)
        units[0][new[0]], units[1][new[1]] = 1 / rows, 1 / cols
        return Planted(kind, result, *sets, *units)


def laplacian(rng, size):
    """A connected graph: a tree and some more edges, conductances within a factor of 100."""
    tail = np.arange(1, size)
    head = np.array([rng.integers(max(0, node - 4), node) for node in tail])
    more = rng.integers(0, size, (2, size // 2))
    tail, head = np.r_[tail, more[0]], np.r_[head, more[1]]
    weights = 10 ** rng.uniform(-2, 0, tail.size) * (tail != head)
    W = sp.coo_array((weights, (tail, head)), shape=(size, size))
    W = W + W.T
    return sp.csr_array(sp.diags_array(W.sum(axis=1)) - W)


def grounded(A, rng):
    """The Laplacian of the graph of a matrix, some of its nodes tied to a reference."""
    W = abs(sp.csr_array(A)).astype(bool).astype(float)
    W.data = 10 ** rng.uniform(-1, 0, W.nnz)
    W = sp.csr_array(W + W.T)
    W.setdiag(0)
    W.eliminate_zeros()
    ties = (rng.random(A.shape[0]) < 0.2) + 1e-3
    return sp.csr_array(sp.diags_array(W.sum(axis=1) + ties) - W)


def plant(A, kind, rng, scaled):
    """Return a planted matrix of a kind; its truth is not checked here."""
    noise = NOISE if kind == "noise" else 0
    what = str(rng.choice(["rows", "columns", "floating", "two"])) if noise else kind
    if what == "floating" and rng.random() < 0.5:
        A = grounded(A, rng)
    builder = Builder(A, rng)
    most = min(21, A.shape[0] // 6)
    if what == "floating":
        builder.float_part(FLOATING[rng.integers(3)])
        return builder.finish(kind, noise, scaled)
    side = what if what in ("rows", "columns") else str(rng.choice(["rows", "columns"]))
    times = {"two": 2, "three": 3}.get(what, 1)
    if times > 1 and rng.random() < 0.4:
        builder.float_part(("rows", "columns") if rng.random() < 0.5 else (side,))
        times -= 1
    shared = times > 1 and rng.random() < 0.3
    for _ in range(times):
        size = 2 if what == "columns" else int(rng.integers(3 if shared else 2, most))
        builder.combine(side, size, shared)
    if kind in ("two", "three") and rng.random() < 0.3:
        builder.combine("columns" if side == "rows" else "rows", int(rng.integers(2, 6)))
    return builder.finish(kind, noise, scaled)


# ---- the truth


def is_true(planted, dense):
    """Whether the planted sets are what there is: nothing less and nothing more depends."""
    if sm.structural_rank(planted.A) < planted.A.shape[0]:
        return False
    B, _, _ = equilibrated(planted.balanced)
    for side, sets in (("rows", planted.rows), ("columns", planted.cols)):
        for members in sets:
            if not is_minimal(B if side == "rows" else B.T.tocsr(), sorted(members), 1e-6):
                return False
    return singular_values_agree(B, planted.deficiency, dense)


def singular_values_agree(B, d, dense):
    """Whether d singular values vanish and the others do not, by far."""
    n = B.shape[0]
    if n <= dense:
        s = np.linalg.svd(B.toarray(), compute_uv=False)
        return s[n - d] < 1e-10 * s[0] and s[n - d - 1] > CLEAR
    border = np.random.default_rng(1).standard_normal((2, n, d)) / np.sqrt(n)
    return smallest_singular_value(sp.block_array([[B, border[0]], [border[1].T, None]])) > CLEAR


def is_minimal(B, members, least):
    """Whether one combination of these rows vanishes, with no weight below `least`."""
    part = B[members]
    part = part[:, np.unique(part.indices)].toarray()
    part = part / np.abs(part).max(axis=1, keepdims=True)
    u, s, _ = np.linalg.svd(part)
    s = np.r_[s, np.zeros(len(members) - s.size)]
    return bool(s[-1] < 1e-10 < CLEAR < s[-2] and np.abs(u[:, -1]).min() > least)


# ---- the judge


def residual(A, indices, coefficients, units):
    """Return the residual of a combination of rows, from the matrix itself, in long double.

    The largest entry of the combination over the largest of its terms, columns in these units.
    """
    A = sp.csr_array(A)
    wide = np.clongdouble if np.iscomplexobj(A.data) else np.longdouble
    part = A[np.asarray(indices)].tocoo()
    weights = np.asarray(coefficients).astype(wide)
    terms = weights[part.row] * part.data.astype(wide) * units.astype(np.longdouble)[part.col]
    order = np.argsort(part.col, kind="stable")
    starts = np.flatnonzero(np.diff(part.col[order], prepend=-1))
    return float(abs(np.add.reduceat(terms[order], starts)).max() / abs(terms).max())


@dataclasses.dataclass
class Verdict:
    """What is right and wrong about a result."""

    exact: bool
    dimension: bool
    wrong: int
    wrong_in_units: int
    loose: int
    named: int


def judge(planted, found):
    """Compare with what was planted; check every claim."""
    A, tolerance = planted.A, found.tolerance
    B, rows, cols = planted.balanced, planted.row_units, planted.col_units
    wrong = wrong_in_units = loose = 0
    sides = (
        (found.equations, A, B, cols, found.col_scale),
        (found.variables, A.T, B.T, rows, found.row_scale),
    )
    for claims, of, scaled, units, own_units in sides:
        scaled = sp.csr_array(scaled)
        for claim in claims:
            wrong += not residual(of, claim.indices, claim.coefficients, own_units) <= tolerance
            in_units = residual(of, claim.indices, claim.coefficients, units)
            wrong_in_units += not in_units <= tolerance
            if claim.size <= 200:
                loose += not is_minimal(scaled, claim.indices, tolerance)
    counts = len(found.equations), len(found.variables)
    dimension = counts == (planted.deficiency,) * 2
    exact = dimension and names(found.equations) >= set(planted.rows)
    exact = exact and names(found.variables) >= set(planted.cols)
    return Verdict(exact, dimension, wrong, wrong_in_units, loose, sum(counts))


def names(claims):
    """Return the sets that are named."""
    return {frozenset(claim.indices.tolist()) for claim in claims}


def draw(matrices, count, rng, dense):
    """Yield planted matrices, of every kind as often as KINDS says, every second one scaled."""
    shares = np.cumsum([0, *KINDS.values()]) * count / 100
    kinds = np.repeat(list(KINDS), np.diff(np.round(shares).astype(int)))
    for number, kind in enumerate(kinds):
        for _ in range(40):
            name, A = matrices[rng.integers(len(matrices))]
            case = plant(A, str(kind), rng, scaled=number % 2 == 1)
            if is_true(case, dense):
                yield name, number % 2 == 1, case
                break
