"""Solvers of other libraries: looked for when asked, checked, and given their memory back."""

import gc
import importlib
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp

from calls import limited, outside
from sparsematch import solvers
from sparsematch._systems import external, named_solvers, pardiso, plan
from test_solvers import check, staircase


class StandIn:
    """PARDISO's interface, as pypardiso has it, with dense factors and pivots replaced at will."""

    made, freed, damage = 0, 0, 0.0

    def __init__(self):
        type(self).made += 1
        self.pt, self.iparm = np.zeros(64, np.int64), np.zeros(64, np.int32)

    def factorize(self, A):
        self.inverse = np.linalg.inv(A.toarray() + self.damage * np.eye(A.shape[0]))
        self.iparm[13] = self.damage != 0

    def solve(self, A, b):
        return (self.inverse if A.format == "csc" else self.inverse.T) @ b

    def get_iparm(self, i):
        return self.iparm[i - 1]

    def free_memory(self, everything=False):
        assert everything
        type(self).freed += 1


@pytest.fixture
def stand_in(monkeypatch):
    module = types.ModuleType("pypardiso")
    module.PyPardisoSolver = type("PyPardisoSolver", (StandIn,), {})
    monkeypatch.setitem(sys.modules, "pypardiso", module)
    pardiso._first_solver.cache_clear()
    yield module.PyPardisoSolver
    pardiso._first_solver.cache_clear()


def system():
    return sp.csc_array(staircase(np.random.default_rng(9), [30, 1, 8], 0.5))


@pytest.mark.parametrize("damage", [0.0, 1e-4])
def test_replaced_pivots_are_refined(stand_in, damage):
    stand_in.damage = damage
    A = system()
    lu = solvers.splu(A, solver=outside("pardiso"))
    rng = np.random.default_rng(1)
    for b in (rng.standard_normal(39), rng.standard_normal((39, 3))):
        for B, trans in ((A, "N"), (A.T, "T")):
            assert np.abs(B @ lu.solve(b, trans) - b).max() < 1e-13


def test_replaced_pivots_beyond_help_are_left_to_superlu(stand_in):
    stand_in.damage = 1e3
    A = system()
    lu = solvers.splu(A, solver=outside("pardiso"))
    check(A.toarray(), lu, np.ones(39))
    assert [block.solver for block in lu.report().external] == ["superlu"] * 2
    assert "instead of pardiso: PARDISO has replaced 1 pivots" in str(lu.report())


def test_what_is_not_left_to_the_solver_that_was_asked_for_is_said(stand_in):
    report = solvers.splu(system(), solver="pardiso").report()
    assert [(block.rows, block.solver) for block in report.external] == [(30, "pardiso")]
    assert "factorised here, as solver='pardiso' takes larger ones: 2 blocks;" in str(report)
    assert "larger ones" not in str(solvers.splu(system()).report())


def test_what_turns_out_useless_while_solving_is_left_to_superlu(stand_in, monkeypatch):
    A = system()
    lu = solvers.splu(A, solver=outside("pardiso"))
    assert {block.solver for block in lu.report().external} == {"pardiso"}

    def useless(self, b, trans):
        raise external.Unreliable("of no use")

    monkeypatch.setattr(pardiso.PardisoFactor, "solve", useless)
    for trans, B in (("N", A), ("T", A.T)):
        assert np.abs(B @ lu.solve(np.ones(39), trans) - 1).max() < 1e-13
    assert {block.why for block in lu.report().external} == {"instead of pardiso: of no use"}
    lu.refactorise(2 * A)
    assert np.abs(2 * A @ lu.solve(np.ones(39)) - 1).max() < 1e-13


def test_memory_is_given_back_and_one_object_searches(stand_in):
    A = system()
    for _ in range(3):
        lu = solvers.splu(A, solver=outside("pardiso"))
        check(A.toarray(), lu, np.ones(39))
    del lu
    gc.collect()
    assert stand_in.made == 1
    assert stand_in.freed == 6  # two blocks each


def failing(monkeypatch, stand_in, value):
    class Numbered(RuntimeError):
        pass

    def fail(self, A):
        failure = Numbered(str(value))
        failure.value = value
        raise failure

    monkeypatch.setattr(stand_in, "factorize", fail)


def test_pardiso_without_memory(stand_in, monkeypatch):
    failing(monkeypatch, stand_in, -2)
    with pytest.raises(MemoryError, match="PARDISO"):
        solvers.splu(system(), solver=outside("pardiso"))


@pytest.mark.parametrize("value", [-4, -1])
def test_other_errors_of_pardiso_are_left_to_superlu(stand_in, monkeypatch, value):
    """A zero pivot, too: it does not search the column for another one."""
    failing(monkeypatch, stand_in, value)
    lu = solvers.splu(system(), solver=outside("pardiso"))
    check(system().toarray(), lu, np.ones(39))
    assert "instead of pardiso" in str(lu.report())
    singular = system()
    singular.data[singular.indptr[5] : singular.indptr[6]] = 0
    with pytest.raises(solvers.SingularMatrixError):
        solvers.splu(singular, solver=outside("pardiso"))


