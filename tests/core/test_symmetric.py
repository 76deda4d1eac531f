"""Symmetric transversals: pivots, one scaling, compressed graph; against brute force and proofs."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparsematch as sm
from sparsematch._engines.cpu import _core
from weights import best_weight

pytestmark = [pytest.mark.asan, pytest.mark.wheel]

KINDS = ("wide", "ties", "zero diagonal", "complex", "Hermitian", "skew", "int64")


def symmetric(n, degree, rng, kind="wide"):
    """A random symmetric matrix, about `degree` entries a row, as an array."""
    D = np.triu(rng.random((n, n)) < degree / max(n, 1)).astype(float)
    if kind in ("ties", "int64"):
        D *= rng.integers(1, 4, (n, n))
    else:
        D *= rng.choice([-1, 1], (n, n)) * 10 ** rng.uniform(-12, 12, (n, n))
    if kind in ("complex", "Hermitian"):
        D = D * np.exp(2j * np.pi * rng.random((n, n)))
    if kind in ("zero diagonal", "skew"):
        np.fill_diagonal(D, 0)
    if kind == "Hermitian":
        np.fill_diagonal(D, D.diagonal().real)
    mirrored = np.triu(D, 1).T
    D = D + {"Hermitian": mirrored.conj(), "skew": -mirrored}.get(kind, mirrored)
    return D.astype(np.int64) if kind == "int64" else D


@st.composite
def symmetric_matrices(draw, max_side):
    """Of any kind, degree and format; deficient ones, too."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(0, max_side))
    D = symmetric(n, draw(st.sampled_from([0.7, 1.5, 3])), rng, draw(st.sampled_from(KINDS)))
    return draw(st.sampled_from([sp.csr_array, sp.csc_array, sp.coo_matrix]))(D)


def check(A, best):
    """Fail unless pivots and factors are as defined; by dense arrays."""
    D, n, rows = np.abs(A.toarray()), A.shape[0], np.arange(A.shape[0])
    row_mate, partner = best.matching.row_mate, best.partner
    covered = row_mate >= 0
    assert np.array_equal(covered, best.matching.col_mate >= 0)
    assert np.array_equal(covered, partner >= 0)
    assert np.array_equal(partner[partner[covered]], rows[covered])
    for i, j in best.pairs:
        assert i < j
        assert j in (row_mate[i], best.matching.col_mate[i])
    sizes = 2 * len(best.pairs) + best.singles.size + best.unmatched.size
    assert sizes == n
    i, j = best.matching.pairs()
    assert best.objective == pytest.approx(np.log(D[i, j]).sum(), rel=1e-12, abs=1e-9)
    S = np.abs(best.scale(A).toarray())
    assert S.max(initial=0) <= 1 + 1e-12
    np.testing.assert_allclose(S[i, j], 1, rtol=1e-12)
    np.testing.assert_allclose(S[*best.pairs.T], 1, rtol=1e-12)
    np.testing.assert_allclose(S.diagonal(), best.diagonal, atol=1e-12)
    for k in best.unmatched:
        assert S[k].max() == pytest.approx(1 if D[k].any() else 0, rel=1e-12)
    for i, j in best.pairs:  # none is nearly singular, whatever its signs
        assert best.diagonal[i] * best.diagonal[j] <= 0.98 + 1e-12
    assert sm.is_symmetric_transversal(A, best)


def check_order(A, best, rng):
    """Fail unless pairs stay together, and the compressed graph is that of its definition."""
    graph, n = best.compress(A), A.shape[0]
    assert graph.shape[0] == n - len(best.pairs)
    order = rng.permutation(graph.shape[0])
    for p in (best.permutation(), best.permutation(order)):
        assert sorted(p) == list(range(n))
        place = np.argsort(p)
        assert np.all(np.abs(np.diff(place[best.pairs], axis=1)) == 1)
    p = best.permutation(order)
    np.testing.assert_array_equal(
        best.permute(A, order).toarray(), best.scale(A).toarray()[p][:, p]
    )
    # Rows by the first of their pivots, as the vertices are numbered.
    rows = np.arange(n)
    first = np.where(best.partner >= 0, np.minimum(best.partner, rows), rows)
    leaders, vertex = np.unique(first, return_inverse=True)
    begins = np.append(True, np.diff(vertex[p]) != 0)[:n]
    assert vertex[p][begins].tolist() == order.tolist()
    expected = np.eye(leaders.size, dtype=bool)
    i, j = A.toarray().nonzero()
    expected[vertex[i], vertex[j]] = True
    np.testing.assert_array_equal(graph.toarray(), expected)


