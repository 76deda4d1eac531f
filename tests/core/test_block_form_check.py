"""is_block_form: it accepts the forms of all engines, and no others; what is built on it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import coupled_pieces
import sparsematch as sm
import test_decomposition
from gallery import GALLERY
from sparsematch._engines.cpu.decomposition import block_form
from sparsematch._engines.operations import LuOps
from sparsematch._engines.reference import block_form as reference
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import as_bipartite
from sparsematch.solvers import analyse, splu

pytestmark = pytest.mark.asan

#: A matrix whose form once had entries below its blocks, by columns; three blocks.
ROWS = [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11]
COLS = [5, 10, 0, 4, 2, 4, 8, 4, 5, 2, 5, 3, 6, 8, 11, 0, 7, 11, 1, 3, 3, 9, 6, 7, 1, 11]


@pytest.fixture
def chain():
    """Three irreducible blocks, one after the other: [0, 1], [2], [3, 4, 5]."""
    entries = [(0, 1), (1, 0), (1, 2), (2, 4), (3, 4), (4, 5), (5, 3), (0, 5)]
    entries += [(k, k) for k in range(6)]
    return sp.csr_array((np.ones(len(entries)), tuple(zip(*entries, strict=True))))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_a_path_where_sweeps_meet_settled_vertices(kind):
    values = np.random.default_rng(0).standard_normal(len(ROWS))
    A = kind((values, (ROWS, COLS)), shape=(12, 12))
    form = sm.block_triangular_form(A)
    assert form.n_blocks == 3
    test_decomposition.check(A, form)
    x = splu(A).solve(np.ones(12))
    assert np.allclose(A @ x, 1)


@pytest.mark.parametrize("as_if_large", [False, True])
def test_coupled_pieces(as_if_large, monkeypatch):
    """Once as if they were large: then the transpose is built where they are scattered."""
    if as_if_large:
        monkeypatch.setattr(block_form, "_MANY", 0)
    rng = np.random.default_rng(5)
    for _ in range(100):
        assert_right(*coupled_pieces.coupled(rng, (4, 10, 30, 100)), rng)


def assert_right(A, want, rng):
    for B in (sp.csr_array(A), sp.csc_array(A)):
        assert coupled_pieces.fault(B, coupled_pieces.find_here(B, rng), want) is None


def test_coupled_pieces_in_an_analysis():
    """The planner finds its form by itself."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        A, want = coupled_pieces.coupled(rng, (4, 10, 30))
        values = rng.standard_normal(A.nnz)
        for kind in (sp.csr_array, sp.csc_array):
            B = kind(sp.coo_array((values, A.coords), shape=A.shape))
            assert analyse(B).n_blocks == want


def test_every_digraph_of_four_vertices_in_one_matrix():
    rng = np.random.default_rng(6)
    for order in range(5):
        assert_right(*coupled_pieces.every_digraph(rng, 4, order), rng)


def all_patterns(n_rows, n_cols, step=1):
    places = [(i, j) for i in range(n_rows) for j in range(n_cols)]
    for bits in range(0, 1 << len(places), step):
        entries = [place for k, place in enumerate(places) if bits >> k & 1]
        i, j = zip(*entries, strict=True) if entries else ((), ())
        yield sp.csr_array((np.ones(len(entries), np.int8), (i, j)), shape=(n_rows, n_cols))


@pytest.mark.parametrize(("shape", "step"), [((3, 3), 1), ((3, 4), 5), ((4, 3), 5), ((4, 4), 61)])
def test_coarse_parts_are_those_of_the_reference(shape, step):
    """Of small patterns of any rank; the blocks of all are compared in test_block_exhaustive."""
    for A in all_patterns(*shape, step):
        form = sm.block_triangular_form(A)
        expected = reference.block_labels(as_bipartite(A), form.matching)
        n, group = expected.n_square, expected.row_group
        assert set(form.horizontal.rows.tolist()) == set(np.flatnonzero(group == 0).tolist())
        assert set(form.vertical.rows.tolist()) == set(np.flatnonzero(group == n + 1).tolist())
        assert form.n_blocks == n + bool(form.horizontal.cols.size) + bool(form.vertical.rows.size)
        assert sm.is_block_form(A, form)


def test_forms_of_other_matrices_of_the_same_shape():
    """Right for a few of them only: those for which the definition says so."""
    rng = np.random.default_rng(8)
    patterns = list(all_patterns(3, 3))
    forms = [sm.block_triangular_form(A) for A in patterns]
    answers = []
    for a, b in rng.integers(len(patterns), size=(300, 2)).tolist():
        A, form = patterns[a | b], forms[b]  # with all entries of the other one, for most
        answers.append(True)
        try:
            test_decomposition.check(A, form)
        except AssertionError:
            answers[-1] = False
        assert sm.is_block_form(A, form) is answers[-1]
    assert 10 < sum(answers) < 290


def changed(form, **arrays):
    return replace(form, **{name: np.array(value) for name, value in arrays.items()})


