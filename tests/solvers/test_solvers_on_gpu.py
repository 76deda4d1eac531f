"""Systems on a GPU, or on the stand-in for one: new values, and no solution."""

import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_calls import CUPY, host, one_call, values_to_gpu
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
