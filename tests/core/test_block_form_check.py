"""The searches behind the block form, and is_block_form: it accepts the forms of all, no others."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import block_labels as reference
import coupled_pieces
import sparsematch as sm
import test_decomposition
from calls import grid, random_matrix
from gallery import GALLERY
from sparsematch._engines.cpu.core import csr
from sparsematch._engines.cpu.core.run_engine import HostByProducts, run_engine
from sparsematch._engines.cpu.decomposition import block_form
from sparsematch._engines.cpu.matching.auto import nothing_finished
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import Run, operations
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from sparsematch.solvers import analyse
from strategies import INDEX_TYPES, with_index_type

pytestmark = pytest.mark.asan


@pytest.fixture
def chain():
    """Three irreducible blocks, one after the other: [0, 1], [2], [3, 4, 5]."""
    entries = [(0, 1), (1, 0), (1, 2), (2, 4), (3, 4), (4, 5), (5, 3), (0, 5)]
    entries += [(k, k) for k in range(6)]
    return sp.csr_array((np.ones(len(entries)), tuple(zip(*entries, strict=True))))


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
    lu = operations(LuOps, "numpy").factorise(*arrays, 3, False, False, False, {}, None, 0.0)
    assert lu.result[0] == "unmatched"
    with pytest.raises(RuntimeError, match="below its blocks, or none in a block of one row"):
        lu.match(np.arange(3, dtype=np.int32))


def test_a_matching_that_is_none_of_the_matrix(chain):
    """It never comes to the planner."""
    for mates in ([1, 2, 0, 4, 5, 3], [0, 0, 2, 3, 4, 5]):
        with pytest.raises(ValueError, match="matching"):
            analyse(sp.csc_array(chain), matching=np.array(mates))


@st.composite
def digraphs(draw):
    """A matrix with its diagonal, entries near it and a few far away: components of all sizes.

    Its rows and columns in natural order or scrambled, some left out, so that a part of it may be
    deficient; repeats.
    """
    rng = np.random.default_rng(draw(st.integers(1, 2**32)))
    n, reach = draw(st.integers(1, 150)), draw(st.integers(1, 12))
    near, far = int(n * draw(st.floats(0, 4))), draw(st.integers(0, 4))
    rows = rng.integers(n, size=near)
    cols = np.clip(rows + rng.integers(-reach, reach + 1, size=near), 0, n - 1)
    rows = np.concatenate([np.arange(n), rows, rng.integers(n, size=far)])
    cols = np.concatenate([np.arange(n), cols, rng.integers(n, size=far)])
    if draw(st.booleans()):  # no component crosses these places from the right to the left
        cut = np.sort(rng.integers(n, size=draw(st.integers(1, 3))))
        kept = np.searchsorted(cut, rows) <= np.searchsorted(cut, cols)
        rows, cols = rows[kept], cols[kept]
    if draw(st.booleans()):
        rows, cols = rng.permutation(n)[rows], rng.permutation(n)[cols]
    n_rows, n_cols = (max(1, n - draw(st.sampled_from([0, 0, 1, n // 3]))) for _ in range(2))
    kept = (rows < n_rows) & (cols < n_cols)
    rows, cols = rows[kept], cols[kept]
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
    A = sp.csr_array((np.ones(len(rows), np.int8), cols[order], indptr), shape=(n_rows, n_cols))
    return with_index_type(A, draw(st.sampled_from(INDEX_TYPES)))


def found(graph, *engines, **settings):
    """The matching that these engines find, one after the other, their run and by-products."""
    matching, run, left = Matching.start(graph), Run(**settings), HostByProducts()
    for engine in engines:
        left = replace(left, finished=nothing_finished(graph))
        _, left = run_engine(engine, graph, matching, run, left)
    return matching, run, left


def check_searches(A):
    """Every way to the blocks against plain Python; against SciPy for perfect matchings."""
    graph = as_bipartite(A)
    matching, first, with_transpose = found(graph, "push_relabel")
    # of which the second rearranges pairs
    by_both = found(graph, "karp_sipser", "push_relabel", workers=2)
    starts = found(graph, "karp_sipser", "single_source_bfs"), by_both
    for found_matching, run, left in (
        (matching, Run(), None),
        (matching, first, with_transpose),
        *starts,
        (matching, Run(workers=3), with_transpose),
    ):
        with patch.object(csr, "_MANY", -1):  # of several workers, even here
            labels = block_form.block_labels(graph, found_matching, run, left)
        expected = reference.block_labels(graph, found_matching)
        assert labels.n_square == expected.n_square
        assert parts(labels, found_matching) == parts(expected, found_matching)
        group = labels.row_group
        of_col = np.where(found_matching.col_mate >= 0, group[found_matching.col_mate], 0)
        rows = np.repeat(np.minimum(group, labels.n_square + 1), np.diff(graph.indptr))
        assert np.all(rows <= of_col[graph.indices]), "no entry below the blocks"
    if matching.cardinality == max(A.shape):
        mates = found_matching.col_mate
        of_rows = sp.csr_array((np.ones(graph.nnz, np.int8), mates[graph.indices], graph.indptr))
        n, component = sp.csgraph.connected_components(of_rows, connection="strong")
        assert (
            n == expected.n_square == len(set(zip(component.tolist(), group.tolist(), strict=True)))
        )


def parts(labels, matching):
    """The blocks as sets of rows, the horizontal and vertical parts apart."""
    group = np.minimum(labels.row_group, labels.n_square + 1)
    inner = (group > 0) & (group <= labels.n_square)
    blocks = {frozenset(np.flatnonzero(group == g).tolist()) for g in set(group[inner].tolist())}
    return (
        blocks,
        np.flatnonzero(group == 0).tolist(),
        np.flatnonzero(~inner & (matching.row_mate < 0)).tolist(),
    )


@settings(max_examples=settings().max_examples // 4)  # test_block_exhaustive has more
@given(digraphs())
def test_every_search_finds_the_same_blocks(A):
    check_searches(A)


def chain_of(*sizes):
    """Cycles of these sizes, one after the other, each with an entry in the columns of the next."""
    n = sum(sizes)
    ends = np.cumsum(sizes)
    back = sp.coo_array((np.ones(len(sizes)), (ends - 1, ends - np.array(sizes))), shape=(n, n))
    return sp.csr_array(sp.eye_array(n) + sp.eye_array(n, k=1) + back)


@pytest.mark.parametrize(
    "sizes", [(400,), (200, 200), (130, 130, 130), (90, 4, 150, 1, 3, 80), (3, 100, 1, 1)]
)
def test_large_components_in_order(sizes):
    A = chain_of(*sizes)
    check_searches(A)
    check_searches(sp.csr_array(A.T))
    assert np.diff(
        sm.block_triangular_form(A, matching=np.arange(sum(sizes))).row_blocks
    ).tolist() == list(sizes)


@pytest.mark.parametrize("free", ["row", "column"])
def test_a_large_component_that_leads_to_a_free_column_is_no_block(free):
    """The sweeps for the horizontal part give up before they reach it."""
    circle = chain_of(200).tolil()
    circle.resize((200, 201))
    circle[100, 200] = 1
    A = sp.csr_array(circle)
    check_searches(A if free == "column" else sp.csr_array(A.T))


def test_meshes():
    A = grid(18) + sp.eye_array(324)
    rng = np.random.default_rng(113)
    check_searches(sp.csr_array(A))
    check_searches(sp.csr_array(A)[rng.permutation(324)][:, rng.permutation(324)])
    check_searches(random_matrix(300, 300, 5, 127))


@pytest.mark.parametrize("degree", [1.5, 2, 2.5, 3])
def test_what_vertices_of_degree_one_force(degree):
    """Nearly all blocks of a random matrix; it has all three coarse parts."""
    check_searches(random_matrix(300, 300, degree, 131))
    check_searches(random_matrix(300, 280, degree, 137))