def test_blocks_that_could_be_split_or_are(chain):
    form = sm.block_triangular_form(chain)
    assert form.row_blocks.tolist() == [0, 2, 3, 6]
    for ends in (
        *([0, 3, 6], [0, 6]),  # not irreducible together
        *([0, 1, 2, 3, 6], [0, 2, 3, 3, 6]),  # an entry below the blocks; an empty block
        *([0, 2, 3], [0, 3, 2, 6], [0, 2, 3, 7], []),  # not ascending to the end
    ):
        assert not sm.is_block_form(chain, changed(form, row_blocks=ends, col_blocks=ends))
    assert not sm.is_block_form(chain, changed(form, row_blocks=[0, 2, 3, 6], col_blocks=[0, 3, 6]))


def test_permutations_and_matchings_that_do_not_fit(chain):
    form = sm.block_triangular_form(chain)
    p = form.row_perm
    for order in (p[::-1], [0] * 6, p - 1, p + 1, [*p[:5].tolist(), 1 << 40], p.astype(float)):
        assert not sm.is_block_form(chain, changed(form, row_perm=order))
    swapped = p.copy()
    swapped[[3, 4]] = p[[4, 3]]  # within a block: no pair stands on the diagonal any more
    assert not sm.is_block_form(chain, changed(form, row_perm=swapped))
    other = replace(form, matching=sm.Matching(np.full(6, -1), np.full(6, -1)))
    assert not sm.is_block_form(chain, other)
    short = replace(form, matching=sm.Matching(np.zeros(5, int), np.zeros(6, int)))
    assert not sm.is_block_form(chain, short)


def test_parts_that_are_too_large():
    """A square part told to be a piece of the horizontal or the vertical part."""
    A = GALLERY["three_coarse_parts"]()
    form = sm.block_triangular_form(A)
    assert sm.is_block_form(A, form)
    rr, cc = form.coarse_rows.tolist(), form.coarse_cols.tolist()
    ends = form.row_blocks.tolist(), form.col_blocks.tolist()
    horizontal = changed(
        form,
        coarse_rows=[rr[0], rr[2], *rr[2:]],
        coarse_cols=[*cc[:2], cc[3], *cc[3:]],
        row_blocks=[0, *(k for k in ends[0] if k >= rr[2])],
        col_blocks=[0, *(k for k in ends[1] if k >= cc[3])],
    )
    assert not sm.is_block_form(A, horizontal)
    vertical = changed(
        form,
        coarse_rows=[*rr[:2], rr[1], *rr[3:]],
        coarse_cols=[*cc[:3], cc[2], cc[4]],
        row_blocks=[*(k for k in ends[0] if k <= rr[1]), rr[4]],
        col_blocks=[*(k for k in ends[1] if k <= cc[2]), cc[4]],
    )
    assert not sm.is_block_form(A, vertical)
    assert not sm.is_block_form(A, changed(form, coarse_rows=[0, 0, 0, 0, A.shape[0]]))
    assert not sm.is_block_form(A, changed(form, coarse_rows=[0, *rr[2:]]))


def test_what_came_by_way_of_matlab(matrix):
    form = sm.BlockForm.from_matlab(*sm.block_triangular_form(matrix).to_matlab())
    assert sm.is_block_form(matrix, form)
    assert sm.is_block_form(sp.csc_array(matrix), form)


def test_arguments(chain):
    form = sm.block_triangular_form(chain)
    with pytest.raises(TypeError, match="form must be a BlockForm, not tuple"):
        sm.is_block_form(chain, tuple(form))
    with pytest.raises(ValueError, match=r"shape \(6, 6\), but A has shape \(6, 5\)"):
        sm.is_block_form(chain[:, :5], form)
    distributed = sm.DistributedCSR.from_local(None, chain)
    with pytest.raises(TypeError, match="done in one process only"):
        sm.is_block_form(distributed, form)
    with pytest.raises(TypeError, match=r"form must be a BlockForm, not .*DistributedBlockForm"):
        sm.is_block_form(chain, sm.block_triangular_form(distributed))


def test_the_planner_refuses_a_diagonal_without_entries():
    """That of a matching which is none of the matrix; Python has every matching checked."""
    A = sp.csc_array(np.triu(np.ones((3, 3)), 1) + np.diag([1.0, 0.0, 1.0]))
    A.eliminate_zeros()
    arrays = A.indptr, A.indices, A.data
    lu = operations(LuOps, "numpy").factorise(*arrays, 3, False, False, False, {}, None, 0.0)
    assert lu.result[0] == "unmatched"
    with pytest.raises(RuntimeError, match="below its blocks, or none in a block of one row"):
        lu.match(np.arange(3, dtype=np.int32))


def test_a_matching_that_is_none_of_the_matrix(chain):
    """It never comes to the planner."""
    for mates in ([1, 2, 0, 4, 5, 3], [0, 0, 2, 3, 4, 5]):
        with pytest.raises(ValueError, match="matching"):
            analyse(sp.csc_array(chain), matching=np.array(mates))