def test_complex_numbers_are_not_for_pardiso(stand_in):
    A = system() * 1j
    lu = solvers.splu(A, solver=outside("pardiso"))
    check(A.toarray(), lu, np.ones(39))
    assert "real numbers only" in lu.report().external[0].why


@pytest.mark.parametrize("name", named_solvers.WAYS)
def test_looked_for_when_asked(monkeypatch, name):
    """Even if no block will be left to it."""
    real = importlib.import_module

    def missing(wanted, *args):
        if wanted == named_solvers.WAYS[name].module:
            raise ModuleNotFoundError(f"No module named {wanted!r}")
        return real(wanted, *args)

    monkeypatch.setattr(importlib, "import_module", missing)
    A = sp.csc_array(np.eye(3))
    for call in (solvers.splu, solvers.analyse):
        with pytest.raises(ImportError, match=f"solver is '{name}'.*pip install"):
            call(A, solver=name)


@pytest.mark.parametrize("name", named_solvers.WAYS)
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_library_that_is_installed(name, kind, index):
    module = named_solvers.WAYS[name].module
    pytest.importorskip(module, reason=f"{module} is not installed")
    A = system().astype(kind) * (1 + 1j if kind is complex else 1)
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    lu = solvers.splu(A, solver=outside(name))
    b = np.random.default_rng(2).standard_normal((39, 3)) @ np.diag([1, 1j, 1 - 1j])
    for _ in range(2):
        for trans, B in (("N", A), ("T", A.T), ("H", A.conj().T)):
            for right in (b, b[:, 0], b.real):
                assert np.abs(B @ lu.solve(right, trans) - right).max() < 1e-12
        A = sp.csc_array(A * np.random.default_rng(3).uniform(1, 2, 39))
        lu.refactorise(A)
    taken_over = name == "pardiso" and kind is complex
    assert {block.solver for block in lu.report().external} == {"superlu" if taken_over else name}
    A.data[A.indptr[5] : A.indptr[6]] = 0
    if name == "pardiso" and kind is float:  # which replaces the pivot
        with pytest.warns(solvers.IllConditionedWarning, match="singular to working precision"):
            lu.refactorise(A)
    else:
        with pytest.raises(solvers.SingularMatrixError):
            lu.refactorise(A)


def test_the_result_says_who_factorised_what():
    A = system()
    analysis = solvers.analyse(A, solver=outside())
    assert analysis.solvers == dict.fromkeys(analysis.outside, "superlu") != {}
    assert "(2 by superlu)" in repr(analysis)
    assert "(2 by superlu)" in repr(analysis.factorise(A))
    assert solvers.analyse(sp.csc_array(np.eye(3))).solvers == {}
    own = solvers.analyse(A, solver=outside(lambda *args: None))
    assert set(own.solvers.values()) == {"<lambda>"}


def cheapest(*names, **others):
    """A policy in which these kernels are there, and cost nothing."""
    return {"available": names} | dict.fromkeys(names, (0, 0, 0, 0)) | others


@pytest.mark.parametrize("kind", [float, complex])
def test_the_kernel_of_least_predicted_time_is_taken(kind):
    A = grid_of_81().astype(kind)
    for names, expected in (((), "own"), (("mumps",), "mumps"), (("pardiso",), "pardiso")):
        policy = cheapest(*names, product=(0, 0, 0))  # nothing is so light as not to be weighed
        chosen = solvers.analyse(A, solver=limited(**policy))._plan.blocks.chosen[0]
        if kind is complex and expected == "pardiso":  # which has real numbers only
            expected = "own"
        assert chosen[2] == expected
        assert chosen[5] >= 0


def test_auto_goes_on_where_a_library_is_broken():
    policy = cheapest("mumps", product=(0, 0, 0))
    lu = solvers.splu(grid_of_81(), solver=limited(**policy))
    assert ["mumps" in sys.modules or block.why for block in lu.report().external] in (
        [True],
        ["instead of mumps, which cannot be imported"],
    )


def test_auto_does_not_choose_a_broken_library_again(monkeypatch):
    monkeypatch.setattr(named_solvers, "_broken", set())
    monkeypatch.setattr(named_solvers, "_is_there", lambda module: module == "pypardiso")
    monkeypatch.setitem(sys.modules, "pypardiso", None)  # it cannot be imported
    named_solvers.installed.cache_clear()
    assert "cannot be imported" in named_solvers.find_solver("auto").choose("pardiso").why
    assert named_solvers.installed() == ()
    report = solvers.splu(grid_of_81(), solver="auto").report()
    assert not report.external
    named_solvers.installed.cache_clear()


def test_a_broken_library_leaves_its_blocks_to_what_is_fastest_without_it(monkeypatch):
    """Which is not SuperLU."""
    monkeypatch.setattr(named_solvers, "_broken", set())
    monkeypatch.setattr(named_solvers, "_is_there", lambda module: module == "pypardiso")
    monkeypatch.setitem(sys.modules, "pypardiso", None)

    def cheap(_):
        few = {"product": (0, 0, 0), "given": (0, 0, 0), "few_rows": 9}
        policy = cheapest(*named_solvers.installed(), **few)
        return named_solvers.Chooser(named_solvers._predicted, policy)

    monkeypatch.setattr(plan, "find_solver", cheap)
    for clear in (plan._remembered_settings.cache_clear, named_solvers.installed.cache_clear):
        clear()
    A = system()
    names = iter([f"row {k}" for k in range(39)])
    lu = solvers.splu(A, row_names=names)
    assert not lu.report().external
    check(A.toarray(), lu, np.ones(39))
    plan._remembered_settings.cache_clear()
    named_solvers.installed.cache_clear()


