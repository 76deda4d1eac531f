"""Coarsening, and level by level: products of SciPy are the oracle; PyAMG solves with it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gpu_calls
import sparsematch as sm
from gallery import pattern
from graphs import graph, graphs, path, random_graph, star
from strategies import INDEX_TYPES, with_index_type

pytestmark = [pytest.mark.tsan, pytest.mark.wheel]

ON_GPU = pytest.param(True, marks=pytest.mark.kernels, id="gpu")
PLACES = [pytest.param(False, id="host"), ON_GPU]


def coarsen(G, mate, on_gpu=False, **how):
    """What the call gives, in host memory."""
    if not on_gpu:
        return sm.coarsen(G, np.asarray(mate), **how)
    with gpu_calls.one_call:
        matrix, P = sm.coarsen(
            gpu_calls.values_to_gpu(G), gpu_calls.CUPY.asarray(np.asarray(mate)), **how
        )
    return sm.Coarsening(matrix.get(), P.get())


def check(G, mate, coarse, join=False):
    """Fail unless this is the coarsening of the matrix by the mates."""
    G, (matrix, P) = sp.csr_array(G), coarse
    n, labels = G.shape[0], coarse.aggregates
    assert P.shape == (n, matrix.shape[0])
    assert np.array_equal(P.indptr, np.arange(n + 1))
    assert np.all(P.data == 1)
    assert matrix.shape == P.shape[::-1][:1] * 2
    np.testing.assert_allclose(matrix.toarray(), (P.T @ G @ P).toarray(), rtol=1e-12, atol=1e-9)
    pattern = sp.csr_array((np.ones(G.nnz, np.int64), G.indices, G.indptr), shape=G.shape)
    assert matrix.nnz == (P.astype(np.int64).T @ pattern @ P.astype(np.int64)).nnz
    line = sp.csr_array(matrix) if matrix.format == "csr" else sp.csr_array(matrix.T)
    assert all(np.all(np.diff(row) > 0) for row in np.split(line.indices, line.indptr[1:-1]))
    assert labels.tolist() == expected_labels(G, mate, join)


def expected_labels(G, mate, join):
    """The aggregates by their definition."""
    n, mate = G.shape[0], [int(v) for v in mate]
    heads = [v if mate[v] < 0 else min(v, mate[v]) for v in range(n)]
    if join:
        dense = sp.csr_array(G).toarray()
        stored = sp.csr_array((np.ones(G.nnz), G.indices, G.indptr), shape=G.shape).toarray() > 0
        for v in (v for v in range(n) if mate[v] < 0):
            around = [u for u in range(n) if u != v and stored[v, u] and mate[u] >= 0]
            around = [u for u in around if abs(dense[v, u]) >= 0]
            if around:
                heads[v] = heads[max(around, key=lambda u: (abs(dense[v, u]), -u))]
    numbers = {head: k for k, head in enumerate(sorted(set(heads)))}
    return [numbers[head] for head in heads]


@st.composite
def square(draw, max_side=14, max_entries=50):
    """Any square matrix with duplicates, unsorted; values whose sums are exact."""
    n = draw(st.integers(0, max_side))
    places = st.tuples(*[st.integers(0, max(n - 1, 0))] * 2)
    entries = draw(st.lists(places, max_size=max_entries if n else 0))
    rows, cols = np.array(entries, np.int64).reshape(-1, 2).T
    kind = draw(st.sampled_from([np.float64, np.float32, np.complex128, np.complex64]))
    values = st.lists(st.integers(-8, 8), min_size=len(rows), max_size=len(rows))
    data = np.array(draw(values), kind)
    if data.dtype.kind == "c":
        data = data * kind(1 + 2j)
    form = draw(st.sampled_from(["csr", "csc", "coo"]))
    if form == "coo":
        return sp.coo_array((data, (rows, cols)), shape=(n, n))
    A = pattern(rows, cols, (n, n))
    A.data = data[np.argsort(rows, kind="stable")]
    A = A if form == "csr" else sp.csc_array(A)
    return with_index_type(A, draw(st.sampled_from(INDEX_TYPES)))


@st.composite
def mates(draw, n):
    """Any matching of n vertices: its pairs need not be edges."""
    order = draw(st.permutations(range(n)))
    mate = np.full(n, -1)
    for k in range(draw(st.integers(0, n // 2))):
        u, v = order[2 * k : 2 * k + 2]
        mate[u], mate[v] = v, u
    return mate


@pytest.mark.parametrize("on_gpu", PLACES)
def test_any_matrix_and_matching(on_gpu):
    @given(st.data(), square(), st.booleans(), st.sampled_from([1, 3]))
    def holds(data, G, join, workers):
        mate = data.draw(mates(G.shape[0]))
        places = [G.row, G.col] if G.format == "coo" else [G.indices, G.indptr]
        before = [x.tobytes() for x in (G.data, *places)]
        coarse = coarsen(G, mate, on_gpu, join_unmatched=join, workers=workers)
        by_columns = G.format == "csc"
        if not (join and by_columns):
            check(G, mate, coarse, join)
        else:
            assert coarse.aggregates.tolist() == expected_labels(sp.csr_array(G.T), mate, join)
        assert coarse.matrix.format == ("csc" if by_columns else "csr")
        assert coarse.matrix.dtype == G.dtype
        assert coarse.prolongation.dtype == np.empty(0, G.dtype).real.dtype
        assert [x.tobytes() for x in (G.data, *places)] == before

    holds()


@given(graphs(), st.booleans())
def test_matchings_that_we_find(G, join):
    m = sm.approximate_matching(G)
    coarse = sm.coarsen(G, m, join_unmatched=join)
    assert coarse.matrix.indices.dtype == coarse.prolongation.indices.dtype == G.indices.dtype
    assert coarse.matrix.shape[0] <= G.shape[0] - m.cardinality
    if join:  # all that is left alone has no neighbour that is matched, hence none at all
        assert coarse.matrix.shape[0] == m.cardinality + int((isolated(G) & (m.mate < 0)).sum())


def isolated(G):
    A = sp.coo_array(G)
    off = A.row != A.col
    return np.bincount(np.concatenate([A.row[off], A.col[off]]), minlength=G.shape[0]) == 0


@pytest.mark.parametrize("on_gpu", PLACES)
@pytest.mark.parametrize(
    "kind", ["symmetric", "hermitian", "skew", "complex_symmetric", "skew_hermitian", "single"]
)
def test_what_is_symmetric_stays_so_to_the_last_bit(kind, on_gpu):
    """Rounded sums depend on the order, and the next level needs equal magnitudes."""
    rng = np.random.default_rng(5)
    A = sp.triu(random_graph(400, 12, seed=3), 1, format="csr")
    A.data = rng.standard_normal(A.nnz) * 10.0 ** rng.integers(-8, 8, A.nnz)
    if kind in ("hermitian", "complex_symmetric", "skew_hermitian"):
        A = A + 1j * A.multiply(sp.csr_array(A) > 1)
    if kind == "single":
        A = A.astype(np.float32)
    partner = {
        "hermitian": lambda B: B.conj().T,
        "skew": lambda B: -B.T,
        "skew_hermitian": lambda B: -B.conj().T,
    }.get(kind, lambda B: B.T)
    G = sp.csr_array(A + partner(A))
    for _ in range(3):
        m = sm.approximate_matching(G)
        one = coarsen(G, m.mate, on_gpu, join_unmatched=True)
        for workers in (2, 5):
            other = coarsen(G, m.mate, on_gpu, join_unmatched=True, workers=workers)
            assert np.array_equal(other.matrix.data, one.matrix.data)
        matrix = sp.csr_array(one.matrix)
        off = matrix - sp.diags_array(matrix.diagonal())
        assert (off != sp.csr_array(partner(off))).nnz == 0
        G = matrix


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]
)
def test_integers_are_added_up_in_64_bits(dtype):
    G = sp.csr_array(np.full((6, 6), 100 if dtype is not np.bool_ else True, dtype))
    matrix, P = sm.coarsen(G, np.array([1, 0, 3, 2, 5, 4]))
    assert matrix.dtype == P.dtype == (np.uint64 if np.dtype(dtype).kind == "u" else np.int64)
    assert np.all(matrix.toarray() == 4 * int(G.data[0]))


def test_types_of_matrices():
    G = path([1.0, 2.0, 3.0])
    for kind in (sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array):
        matrix, P = sm.coarsen(kind(G), np.array([1, 0, 3, 2]))
        assert type(matrix) is kind
        assert isinstance(P, sp.spmatrix) == issubclass(kind, sp.spmatrix)
    with pytest.warns(sp.SparseEfficiencyWarning):
        assert isinstance(sm.coarsen(G.tolil(), np.array([1, 0, 3, 2])).matrix, sp.csr_array)


@pytest.mark.parametrize(
    ("G", "mate", "how", "error", "words"),
    [
        (np.eye(3), [-1] * 3, {}, TypeError, "sparse"),
        (sp.csr_array((2, 3)), [-1, -1], {}, ValueError, r"shape \(2, 3\)"),
        (path([1.0]), [1, 0, -1], {}, ValueError, "rows have length 3, not 2"),
        (path([1.0]), [1, -1], {}, ValueError, "mate of vertex 0 is 1, whose mate is not 0"),
        (path([1.0]), [0, -1], {}, ValueError, "mate of vertex 0 is 0"),
        (path([1.0]), [2, -1], {}, ValueError, "row 0 is paired with row 2, but"),
        (path([1.0]), [-2, -1], {}, ValueError, "row 0 is paired with row -2"),
        (path([1.0]), [2**40, -1], {}, ValueError, f"row 0 is paired with row {2**40}"),
        (path([1.0]), [0.5, 1.0], {}, TypeError, "made of integers, the mate of each row or -1"),
        (path([1.0]), [1, 0], {"join_unmatched": "yes"}, TypeError, "join_unmatched must be True"),
        (path([1.0]), [1, 0], {"workers": 0}, ValueError, "workers is 0"),
        (path([1.0]).astype(np.longdouble), [1, 0], {}, TypeError, "single or double precision"),
    ],
)
def test_bad_input(G, mate, how, error, words):
    with pytest.raises(error, match=words):
        sm.coarsen(G, np.array(mate), **how)


@pytest.mark.kernels
def test_matrix_and_matching_are_in_one_place():
    G, mate = path([1.0]), np.array([1, 0])
    with pytest.raises(TypeError, match="matching is on a GPU, but the matrix is in host"):
        sm.coarsen(G, gpu_calls.CUPY.asarray(mate))
    with pytest.raises(TypeError, match="made of CuPy arrays like the matrix"):
        sm.coarsen(gpu_calls.values_to_gpu(G), mate)


def test_long_rows_are_sorted_too():
    """A hub among hubs: rows longer than what is sorted by counting."""
    rng = np.random.default_rng(11)
    edges = [(h, v) for h in range(4) for v in rng.permutation(900)[:600]]
    G = graph(900, edges, rng.random(len(edges)))
    mate = sm.maximal_matching(G).mate
    check(G, mate, sm.coarsen(G, mate, workers=2))


@given(graphs(max_side=30, max_edges=80), st.integers(0, 8))
def test_hierarchy(G, least):
    h = sm.coarsening_hierarchy(G, min_vertices=least)
    assert isinstance(h, sm.CoarseningHierarchy)
    assert h.levels[0].matrix is G
    assert list(h.sizes) == sorted(h.sizes, reverse=True)
    assert [isinstance(level, sm.CoarseLevel) for level in h.levels] == [True] * len(h)
    assert h.levels[-1].prolongation is h.levels[-1].matching is None
    product = sp.eye_array(G.shape[0], format="csr")
    for k, level in enumerate(h.levels):
        assert (h.prolongation(k) != product).nnz == 0
        assert np.array_equal(h.aggregates(k), product.indices)
        expected = (product.T @ G @ product).toarray()
        np.testing.assert_allclose(expected, level.matrix.toarray(), atol=1e-9)
        if level.prolongation is not None:
            assert level.matching.cardinality > 0
            product = sp.csr_array(product @ level.prolongation)
    if h.stopped_by == "min_vertices":
        assert h.sizes[-1] <= least
    else:
        assert h.stopped_by == "max_ratio"


def test_stars_do_not_stall():
    G = sp.block_diag([star(300), star(200)], format="csr")
    h = sm.coarsening_hierarchy(G, min_vertices=2)
    assert h.sizes == (500, 2)
    assert repr(h) == "CoarseningHierarchy(500 -> 2 vertices, stopped by min_vertices)"
    alone = sm.coarsening_hierarchy(G, min_vertices=2, join_unmatched=False)
    assert (alone.sizes, alone.stopped_by) == ((500,), "max_ratio")
    assert alone.prolongation().shape == (500, 500)
    how = {"min_vertices": 2, "join_unmatched": False, "max_ratio": 0.9999, "max_levels": 400}
    # one leaf of each star a level, until both are single vertices
    assert len(sm.coarsening_hierarchy(G, **how)) == 300


def test_limits_of_the_hierarchy():
    G = random_graph(2000, 6, seed=9)
    how = {"method": "greedy", "weights": False, "rng": 3}
    h = sm.coarsening_hierarchy(G, max_levels=3, min_vertices=1, workers=2, **how)
    assert (len(h), h.stopped_by) == (3, "max_levels")
    assert h.levels[1].matching == sm.approximate_matching(h.levels[1].matrix, **how)
    one_sided = sp.csr_array(sp.triu(G))
    with pytest.raises(ValueError, match="must be symmetric"):
        sm.coarsening_hierarchy(one_sided)
    assert sm.coarsening_hierarchy(one_sided, symmetrize=True).sizes[-1] < 1000
    for how, error, words in (
        ({"min_vertices": -1}, ValueError, "min_vertices is -1"),
        ({"min_vertices": 1.5}, TypeError, "min_vertices must be an integer"),
        ({"max_levels": 0}, ValueError, "max_levels is 0"),
        ({"max_ratio": 1.0}, ValueError, "max_ratio is 1.0"),
        ({"max_ratio": "half"}, TypeError, "max_ratio must be a number"),
    ):
        with pytest.raises(error, match=words):
            sm.coarsening_hierarchy(G, **how)
    with pytest.raises(ValueError, match="level is 3, but there are 3"):
        h.aggregates(3)
    with pytest.raises(TypeError, match="level must be an integer"):
        h.prolongation("last")


def test_pyamg_solves_with_the_aggregation():
    pyamg = pytest.importorskip("pyamg", reason="PyAMG is not installed")
    A = pyamg.gallery.poisson((40, 40), format="csr")
    coarse = sm.coarsen(A, sm.approximate_matching(A), join_unmatched=True)
    h = sm.coarsening_hierarchy(A, min_vertices=30)
    steps = [("predefined", {"AggOp": level.prolongation}) for level in h.levels[:-1]]
    b = np.ones(A.shape[0])
    for aggregate in (("predefined", {"AggOp": coarse.prolongation}), steps):
        solver = pyamg.smoothed_aggregation_solver(A, aggregate=aggregate, max_coarse=30)
        residuals = []
        x = solver.solve(b, tol=1e-8, accel="cg", residuals=residuals)
        assert np.linalg.norm(b - A @ x) <= 1e-7 * np.linalg.norm(b)
        assert len(residuals) < 40
    assert [level.A.shape[0] for level in solver.levels] == list(h.sizes)
