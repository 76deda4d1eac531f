"""Two thousand small matrices, the same on every machine, and what calls return for them.

Every family is there in natural and in scrambled order, square and not, whole and with entries
dropped, real and complex, in any units, by rows, by columns and as triples. Values are small
integers times powers of two, and right-hand sides are those of small integers, so that rounding
errors do not reach what is compared. A line has four digits of a hash for each: the matching, the
block form, the weights' pairs and duals, the solution, new values' solution, the rank of least
squares, and the texts.
"""

import hashlib
import itertools
import random
import re
import warnings

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from sparsematch import solvers

SIZES = (1, 2, 3, 5, 8, 13, 17, 24, 40)
#: Matrices of each family, size and variant.
SEEDS = 2


def diagonal(_, n):
    return [(i, i) for i in range(n)]


def ring(_, n):
    return [(i, j) for i in range(n) for j in (i, (i + 1) % n)]


def triangle(_, n):
    return [(i, j) for i in range(n) for j in range(i, min(n, i + 4))]


def grid(_, n):
    k = max(1, round(n**0.5))
    near = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)]
    return [
        (r * k + c, (r + dr) * k + c + dc)
        for r, c, (dr, dc) in itertools.product(range(k), range(k), near)
        if 0 <= r + dr < k and 0 <= c + dc < k
    ]


def arrow(_, n):
    return sorted({(i, j) for i in range(n) for j in (0, i)} | {(0, j) for j in range(n)})


