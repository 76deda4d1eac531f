"""Systems on a GPU, or on the stand-in for one: new values, and no solution."""

import ctypes
import enum
import sys
import types
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import MatrixRankWarning

from calls import batch_of
from gpu_calls import CUPY, HAS_GPU, host, one_call, values_to_gpu
from sparsematch import solvers
from test_solvers import staircase, turned

pytestmark = pytest.mark.kernels

SOLVERS = ("cusolver", "superlu")


def on_gpu(dense, form="csr"):
    return values_to_gpu(sp.coo_matrix(dense).asformat(form))


def check(dense, lu, b):
    for trans in "NTH":
        with one_call:
            x = lu.solve(CUPY.asarray(b), trans)
        assert isinstance(x, CUPY.ndarray)
        assert x.shape == b.shape
        assert np.allclose(turned(dense, trans) @ host(x), b, rtol=1e-8, atol=1e-8)


def factorise(A, **options):
    with one_call:
        return solvers.splu(A, **options)


@settings(max_examples=25)
@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from((1, 1, 2, 5)), min_size=1, max_size=6),
    st.sampled_from((float, complex)),
    st.sampled_from(("csr", "csc", "coo")),
    st.sampled_from(SOLVERS),
)
def test_solves(seed, sizes, kind, form, solver):
    """All six parts of the cut, and those that are empty."""
    rng = np.random.default_rng(seed)
    dense = staircase(rng, sizes, 0.7, kind)
    lu = factorise(on_gpu(dense, form), solver=solver)
    assert isinstance(lu, solvers.DeviceLU)
    assert lu.shape == dense.shape
    b = rng.standard_normal(len(dense))
    check(dense, lu, b)
    check(dense, lu, np.stack([b, 1j * b], axis=1))
    dense = dense * (1 + rng.random(dense.shape))
    lu.refactorise(on_gpu(dense, form))
    check(dense, lu, b)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_new_values_alone(form, solver):
    """In the order of the user's data, real and complex; what is given stays as it is."""
    rng = np.random.default_rng(6)
    dense = staircase(rng, (1, 4, 1, 2, 1), 0.7, float)
    A = sp.coo_matrix(dense).asformat(form)
    there, first, before = values_to_gpu(A), A.data, []
    lu = factorise(there, solver=solver)
    for kind in (1, 1, 1j, 2):
        A.data = kind * first * (1 + rng.random(first.size))
        before.append((A.data, CUPY.asarray(A.data.copy())))
        lu.refactorise(before[-1][1])
        check(A.toarray(), lu, rng.standard_normal(9))
    assert all(np.array_equal(was, host(given)) for was, given in [*before, (first, there.data)])
    assert lu.dtype == np.float64
    with pytest.raises(ValueError, match=rf"shape \(3,\) for a matrix with {A.nnz} entries"):
        lu.refactorise(CUPY.asarray(np.ones(3)))
    with pytest.raises(TypeError, match="matrix of CuPy"):
        lu.refactorise(A.data)


