"""The features by which `auto` chooses, on meshes and random matrices, and the transpose."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparsematch as sm
from calls import grid, random_matrix, scrambled
from gallery import pattern
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._engines.cpu.core.run_engine import transpose
from sparsematch._engines.cpu.decomposition import block_form
from sparsematch._engines.cpu.matching.auto import POLICY, Features
from sparsematch._engines.cpu.ordering import features
from sparsematch._engines.registry import Run
from sparsematch._input.bipartite import as_bipartite
from strategies import larger, matrices, with_index_type

pytestmark = pytest.mark.tsan


def cube(n):
    """The pattern of the seven-point operator on a cube of n by n by n points."""
    plane, line = sp.csr_array(grid(n)), sp.csr_array(grid(n, 1))
    return sp.csr_array(
        sp.kron(plane, sp.eye_array(n)) + sp.kron(sp.eye_array(n * n), line) + sp.eye_array(n**3)
    )


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


def test_rows_that_share_columns_by_chance_have_no_locality():
    """In a small matrix with long random rows many pairs do, as many as chance has it."""
    graph = as_bipartite(random_matrix(2000, 2000, 16, 3))
    assert features.shared_pair_density(graph) > POLICY.shared_pairs
    assert not features.has_locality(graph, POLICY.shared_pairs)
    assert features.has_locality(as_bipartite(scrambled(cube(12), 4)), POLICY.shared_pairs)


def test_degrees_of_a_mesh_are_even_and_random_ones_are_not():
    for A, even in ((scrambled(cube(25), 5), True), (random_matrix(5000, 5000, 6, 6), False)):
        for statistics in (features.degree_statistics, features.minor_statistics):
            assert (statistics(as_bipartite(A)).variation < POLICY.even) == even


def test_even_rows_do_not_make_even_columns():
    """Three entries in each row, at random."""
    n = 5000
    cols = np.random.default_rng(7).integers(0, n, 3 * n, np.int32)
    graph = as_bipartite(sp.csr_array((np.ones(3 * n), cols, 3 * np.arange(n + 1)), (n, n)))
    assert features.degree_statistics(graph).variation < POLICY.even
    assert not features.minor_statistics(graph).variation < POLICY.even


@pytest.mark.parametrize(
    ("n", "in_order", "built"), [(450, False, True), (450, True, False), (60, False, False)]
)
def test_blocks_of_a_matching_that_was_given(n, in_order, built):
    """The transpose is built where a depth-first search would miss the cache at every vertex."""
    one_way = sp.csr_array(sp.triu(grid(n)) + sp.eye_array(n * n))
    A = one_way if in_order else scrambled(one_way, 13)
    graph, run, matching = as_bipartite(A), Run(detailed=True), sm.maximum_transversal(A)
    assert block_form.block_labels(graph, matching, run).n_square == n * n
    assert run.transposes_built == built


def test_rows_with_the_same_columns_say_nothing_about_their_numbering():
    """Three unknowns at each point of a mesh, rows in order, columns scrambled."""
    A = sp.csr_array(sp.kron(grid(60), np.ones((3, 3))))
    scrambled_columns = A[:, np.random.default_rng(57).permutation(A.shape[1])]
    assert features.order_features(as_bipartite(A)).are_near(POLICY.near)
    order = features.order_features(as_bipartite(sp.csr_array(scrambled_columns)))
    assert not order.are_near(POLICY.near)


def of_degrees(degrees, n_rows, seed):
    """A pattern with columns of these degrees, each in random rows; some entries repeat."""
    cols = np.repeat(np.arange(len(degrees)), degrees)
    rows = np.random.default_rng(seed).integers(0, n_rows, cols.size)
    return pattern(rows, cols, (n_rows, len(degrees)))


def counts(statistics):
    """The sums that the core has made."""
    s = statistics
    return s.n, s.entries, s.squares, round(s.ones * s.n), s.empty


def fields(degrees):
    """What these are for vertices of these degrees."""
    degrees = np.asarray(degrees, np.int64)
    ones, empty = np.sum(degrees == 1), np.sum(degrees == 0)
    return len(degrees), degrees.sum(), np.sum(degrees**2), ones, empty


def sampled_columns(n_cols):
    """Those that `column_statistics` samples: the only entry of a matrix is seen there."""
    found = []
    for j in range(n_cols):
        one = sp.csr_array((np.ones(1), [j], [0, 1]), (1, n_cols))
        found += [j] * counts(_core.column_statistics(csr(as_bipartite(one)), 1))[3]
    return np.array(found)


@pytest.mark.parametrize(("dtype", "workers"), [(np.int32, 1), (np.int64, 3)])
@pytest.mark.parametrize("n_cols", [1, 31, 2048])
def test_the_statistics_of_few_columns_are_exact(n_cols, dtype, workers):
    """Also over several workers, from a quarter of a million entries for each on."""
    rng = np.random.default_rng(n_cols)
    for mean in (0.7, 1_000_000 / n_cols):
        degrees = rng.poisson(mean, n_cols)
        A = with_index_type(of_degrees(degrees, 70_000, n_cols), dtype)
        graph = as_bipartite(A)
        assert counts(_core.column_statistics(csr(graph), workers)) == fields(degrees)
        rows = np.bincount(np.diff(A.indptr))
        assert rows.sum() == 70_000
        assert counts(_core.degree_statistics(csr(graph), workers)) == fields(np.diff(A.indptr))


@pytest.mark.parametrize("n_cols", [2049, 4095, 4096, 4097, 5000])
def test_one_column_of_each_block_is_sampled(n_cols):
    """Blocks have as many columns, a power of two; the last may be short, and have none."""
    columns = sampled_columns(n_cols)
    block = 1 << int((n_cols - 1) // 2048).bit_length()
    assert len(columns) in (n_cols // block, -(-n_cols // block))
    assert np.array_equal(columns // block, np.arange(len(columns)))
    degrees = np.random.default_rng(n_cols).poisson(3, n_cols)
    graph = as_bipartite(of_degrees(degrees, 2000, n_cols))
    assert counts(_core.column_statistics(csr(graph), 1)) == fields(degrees[columns])
    assert len(np.unique(columns % block)) == block  # at all places


DEGREES = {
    "random": lambda n: np.random.default_rng(1).poisson(3, n),
    "equal": lambda n: np.full(n, 4),
    "of three unknowns a point": lambda n: np.tile([2, 7, 4], n // 3),
    "of a line of 512 points": lambda n: np.where(np.arange(n) % 512 == 0, 2, 3),
    "half empty": lambda n: np.tile([0, 5], n // 2),
    "in two halves": lambda n: np.repeat([1, 6], n // 2),
    "a product": lambda n: np.array([1, 3])[
        (np.arange(n)[:, None] >> np.arange(0, 18, 6) & 1)
    ].prod(axis=1),
}


@pytest.mark.parametrize(("dtype", "workers"), [(np.int32, 1), (np.int64, 3)])
@pytest.mark.parametrize("degrees", DEGREES.values(), ids=DEGREES)
def test_the_statistics_of_a_sample(degrees, dtype, workers):
    """Within four standard errors of those of all columns."""
    degrees = degrees(240_000)
    graph = as_bipartite(with_index_type(of_degrees(degrees, 200_000, 3), dtype))
    n, entries, squares, ones, empty = counts(_core.column_statistics(csr(graph), workers))
    assert 1024 <= n <= 2048
    for found, of_each in (
        (entries, degrees),
        (squares, degrees.astype(float) ** 2),
        (ones, degrees == 1),
        (empty, degrees == 0),
    ):
        assert abs(found / n - of_each.mean()) <= 4 * of_each.std() / np.sqrt(n)
    assert (features.minor_statistics(graph).variation < POLICY.even) == (
        degrees.var() < 0.5 * degrees.mean()
    )


def test_a_few_hubs_do_not_make_the_others_uneven():
    """Unless the sample has one of them; here it has none."""
    degrees = np.full(240_000, 4)
    degrees[[1_000, 200_000]] = 50_000
    minors = features.minor_statistics(as_bipartite(of_degrees(degrees, 200_000, 5)))
    assert minors.variation < POLICY.even
    assert minors.mean == 4


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (3, 4000)])
def test_statistics_of_no_entries(shape):
    graph = as_bipartite(sp.csr_array(shape))
    assert counts(_core.degree_statistics(csr(graph), 2)) == (shape[0], 0, 0, 0, shape[0])
    n, *none, empty = counts(_core.column_statistics(csr(graph), 2))
    assert (none, empty) == ([0, 0, 0], n)


def test_pairs_shared_are_the_same_for_any_number_of_workers():
    """From two million entries on, of which a part is read, there are two."""
    graph = as_bipartite(scrambled(grid(740), 61))
    assert len({_core.shared_pair_density(csr(graph), workers) for workers in (1, 2)}) == 1


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
    assert Features(as_bipartite(sp.csr_array(A)), POLICY, 1).chains == expected


def check_transpose(A, workers):
    graph = as_bipartite(A)
    found = transpose(graph, Run(workers))
    assert (found.n_major, found.n_minor, found.flipped) == (
        graph.n_minor,
        graph.n_major,
        not graph.flipped,
    )
    majors = np.repeat(np.arange(graph.n_major), np.diff(graph.indptr))
    order = np.argsort(graph.indices, kind="stable")
    assert np.array_equal(found.indices, majors[order])
    assert np.array_equal(
        found.indptr, np.searchsorted(graph.indices[order], np.arange(graph.n_minor + 1))
    )


@given(matrices() | larger(), st.sampled_from((1, 2, 3)))
def test_any_matrix(A, workers):
    check_transpose(A, workers)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    ("n_rows", "n_cols", "degree"),
    [
        (3_000, 2_000, 20),  # several buckets, with three workers
        (150_000, 150_000, 8),  # with 64-bit indices more than the cache holds
        (70_000, 70_000, 0.05),  # a row and a column of one bucket do not fit into 32 bits
        (100, 300_000, 500),
        (300_000, 100, 0.5),
    ],
)
def test_buckets(n_rows, n_cols, degree, workers):
    A = random_matrix(n_rows, n_cols, degree, seed=2)
    check_transpose(A, workers)
    check_transpose(with_index_type(A, np.int64), workers)


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_hubs_that_fill_a_bucket(at_the_end, workers):
    """One bucket has more than a worker's share of the entries: all workers sort it."""
    n, rng = 40_000, np.random.default_rng(4)
    cols = np.minimum(rng.zipf(1.3, 6 * n), n) - 1
    cols = n - 1 - cols if at_the_end else cols
    A = sp.csr_array((np.ones(6 * n), cols, np.arange(0, 6 * n + 1, 6)), shape=(n, n))
    for index in (np.int32, np.int64):
        check_transpose(with_index_type(A, index), workers)


def test_a_large_matrix_that_is_well_numbered():
    """As a single pass is best."""
    n = 150_000
    A = sp.diags_array(np.ones((9, n)), offsets=np.arange(-4, 5) * 40, shape=(n, n)).tocsr()
    check_transpose(with_index_type(A, np.int64), 1)


@pytest.mark.large
def test_more_buckets_where_rows_are_many():
    check_transpose(random_matrix(2_200_000, 1_500_000, 2, seed=3), 2)