def hubs(rng, n):
    """A few columns that many rows want, and leaves."""
    some = {(i, rng.randrange(1 + n // 4)) for i in range(n) for _ in range(3)}
    return sorted(some | {(i, i) for i in range(0, n, 2)})


def pieces(rng, n):
    """Rings of up to six vertices, coupled upwards, in natural order."""
    entries, first = [], 0
    while first < n:
        size = min(n - first, rng.randrange(1, 7))
        entries += [(first + i, first + (i + k) % size) for i in range(size) for k in (0, 1)]
        after = first + size
        if after < n:
            entries += [(first + rng.randrange(size), rng.randrange(after, n)) for _ in (1, 2)]
        first = after
    return sorted(set(entries))


def scattered(rng, n):
    return sorted({(rng.randrange(n), rng.randrange(n)) for _ in range(3 * n)})


def dense(_, n):
    return list(itertools.product(range(min(n, 9)), repeat=2))


FAMILIES = (diagonal, ring, triangle, grid, arrow, hubs, pieces, scattered, dense)
#: What is done to a pattern: entries dropped, rows or columns added, both sides permuted.
VARIANTS = ("natural", "scrambled", "deficient", "tall", "wide")
FORMS = ("csr", "csc", "coo")
UNITS = ("none", "rows", "columns", "both", "complex", "singular")


def matrices():
    """Names and matrices, in an order that stays."""
    cases = itertools.product(FAMILIES, SIZES, VARIANTS, range(SEEDS))
    for count, (family, n, variant, seed) in enumerate(cases):
        for unit in (UNITS[count % 6], UNITS[(count + 1 + count // 6) % 6])[: 1 + (n > 1)]:
            name = f"{family.__name__}-{n}-{variant}-{seed}-{unit}"
            yield name, build(random.Random(name), family, n, variant, unit, FORMS[count % 3])
    for shape in ((0, 0), (0, 3), (3, 0), (4, 3)):
        yield f"empty-{shape[0]}-{shape[1]}", sp.csr_array(shape)
    yield from every_pattern()


def every_pattern():
    """Every 3 x 3 pattern, with different values."""
    for bits in range(512):
        entries = [(p // 3, p % 3) for p in range(9) if bits >> p & 1]
        values = [float(3 + (5 * i + 3 * j) % 7) for i, j in entries]
        yield f"pattern-{bits}", assemble(entries, values, (3, 3), FORMS[bits % 3])


def build(rng, family, n, variant, unit, form):
    entries = family(rng, n)
    n_rows, n_cols = (1 + max(side) for side in zip(*entries, strict=True))
    if variant == "deficient":
        entries = [e for e in entries if rng.random() < 0.75]
    if variant == "tall":
        entries += [(n_rows + k, rng.randrange(n_cols)) for k in range(1 + n // 3)]
        n_rows += 1 + n // 3
    if variant == "wide":
        entries += [(rng.randrange(n_rows), n_cols + k) for k in range(1 + n // 3)]
        n_cols += 1 + n // 3
    rows, cols = list(range(n_rows)), list(range(n_cols))
    if variant != "natural":
        rng.shuffle(rows)
        rng.shuffle(cols)
    values = [scale(rng, unit, i, j) for i, j in entries]
    entries = [(rows[i], cols[j]) for i, j in entries]
    return assemble(entries, values, (n_rows, n_cols), form)


def scale(rng, unit, i, j):
    """A value: a small integer, larger on the diagonal, in the units that are wanted."""
    value = float(rng.choice((1, 2, 3, -1, -2)) + (16 if i == j else 0))
    if unit == "singular":
        return 1.0
    if unit == "complex":
        return value + 1j * rng.choice((0, 1, -1))
    row = (37 * i) % 60 - 30 if unit in ("rows", "both") else 0
    col = (23 * j) % 50 - 25 if unit in ("columns", "both") else 0
    return float(np.ldexp(value, row + col))


def assemble(entries, values, shape, form):
    rows, cols = zip(*entries, strict=True) if entries else ((), ())
    dtype = complex if any(isinstance(value, complex) for value in values) else float
    triples = np.array(values, dtype), (np.array(rows, np.int32), np.array(cols, np.int32))
    return sp.coo_array(triples, shape).asformat(form)


def line(name, A):
    """The name, and hashes of what calls return."""
    facets = (matching, block_form, weights, solution, new_values, least_squares, texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ",".join([name, *(digest(attempt(facet, A)) for facet in facets)])


def digest(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:4]


def attempt(call, A):
    """What it returns, or the error that it raises, as text."""
    try:
        return call(A)
    except (ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {said(error)}"


def without_digits(text):
    """Estimates differ in their last digits from machine to machine."""
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)|-?\d+\.\d+", "#", str(text))


def said(text):
    """What is the same on every machine: which of many dependent rows are named is not."""
    text = without_digits(text)
    by_numbers = "umerically singular" in text or "With these values" in text
    return text.splitlines()[:1] if by_numbers else text


def lists(*arrays):
    return [np.asarray(array).tolist() for array in arrays]


def digits(x, planted):
    """Ten digits; where rounding errors reach further, only that they do so."""
    if np.abs(x - planted).max(initial=0) > 3e-12:  # none is near that
        return "ill-conditioned"
    return (np.round(x, 10) + 0.0).tolist()  # -0 is 0


def matching(A):
    found = sm.maximum_transversal(A, workers=1)
    return lists(found.row_mate, found.col_mate)


def block_form(A):
    form = sm.block_triangular_form(A, workers=1)
    blocks = form.row_blocks, form.col_blocks, form.coarse_rows, form.coarse_cols
    return lists(form.row_perm, form.col_perm, *blocks)


def weights(A):
    found = sm.maximum_product_transversal(A, workers=1)
    duals = [np.log2(dual) for dual in (found.row_dual, found.col_dual)]
    return lists(found.matching.row_mate), [np.round(dual, 8).tolist() for dual in duals]


def planted(A):
    return (np.arange(A.shape[1]) % 5 + 1.0) * (1j if A.dtype == complex else 1)


def right(A, x):
    """Their product; SciPy's of a matrix of one row is a number."""
    return np.reshape(A @ x, A.shape[0])


def solution(A):
    x = planted(A)
    return digits(solvers.splu(sp.csc_array(A)).solve(right(A, x)), x)


def new_values(A):
    lu = solvers.splu(sp.csc_array(A))
    B = sp.csc_array(A)
    B.data = B.data * (1 + np.arange(B.nnz) % 3)
    lu.refactorise(B)
    x = planted(B)
    return digits(lu.solve(right(B, x)), x)


def least_squares(A):
    x = planted(A)
    found = solvers.lstsq(A, right(A, x))
    return found.rank, digits(found.x, x) if found.rank == A.shape[1] else None


def texts(A):
    shown = [sm.maximum_transversal(A), sm.block_triangular_form(A), sm.explain_singularity(A)]
    if A.shape[0] == A.shape[1]:
        shown.append(sm.explain_singularity(A, numeric=True))
    return [said(text) for one in shown for text in (repr(one), one)]