@given(A=symmetric_matrices(max_side=5))
def test_against_brute_force(A):
    best = sm.symmetric_product_transversal(A)
    check(A, best)
    size, most = best_weight(np.abs(A.toarray()), "product")
    assert best.cardinality == size
    assert best.objective == pytest.approx(most, rel=1e-12, abs=1e-9)


@given(A=symmetric_matrices(max_side=40), seed=st.integers(0, 2**32))
def test_larger_ones(A, seed):
    before = A.copy()
    best = sm.symmetric_product_transversal(A)
    check(A, best)
    check_order(A, best, np.random.default_rng(seed))
    unsymmetric = sm.maximum_product_transversal(A)
    assert best.objective == pytest.approx(unsymmetric.objective, rel=1e-12, abs=1e-9)
    np.testing.assert_array_equal(A.toarray(), before.toarray())
    assert A.nnz == before.nnz


def test_every_small_one():
    """All of three rows with entries of three values, and of four with two, but for the order."""
    for n, values in ((1, (0, 1, 5)), (2, (0, 1, 5)), (3, (0, 1, 5)), (4, (0, 1))):
        upper = np.triu_indices(n)
        for chosen in itertools.product(values, repeat=upper[0].size):
            D = np.zeros((n, n))
            D[upper] = chosen
            if (np.diff(D.diagonal()) < 0).any():
                continue  # another order of one that is tried
            D = np.maximum(D, D.T)
            A = sp.csr_array(D)
            best = sm.symmetric_product_transversal(A)
            size, most = best_weight(D, "product")
            assert (best.cardinality, best.objective) == (size, pytest.approx(most, abs=1e-12))
            assert best.cardinality == 2 * len(best.pairs) + best.singles.size
            assert sm.is_symmetric_transversal(A, best)


@pytest.mark.parametrize("kind", ["wide", "ties"])
@pytest.mark.parametrize("triangle", ["lower", "upper"])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_one_triangle_is_as_good_as_both(triangle, form, kind):
    rng = np.random.default_rng(5)
    for n in (0, 1, 7, 30):
        D = symmetric(n, 3, rng, kind)
        half = (np.tril if triangle == "lower" else np.triu)(D)
        noise = rng.random(D.shape) * (half == 0) * (D.T != 0)
        whole = sm.symmetric_product_transversal(form(D))
        for given_ in (half, half + noise):
            best = sm.symmetric_product_transversal(form(given_), triangle=triangle)
            assert best.objective == pytest.approx(whole.objective, rel=1e-13, abs=1e-12)
            assert sm.is_symmetric_transversal(form(D), best)
            assert sm.is_symmetric_transversal(form(given_), best, triangle=triangle)
        graph = best.compress(form(half)).toarray()
        np.testing.assert_array_equal(graph, best.compress(form(D)).toarray())


def ring(n, diagonal):
    """A cycle, which is the only best transversal but for its reverse and its pairs."""
    D = np.diag(np.asarray(diagonal, dtype=float))
    for i in range(n):
        D[i, (i + 1) % n] = D[(i + 1) % n, i] = 1
    return sp.csr_array(D)


