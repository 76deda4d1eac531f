"""What solvers accept and refuse, and what a singular matrix raises: the account, with names."""

import copy
import multiprocessing
import pickle
import sys
import types
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import outside
from sparsematch import solvers
from sparsematch._api import explain
from sparsematch._systems import external
from sparsematch._types.deficient_pieces import DeficientPieces
from sparsematch.solvers import IllConditionedWarning, SingularMatrixError, _calls, _ilu
from test_solvers import check

#: Rows 0 and 1 are dependent, and columns 0, 1 and 2 may change together.
DEPENDENT = np.array([[1.0, 2, 0], [2, 4, 0], [0, 1, 1]])
#: Column 0 is all that rows 1 and 2 have.
STRUCTURE = np.array([[1.0, 1, 0], [2, 0, 0], [3, 0, 0]])
ROWS, COLS = ["mass", "heat", "valve"], ["p", "T", "q"]


def error_of(call, *args, **named):
    with pytest.raises(SingularMatrixError) as caught:
        call(*args, **named)
    return caught.value


def refactorised(A, **named):
    regular = A.copy()
    regular.data[:] = np.arange(A.nnz) + 7.0
    solvers.splu(regular, **named).refactorise(A)


CALLS = {
    "splu": solvers.splu,
    "spsolve": lambda A, **named: solvers.spsolve(A, np.ones(3), **named),
    "refactorise": refactorised,
    "Analysis.factorise": lambda A, **named: solvers.analyse(A, **named).factorise(A),
}


@pytest.fixture
def explained(monkeypatch):
    """The explanations that have been made."""
    made, real = [], explain.explain_singularity

    def spy(*args, **named):
        made.append(real(*args, **named))
        return made[-1]

    monkeypatch.setattr(explain, "explain_singularity", spy)
    return made


@pytest.mark.parametrize("dense", [DEPENDENT, STRUCTURE])
@pytest.mark.parametrize("read", [str, lambda e: e.report, lambda e: e.rows, lambda e: e.cols])
def test_nothing_is_looked_for_until_it_is_read(dense, read, explained):
    error = error_of(solvers.splu, sp.csc_array(dense))
    assert isinstance(error, RuntimeError)
    assert "\n" not in error.args[0]
    repr(error), copy.copy(error), pickle.dumps(error)
    assert not explained
    read(error)
    assert error.report is explained[0]
    assert str(error.report) in str(error)
    assert error.rows.size
    assert error.cols.size
    assert len(explained) == 1


def test_the_structure_is_to_blame():
    A = sp.csc_array(STRUCTURE)
    error = error_of(solvers.splu, A)
    expected = str(sm.explain_singularity(A, numeric=True))
    assert str(error).startswith(expected + "\n\n")
    assert error.args[0] == expected.splitlines()[0]
    assert sorted(error.rows) == [1, 2]
    assert error.cols.tolist() == [0]
    assert error_of(solvers.analyse, A).args == error.args
    A.data[:] = np.nan  # which the structure does not depend on
    assert sorted(error_of(solvers.splu, A).rows) == [1, 2]


def test_the_numbers_are_to_blame():
    """In the core and by an external solver."""
    for solver in ("auto", outside()):
        error = error_of(solvers.splu, sp.csc_array(DEPENDENT), solver=solver)
        assert error.args[0].startswith("numerically singular: a block of 2 rows and columns")
        assert error.rows.tolist() == [0, 1]
        assert error.cols.tolist() == [0, 1, 2]
        assert error.report.numbers.rank == 2


def test_all_singular_blocks_are_in_the_report():
    """Not only the first that was met."""
    dense = np.zeros((6, 6))
    dense[:2, :2] = dense[4:, 4:] = [[1, 2], [2, 4]]
    dense[2:4, 2:4] = np.eye(2)
    error = error_of(solvers.splu, sp.csc_array(dense))
    assert error.rows.tolist() == error.cols.tolist() == [0, 1, 4, 5]
    assert [block.rows.tolist() for block in error.report.numbers.blocks] in (
        [[0, 1], [4, 5]],
        [[4, 5], [0, 1]],
    )


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_names(call):
    error = error_of(call, sp.csc_array(DEPENDENT), row_names=iter(ROWS), col_names=COLS)
    assert "(rows mass, heat; columns p, T)" in error.args[0]
    assert error.report.row_names == tuple(ROWS)
    assert error.report.col_names == tuple(COLS)
    assert "mass" in str(error.report)