def test_auto_looks_once_for_what_is_installed(monkeypatch):
    monkeypatch.setattr(named_solvers, "_broken", set())
    monkeypatch.setattr(named_solvers, "_is_there", lambda module: module in ("kvxopt", "mumps"))
    named_solvers.installed.cache_clear()
    assert named_solvers.installed() == ("umfpack", "mumps")
    monkeypatch.setattr(named_solvers, "_is_there", lambda module: False)
    assert named_solvers.installed() == ("umfpack", "mumps")
    named_solvers.installed.cache_clear()
    assert named_solvers.installed() == ()
    named_solvers.installed.cache_clear()


def test_auto_hands_over_and_says_so(stand_in):
    """With PARDISO's stand-in."""
    A = system()
    policy = cheapest("pardiso", product=(0, 0, 0), given=(0, 0, 0), few_rows=9)
    lu = solvers.splu(A, solver=limited(**policy))
    check(A.toarray(), lu, np.ones(39))
    (block,) = lu.report().external
    assert (block.rows, block.solver, block.seconds) == (30, "pardiso", 0)
    assert "predicted to be the fastest" in str(lu.report())
    assert lu.analysis.solvers == {block.block: "pardiso"}


@pytest.mark.parametrize("name", ["pardiso", "superlu"])
def test_a_name_forces_a_solver(stand_in, name):
    """For blocks of more than a few rows."""
    A = system()
    by = {block.rows: block.solver for block in solvers.splu(A, solver=name).report().external}
    assert by == {30: name}


def grid_of_81():
    line = sp.diags_array([-1.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(9, 9))
    return sp.csc_array(sp.kron(line, sp.eye_array(9)) + sp.kron(sp.eye_array(9), line))


def test_a_block_that_pardiso_fails_on_is_factorised_after_all(stand_in, monkeypatch):
    failing(monkeypatch, stand_in, -4)
    A = grid_of_81()
    lu = solvers.splu(A, solver=outside("pardiso"))
    for _ in range(2):
        check(A.toarray(), lu, np.ones(81))
        block = lu.report().external[0]
        assert (block.solver, block.order, block.made) == ("superlu", "COLAMD", lu.nnz)
        lu.refactorise(A)


def test_partial_pivoting_is_left_to_superlu(stand_in):
    """What is not solved to working precision is factorised again by SuperLU."""
    lu = solvers.splu(system(), solver=outside("pardiso"))
    strict = lu._factors.with_stricter_pivoting()
    assert {block.solver for block in strict.report().external} == {"superlu"}


def leaves_on_a_ring(small):
    """Once the leaves are eliminated, as they are first, a ring with small pivots is left.

    Of 20 points: it is singular with zeros.
    """
    n = 20
    ring = 0.3 * sum(sp.eye_array(n, k=k) for k in (-1, 1, n - 1, 1 - n))
    one = sp.eye_array(n)
    return sp.csc_array(sp.block_array([[one, one], [one, (1 + small) * one + ring]]))


def test_an_estimate_of_the_condition_changes_no_plan():
    """It reads rows that the plan shares with it."""
    analysis = solvers.analyse(leaves_on_a_ring(1e-6), solver=outside())
    block = analysis._plan.external[0]
    before = [array.copy() for array in block[:3]]
    with pytest.warns(solvers.IllConditionedWarning):
        analysis.factorise(leaves_on_a_ring(3e-16))
    assert all(map(np.array_equal, before, block[:3]))


def test_a_report_adds_up():
    rng = np.random.default_rng(4)
    A = sp.csc_array(staircase(rng, [30, 1, 8, 1, 1], 0.5))
    report = solvers.splu(A).report()
    assert isinstance(report, solvers.FactorisationReport)
    assert (report.rows, report.entries, report.n_blocks, report.n_single) == (41, A.nnz, 5, 3)
    assert report.largest == 30
    assert report.external == ()
    assert report.own_made + report.above == solvers.splu(A).nnz
    assert report.own_predicted > 0
    assert "3 of one entry, the largest of 30 rows" in str(report)


def test_a_report_of_external_blocks():
    A = system()
    lu = solvers.splu(A, solver=outside())
    report = lu.report()
    assert [block.rows for block in report.external] == np.diff(lu.analysis.form.row_blocks)[
        lu.analysis.outside
    ].tolist()
    made = sum(block.made for block in report.external)
    assert made + report.own_made + report.above == lu.nnz
    assert "by superlu" in str(report)
    assert all(isinstance(block, solvers.BlockReport) for block in report.external)
    assert {block.order for block in report.external} <= {"minimum degree", "COLAMD"}