def test_values_of_repeats_are_refused():
    A = sp.coo_matrix(([1.0, 2, 3], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    lu = factorise(values_to_gpu(A))
    with pytest.raises(ValueError, match="several entries in the same place"):
        lu.refactorise(CUPY.asarray(A.data))


@pytest.mark.parametrize("solver", SOLVERS)
def test_wide_indices(solver):
    """The solvers know 32 bits only, and get no others."""
    dense = staircase(np.random.default_rng(5), (1, 4, 1, 2), 0.7, float)
    A = on_gpu(dense, "csr")
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    lu = factorise(A, solver=solver)
    assert all(part.indices.dtype == part.indptr.dtype == np.int32 for part in lu._parts.values())
    check(dense, lu, np.arange(1.0, 1 + len(dense)))


def test_only_what_must_be_is_factorised():
    upper = np.triu(np.arange(1.0, 26).reshape(5, 5))
    assert factorise(on_gpu(upper)).n_factorised == 0
    upper[3, 2] = 5
    lu = factorise(on_gpu(upper), solver="cusolver")
    assert lu.n_factorised == 2
    assert "5x5, 4 blocks, 2 rows factorised by CusolverFactor" in repr(lu)


def test_repeats_are_added():
    A = sp.csr_matrix(([1.0, 2, 4, 5], [1, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    check(np.array([[0.0, 3], [4, 5]]), factorise(values_to_gpu(A)), np.ones(2))
    assert A.nnz == 4


def test_spsolve():
    dense = staircase(np.random.default_rng(3), [1, 4, 1])
    b = np.arange(6.0)
    with one_call:
        for x in (
            solvers.spsolve(on_gpu(dense), CUPY.asarray(b)),
            solvers.spsolve(on_gpu(dense), CUPY.asarray(b[:, np.newaxis])),
            solvers.splu(on_gpu(dense)).solve(CUPY.asarray(b)),
        ):
            assert np.allclose(dense @ host(x), b)


def test_singular():
    """By the pattern, by a block of one entry, by the solver: no explanation on the host."""
    words = r"structurally singular.*A\.get\(\)"
    with pytest.raises(solvers.SingularMatrixError, match=words) as caught:
        factorise(on_gpu(np.array([[1.0, 1, 0], [2, 0, 0], [3, 0, 0]])))
    assert isinstance(caught.value.rows, CUPY.ndarray)
    assert sorted(host(caught.value.rows)) == [1, 2]
    assert caught.value.report is None
    A = on_gpu(np.array([[1.0, 7], [0, 2]]))
    lu = factorise(A)
    A.data = A.data * CUPY.asarray(np.array([1.0, 1, 0]))
    with pytest.raises(solvers.SingularMatrixError, match=r"row 1; column 1\) is 0"):
        lu.refactorise(A)
    twins = on_gpu(np.array([[1.0, 2], [2, 4]]))
    with pytest.raises(solvers.SingularMatrixError, match="numerically"):
        factorise(twins, solver="superlu")
    lu = factorise(twins, solver="cusolver")
    with pytest.raises(solvers.SingularMatrixError, match="numerically"):
        lu.solve(CUPY.asarray(np.array([1.0, 0])))


def test_nothing_moves_by_itself():
    lu = factorise(on_gpu(np.eye(2)))
    with pytest.raises(TypeError, match=r"cupy\.asarray"):
        lu.solve(np.ones(2))
    with pytest.raises(TypeError, match="on a GPU"):
        solvers.analyse(on_gpu(np.eye(2)))


def test_bad_input():
    A = on_gpu(np.array([[1.0, 2], [3, 4]]))
    lu = factorise(A)
    others = "'umfpack'.*'auto', 'cudss', 'cusolver', 'superlu'"
    for call, text in (
        (lambda: solvers.splu(on_gpu(np.ones((2, 3)))), r"square, but has shape \(2, 3\)"),
        (lambda: solvers.splu(A, solver="umfpack"), others),
        (lambda: solvers.splu(A, pivoting="best"), "'best'.*'product'"),
        (lambda: solvers.splu(A, pivoting="product", solver="cusolver"), "cuDSS"),
        (lambda: solvers.splu(A, pivoting="product", solver="superlu"), "cuDSS"),
        (lambda: lu.solve(CUPY.asarray(np.ones(3))), r"shape \(3,\)"),
        (lambda: lu.solve(CUPY.asarray(np.ones(2)), "X"), "'X'.*'N', 'T', 'H'"),
        (lambda: lu.refactorise(on_gpu(np.array([[1.0, 2], [0, 4]]))), "another pattern"),
    ):
        with pytest.raises(ValueError, match=text), one_call:
            call()


class _Solver:
    """What nvmath-python's DirectSolver is asked for, and its order of calls."""

    made: list = []  # noqa: RUF012

    def __init__(self, a, b, *, options):
        assert list(options) == ["multithreading_lib"]
        self.plan_config, self.steps, self.a, self.b = types.SimpleNamespace(), [], a, b
        self.made.append(self)

    def plan(self):
        self.steps.append("plan")

    def factorize(self):
        assert "plan" in self.steps
        self.steps.append("factorize")
        self.factors = self.a

    def reset_operands(self, *, b):  # with another matrix it would have to be planned again
        assert (b.shape, b.dtype) == (self.b.shape, self.b.dtype)
        self.b = b

    def solve(self):
        from cupyx.scipy.sparse.linalg import spsolve

        with warnings.catch_warnings():  # cuDSS says nothing
            warnings.simplefilter("ignore", UserWarning)
            return spsolve(self.factors, self.b)

    def free(self):
        pass


@pytest.fixture
def nvmath(monkeypatch):
    """A stand-in for nvmath-python, unless it is there."""
    names = "nvmath", "nvmath.bindings", "nvmath.sparse.advanced"
    modules = {name: types.ModuleType(name) for name in names}
    kinds = types.SimpleNamespace(NONE=0, MAX_DIAG_PRODUCT=5)
    modules["nvmath.bindings"].cudss = types.SimpleNamespace(MatchingAlg=kinds)
    modules["nvmath.sparse.advanced"].DirectSolver = _Solver
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    _Solver.made = []
    return _Solver


def test_cudss(nvmath):
    """Planned once, factorised for each matrix; its matching off, or as asked."""
    rng = np.random.default_rng(8)
    cases = (float, "auto", 5), (float, "structure", 0), (complex, "product", 5)
    for kind, pivoting, expected in cases:
        nvmath.made.clear()
        dense = staircase(rng, [1, 6, 1, 3, 1], 0.7, kind)
        lu = factorise(on_gpu(dense), solver="cudss", pivoting=pivoting)
        check(dense, lu, rng.standard_normal((12, 2)))
        dense = dense * (1 + rng.random(dense.shape))
        lu.refactorise(on_gpu(dense))
        check(dense, lu, rng.standard_normal(12))
        assert [solver.steps for solver in nvmath.made] == [["plan", "factorize", "factorize"]] * 2
        assert all(solver.plan_config.matching_algorithm == expected for solver in nvmath.made)


def test_cudss_says_nothing(nvmath, monkeypatch):
    """Where it has replaced a pivot by another, what it returns is not taken for a solution."""
    for pivoting, text in (("auto", "factorised$"), ("structure", "pivoting='structure'")):
        lu = factorise(on_gpu(np.array([[1.0, 2], [2, 4]])), solver="cudss", pivoting=pivoting)
        for wrong in (5e12, np.nan):
            monkeypatch.setattr(nvmath, "solve", lambda self, wrong=wrong: self.b * wrong)
            with pytest.raises(solvers.SingularMatrixError, match=f"numerically.*{text}"):
                lu.solve(CUPY.asarray(np.ones(2)))


def test_perturbed_pivots_are_made_up_for(nvmath, monkeypatch):
    """By refinement; where it does not help, with a warning."""
    exact = nvmath.solve
    lu = factorise(on_gpu(np.array([[1.0, 2], [3, 4]])), solver="cudss")
    b = np.array([1.0, 3])
    monkeypatch.setattr(nvmath, "solve", lambda self: exact(self) * 1.001)
    assert abs(host(lu.solve(CUPY.asarray(b))) - [1, 0]).max() < 1e-14
    answers = iter((1.05, 0, 0))
    monkeypatch.setattr(nvmath, "solve", lambda self: exact(self) * next(answers))
    with pytest.warns(solvers.IllConditionedWarning, match="backward error"):
        lu.solve(CUPY.asarray(b))


class _Cudss:
    """What nvmath-python's bindings of cuDSS 0.8 are asked for by a batch, and in what order."""

    DataType = enum.IntEnum("DataType", {"R_64F": 1, "C_64F": 5, "R_32I": 10})
    ConfigParam = enum.IntEnum("ConfigParam", {"UBATCH_SIZE": 18, "UBATCH_INDEX": 19})
    Phase = enum.IntEnum("Phase", {"ANALYSIS": 3, "FACTORIZATION": 4, "SOLVE": 1008})
    Layout = enum.IntEnum("Layout", {"COL_MAJOR": 0})
    MatrixType = enum.IntEnum("MatrixType", {"GENERAL": 0})
    MatrixViewType = enum.IntEnum("MatrixViewType", {"FULL": 0})
    IndexBase = enum.IntEnum("IndexBase", {"ZERO": 0})

    def __init__(self):
        self.steps, self.options, self.objects, self.wrong = [], {}, [], 1.0

    def _new(self, *what):
        self.objects.append(what)
        return len(self.objects)

    def create(self):
        return self._new("handle")

    def config_create(self):
        return self._new("config")

    def data_create(self, handle):
        assert self.objects[handle - 1] == ("handle",)
        return self._new("data")

    def config_set(self, config, option, value, size):
        assert size == 4
        self.options[option.name] = ctypes.c_int.from_address(value).value

    def matrix_create_csr(self, *what):
        return self._new(*what)

    def matrix_create_dn(self, *what):
        return self._new(*what)

    def set_threading_layer(self, handle, library):
        pass

    def set_stream(self, handle, stream):
        assert stream == 0

    def _read(self, address, shape, kind):
        memory = (ctypes.c_char * int(np.prod(shape) * np.dtype(kind).itemsize)).from_address(
            address
        )
        return np.frombuffer(memory, kind).reshape(shape)

    def execute(self, handle, phase, config, data, matrix, x, b):
        self.steps.append(phase.name)
        n, m, nnz, rows, end, cols, values, *kinds = self.objects[matrix - 1]
        assert (n, end, *kinds[:2]) == (m, 0, 10, 10)
        assert self.options["UBATCH_INDEX"] == -1
        k, kind = self.options["UBATCH_SIZE"], {1: float, 5: complex}[kinds[2]]
        indptr, indices = self._read(rows, n + 1, np.int32), self._read(cols, nnz, np.int32)
        sides = [self._read(self.objects[of - 1][3], (k, n), kind) for of in (x, b)]
        if phase.name == "FACTORIZATION":
            given = self._read(values, (k, nnz), kind)
            self.dense = [sp.csr_array((v, indices, indptr), (n, n)).toarray() for v in given]
        elif phase.name == "SOLVE":
            for k, A in enumerate(self.dense):
                diagonal = np.where(abs(A.diagonal()) < 1e-12, 1e-12, A.diagonal())
                A = A - np.diag(A.diagonal()) + np.diag(diagonal)
                usable = np.isfinite(A).all() and np.linalg.matrix_rank(A) == n
                sides[0][k] = np.linalg.solve(A, sides[1][k]) * self.wrong if usable else 5e12

    def matrix_destroy(self, matrix):
        self.objects[matrix - 1] = None

    def data_destroy(self, handle, data):
        self.objects[data - 1] = None

    config_destroy = destroy = matrix_destroy


@pytest.fixture
def cudss(nvmath, monkeypatch):
    if HAS_GPU:
        pytest.skip("the stand-in reads addresses of the host")
    bindings = _Cudss()
    bindings.MatchingAlg = sys.modules["nvmath.bindings"].cudss.MatchingAlg
    monkeypatch.setattr(sys.modules["nvmath.bindings"], "cudss", bindings)
    return bindings


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("solver", ["cudss", "cusolver", "superlu"])
@pytest.mark.parametrize("pivoting", ["auto", "structure"])
def test_solves_a_batch(cudss, solver, pivoting, kind):
    """As one after the other; what was factorised before still is."""
    rng = np.random.default_rng(9)
    for form in ("csr", "csc", "coo"):
        dense = staircase(rng, (1, 4, 1, 3, 1), 0.7, float)
        A, values, whole = batch_of(rng, dense, form, 5, kind)
        lu = factorise(values_to_gpu(A), solver=solver, pivoting=pivoting)
        n, there = len(dense), CUPY.asarray(values)
        for b in (rng.standard_normal((5, n)), rng.standard_normal(n) * (1 + 1j)):
            for trans in "NTH":
                with one_call:
                    x = lu.solve_batch(there, CUPY.asarray(b), trans)
                assert x.shape == (5, n)
                for k, B in enumerate(whole):
                    assert np.allclose(turned(B, trans) @ host(x)[k], b if b.ndim == 1 else b[k])
        assert np.array_equal(host(there), values)
        check(dense, lu, rng.standard_normal(n))


def test_a_batch_is_analysed_once(cudss):
    """For as many items of one type, and for transposes; nothing is left of it at the end."""
    rng = np.random.default_rng(10)
    A, values, _ = batch_of(rng, staircase(rng, (1, 4, 2), 0.7, float), "csr", 3, float)
    lu = factorise(values_to_gpu(A), solver="cudss")
    b = CUPY.asarray(np.ones(7))
    for some, trans in ((values, "N"), (values, "N"), (values, "T"), (values[:2], "N")):
        with one_call:
            lu.solve_batch(CUPY.asarray(some.copy()), b, trans)
    assert cudss.steps.count("ANALYSIS") == 3
    assert cudss.steps.count("FACTORIZATION") == 4
    assert cudss.options == {"UBATCH_SIZE": 2, "UBATCH_INDEX": -1}
    with one_call:
        assert lu.solve_batch(CUPY.asarray(values[:0].copy()), b).shape == (0, 7)
    del lu
    assert cudss.objects == [None] * len(cudss.objects)


def test_items_that_the_batch_does_not_solve(cudss):
    """Are solved one by one: what other pivots solve; the rest is refused, by its number."""
    dense = np.array([[0, 0, 3.0], [1, 2, 0], [2, 1, 0]])
    A = sp.csr_matrix(dense)
    lu = factorise(values_to_gpu(A), solver="cudss")
    values = np.array([[3.0, 1, 2, 2, 1], [3, 2, 0, 0, 2], [3, 2, 4, 1, 2], [3, np.nan, 1, 1, 5]])
    b = np.ones(3)
    with one_call:
        x = host(lu.solve_batch(CUPY.asarray(values[:2].copy()), CUPY.asarray(b)))
    assert np.allclose(x, [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 1 / 3]])
    words = r"item 2: numerically singular: .*; refused as well, of 4: 3$"
    with pytest.raises(solvers.SingularMatrixError, match=words), one_call:
        lu.solve_batch(CUPY.asarray(values), CUPY.asarray(b))
    words = r"item 0: A\[1, 0\] is nan, but values must be finite$"
    with pytest.raises(solvers.NotFiniteError, match=words) as caught, one_call:
        lu.solve_batch(CUPY.asarray(values[3:].copy()), CUPY.asarray(b))
    assert (caught.value.row, caught.value.col) == (1, 0)
    words = r"2 of 4 matrices are singular, .* are NaN \(items 2, 3\)"
    with pytest.warns(MatrixRankWarning, match=words), one_call:
        x = host(lu.solve_batch(CUPY.asarray(values), CUPY.asarray(b), singular="nan"))
    assert np.isnan(x).all(axis=1).tolist() == [False, False, True, True]
    check(dense, lu, b)
    lu = factorise(values_to_gpu(A), solver="cusolver")
    with pytest.raises(solvers.SingularMatrixError, match="item 2: "), one_call:
        lu.solve_batch(CUPY.asarray(values[:3].copy()), CUPY.asarray(b))
    check(dense, lu, b)


def test_a_batch_by_a_matrix_whose_zeros_are_needed(cudss):
    """It has no product: the rows are in the order of the pattern then."""
    A = sp.csr_matrix(np.array([[1.0, 2], [3, 4]]))
    lu = factorise(values_to_gpu(A), solver="cudss")
    lu._A.data[...] = CUPY.asarray(np.array([1.0, 0, 2, 0]))
    with one_call:
        x = lu.solve_batch(CUPY.asarray(np.array([[1.0, 2, 3, 4]])), CUPY.asarray(np.ones(2)))
    assert np.allclose(host(x), [[-1, 1]])


def test_a_batch_is_refined(cudss):
    """Where its pivots were perturbed; a right-hand side that is not finite is no reason to."""
    rng = np.random.default_rng(11)
    A, values, whole = batch_of(rng, staircase(rng, (4, 1, 3), 0.7, float), "csr", 4, float)
    lu = factorise(values_to_gpu(A), solver="cudss")
    cudss.wrong = 1.001
    b = rng.standard_normal((4, 8))
    with one_call:
        x = host(lu.solve_batch(CUPY.asarray(values), CUPY.asarray(b)))
    assert cudss.steps.count("SOLVE") > 3
    assert all(
        abs(B @ y - c).max() < 1e-13 * abs(y).max() for B, y, c in zip(whole, x, b, strict=True)
    )
    b[1, 2] = np.inf
    with one_call, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        again = host(lu.solve_batch(CUPY.asarray(values), CUPY.asarray(b)))
    assert np.allclose(again[[0, 2, 3]], x[[0, 2, 3]])
    assert not np.isfinite(again[1]).all()


def test_bad_batches(cudss):
    A = on_gpu(np.array([[1.0, 2], [3, 4]]))
    lu = factorise(A, solver="cudss")
    values, b = CUPY.asarray(np.ones((3, 4))), CUPY.asarray(np.ones(2))
    for call, error, text in (
        (lambda: lu.solve_batch(np.ones((3, 4)), b), TypeError, r"values must be a CuPy array"),
        (lambda: lu.solve_batch(values, np.ones(2)), TypeError, r"b must be a CuPy array"),
        (lambda: lu.solve_batch(values[0], b), ValueError, r"shape \(4,\), .*\(k, 4\)"),
        (lambda: lu.solve_batch(values, values), ValueError, r"b has shape \(3, 4\), .*\(3, 2\)"),
        (lambda: lu.solve_batch(values, b, "X"), ValueError, "'X'.*'N', 'T', 'H'"),
        (lambda: lu.solve_batch(values, b, singular="no"), ValueError, "'no'.*'raise', 'nan'"),
        (lambda: lu.solve_batch(values > 0, b > 0), solvers.SingularMatrixError, "item 0"),
    ):
        with pytest.raises(error, match=text), one_call:
            call()
    twice = values_to_gpu(sp.coo_matrix(([1.0, 2, 3], ([0, 0, 1], [0, 0, 1])), shape=(2, 2)))
    lu = factorise(twice, solver="cudss")
    with pytest.raises(ValueError, match="several entries in the same place"), one_call:
        lu.solve_batch(CUPY.asarray(np.ones((2, 3))), b)