@pytest.mark.parametrize("call", [*CALLS.values(), solvers.analyse])
def test_names_are_checked_at_once(call):
    A = sp.csc_array(np.eye(3))
    with pytest.raises(ValueError, match="row_names has 2 names, but the matrix has 3 rows"):
        call(A, row_names=ROWS[:2])
    with pytest.raises(ValueError, match="row_names has 'mass' more than once: rows could not"):
        call(A, row_names=["mass", "heat", "mass"])
    with pytest.raises(TypeError, match="col_names"):
        call(A, col_names="pTq")


def test_names_of_a_structural_conflict():
    error = error_of(solvers.analyse, sp.csc_array(STRUCTURE), row_names=ROWS, col_names=COLS)
    assert "equations: heat, valve" in str(error)


def test_long_names_do_not_make_a_long_line():
    names = [f"unit[{i}].balance_of_the_heat_exchanger" for i in range(9)]
    error = error_of(solvers.splu, sp.csc_array(np.ones((9, 9))), row_names=names)
    assert "(rows unit[0].balance_of_the_heat_exchanger and 8 more; columns 0" in error.args[0]
    names[0] = "x" * 300  # one, whatever its length
    assert (
        "x and 8 more"
        in error_of(solvers.splu, sp.csc_array(np.ones((9, 9))), row_names=names).args[0]
    )


def test_a_warning_has_the_names():
    A = sp.csc_array([[1.0, 1.0 + 2.0**-52, 0], [1.0, 1.0, 0], [5, 0, 1]])
    with pytest.warns(IllConditionedWarning, match=r"\(rows mass, heat; columns p, T\)"):
        lu = solvers.splu(A, row_names=ROWS, col_names=COLS)
    with pytest.warns(IllConditionedWarning, match=r"\(rows mass, heat; columns p, T\)"):
        lu.refactorise(A)


@pytest.mark.parametrize("dense", [DEPENDENT, STRUCTURE])
@pytest.mark.parametrize("read_before", [False, True])
def test_the_error_can_be_pickled_and_copied(dense, read_before):
    error = error_of(solvers.splu, sp.csc_array(dense), row_names=ROWS)
    error.add_note("in step 3")
    if read_before:
        str(error)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is SingularMatrixError
        assert again.args == error.args
        assert str(again) == str(error)
        assert again.__notes__ == ["in step 3"]
        assert again.report.row_names == tuple(ROWS)
        for side in ("rows", "cols"):
            assert getattr(again, side).tolist() == getattr(error, side).tolist()


def test_the_error_leaves_a_process_pool():
    A = sp.csc_array([[1.0, 2.0], [2.0, 4.0]])
    workers = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    with workers, pytest.raises(SingularMatrixError, match="numerically singular"):
        workers.submit(solvers.splu, A).result()


@pytest.mark.parametrize("trouble", [MemoryError, ValueError])
def test_what_explains_an_error_raises_none(trouble, monkeypatch):
    def fail(*args, **named):
        raise trouble

    error = error_of(solvers.splu, sp.csc_array(DEPENDENT))
    monkeypatch.setattr(explain, "explain_singularity", fail)
    assert str(error) == error.args[0]
    assert sorted(error.rows) == sorted(error.cols) == [0, 1]  # the block
    with pytest.raises(trouble):
        error.report  # noqa: B018


def test_the_account_is_that_of_the_values_that_raised():
    """Whatever becomes of the arrays, and of the factorisation."""
    for dense in (DEPENDENT, STRUCTURE):
        A = sp.csc_array(dense)
        error = error_of(solvers.splu, A)
        expected = str(sm.explain_singularity(A, numeric=True))
        A.data[:] = 0
        A.indices[:] = 0
        assert expected in str(error)
    A, B = (sp.csc_array(np.where(DEPENDENT, V, 0)) for V in (DEPENDENT, DEPENDENT**2 + np.eye(3)))
    lu = solvers.splu(B)
    error = error_of(lu.refactorise, A)
    lu.refactorise(B)
    assert error.rows.tolist() == [0, 1]


