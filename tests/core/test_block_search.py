"""The searches behind the block form: with the transpose and without, ordered and permuted."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsematch as sm
from calls import grid, random_matrix
from sparsematch._engines.cpu.core import csr
from sparsematch._engines.cpu.core.run_engine import HostByProducts, run_engine
from sparsematch._engines.cpu.decomposition import block_form as operations
from sparsematch._engines.cpu.matching.auto import nothing_finished
from sparsematch._engines.reference import block_form as reference
from sparsematch._engines.registry import Run
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.matching import Matching
from strategies import INDEX_TYPES, with_index_type

pytestmark = pytest.mark.asan


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


def check(A):
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
            labels = operations.block_labels(graph, found_matching, run, left)
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
    check(A)


def chain(*sizes):
    """Cycles of these sizes, one after the other, each with an entry in the columns of the next."""
    n = sum(sizes)
    ends = np.cumsum(sizes)
    back = sp.coo_array((np.ones(len(sizes)), (ends - 1, ends - np.array(sizes))), shape=(n, n))
    return sp.csr_array(sp.eye_array(n) + sp.eye_array(n, k=1) + back)


@pytest.mark.parametrize(
    "sizes", [(400,), (200, 200), (130, 130, 130), (90, 4, 150, 1, 3, 80), (3, 100, 1, 1)]
)
def test_large_components_in_order(sizes):
    A = chain(*sizes)
    check(A)
    check(sp.csr_array(A.T))
    assert np.diff(
        sm.block_triangular_form(A, matching=np.arange(sum(sizes))).row_blocks
    ).tolist() == list(sizes)


@pytest.mark.parametrize("free", ["row", "column"])
def test_a_large_component_that_leads_to_a_free_column_is_no_block(free):
    """The sweeps for the horizontal part give up before they reach it."""
    circle = chain(200).tolil()
    circle.resize((200, 201))
    circle[100, 200] = 1
    A = sp.csr_array(circle)
    check(A if free == "column" else sp.csr_array(A.T))


def test_meshes():
    A = grid(18) + sp.eye_array(324)
    rng = np.random.default_rng(113)
    check(sp.csr_array(A))
    check(sp.csr_array(A)[rng.permutation(324)][:, rng.permutation(324)])
    check(random_matrix(300, 300, 5, 127))


@pytest.mark.parametrize("degree", [1.5, 2, 2.5, 3])
def test_what_vertices_of_degree_one_force(degree):
    """Nearly all blocks of a random matrix; it has all three coarse parts."""
    check(random_matrix(300, 300, degree, 131))
    check(random_matrix(300, 280, degree, 137))


def test_forced_pairs_stand_in_the_order_in_which_they_were_found():
    """A row forced by its degree has its own column and earlier ones; a column likewise."""
    graph = as_bipartite(random_matrix(2000, 2000, 2.5, 139))
    matching, _, left = found(graph, "karp_sipser", options={"degree_one_only": True})
    majors, by_row, by_col = left.forced
    assert by_row + by_col == matching.cardinality > 1000

    def turns(rows):
        turn = np.full(graph.n_rows, graph.n_rows)
        turn[rows] = np.arange(len(rows))
        row, col = np.repeat(np.arange(graph.n_rows), np.diff(graph.indptr)), graph.indices
        mate = matching.col_mate[col]
        return turn[row[mate >= 0]], turn[mate[mate >= 0]]

    of_row, of_mate = turns(majors[:by_row])
    assert np.all((of_mate <= of_row) | (of_row == graph.n_rows))
    of_row, of_mate = turns(majors[: -by_col - 1 : -1])
    assert np.all((of_row <= of_mate) | (of_mate == graph.n_rows))
