"""Random matrices for hypothesis: every shape, format, index type; duplicates, unsorted."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from gallery import pattern

INDEX_TYPES = (np.int32, np.int64)
FORMATS = ("csr", "csc", "coo")


def with_index_type(A, dtype):
    """A copy of a csr or csc matrix with index arrays of this type, which SciPy would choose."""
    A = A.copy()
    A.indptr, A.indices = A.indptr.astype(dtype), A.indices.astype(dtype)
    return A


def build(rows, cols, shape, form="csr", dtype=np.int32):
    """The matrix of these entries in one of the formats, duplicates and their order kept."""
    if form == "coo":
        coords = np.asarray(rows, dtype), np.asarray(cols, dtype)
        return sp.coo_array((np.ones(len(rows)), coords), shape=shape)
    if form == "csr":
        return with_index_type(pattern(rows, cols, shape), dtype)
    return with_index_type(sp.csc_array(pattern(cols, rows, shape[::-1]).T), dtype)


@st.composite
def matrices(draw, max_side=20, max_entries=50, forms=FORMATS, dtypes=INDEX_TYPES):
    """A matrix of up to max_side rows and columns; unequal sides are as likely as equal ones."""
    n_rows = draw(st.integers(0, max_side))
    n_cols = draw(st.just(n_rows) | st.integers(0, max_side))
    places = st.tuples(st.integers(0, max(n_rows - 1, 0)), st.integers(0, max(n_cols - 1, 0)))
    entries = draw(st.lists(places, max_size=max_entries if n_rows and n_cols else 0))
    rows, cols = zip(*entries, strict=True) if entries else ((), ())
    form, dtype = draw(st.sampled_from(forms)), draw(st.sampled_from(dtypes))
    return build(rows, cols, (n_rows, n_cols), form, dtype)


@st.composite
def larger(draw, max_side=80, forms=FORMATS):
    """Larger matrices, of densities around that where maximum matchings are hardest."""
    rng = np.random.default_rng(draw(st.integers(1, 2**32)))
    shape = draw(st.integers(1, max_side)), draw(st.integers(1, max_side))
    n = int(max(shape) * draw(st.floats(0.2, 5)))
    rows, cols = rng.integers(shape[0], size=n), rng.integers(shape[1], size=n)
    form, dtype = draw(st.sampled_from(forms)), draw(st.sampled_from(INDEX_TYPES))
    return build(rows, cols, shape, form, dtype)


def partial_matching(A, rng, share=0.5):
    """Mates of rows and columns that make a random matching of A, about half of a maximal one."""
    A = sp.coo_array(A)
    row_mate, col_mate = np.full(A.shape[0], -1), np.full(A.shape[1], -1)
    for p in rng.permutation(len(A.row)):
        i, j = A.row[p], A.col[p]
        if rng.random() < share and row_mate[i] == -1 == col_mate[j]:
            row_mate[i], col_mate[j] = j, i
    return row_mate, col_mate
