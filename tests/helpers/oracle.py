"""Independent test oracle: nothing here calls the library.

A matching is right when every pair is an entry and both sides agree. It is maximum when a vertex
cover of the same size exists (Koenig): `koenig_cover` finds it by a plain search, `is_cover` checks
any cover against all entries.
"""

from collections import deque

import numpy as np
import scipy.sparse as sp


def as_csr(A):
    """The pattern of any matrix, entries of value zero included, repeats left in place."""
    A = sp.coo_array(A)
    return sp.csr_array((np.ones(len(A.row), np.int8), (A.row, A.col)), shape=A.shape)


def entries(A):
    """The rows and columns of the entries."""
    A = sp.coo_array(A)
    return A.row, A.col


def assert_matching(A, row_mate, col_mate):
    """Fail unless the two arrays describe a matching of A."""
    row_mate, col_mate = np.asarray(row_mate), np.asarray(col_mate)
    assert (len(row_mate), len(col_mate)) == A.shape
    rows, cols = np.flatnonzero(row_mate != -1), np.flatnonzero(col_mate != -1)
    assert len(rows) == len(cols), "as many matched rows as matched columns"
    assert np.all((row_mate[rows] >= 0) & (row_mate[rows] < A.shape[1])), "a row's mate is a column"
    assert np.array_equal(col_mate[row_mate[rows]], rows), "both sides of a pair agree"
    i, j = entries(A)
    seen = np.zeros(A.shape[0], bool)
    seen[i[row_mate[i] == j]] = True
    assert seen[rows].all(), "each pair is an entry"


def assert_maximal(A, row_mate, col_mate):
    """Fail if an entry could be added to the matching."""
    assert_matching(A, row_mate, col_mate)
    i, j = entries(A)
    addable = (np.asarray(row_mate)[i] == -1) & (np.asarray(col_mate)[j] == -1)
    assert not addable.any(), f"A[{i[addable][0]}, {j[addable][0]}] could be added"


def assert_maximum(A, row_mate, col_mate):
    """Fail unless the matching has as many pairs as some vertex cover has vertices."""
    assert_matching(A, row_mate, col_mate)
    rows, cols = koenig_cover(A, row_mate, col_mate)
    assert is_cover(A, rows, cols), "an augmenting path exists"
    assert rows.sum() + cols.sum() == np.count_nonzero(np.asarray(row_mate) != -1)


def is_cover(A, rows, cols):
    """True if every entry of A lies in a marked row or in a marked column."""
    i, j = entries(A)
    return bool(np.all(np.asarray(rows)[i] | np.asarray(cols)[j]))


def koenig_cover(A, row_mate, col_mate):
    """The rows that alternating paths from free rows do not reach, and the columns that they do."""
    reached_rows, reached_cols = alternating(A, row_mate, col_mate)
    return ~reached_rows & (np.asarray(row_mate) != -1), reached_cols


def alternating(A, row_mate, col_mate):
    """The rows and the columns on alternating paths that start at a free row."""
    pattern = as_csr(A)
    indptr, indices = pattern.indptr.tolist(), pattern.indices.tolist()
    back = np.asarray(col_mate).tolist()
    rows, cols = np.zeros(A.shape[0], bool), np.zeros(A.shape[1], bool)
    queue = deque(np.flatnonzero(np.asarray(row_mate) == -1).tolist())
    rows[list(queue)] = True
    while queue:
        i = queue.popleft()
        for j in indices[indptr[i] : indptr[i + 1]]:
            if not cols[j]:
                cols[j] = True
                k = back[j]
                if k != -1 and not rows[k]:
                    rows[k] = True
                    queue.append(k)
    return rows, cols


def rank(A):
    """The structural rank, by SciPy, which overflows its stack on repeats."""
    pattern = as_csr(A).astype(float)
    pattern.sum_duplicates()
    return int(sp.csgraph.structural_rank(pattern)) if min(A.shape) else 0


def rank_by_brute_force(A):
    """The structural rank of a small matrix, by all sets of columns that can be matched."""
    dense = as_csr(A).toarray() != 0
    possible = {frozenset()}
    for row in dense:
        cols = np.flatnonzero(row).tolist()
        possible |= {taken | {j} for taken in possible for j in cols if j not in taken}
    return max(map(len, possible))


def coarse_parts(A, row_mate, col_mate):
    """The coarse parts by their definition: h, s or v for every row and for every column.

    Vertical is what alternating paths reach from the free rows, horizontal what they reach from the
    free columns.
    """
    vertical = alternating(A, row_mate, col_mate)
    horizontal = alternating(sp.csr_array(sp.coo_array(A).T), col_mate, row_mate)[::-1]
    return tuple(
        np.where(h, "h", np.where(v, "v", "s")) for h, v in zip(horizontal, vertical, strict=True)
    )


def irreducible_blocks(A, row_mate):
    """The number of strong components of the graph of a square matrix with a perfect matching."""
    column = np.asarray(row_mate)
    shifted = as_csr(A)[:, column]  # the matched entries stand on the diagonal
    return sp.csgraph.connected_components(shifted, directed=True, connection="strong")[0]


def block_labels(form):
    """The block of each row and of each column of a block form."""
    sides = (form.row_perm, form.row_blocks), (form.col_perm, form.col_blocks)
    labels = tuple(np.empty(perm.size, np.int64) for perm, _ in sides)
    for label, (perm, starts) in zip(labels, sides, strict=True):
        label[perm] = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    return labels


def canonical(form):
    """The blocks as the first row or column in each, which does not depend on their order."""
    labels = []
    for block in block_labels(form):
        first = np.full(block.max(initial=-1) + 1, block.size)
        np.minimum.at(first, block, np.arange(block.size))
        labels.append(first[block].tolist())
    coarse = np.diff(form.coarse_rows), np.diff(form.coarse_cols)
    return labels, [sizes.tolist() for sizes in coarse]
