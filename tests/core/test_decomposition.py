"""block_triangular_form, is_reducible and the BlockForm they speak of."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import oracle
import sparsematch as sm
from calls import grid, random_matrix, scrambled
from gallery import GALLERY
from sparsematch._engines.cpu import _core
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import as_bipartite
from strategies import INDEX_TYPES, larger, matrices, with_index_type

pytestmark = [pytest.mark.asan, pytest.mark.wheel]


def check(A, form):
    """Everything that the layout promises, against the matrix and the definition of the parts."""
    p, q, r, s, cc, rr = form
    n_rows, n_cols = A.shape
    assert sorted(p.tolist()) == list(range(n_rows))
    assert sorted(q.tolist()) == list(range(n_cols))
    check_steps(r, n_rows, s, n_cols)
    check_coarse(A, form)
    i, j = oracle.entries(sp.csr_array(oracle.as_csr(A)[p][:, q]))
    row_block, col_block = block_of(r, i), block_of(s, j)
    assert np.all(row_block <= col_block), "no entry below the blocks"
    check_diagonals(i, j, rr, cc, form)
    check_fine(A, form)
    assert sm.is_block_form(A, form)


def block_of(starts, places):
    """The number of the block of each place; where blocks are empty, the one that is not."""
    return np.searchsorted(starts, places, side="right") - 1


def check_steps(r, n_rows, s, n_cols):
    assert len(r) == len(s)
    for starts, n in ((r, n_rows), (s, n_cols)):
        assert starts[0] == 0
        assert starts[-1] == n
        assert np.all(np.diff(starts) >= 0)
    sizes = np.diff(r) + np.diff(s)
    assert np.all(sizes > 0), "no block without rows and columns"


def check_coarse(A, form):
    """Sizes and members of the coarse parts, from the definition by alternating paths."""
    p, q, _, _, cc, rr = form
    m = form.matching
    oracle.assert_maximum(A, m.row_mate, m.col_mate)
    row_part, col_part = oracle.coarse_parts(A, m.row_mate, m.col_mate)
    alone = operations(DecompositionOps, "numpy").coarse_parts(as_bipartite(A))
    assert np.array_equal(np.array(list("hsv"))[np.concatenate(alone)], np.r_[row_part, col_part])
    free_rows, free_cols = m.row_mate == -1, m.col_mate == -1
    counts = [np.count_nonzero(row_part == part) for part in "hsv"]
    expected = np.cumsum([0, counts[0], counts[1], counts[2] - free_rows.sum(), free_rows.sum()])
    assert rr.tolist() == expected.tolist()
    counts = [np.count_nonzero(col_part == part) for part in "hsv"]
    expected = np.cumsum([0, free_cols.sum(), counts[0] - free_cols.sum(), counts[1], counts[2]])
    assert cc.tolist() == expected.tolist()
    assert np.array_equal(row_part[p], np.repeat(["h", "s", "v", "v"], np.diff(rr)))
    assert np.array_equal(col_part[q], np.repeat(["h", "h", "s", "v"], np.diff(cc)))
    # unmatched columns come first, unmatched rows last
    assert np.array_equal(np.sort(q[: cc[1]]), np.flatnonzero(free_cols))
    assert np.array_equal(np.sort(p[rr[3] :]), np.flatnonzero(free_rows))


def check_diagonals(i, j, rr, cc, form):
    """A12, A23 and A34 are square and have entries on their diagonals: the matched ones."""
    places = set(zip(i.tolist(), j.tolist(), strict=True))
    p, q = form.row_perm, form.col_perm
    for k in range(3):
        assert rr[k + 1] - rr[k] == cc[k + 2] - cc[k + 1]
        for step in range(rr[k + 1] - rr[k]):
            place = int(rr[k] + step), int(cc[k + 1] + step)
            assert place in places
            assert form.matching.row_mate[p[place[0]]] == q[place[1]]


def check_fine(A, form):
    """The fine blocks: horizontal part, strong components of the square part, vertical part."""
    p, q, r, s, cc, rr = form
    square = oracle.as_csr(A)[p[rr[1] : rr[2]]][:, q[cc[2] : cc[3]]]
    n = square.shape[0]
    fine = oracle.irreducible_blocks(square, np.arange(n)) if n else 0
    expected = (cc[2] > 0) + fine + (rr[4] > rr[2])
    assert form.n_blocks == len(r) - 1 == expected
    assert {rr[1], rr[2]} <= set(r.tolist())
    assert {cc[2], cc[3]} <= set(s.tolist())
    if n:
        labels = sp.csgraph.connected_components(square, connection="strong")[1]
        inner = np.repeat(np.arange(len(r) - 1), np.diff(r))[rr[1] : rr[2]]
        assert len(set(zip(labels.tolist(), inner.tolist(), strict=True))) == fine


def test_gallery(matrix):
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        A = kind(matrix)
        form = sm.block_triangular_form(A)
        check(A, form)
        assert form.shape == matrix.shape
        assert form.structural_rank == oracle.rank(matrix)
        assert form.is_reducible is sm.is_reducible(A) is (form.n_blocks > 1)
        assert "BlockForm" in repr(form)
        assert len(repr(form)) < 200


def test_coarse_parts_after_long_searches():
    """Where the core does not find the matching: one for all, by paths through a scrambled grid."""
    n = 60
    A = scrambled(sp.csr_array(np.triu(grid(n).toarray()) + np.eye(n * n)), seed=1)
    pair, parts = (np.empty((2, n * n), dtype) for dtype in (A.indices.dtype, np.int8))
    assert not _core.coarse_parts((n * n, A.indptr, A.indices), tuple(pair), False, *parts)
    for B in (A, A.tocsc(), A[1:], A[:, 1:]):
        check_coarse(B, sm.block_triangular_form(B))


@given(matrices() | larger())
def test_random_matrices(A):
    check(A, sm.block_triangular_form(A))


@pytest.mark.parametrize("workers", [1, 3])
def test_every_exact_engine_leads_to_the_same_form(exact, workers):
    """Which the definitions determine, whichever maximum matching was found."""
    for seed in (83, 89, 97):
        A = random_matrix(60, 55, 2, seed)
        check(A, sm.block_triangular_form(A, method=exact.name, workers=workers))


def test_given_matching_is_used(exact):
    A = random_matrix(50, 50, 2, seed=107)
    m = sm.maximum_transversal(A, method=exact.name)
    form = sm.block_triangular_form(A, matching=m)
    check(A, form)
    assert np.array_equal(form.matching.row_mate, m.row_mate)
    pair = sm.block_triangular_form(A, matching=(m.row_mate, m.col_mate))
    assert oracle.canonical(pair) == oracle.canonical(form)


def test_given_matching_need_not_be_maximum():
    """A matching that can be improved is improved first."""
    A = GALLERY["greedy_trap"]()
    start = sm.maximum_transversal(A, method="none", init="cheap")
    assert start.cardinality < 9
    form = sm.block_triangular_form(A, matching=start)
    check(A, form)
    assert form.structural_rank == 9


def test_permute(matrix):
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix):
        A = kind(matrix)
        form = sm.block_triangular_form(A)
        C = form.permute(A)
        assert C.shape == A.shape
        assert type(C) is type(A)
        expected = A.toarray()[form.row_perm][:, form.col_perm]
        assert np.array_equal(C.toarray(), expected, equal_nan=True)
        # explicit zeros stay; a COO matrix may add up its repeats
        assert C.nnz == A.nnz or kind is sp.coo_array


@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_index_types(dtype, form):
    A = with_index_type(form(GALLERY["three_coarse_parts"]()), dtype)
    result = sm.block_triangular_form(A)
    check(A, result)
    assert {array.dtype for array in result} == {np.dtype(dtype)}


def test_irreducible_and_reducible():
    assert sm.is_reducible(sp.csr_array(np.triu(np.ones((3, 3)))))
    assert not sm.is_reducible(scrambled(grid(6) + sp.eye_array(36), seed=109))
    assert not sm.is_reducible(GALLERY["one_entry"]())
    assert not sm.is_reducible(GALLERY["no_rows_no_columns"]())
