"""The features by which `auto` chooses, on meshes and on random matrices, and its choice."""

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import certify, grid, random_matrix, scrambled
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._engines.cpu.decomposition import block_form
from sparsematch._engines.cpu.ordering import features
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import as_bipartite


def cube(n):
    """The pattern of the seven-point operator on a cube of n by n by n points."""
    plane, line = sp.csr_array(grid(n)), sp.csr_array(grid(n, 1))
    return sp.csr_array(
        sp.kron(plane, sp.eye_array(n)) + sp.kron(sp.eye_array(n * n), line) + sp.eye_array(n**3)
    )


def overlaps(n, seed):
    """Intervals of random length from random places: each row has what ends in it."""
    random = np.random.default_rng(seed)
    begin = random.integers(0, n, n)
    i = np.repeat(begin, 4)
    j = i + random.geometric(0.2, i.size) - random.geometric(0.2, i.size)
    return scrambled(sp.csr_array((np.ones(i.size), (i, j % n)), shape=(n, n)), seed)


def chain_with_branches(n, seed):
    """An upper bidiagonal matrix, and an entry to the right in every third row."""
    i = np.arange(0, n - 100, 3)
    j = i + np.random.default_rng(seed).integers(2, 100, i.size)
    branches = sp.coo_array((np.ones(i.size), (i, j)), shape=(n, n))
    return sp.diags_array([np.ones(n), np.ones(n - 1)], offsets=[0, 1]) + branches


@pytest.mark.parametrize("n", [40, 300])
def test_points_of_a_mesh_share_columns_with_their_neighbours(n):
    """Those of a grid with four others, one step aside in both directions."""
    for A in (grid(n), scrambled(grid(n), 1)):
        assert features.shared_pair_density(as_bipartite(A)) == pytest.approx(4, rel=0.25)


@pytest.mark.parametrize(
    ("shape", "degree"), [((30_000, 30_000), 8), ((30_000, 60_000), 12), ((100_000, 90_000), 3)]
)
def test_rows_with_random_columns_share_hardly_any(shape, degree):
    assert features.shared_pair_density(as_bipartite(random_matrix(*shape, degree, 5))) < 0.25


@pytest.mark.parametrize(
    "A", [sp.csr_array((0, 7)), sp.csr_array((7, 0)), sp.csr_array(np.ones((1, 9)))]
)
def test_nothing_to_share(A):
    assert features.shared_pair_density(as_bipartite(A)) == 0


def test_clusters_leave_what_is_free_nearby():
    """Both have columns of degree one; where rows share most of their columns, paths are short."""
    near = features.Features(as_bipartite(overlaps(60_000, 6)))
    far = features.Features(as_bipartite(random_matrix(60_000, 60_000, 3, 6)))
    assert near.clustered
    assert not far.clustered
    assert not near.may_peel
    assert far.may_peel


def test_rows_that_share_columns_by_chance_have_no_locality():
    """In a small matrix with long random rows many pairs do, as many as chance has it."""
    graph = as_bipartite(random_matrix(2000, 2000, 16, 3))
    assert features.shared_pair_density(graph) > features.MESH_PAIR_DENSITY
    assert not features.has_locality(graph)
    assert features.has_locality(as_bipartite(scrambled(cube(12), 4)))


def test_degrees_of_a_mesh_are_even_and_random_ones_are_not():
    mesh, random = (
        as_bipartite(scrambled(cube(25), 5)),
        as_bipartite(random_matrix(5000, 5000, 6, 6)),
    )
    assert features.degree_statistics(mesh).are_even
    assert features.minors_are_even(mesh)
    assert not features.degree_statistics(random).are_even
    assert not features.minors_are_even(random)


def test_even_rows_do_not_make_even_columns():
    """Three entries in each row, at random."""
    n = 5000
    cols = np.random.default_rng(7).integers(0, n, 3 * n, np.int32)
    graph = as_bipartite(sp.csr_array((np.ones(3 * n), cols, 3 * np.arange(n + 1)), (n, n)))
    assert features.degree_statistics(graph).are_even
    assert not features.minors_are_even(graph)


def test_a_random_matrix_is_no_mesh():
    A = random_matrix(30_000, 30_000, 8, 7)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert info.steps[-1].engine == "single_source_bfs"


def test_a_scrambled_mesh_is_told_from_a_random_matrix():
    A = scrambled(cube(25), 11)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert [s.engine for s in info.steps] == ["cheap", "cheap", "push_relabel"]
    assert info.transposes_built == 0


@pytest.mark.parametrize(
    ("n", "in_order", "built"), [(450, False, True), (450, True, False), (60, False, False)]
)
def test_blocks_of_a_matching_that_was_given(n, in_order, built):
    """The transpose is built where a depth-first search would miss the cache at every vertex."""
    one_way = sp.csr_array(sp.triu(grid(n)) + sp.eye_array(n * n))
    A = one_way if in_order else scrambled(one_way, 13)
    graph, run, matching = as_bipartite(A), Run(), sm.maximum_transversal(A)
    assert block_form.block_labels(graph, matching, run).n_square == n * n
    assert (run.transposed is not None) == built


@pytest.mark.parametrize("seed", [17, 19, 23])
def test_the_core_is_searched_from_where_less_is_free(seed):
    """From the side with fewer free vertices, with the matrix stored by rows or by columns."""
    A = random_matrix(20_000, 19_900, 3, seed)
    for B in (A, sp.csr_array(A.T), sp.csc_array(A)):
        m, info = sm.maximum_transversal(B, workers=2, return_info=True)
        certify(B, m)
        karp_sipser, search = info.steps[-2:]
        assert (karp_sipser.engine, search.engine) == ("karp_sipser", "single_source_bfs")
        assert search.phases <= min(B.shape) - karp_sipser.cardinality


def test_rows_with_the_same_columns_say_nothing_about_their_numbering():
    """Three unknowns at each point of a mesh, rows in order, columns scrambled."""
    A = sp.csr_array(sp.kron(grid(60), np.ones((3, 3))))
    scrambled_columns = A[:, np.random.default_rng(57).permutation(A.shape[1])]
    assert features.is_ordered(as_bipartite(A))
    assert not features.is_ordered(as_bipartite(sp.csr_array(scrambled_columns)))


@pytest.mark.parametrize("mean", [1, 2, 4])
def test_the_share_of_columns_with_one_entry(mean):
    """As in a random graph, and as counted; sixteen thousand columns are sampled."""
    A = random_matrix(1_000_000, 1_000_000, mean, 51)
    graph = as_bipartite(A)
    share = np.mean(np.bincount(A.indices, minlength=A.shape[1]) == 1)
    assert _core.share_of_columns_with_one(csr(graph)) == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize(
    ("A", "expected"),
    [
        (scrambled(sp.triu(random_matrix(20_000, 20_000, 5, 52)), 53), True),
        (random_matrix(20_000, 20_000, 3, 54), True),
        (random_matrix(20_000, 20_000, 7, 55), False),  # hardly any vertex of degree one
        (scrambled(grid(140), 56), False),
        (scrambled(chain_with_branches(20_000, 58), 59), True),
        (sp.kron(sp.eye_array(9_000), np.ones((2, 1))), False),  # all rows are leaves
    ],
)
def test_where_degree_one_leads_through_the_matrix(A, expected):
    assert features.Features(as_bipartite(sp.csr_array(A))).may_peel == expected