def test_odd_cycles_leave_the_member_with_the_largest_diagonal():
    for n in (3, 5, 41):
        for largest in range(n):
            diagonal = np.full(n, 0.25)
            diagonal[largest] = -0.5
            best = sm.symmetric_product_transversal(ring(n, diagonal))
            assert best.objective == pytest.approx(0, abs=1e-12)
            assert best.singles.tolist() == [largest]
            assert best.weak_singles.size == 0
    best = sm.symmetric_product_transversal(ring(5, np.zeros(5)))
    assert isinstance(best, sm.SymmetricTransversal)
    assert best.singles.tolist() == best.weak_singles.tolist() != []
    assert str(best).splitlines()[1] == f"  weak singles: 1 ({best.singles[0]})"


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_even_cycles_become_the_better_pairs(dtype):
    """Diagonals 0.9 and 0.9 side by side make a poor pair; the pairs in between have none."""
    for n in (4, 12, 40):
        for shift in range(4):
            diagonal = np.roll(np.tile([0.9, 0.9, 0, 0], n // 4), shift)
            row_mate = np.roll(np.arange(n, dtype=dtype), -1)
            partner = np.empty(n, dtype)
            _core.split_pivots(diagonal, (row_mate, np.roll(row_mate, 2)), partner)
            assert np.array_equal(partner[partner], np.arange(n))
            assert (diagonal * diagonal[partner]).max() == 0


def test_paths_become_the_better_pairs():
    """One end stays out: that which leaves the better pairs."""
    for n in (3, 5, 41):
        for poor in (0, n - 2):
            diagonal = np.zeros(n)
            diagonal[poor : poor + 2] = 0.9
            row_mate = np.append(np.arange(1, n), -1)
            col_mate = np.append(-1, np.arange(n - 1))
            partner = np.empty(n, np.int64)
            _core.split_pivots(diagonal, (row_mate, col_mate), partner)
            left = 0 if poor == 0 else n - 1
            assert np.flatnonzero(partner < 0).tolist() == [left]
            kept = np.delete(np.arange(n), left)
            assert np.array_equal(partner[partner[kept]], kept)
            assert np.abs(partner[kept] - kept).max() == 1
            assert np.array_equal(row_mate, partner)
            assert np.array_equal(col_mate, partner)


def test_a_pair_that_may_be_singular_becomes_two_singles():
    for corner in (0.98, 0.9901, 1):
        A = sp.csr_array([[corner, 1], [1, corner]])
        best = sm.symmetric_product_transversal(A)
        assert len(best.pairs) == (corner < 0.99)
        assert sm.is_symmetric_transversal(A, best)


def test_paths_of_deficient_matrices():
    """Of a star one arm is kept; of three rows in a row one end stays out."""
    A = sp.csr_array([[0, 2, 3], [2, 0, 0], [3, 0, 0]])
    best = sm.symmetric_product_transversal(A)
    assert best.partner.tolist() == [2, -1, 0]
    assert np.abs(best.scale(A)).max(axis=0).toarray().tolist() == pytest.approx([1, 1, 1])
    assert str(best) == (
        "SymmetricTransversal(3x3, 1 pair, 0 singles, 1 left out)\n  left out: 1 (1)"
    )
    empty = sm.symmetric_product_transversal(sp.csr_array((3, 3)))
    assert empty.unmatched.tolist() == [0, 1, 2]
    assert empty.factors.tolist() == [1, 1, 1]
    assert repr(empty) == "SymmetricTransversal(3x3, 0 pairs, 0 singles, 3 left out)"


def test_unsorted_rows_duplicates_and_zeros():
    indptr, indices = np.array([0, 3, 6]), np.array([1, 0, 1, 1, 0, 1])
    A = sp.csr_array((np.array([2.0, 0, 1, 3, 3, -3]), indices, indptr), shape=(2, 2))
    best = sm.symmetric_product_transversal(A)
    assert best.partner.tolist() == [1, 0]
    assert np.exp(best.objective) == pytest.approx(9)


def test_int64_indices_and_the_number_of_workers():
    D = symmetric(60, 4, np.random.default_rng(7))
    A = sp.csr_array(D)
    best = sm.symmetric_product_transversal(A)
    wide = sp.csr_array((60, 60))
    wide.indptr, wide.indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    wide.data = A.data
    other = sm.symmetric_product_transversal(wide, workers=2)
    assert other.partner.dtype == other.matching.row_mate.dtype == np.int64
    for one, two in ((best.partner, other.partner), (best.factors, other.factors)):
        np.testing.assert_array_equal(one, two)
    assert sm.is_symmetric_transversal(wide, other, workers=2)


def test_factors_out_of_range_are_cut_off():
    n = 30
    off = np.where(np.arange(n - 1) % 2, 1e200, 1e-200)
    A = sp.diags_array([off, off], offsets=[-1, 1], format="csr")
    with pytest.warns(RuntimeWarning, match="cut off"):
        best = sm.symmetric_product_transversal(A)
    assert np.isfinite(best.factors).all()
    assert best.factors.min() > 0
    without = sm.symmetric_product_transversal(A, scaling=False)
    assert without.factors is None
    assert sm.is_symmetric_transversal(A, without)
    with pytest.raises(ValueError, match="there are no factors"):
        without.scale(A)
    assert without.permute(A).nnz == A.nnz


def of_powers(n, kind, rng):
    """Powers of two in a chain, a star, between all rows or in one, from 2^-1074 to 2^1023."""
    i, j = {
        "chain": (np.arange(n - 1), np.arange(1, n)),
        "star": (np.zeros(n - 1, int), np.arange(1, n)),
        "full": np.triu_indices(n),
        "single": (np.arange(n), np.arange(n)),
    }[kind]
    far = rng.choice([-1040, 0, 1000], i.size) + rng.integers(-34, 24, i.size)
    D = np.zeros((n, n))
    D[i, j] = D[j, i] = np.ldexp(1.0, far)
    return D


@pytest.mark.parametrize(
    ("kind", "often"), [("chain", 20), ("star", 1), ("full", 1), ("single", 0)]
)
def test_the_check_knows_what_was_cut_off(kind, often):
    """Where the dual says so; any other factor is wrong, also at the end of the range."""
    rng, cut = np.random.default_rng(23), 0
    for _ in range(40):
        A = sp.csr_array(of_powers(int(rng.integers(2, 20)), kind, rng))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            best = sm.symmetric_product_transversal(A)
        cut += len(seen)
        assert sm.is_symmetric_transversal(A, best)
        for k in np.flatnonzero(best.partner >= 0):
            for other in (np.finfo(float).tiny, np.finfo(float).max, 0.9 * best.factors[k]):
                factors = np.where(np.arange(A.shape[0]) == k, other, best.factors)
                is_it = np.allclose(factors, best.factors, rtol=1e-9, atol=0)
                assert sm.is_symmetric_transversal(A, replace(best, factors=factors)) == is_it
    assert cut >= often


@pytest.mark.filterwarnings("ignore:factors beyond")
def test_three_hundred_orders_of_magnitude():
    """Of deficient matrices, too, whose left out rows are scaled apart from the others."""
    rng, checked = np.random.default_rng(3), 0
    for _ in range(60):
        D = symmetric(30, 1.3, rng, "zero diagonal")
        D = np.sign(D) * np.abs(D) ** 12.5  # 1e-150 to 1e150
        A = sp.csr_array(D)
        best = sm.symmetric_product_transversal(A)
        lowest, largest = best.factors.min(), best.factors.max()
        if lowest > 1e-307 and largest < 1e308:
            check(A, best)
            checked += best.unmatched.size > 0
    assert checked > 10


@pytest.mark.parametrize(
    ("D", "message"),
    [
        ([[0, 2], [3, 1]], r"abs.*A\[0, 1\] is 2.0, but that of A\[1, 0\] is 3.0"),
        ([[0, 2], [0, 1]], r"A\[0, 1\] is 2.0, but that of A\[1, 0\] is 0.0"),
        ([[0, 0], [2, 1]], r"A\[1, 0\] is 2.0, but that of A\[0, 1\] is 0.0"),
        ([[0, 0, 1], [4, 0, 0], [1, 0, 0]], r"A\[1, 0\] is 4.0, but that of A\[0, 1\] is 0.0"),
        ([[0, 0, 1], [0, 0, 0], [1, 7, 0]], r"A\[2, 1\] is 7.0, but that of A\[1, 2\] is 0.0"),
    ],
)
def test_what_is_not_symmetric_is_named(D, message):
    message = message.replace("abs.*", "the absolute value of ")
    with pytest.raises(ValueError, match=message):
        sm.symmetric_product_transversal(sp.csr_array(np.array(D, dtype=float)))
    best = sm.symmetric_product_transversal(sp.csr_array(np.eye(len(D))))
    with pytest.raises(ValueError, match="A is not symmetric"):
        sm.is_symmetric_transversal(sp.csr_array(np.array(D, dtype=float)), best)


def test_arguments():
    A = sp.csr_array(np.eye(3))
    best = sm.symmetric_product_transversal(A)
    with pytest.raises(ValueError, match=r"square, but its shape is \(2, 3\)"):
        sm.symmetric_product_transversal(sp.csr_array((2, 3)))
    with pytest.raises(ValueError, match="triangle is 'both', but must be None"):
        sm.symmetric_product_transversal(A, triangle="both")
    with pytest.raises(TypeError, match="scaling"):
        sm.symmetric_product_transversal(A, scaling=1)
    with pytest.raises(ValueError, match=r"A\[1, 1\] is nan"):
        sm.symmetric_product_transversal(sp.csr_array(np.diag([1, np.nan])))
    with pytest.raises(TypeError, match="must be a SymmetricTransversal"):
        sm.is_symmetric_transversal(A, sm.maximum_product_transversal(A))
    with pytest.raises(ValueError, match="was matched"):
        sm.is_symmetric_transversal(sp.csr_array(np.eye(2)), best)
    with pytest.raises(ValueError, match="but the transversal is of one of shape"):
        best.scale(sp.csr_array(np.eye(2)))
    with pytest.raises(TypeError, match="A must be"):
        best.scale(np.eye(3))
    for order in ([0, 1], [0, 1, 1], [[0, 1, 2]], [0, 1, 3]):
        with pytest.raises(ValueError, match="order must name each of the 3 vertices once"):
            best.permutation(order)
    with pytest.raises(TypeError, match="order must hold integers"):
        best.permutation([0.0, 1.0, 2.0])
    for array in (best.partner, best.factors, best.dual, best.diagonal, best.matching.row_mate):
        assert not array.flags.writeable


def test_the_check_finds_what_is_wrong():
    rng = np.random.default_rng(11)
    D = symmetric(20, 4, rng) + np.diag(10.0 ** rng.uniform(-3, 3, 20))
    A = sp.csr_array(D)
    best = sm.symmetric_product_transversal(A)
    assert len(best.pairs) > 1
    assert best.singles.size > 1
    (i, j), (k, m) = best.pairs[:2]
    crossed, single, left = best.partner.copy(), best.partner.copy(), best.partner.copy()
    crossed[[i, j, k, m]] = k, m, i, j
    single[i] = i
    left[best.singles[0]] = -1
    far = best.partner.copy()
    far[0] = 20
    wrong = [{"partner": partner} for partner in (crossed, single, left, far)]
    wrong += [{"factors": best.factors * f} for f in (1.001, 0.999, -1, np.inf)]
    wrong += [{"dual": best.dual + 1e-3}, {"objective": best.objective + 1e-3}]
    wrong += [{"diagonal": best.diagonal / 2}]
    fields = ("partner", "dual", "diagonal", "factors")
    wrong += [{field: getattr(best, field)[1:]} for field in fields]
    wrong += [{"dual": best.dual * np.nan}, {"objective": np.nan}]
    turned = np.roll(np.arange(20), 1)
    wrong += [{"matching": sm.Matching(turned, np.argsort(turned))}]
    assert sm.is_symmetric_transversal(A, replace(best))
    for change in wrong:
        assert not sm.is_symmetric_transversal(A, replace(best, **change)), change


@pytest.mark.parametrize("triangle", [None, "lower", "upper"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["wide", "ties", "zero diagonal", "Hermitian"])
def test_one_pattern_with_many_values(triangle, form, kind):
    """Both triangles, one, or one beside entries that do not count; deficient ones, repeated."""
    rng = np.random.default_rng(len(form))
    for n in (1, 2, 5, 30):
        D = symmetric(n, 2.5, rng, kind)
        stored = {None: D, "lower": np.tril(D), "upper": np.triu(D) + 7 * np.eye(n, k=-1)}[triangle]
        A = sp.coo_array(stored)
        if kind == "ties":  # every entry twice
            places = np.tile(A.coords, 2)
            A = sp.coo_array((np.tile(A.data, 2), tuple(places)), A.shape)
            A.has_canonical_format = True
        A = A.asformat(form)
        scales, values = 10 ** rng.normal(0, 0.1, (4, n)), []
        analysis, last = sm.analyse_transversal(A, triangle=triangle), None
        for scale in scales:
            i, j = A.tocoo(copy=True).coords
            values.append(A.data * (scale[i] * scale[j]))
        found = analysis.symmetric_products(np.array(values).reshape(4, -1), workers=2)
        for k, best in enumerate(found):
            B = A.copy()
            B.data = values[k]
            single = sm.symmetric_product_transversal(B, triangle=triangle)
            last = analysis.symmetric_product(B if k % 2 else values[k], start=last)
            for result in (best, last):
                assert result.objective == pytest.approx(single.objective, rel=1e-12, abs=1e-9)
                assert sm.is_symmetric_transversal(B, result, triangle=triangle)
        assert analysis.symmetric_product(values[0], scaling=False).factors is None


def test_patterns_that_are_refused():
    wide = sm.analyse_transversal(sp.csr_array(np.ones((2, 3))))
    with pytest.raises(ValueError, match=r"A must be square, but its shape is \(2, 3\)"):
        wide.symmetric_product(np.ones(6))
    with pytest.raises(ValueError, match="A must be square"):
        sm.analyse_transversal(sp.csr_array((2, 3)), triangle="lower")
    square = sm.analyse_transversal(sp.csr_array(np.ones((2, 2))))
    with pytest.raises(ValueError, match="A is not symmetric"):
        square.symmetric_products([[1, 2, 3, 4]])
    with pytest.raises(ValueError, match=r"values of matrix 1: A\[1, 0\] is nan"):
        square.symmetric_products([[1, 2, 2, 4], [1, 2, np.nan, 4]])
    unsymmetric = sm.maximum_product_transversal(sp.eye_array(2, format="csr"))
    with pytest.raises(TypeError, match="start must be a SymmetricTransversal"):
        square.symmetric_product([1, 2, 2, 4], start=unsymmetric)