def test_an_error_without_a_matrix():
    """As those of a GPU."""
    error = SingularMatrixError("numerically singular: 3 rows", np.arange(3), np.arange(3))
    assert str(error) == error.args[0]
    assert error.report is None
    assert error.rows.tolist() == [0, 1, 2]
    assert SingularMatrixError("nothing is known").rows.size == 0


def test_reading_walks_no_pieces_but_those_shown(monkeypatch):
    """Of many; their rows are found when they are asked for."""
    walked, real = [], DeficientPieces.__getitem__
    spy = lambda self, k: walked.append(k) or real(self, k)
    monkeypatch.setattr(DeficientPieces, "__getitem__", spy)
    A = sp.coo_array((np.ones(50), (np.arange(50), np.arange(50) // 2)), shape=(50, 50))
    error = error_of(solvers.splu, A)
    assert not walked
    str(error)
    assert 0 < len(walked) < 16
    assert error.rows.tolist() == list(range(50))
    assert error.cols.tolist() == list(range(25))


def test_names_are_refused_on_a_gpu(monkeypatch):
    """Where errors explain nothing; a stand-in will do."""
    monkeypatch.setattr(_calls, "on_gpu", lambda A: True)
    A = types.SimpleNamespace()
    for named in ({"row_names": ROWS}, {"col_names": COLS}):
        with pytest.raises(ValueError, match=f"{next(iter(named))} .*GPU"):
            solvers.splu(A, **named)


def test_the_pattern_is_checked():
    A = sp.csr_array(np.array([[1.0, 2, 0], [0, 3, 4], [5, 0, 6]]))
    analysis = solvers.analyse(A)
    B = A.copy()
    B.indices[:2] = 2, 0
    with pytest.raises(ValueError, match="another pattern"):
        analysis.factorise(B)
    with pytest.raises(ValueError, match="shape"):
        analysis.factorise(A[:2])
    with pytest.raises(ValueError, match=r"values, has shape \(5,\), but must have shape \(6,\)"):
        analysis.factorise(A.data[1:])
    with pytest.raises(TypeError, match="array of values, must be numbers"):
        analysis.factorise(["1"] * 6)
    # the same pattern in another format
    check(A.toarray(), analysis.factorise(A.tocsc()), np.ones(3))


@pytest.mark.parametrize("kind", [float, complex])
def test_an_incomplete_factorisation_of_a_singular_matrix(kind):
    """With everything kept, there is no pivot; SuperLU's own error does not come through."""
    with pytest.raises(solvers.SingularMatrixError, match="3 rows and columns") as caught:
        solvers.spilu(sp.csc_array(np.ones((3, 3), kind)), drop_tol=0)
    assert caught.value.rows.tolist() == caught.value.cols.tolist() == [0, 1, 2]


@pytest.mark.parametrize("drop_tol", [0, 0.0, 1e-300])
def test_superlu_is_not_asked_to_keep_zeros(drop_tol, monkeypatch):
    """Its workspace is too small for a column that has some of them twice."""
    given = {}

    def factorise(matrix, **options):
        given.update(options)
        return sp.linalg.spilu(matrix, **options)

    monkeypatch.setattr(_ilu, "_spilu", factorise)
    A = sp.csc_array(np.array([[1.0, 0.5], [0.5, 1.0]]))
    x = solvers.spilu(A, drop_tol).solve(A @ [1.0, 2.0])
    assert np.finfo(float).eps ** 2 <= given["drop_tol"] < np.finfo(float).eps
    assert np.allclose(x, [1, 2], rtol=1e-14)


@pytest.mark.parametrize(
    ("drop_tol", "error"), [("small", TypeError), (-1e-3, ValueError), (np.nan, ValueError)]
)
def test_a_drop_tolerance_is_a_number(drop_tol, error):
    with pytest.raises(error, match="drop_tol"):
        solvers.spilu(sp.eye_array(2, format="csc"), drop_tol)


def test_a_singular_matrix_is_an_error_of_linear_algebra():
    for dense in (DEPENDENT, STRUCTURE):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            solvers.splu(sp.csc_array(dense))
        assert isinstance(caught.value, SingularMatrixError)
        assert isinstance(caught.value, RuntimeError)


def test_superlu_without_memory(monkeypatch):
    def no_memory(*args, **options):
        raise RuntimeError("SUPERLU_MALLOC fails for buf in intCalloc() at line 168 in file m.c")

    monkeypatch.setattr(external, "splu", no_memory)
    monkeypatch.setattr(_ilu, "_spilu", no_memory)
    A = sp.csc_array(np.array([[4.0, 1, 1], [1, 4, 1], [1, 1, 4]]))
    everything = {"solver": outside()}
    for call in (
        partial(solvers.splu, **everything),
        solvers.spilu,
        partial(solvers.spsolve, b=np.ones(3), **everything),
    ):
        with pytest.raises(MemoryError, match="less fill"):
            call(A)


def test_bad_input():
    A = sp.csc_array(np.eye(3))
    for call, error, text in (
        (lambda: solvers.splu(np.eye(3)), TypeError, "SciPy sparse"),
        (lambda: solvers.splu(sp.csc_array((2, 3))), ValueError, r"square, but has shape \(2, 3\)"),
        (lambda: solvers.splu(A, solver="ssids"), ValueError, "'ssids'.*'superlu'"),
        (lambda: solvers.splu(A, pivoting="best"), ValueError, "'best'.*'auto', 'structure', 'pro"),
        (lambda: solvers.spilu(A, pivoting=1), TypeError, "pivoting"),
        (lambda: solvers.splu(A * np.nan), ValueError, r"A\[0, 0\] is nan"),
        (lambda: solvers.spilu(A * np.nan), ValueError, r"A\[0, 0\] is nan"),
    ):
        with pytest.raises(error, match=text):
            call()


@pytest.mark.parametrize("factorise", [solvers.splu, solvers.spilu])
@pytest.mark.parametrize(
    ("b", "trans", "error", "message"),
    [
        (np.ones(3), "N", ValueError, r"b has shape \(3,\), but must have shape \(2,\)"),
        (np.ones((2, 1, 1)), "N", ValueError, r"b has shape \(2, 1, 1\)"),
        (["a", "b"], "N", TypeError, "b must be an array of numbers"),
        (np.ones(2), "t", ValueError, "trans is 't', but must be one of 'N', 'T', 'H'"),
        (np.ones(2), 1, TypeError, "trans"),
    ],
)
def test_right_hand_sides_are_checked_alike(factorise, b, trans, error, message):
    with pytest.raises(error, match=message):
        factorise(sp.csc_array([[0.0, 2.0], [4.0, 1.0]])).solve(b, trans)


def test_arrays_of_pydata_sparse(monkeypatch):
    """Whatever their format; a stand-in will do, as the library is not imported."""
    dense = np.array([[4.0, 1], [1, 3]])

    class SparseArray:
        def to_scipy_sparse(self):
            return sp.coo_array(dense)

    monkeypatch.setitem(sys.modules, "sparse", types.SimpleNamespace(SparseArray=SparseArray))
    A, b = SparseArray(), np.ones(2)
    assert np.allclose(dense @ solvers.spsolve(A, b), b)
    assert np.allclose(dense @ solvers.spilu(A).solve(b), b)
    lu = solvers.analyse(A).factorise(A)
    lu.refactorise(A)
    check(dense, lu, b)


def test_empty():
    lu = solvers.splu(sp.csc_array((0, 0)))
    assert lu.solve(np.empty(0)).shape == (0,)
    assert lu.solve(np.empty((0, 2))).shape == (0, 2)
    assert solvers.splu(sp.csc_array(np.eye(2))).solve(np.empty((2, 0))).shape == (2, 0)


def test_factors_refuse_to_be_pickled():
    lu = solvers.splu(sp.csc_array(np.eye(3)))
    if hasattr(lu, "analysis"):
        with pytest.raises(TypeError, match="call splu there"):
            pickle.dumps(lu)
    analysis = solvers.analyse(sp.csc_array(np.eye(3)))
    assert copy.copy(analysis) is analysis
    assert copy.deepcopy(analysis) is analysis
    with pytest.raises(TypeError, match="call analyse there"):
        pickle.dumps(analysis)


def test_whether_to_check_is_a_flag():
    lu = solvers.splu(sp.csc_array(np.array([[0.0, 2.0], [4.0, 1.0]])))
    assert np.allclose(lu.solve(np.array([2.0, 5.0]), check=False), 1)
    with pytest.raises(TypeError, match="True or False"):
        lu.solve(np.ones(2), check="no")
