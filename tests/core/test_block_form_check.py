"""Block forms of coupled pieces, and is_block_form: it accepts the right ones, no others."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import coupled_pieces
import sparsematch as sm
import test_decomposition
from gallery import GALLERY
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import operations
from sparsematch.solvers import analyse

pytestmark = pytest.mark.asan


@pytest.fixture
def chain():
    """Three irreducible blocks, one after the other: [0, 1], [2], [3, 4, 5]."""
    entries = [(0, 1), (1, 0), (1, 2), (2, 4), (3, 4), (4, 5), (5, 3), (0, 5)]
    entries += [(k, k) for k in range(6)]
    return sp.csr_array((np.ones(len(entries)), tuple(zip(*entries, strict=True))))


def test_coupled_pieces():
    rng = np.random.default_rng(5)
    for _ in range(100):
        assert_right(*coupled_pieces.coupled(rng, (4, 10, 30, 100)), rng)


def assert_right(A, want, rng):
    for B in (sp.csr_array(A), sp.csc_array(A)):
        assert coupled_pieces.fault(B, coupled_pieces.find_here(B, rng), want) is None


@pytest.mark.parametrize("workers", [1, 4])
def test_scattered_pieces(workers):
    """Complete blocks without their diagonals, many and in no order: each reaches little."""
    rng = np.random.default_rng(9)
    sizes = rng.integers(3, 30, 2500)
    A = sp.block_diag(
        [sp.csr_array(1 - np.eye(size, dtype=np.int8)) for size in sizes], format="csr"
    )
    A = A[rng.permutation(A.shape[0])][:, rng.permutation(A.shape[1])]
    form = sm.block_triangular_form(A, workers=workers)
    assert sorted(np.diff(form.row_blocks)) == sorted(sizes)
    assert sm.is_block_form(A, form)


def all_patterns(n_rows, n_cols, step=1):
    places = [(i, j) for i in range(n_rows) for j in range(n_cols)]
    for bits in range(0, 1 << len(places), step):
        entries = [place for k, place in enumerate(places) if bits >> k & 1]
        i, j = zip(*entries, strict=True) if entries else ((), ())
        yield sp.csr_array((np.ones(len(entries), np.int8), (i, j)), shape=(n_rows, n_cols))


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
    ops = operations(LuOps, "numpy")
    wishes = ops.wishes({}, False, None, 0.0)
    lu, found = ops.factorise(*arrays, 3, False, False, wishes)
    assert found[0] == "unmatched"
    with pytest.raises(RuntimeError, match="below its blocks, or none in a block of one row"):
        lu.match(np.arange(3, dtype=np.int32))


def test_a_matching_that_is_none_of_the_matrix(chain):
    """It never comes to the planner."""
    for mates in ([1, 2, 0, 4, 5, 3], [0, 0, 2, 3, 4, 5]):
        with pytest.raises(ValueError, match="matching"):
            analyse(sp.csc_array(chain), matching=np.array(mates))
