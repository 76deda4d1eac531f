"""Block triangular forms of coupled pieces against the strong components that SciPy finds.

Each matrix: two to six pieces (rings, paths in both directions, grids, circulants, trees with an
arc back, single vertices), a few entries that couple them, one of four orders, CSR and CSC, with
and without a matching given, one worker or two. The blocks must be as many as the strong
components, the permuted matrix block upper triangular with no zero on its diagonal, the blocks of
the transpose as many.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import sparsematch as sm
from harness import main

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))
from coupled_pieces import PIECES, SHARES, SIZES

ENGINES = "hopcroft_karp", "pothen_fan", "push_relabel"


def coupled(rng):
    """Rows and columns of the entries, and how many vertices there are."""
    rows, cols, spans, n = [], [], [], 0
    size = int(rng.choice(SIZES, p=SHARES))
    for _ in range(rng.integers(2, 7)):
        piece = PIECES[rng.integers(len(PIECES))]
        i, j = piece(rng, int(rng.integers(max(2, size // 2), 2 * size)))
        rows.append(i + n)
        cols.append(j + n)
        spans.append((n, int(i.max()) + 1))
        n += spans[-1][1]
    for _ in range(rng.integers(0, 8)):
        for side in (rows, cols):
            begin, length = spans[rng.integers(len(spans))]
            side.append(np.array([begin + rng.integers(length)]))
    return np.concatenate(rows), np.concatenate(cols), n


def ordered(rng, i, j, n):
    """As they are, shifted, with one numbering for rows and columns, or with two."""
    p = q = np.arange(n)
    order = rng.integers(4)
    if order == 1:
        p = np.roll(p, int(rng.integers(n)))
    if order >= 2:
        p = rng.permutation(n)
    if order == 3:
        q = rng.permutation(n)
    return sp.coo_array((np.ones(i.size), (p[i], q[j])), shape=(n, n))


def wrong(A, want, rng):
    """What is wrong with the form of a matrix that has so many blocks."""
    given = {}
    if rng.integers(3) == 0:
        given["matching"] = sm.maximum_transversal(A, method=str(rng.choice(ENGINES)))
    form = sm.block_triangular_form(A, workers=int(rng.integers(1, 3)), **given)
    C = A.tocsr()[form.row_perm][:, form.col_perm]
    entries = C.tocoo()
    row_block = np.searchsorted(form.row_blocks, entries.row, "right")
    below = int((row_block > np.searchsorted(form.col_blocks, entries.col, "right")).sum())
    zeros = int((C.diagonal() == 0).sum())
    if form.n_blocks != want or below or zeros:
        yield f"{form.n_blocks} blocks for {want}, {below} entries below, {zeros} diagonal zeros"
    if sm.is_reducible(A) != (want > 1):
        yield f"is_reducible is not {want > 1}"
    if (n_blocks := sm.block_triangular_form(A.T).n_blocks) != want:
        yield f"the transpose has {n_blocks} blocks for {want}"


def case(rng):
    i, j, n = coupled(rng)
    graph = sp.coo_array((np.ones(i.size), (i, j)), shape=(n, n))
    want = int(connected_components(graph, directed=True, connection="strong")[0])
    A = ordered(rng, i, j, n)
    for form in ("csr", "csc"):
        for words in wrong(A.asformat(form), want, rng):
            yield f"{n} x {n} {form}: {words}"


if __name__ == "__main__":
    sys.exit(main(case))
