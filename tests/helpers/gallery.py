"""Small named matrices, each with the one reason it is kept.

`GALLERY` maps a name to a function that makes the matrix. The comment above it is the reason.
"""

import numpy as np
import scipy.sparse as sp


def pattern(rows, cols, shape):
    """The CSR matrix with these entries, in this order within each row, repeats and all."""
    rows, cols = np.asarray(rows, np.int64), np.asarray(cols, np.int64)
    indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=shape[0]))].astype(np.int32)
    indices = cols[np.argsort(rows, kind="stable")].astype(np.int32)
    return sp.csr_array((np.ones(len(rows)), indices, indptr), shape=shape)


def picture(*lines):
    """A matrix drawn by hand: every character but a dot is an entry."""
    rows = " ".join(lines).split()
    return sp.csr_array(np.array([[letter != "." for letter in row] for row in rows], float))


def arrow():
    A = np.eye(7)
    A[0] = A[:, 0] = 1
    return sp.csr_array(A)


def explicit_zeros():
    A = picture("xx.", "x..", ".xx")
    A.data[:] = [0, 0, np.nan, 0, np.inf]
    return A


def scrambled_grid():
    n, rng = 7, np.random.default_rng(13)
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    grid = (sp.kron(path, sp.eye_array(n)) + sp.kron(sp.eye_array(n), path)).tocsr()
    return sp.csr_array(grid[rng.permutation(n * n)][:, rng.permutation(n * n)])


GALLERY = {
    # Nothing at all.
    "no_rows_no_columns": lambda: sp.csr_array((0, 0)),
    # Columns, but nothing to match them with.
    "no_rows": lambda: sp.csr_array((0, 3)),
    # Rows, but nothing to match them with.
    "no_columns": lambda: sp.csr_array((3, 0)),
    # Every row and every column is empty.
    "no_entries": lambda: sp.csr_array((4, 3)),
    # The smallest perfect matching.
    "one_entry": lambda: picture("x"),
    # Every block is one by one and there is only one transversal.
    "identity": lambda: sp.eye_array(5, format="csr"),
    # The only transversal is the reversal, and A[p] differs from A.
    "antidiagonal": lambda: picture("....x", "...x.", "..x..", ".x...", "x...."),
    # Any choice works; the columns left over belong to the horizontal part.
    "full_wide": lambda: sp.csr_array(np.ones((3, 7))),
    # Any choice works; the rows left over belong to the vertical part.
    "full_tall": lambda: sp.csr_array(np.ones((7, 3))),
    # A single full row: one match, all the other columns free.
    "one_row": lambda: sp.csr_array(np.ones((1, 6))),
    # A single full column: one match, all the other rows free.
    "one_column": lambda: sp.csr_array(np.ones((6, 1))),
    # All but the diagonal: the transversal must avoid it everywhere.
    "crown": lambda: sp.csr_array(np.ones((6, 6)) - np.eye(6)),
    # Square, no empty row or column, yet three rows share two columns: structurally singular.
    "hall_violator": lambda: picture("xx...", "xx...", "xx...", "x.xxx", ".xxxx"),
    # An empty row and an empty column in the middle of a regular matrix.
    "empty_row_and_column": lambda: picture("x.x..", ".....", "x.x..", "...xx", "x..xx"),
    # Two parts that share no row and no column, one of them deficient.
    "two_components": lambda: sp.block_diag(
        [picture("xx", "xx"), picture("xxx", "x..", "x..")], format="csr"
    ),
    # Upper triangular already: one transversal, as many blocks as rows.
    "triangular": lambda: sp.csr_array(np.triu(np.ones((6, 6)))),
    # The same entry several times over, in one row next to each other and in another apart.
    "duplicates": lambda: pattern([0, 0, 0, 1, 1, 1, 2, 2], [1, 1, 0, 0, 2, 0, 0, 0], (3, 3)),
    # The entries of each row in decreasing order.
    "unsorted": lambda: pattern([0, 0, 0, 1, 1, 2, 3, 3], [3, 1, 0, 2, 0, 0, 3, 0], (4, 4)),
    # First free columns leave none for the last row: one augmenting path through all rows.
    "greedy_trap": lambda: pattern(np.r_[:9, :8], np.r_[:8, 0, 1:9], (9, 9)),
    # Pairs of rows whose first choice is wrong: many disjoint paths in one phase.
    "many_traps": lambda: sp.kron(sp.eye_array(6), picture("xx", "x."), format="csr"),
    # Two long rails: augmenting paths of every length.
    "ladder": lambda: pattern(np.r_[:12, 1:12, :11], np.r_[:12, :11, 1:12], (12, 12)),
    # No vertex of degree one, and exactly two transversals: irreducible.
    "even_cycle": lambda: pattern(np.r_[:8, :8], np.r_[:8, 1:8, 0], (8, 8)),
    # One full row, one full column and the diagonal: irreducible, with two hubs.
    "arrow": arrow,
    # Horizontal, square and vertical part all present, and coupled.
    "three_coarse_parts": lambda: picture(
        "xxx.x..x x.xx.... ....xx.x ....xx.. ......xx .......x ......xx .......x"
    ),
    # Irreducible blocks of sizes 3, 1 and 2 in the wrong order, one coupled to the next.
    "fine_blocks": lambda: picture("xx.x..", ".xx...", "x.x..x", "...x.x", "....xx", "....xx")[
        [4, 0, 3, 5, 1, 2]
    ][:, [2, 5, 0, 3, 1, 4]],
    # Entries whose value is zero, or not a number, are entries.
    "explicit_zeros": explicit_zeros,
    # Twelve rows that all see the same two columns, and a few columns of their own.
    "hub_columns": lambda: pattern(
        np.r_[np.repeat(np.r_[:12], 2), 3, 5, 8], np.r_[np.tile([0, 1], 12), 2:5], (12, 6)
    ),
    # Mean degree two: paths, small trees, empty rows and columns.
    "random_sparse": lambda: pattern(
        *np.random.default_rng(7).integers(40, size=(2, 80)), (40, 40)
    ),
    # More columns than rows, yet deficient.
    "random_rectangular": lambda: pattern(
        *np.random.default_rng(11).integers([[30], [45]], size=(2, 60)), (30, 45)
    ),
    # A five-point grid, randomly permuted: a search that forgets dead ends is exponential.
    "scrambled_grid": scrambled_grid,
}
