"""What was written for SciPy's solvers: its keywords, its NaN, the drop-in `sparsematch.linalg`."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import linalg as scipys

from calls import run_python
from sparsematch import linalg, solvers
from sparsematch._systems import like_scipy

A = sp.csc_array([[4.0, 1, 0], [0, 2, 1], [1, 0, 3]])
SINGULAR = {
    "structurally": [[1.0, 2, 0], [2, 4, 0], [1, 3, 0]],
    "numerically": [[1.0, 2, 0], [2, 4, 0], [1, 0, 1]],
    "NaN": [[1.0, 2, 0], [0, np.nan, 1], [1, 0, 1]],
    "NaN alone": [[np.nan, 0, 0], [0, 1, 0], [0, 0, 1]],
    "zeros": [[0.0, 0, 0], [0, 0, 0], [0, 0, 0]],
}
IGNORED = {
    "splu": {
        "permc_spec": "colamd",
        "diag_pivot_thresh": 0.5,
        "relax": 1,
        "panel_size": 10,
        "options": {"Equil": False, "IterRefine": "SINGLE"},
    },
    "spsolve": {"permc_spec": 3, "use_umfpack": False},
}


def call(function, *args, **keywords):
    if "spsolve" in function.__name__:
        return function(*args, np.ones(3), **keywords)
    return function(*args, **keywords).solve(np.ones(3))


@pytest.fixture(autouse=True)
def _no_keyword_has_been_seen(monkeypatch):
    monkeypatch.setattr(like_scipy, "_warned", set())
    monkeypatch.setattr(like_scipy, "_checked", {})


@pytest.mark.parametrize("name", IGNORED)
def test_each_keyword_is_ignored_with_one_warning(name):
    function, expected = getattr(linalg, name), scipys.spsolve(A, np.ones(3))
    for keyword, value in IGNORED[name].items():
        with pytest.warns(solvers.IgnoredOptionWarning, match=f"^{keyword}=") as caught:
            x = call(function, A, **{keyword: value})
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert np.allclose(x, expected)
    x = call(function, A, **IGNORED[name])  # a warning would be an error
    assert np.allclose(x, expected)


def test_keywords_that_were_checked_are_not_checked_again(monkeypatch):
    with pytest.warns(solvers.IgnoredOptionWarning):
        linalg.splu(A, relax=1, diag_pivot_thresh=0.5, options={"Equil": False})
    monkeypatch.setattr(like_scipy, "splu", None)
    linalg.splu(A, relax=1, diag_pivot_thresh=np.float64(0.1), options={"Equil": False})
    for other in ({"relax": True}, {"options": {"Equil": True}}):
        with pytest.raises(TypeError, match="not callable"):
            linalg.splu(A, **{"relax": 1, "options": {"Equil": False}} | other)


def test_keywords_are_checked_where_one_is_not_that_of_the_last_call(monkeypatch):
    with pytest.warns(solvers.IgnoredOptionWarning):
        linalg.splu(A, relax=1, panel_size=10)
    seen = []
    monkeypatch.setattr(like_scipy, "splu", lambda _, **given: seen.append(given))
    for also in ({"panel_size": 10}, {"panel_size": 5}, {"panel_size": 5}, {}):
        linalg.splu(A, relax=1, **also)
    assert seen == [{"relax": 1, "panel_size": 5}, {"relax": 1}]


def test_functions_that_replace_scipys_take_its_keywords(monkeypatch):
    monkeypatch.setattr(scipys, "splu", linalg.splu)
    monkeypatch.setattr(scipys, "spsolve", linalg.spsolve)
    with pytest.warns(solvers.IgnoredOptionWarning):
        assert np.allclose(scipys.splu(A, permc_spec="COLAMD").solve(A @ np.ones(3)), 1)
    with pytest.warns(solvers.IgnoredOptionWarning):
        assert np.allclose(scipys.spsolve(A, A @ np.ones(3), use_umfpack=False), 1)


@pytest.mark.parametrize("name", ["NATURAL", "natural"])
def test_the_natural_order_has_the_factors_of_scipy(name):
    B = sp.csc_array([[4.0, 1, 0, 0], [1, 3, 1, 0], [0, 0, 2, 1], [0, 0, 0, 5]])  # reducible
    ours, theirs = linalg.splu(B, permc_spec=name), scipys.splu(B, permc_spec="NATURAL")
    assert (ours.perm_c == theirs.perm_c).all()
    assert (ours.perm_r == theirs.perm_r).all()
    for side in "LU":
        assert getattr(ours, side).format == "csc"
        assert np.allclose(getattr(ours, side).toarray(), getattr(theirs, side).toarray())


def test_what_scipy_does_anyway_is_not_warned_of():
    call(linalg.splu, A, **dict.fromkeys(IGNORED["splu"]))
    call(linalg.spsolve, A, permc_spec=None, use_umfpack=True)


@pytest.mark.parametrize("name", IGNORED)
def test_functions_of_our_own_have_no_keywords_without_a_meaning(name):
    for function in (getattr(solvers, name), solvers.PatternSolver().solve):
        with pytest.raises(TypeError, match="unexpected keyword argument 'permc_spec'"):
            function(A, *[np.ones(3)] * (name == "spsolve"), permc_spec=None)


@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("splu", {"permc_spec": "foo"}),
        ("spsolve", {"permc_spec": "foo"}),
        ("splu", {"permc_spec": 17}),
        ("splu", {"relax": "a"}),
        ("splu", {"panel_size": 1.5}),
        ("splu", {"diag_pivot_thresh": "x"}),
        ("splu", {"options": {"foo": 1}}),
        ("splu", {"options": 3}),
        ("splu", {"foo": 1}),
        ("spsolve", {"foo": None}),
        ("spilu", {"permc_spec": "foo"}),
        ("spilu", {"drop_rule": "foo"}),
        ("spilu", {"foo": 1}),
    ],
)
def test_what_scipy_refuses_is_refused(name, keywords):
    with pytest.raises((TypeError, ValueError)) as expected:
        call(getattr(scipys, name), A, **keywords)
    with pytest.raises(expected.type):
        call(getattr(linalg, name), A, **keywords)
    assert not like_scipy._warned


def test_arguments_by_position():
    with pytest.warns(solvers.IgnoredOptionWarning):
        assert np.allclose(linalg.splu(A, "COLAMD", 0.1, 1, 10, {}).solve(A @ np.ones(3)), 1)
    exact = linalg.spilu(A, 0.0, 100, "basic", "NATURAL", 0.0, 1, 1, {"Equil": False})
    assert np.allclose(exact.solve(A @ np.ones(3)), 1)
    with pytest.warns(solvers.IgnoredOptionWarning, match="use_umfpack"):
        assert np.allclose(linalg.spsolve(A, A @ np.ones(3), "COLAMD", False), 1)
    with pytest.raises(TypeError):
        linalg.spilu(A, 0.0, 100, "basic", "NATURAL", 0.0, 1, 1, {}, "one more")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("why", SINGULAR)
def test_a_singular_matrix_has_nan_where_it_has_in_scipy(why, form):
    B = sp.csc_array(SINGULAR[why]).asformat(form)
    for b in (np.ones(3), np.ones((3, 1)), np.ones((3, 2)), sp.csc_array(np.ones((3, 1)))):
        with pytest.warns(scipys.MatrixRankWarning, match="Matrix is exactly singular"):
            expected = scipys.spsolve(B.tocsc(), b)
        for solve in (linalg.spsolve, lambda *a: solvers.spsolve(*a, singular="nan")):
            with pytest.warns(scipys.MatrixRankWarning, match="Matrix is exactly singular") as w:
                x = solve(B, b)
            assert len(w) == 1
            assert x.shape == expected.shape
            assert np.isnan(x).all()
    for function in (linalg.splu, linalg.factorized, solvers.spsolve, solvers.splu):
        with pytest.raises(RuntimeError):
            call(function, B)
    with pytest.raises(RuntimeError):  # as SciPy
        linalg.spsolve(B, sp.csc_array(np.ones((3, 2))))


def test_what_does_not_fit_is_refused_before_it_is_found_singular():
    zeros = sp.csc_array((3, 3))
    for b in (np.ones(2), np.ones((4, 3))):
        with pytest.raises(ValueError, match="b has shape"):
            linalg.spsolve(zeros, b)
    with pytest.raises(ValueError, match="square"):
        linalg.spsolve(sp.csc_array((3, 4)), np.ones(3))
    with pytest.raises(ValueError, match="singular is 'warn', but must be one of"):
        solvers.spsolve(A, np.ones(3), singular="warn")


def test_an_infinite_value_has_no_solution():
    B = sp.csc_array([[1.0, 2, 0], [0, np.inf, 1], [1, 0, 1]])
    with pytest.warns(scipys.MatrixRankWarning):
        assert np.isnan(linalg.spsolve(B, np.ones(3))).all()
    with pytest.raises(solvers.NotFiniteError, match=r"A\[1, 1\] is inf"):
        solvers.spsolve(B, np.ones(3))


DTYPES = "?", "b", "i", "l", "f", "d", "F", "D"


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@given(
    st.sampled_from(DTYPES),
    st.sampled_from(DTYPES),
    st.sampled_from([(3,), (3, 1), (3, 2)]),
    st.booleans(),
    st.sampled_from([sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix]),
)
def test_results_are_of_scipys_types_and_shapes(of_matrix, of_b, shape, sparse, kind):
    B = kind(A.toarray().astype(of_matrix))
    b = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(of_b)
    if sparse and len(shape) == 2:
        b = sp.csc_array(b)
    expected, x = scipys.spsolve(B, b), linalg.spsolve(B, b)
    assert type(x) is type(expected)
    assert (x.shape, x.dtype) == (expected.shape, expected.dtype)
    difference = x - expected
    difference = difference.toarray() if sp.issparse(difference) else difference
    assert np.abs(difference).max() < (1e-5 if expected.dtype.char in "fF" else 1e-12)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_dense_matrices_are_converted():
    dense, b = A.toarray(), A @ np.ones(3)
    with pytest.warns(sp.SparseEfficiencyWarning, match="spsolve requires A be CSC or CSR"):
        assert np.allclose(linalg.spsolve(dense, b), 1)
    assert np.allclose(linalg.spsolve(dense.tolist(), b.tolist()), 1)
    assert np.allclose(linalg.splu(dense).solve(b), 1)
    assert np.allclose(linalg.factorized(dense)(b), 1)
    assert np.allclose(linalg.spilu(dense).solve(b), 1)
    with pytest.raises(ValueError, match="square"):
        linalg.splu(np.ones((3, 4)))


def test_a_first_solve_imports_no_more_than_it_needs():
    """Other engines, explanations and calls over ranks would take several times as long."""
    code = (
        "import sys, sparsematch.solvers; assert 'sparsematch.solvers._calls' not in sys.modules\n"
        "import numpy as np, scipy.sparse as sp\n"
        "sparsematch.solvers.spsolve(sp.csr_array([[4.0, 1], [1, 3]]), np.ones(2))\n"
        "print(*sys.modules)"
    )
    done = run_python("-c", code)
    assert done.stderr == ""
    loaded = {name for name in done.stdout.split() if name.startswith("sparsematch.")}
    wanted = "_base", "_input", "_numerics", "_systems", "_types", "solvers"
    wanted += "_engines.cpu.core", "_engines.cpu.lu"
    others = {"sparsematch._engines", "sparsematch._engines.cpu", "sparsematch._engines.cpu._core"}
    others |= {f"sparsematch._engines.{name}" for name in ("operations", "registry")}
    others |= {"sparsematch._engines.cpu._find_core", "sparsematch._api"}
    others |= {"sparsematch._api.workers", "sparsematch._api.cores"}
    assert not {
        name
        for name in loaded - others
        if not name.startswith(tuple(map("sparsematch.".__add__, wanted)))
    }
    seldom = "explanation", "over_ranks", "_types.matching", "block_form", "weighted"
    assert not [name for name in loaded if any(part in name for part in seldom)]


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.csr_matrix])
def test_small_systems_with_stored_zeros(kind):
    A = kind([[0.0, 2.0, 1.0], [4.0, 1.0, 0.0], [3.0, 5.0, 7.0]])
    A.data[A.data == 7.0] = 0.0
    b = A @ np.array([1.0, 2.0, -3.0])
    for right in (b, pickle.loads(pickle.dumps(b))):  # whose dtype is another object
        np.testing.assert_allclose(linalg.spsolve(A, right), [1.0, 2.0, -3.0], rtol=1e-14)
