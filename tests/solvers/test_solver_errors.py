"""What a singular matrix raises: one line at once, the account when it is read, with names."""

import copy
import multiprocessing
import pickle
import types
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import outside
from sparsematch import solvers
from sparsematch._api import explain
from sparsematch._types.deficient_pieces import DeficientPieces
from sparsematch.solvers import IllConditionedWarning, SingularMatrixError, _calls

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
    "BlockTriangularLU": solvers.BlockTriangularLU,
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
def test_nothing_is_looked_for_until_it_is_read(dense, explained):
    error = error_of(solvers.splu, sp.csc_array(dense))
    assert isinstance(error, RuntimeError)
    assert "\n" not in error.args[0]
    repr(error), copy.copy(error), pickle.dumps(error)
    assert not explained
    for _ in range(2):
        assert error.report is explained[0]
        assert str(error.report) in str(error)
        assert error.rows.size
        assert error.cols.size
    assert len(explained) == 1


@pytest.mark.parametrize("read", [str, lambda e: e.report, lambda e: e.rows, lambda e: e.cols])
def test_each_way_to_read_finds_it(read, explained):
    read(error_of(solvers.splu, sp.csc_array(DEPENDENT)))
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


def test_the_account_warns_of_nothing():
    error = error_of(solvers.splu, sp.csc_array(DEPENDENT))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert error.report is not None


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
    assert 0 < len(walked) < 12
    assert error.rows.tolist() == list(range(50))
    assert error.cols.tolist() == list(range(25))


def test_names_and_zeros_are_refused_on_a_gpu(monkeypatch):
    """Where errors explain nothing, and zeros are entries; a stand-in will do."""
    monkeypatch.setattr(_calls, "on_gpu", lambda A: True)
    A = types.SimpleNamespace()
    for named in ({"row_names": ROWS}, {"col_names": COLS}, {"explicit_zeros": "drop"}):
        with pytest.raises(ValueError, match=f"{next(iter(named))} .*GPU"):
            solvers.splu(A, **named)
