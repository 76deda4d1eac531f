"""Small named matrices, each with the one reason it is kept.

`GALLERY` maps a name to a function that makes the matrix. The docstring of the function is the
reason.
"""

import numpy as np
import scipy.sparse as sp

GALLERY = {}


def keep(make):
    GALLERY[make.__name__] = make
    return make


def pattern(rows, cols, shape):
    """The CSR matrix with these entries, in this order within each row, repeats and all."""
    rows, cols = np.asarray(rows, np.int64), np.asarray(cols, np.int64)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]).astype(
        np.int32
    )
    indices = cols[np.argsort(rows, kind="stable")].astype(np.int32)
    return sp.csr_array((np.ones(len(rows)), indices, indptr), shape=shape)


def picture(*lines):
    """A matrix drawn by hand: every character but a dot is an entry."""
    return sp.csr_array(np.array([[letter != "." for letter in line] for line in lines], float))


@keep
def no_rows_no_columns():
    """Nothing at all."""
    return sp.csr_array((0, 0))


@keep
def no_rows():
    """Columns, but nothing to match them with."""
    return sp.csr_array((0, 3))


@keep
def no_columns():
    """Rows, but nothing to match them with."""
    return sp.csr_array((3, 0))


@keep
def no_entries():
    """Every row and every column is empty."""
    return sp.csr_array((4, 3))


@keep
def one_entry():
    """The smallest perfect matching."""
    return picture("x")


@keep
def identity():
    """Every block is one by one and there is only one transversal."""
    return sp.eye_array(5, format="csr")


@keep
def antidiagonal():
    """The only transversal is the reversal, and A[p] differs from A."""
    return picture("....x", "...x.", "..x..", ".x...", "x....")


@keep
def full_wide():
    """Any choice works; the columns left over belong to the horizontal part."""
    return sp.csr_array(np.ones((3, 7)))


@keep
def full_tall():
    """Any choice works; the rows left over belong to the vertical part."""
    return sp.csr_array(np.ones((7, 3)))


@keep
def one_row():
    """A single full row: one match, all the other columns free."""
    return sp.csr_array(np.ones((1, 6)))


@keep
def one_column():
    """A single full column: one match, all the other rows free."""
    return sp.csr_array(np.ones((6, 1)))


@keep
def greedy_trap():
    """First free columns leave none for the last row: one augmenting path through all rows."""
    n = 9
    i = np.arange(n)
    return pattern(np.r_[i, i[:-1]], np.r_[np.r_[i[:-1], 0], i[:-1] + 1], (n, n))


@keep
def many_traps():
    """Pairs of rows whose first choice is wrong: many disjoint paths in one phase."""
    block = picture("xx", "x.")
    return sp.kron(sp.eye_array(6), block, format="csr")


@keep
def ladder():
    """Two long rails: augmenting paths of every length."""
    n = 12
    i = np.arange(n)
    return pattern(np.r_[i, i[1:], i[:-1]], np.r_[i, i[1:] - 1, i[:-1] + 1], (n, n))


@keep
def even_cycle():
    """No vertex of degree one, and exactly two transversals: irreducible."""
    n = 8
    i = np.arange(n)
    return pattern(np.r_[i, i], np.r_[i, (i + 1) % n], (n, n))


@keep
def crown():
    """All but the diagonal: the transversal must avoid it everywhere."""
    return sp.csr_array(np.ones((6, 6)) - np.eye(6))


@keep
def arrow():
    """One full row, one full column and the diagonal: irreducible, with two hubs."""
    A = np.eye(7)
    A[0] = A[:, 0] = 1
    return sp.csr_array(A)


@keep
def hall_violator():
    """Square, no empty row or column, yet three rows share two columns: structurally singular."""
    return picture("xx...", "xx...", "xx...", "x.xxx", ".xxxx")


@keep
def empty_row_and_column():
    """An empty row and an empty column in the middle of a regular matrix."""
    return picture("x.x..", ".....", "x.x..", "...xx", "x..xx")


@keep
def three_coarse_parts():
    """Horizontal, square and vertical part all present, and coupled."""
    return picture(
        "xxx.x..x",
        "x.xx....",
        "....xx.x",
        "....xx..",
        "......xx",
        ".......x",
        "......xx",
        ".......x",
    )


@keep
def fine_blocks():
    """Irreducible blocks of sizes 3, 1 and 2 in the wrong order, one coupled to the next."""
    A = picture("xx.x..", ".xx...", "x.x..x", "...x.x", "....xx", "....xx")
    return A[[4, 0, 3, 5, 1, 2]][:, [2, 5, 0, 3, 1, 4]]


@keep
def two_components():
    """Two parts that share no row and no column, one of them deficient."""
    return sp.block_diag([picture("xx", "xx"), picture("xxx", "x..", "x..")], format="csr")


@keep
def triangular():
    """Upper triangular already: one transversal, as many blocks as rows."""
    return sp.csr_array(np.triu(np.ones((6, 6))))


@keep
def duplicates():
    """The same entry several times over, in one row next to each other and in another apart."""
    return pattern([0, 0, 0, 1, 1, 1, 2, 2], [1, 1, 0, 0, 2, 0, 0, 0], (3, 3))


@keep
def unsorted():
    """The entries of each row in decreasing order."""
    return pattern([0, 0, 0, 1, 1, 2, 3, 3], [3, 1, 0, 2, 0, 0, 3, 0], (4, 4))


@keep
def explicit_zeros():
    """Entries whose value is zero, or not a number, are entries."""
    A = picture("xx.", "x..", ".xx")
    A.data[:] = [0, 0, np.nan, 0, np.inf]
    return A


@keep
def hub_columns():
    """Twelve rows that all see the same two columns, and a few columns of their own."""
    rows = np.r_[np.repeat(np.arange(12), 2), [3, 5, 8]]
    return pattern(rows, np.r_[np.tile([0, 1], 12), [2, 3, 4]], (12, 6))


@keep
def random_sparse():
    """Mean degree two: paths, small trees, empty rows and columns."""
    rng = np.random.default_rng(7)
    return pattern(rng.integers(40, size=80), rng.integers(40, size=80), (40, 40))


@keep
def random_rectangular():
    """More columns than rows, yet deficient."""
    rng = np.random.default_rng(11)
    return pattern(rng.integers(30, size=60), rng.integers(45, size=60), (30, 45))


@keep
def scrambled_grid():
    """A five-point grid, randomly permuted: a search that forgets dead ends is exponential."""
    n, rng = 7, np.random.default_rng(13)
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    grid = (sp.kron(path, sp.eye_array(n)) + sp.kron(sp.eye_array(n), path)).tocsr()
    return sp.csr_array(grid[rng.permutation(n * n)][:, rng.permutation(n * n)])
