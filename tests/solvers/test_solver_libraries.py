"""Solvers of other libraries: looked for when asked, checked, and given their memory back."""

import gc
import importlib
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch import solvers
from sparsematch.solvers import _named_solvers, _pardiso
from test_solvers import all_external, check, leave_all_blocks, staircase  # noqa: F401


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
    _pardiso._first_solver.cache_clear()
    leave_all_blocks(monkeypatch)
    yield module.PyPardisoSolver
    _pardiso._first_solver.cache_clear()


def system():
    return sp.csc_array(staircase(np.random.default_rng(9), [30, 1, 8], 0.5))


@pytest.mark.parametrize("damage", [0.0, 1e-4])
def test_replaced_pivots_are_refined(stand_in, damage):
    stand_in.damage = damage
    A = system()
    lu = solvers.splu(A, solver="pardiso")
    rng = np.random.default_rng(1)
    for b in (rng.standard_normal(39), rng.standard_normal((39, 3))):
        for B, trans in ((A, "N"), (A.T, "T")):
            assert np.abs(B @ lu.solve(b, trans) - b).max() < 1e-13


def test_replaced_pivots_beyond_help_are_refused(stand_in):
    stand_in.damage = 1e3
    A = system()
    with pytest.raises(RuntimeError, match=r"replaced 1 pivots .* of (30|8) rows"):
        solvers.splu(A, solver="pardiso")


def test_memory_is_given_back_and_one_object_searches(stand_in):
    A = system()
    for _ in range(3):
        lu = solvers.splu(A, solver="pardiso")
        check(A.toarray(), lu, np.ones(39))
    del lu
    gc.collect()
    assert stand_in.made == 1
    assert stand_in.freed == 6  # two blocks each


@pytest.mark.parametrize(
    ("value", "error"), [(-2, MemoryError), (-4, solvers.SingularMatrixError), (-1, RuntimeError)]
)
def test_errors_of_pardiso(stand_in, monkeypatch, value, error):
    class Numbered(RuntimeError):
        pass

    def fail(self, A):
        failure = Numbered(str(value))
        failure.value = value
        raise failure

    monkeypatch.setattr(stand_in, "factorize", fail)
    with pytest.raises(error):
        solvers.splu(system(), solver="pardiso")


def test_pardiso_accepts_real_numbers_only(stand_in):
    with pytest.raises(TypeError, match="real numbers only"):
        solvers.splu(system() * 1j, solver="pardiso")


def random_with_tiny_pivots(n=200):
    """Zeros and ones, most pivots of which cancel: PARDISO replaces many of them."""
    rng = np.random.default_rng(3)
    there = rng.random((n, n)) < 3 / n
    return sp.csc_array((there | np.eye(n, k=1, dtype=bool) | np.eye(n, k=1 - n, dtype=bool)) * 1.0)


def test_pardiso_itself(all_external):  # noqa: F811
    """What it returns is right, or it says that it is not."""
    pytest.importorskip("pypardiso")
    for seed in range(5):
        A, b = random_with_tiny_pivots(100 + seed), np.ones(100 + seed)
        try:
            x = solvers.splu(A, solver="pardiso").solve(b)
        except RuntimeError:
            continue
        assert np.abs(A @ x - b).max() <= 1e-10 * (abs(A).sum(axis=1).max() * np.abs(x).max() + 1)


@pytest.mark.parametrize("name", ["umfpack", "klu", "pardiso"])
def test_looked_for_when_asked(monkeypatch, name):
    """Even if no block will be left to it."""
    module, _ = _named_solvers._NEEDS[name]
    real = importlib.import_module

    def missing(wanted, *args):
        if wanted == module:
            raise ModuleNotFoundError(f"No module named {wanted!r}")
        return real(wanted, *args)

    monkeypatch.setattr(importlib, "import_module", missing)
    A = sp.csc_array(np.eye(3))
    for call in (solvers.splu, solvers.analyse):
        with pytest.raises(ImportError, match=f"solver is '{name}'.*pip install"):
            call(A, solver=name)


def test_the_result_says_who_factorised_what(all_external):  # noqa: F811
    A = system()
    analysis = solvers.analyse(A)
    assert analysis.solvers == dict.fromkeys(analysis.outside, "superlu") != {}
    assert "(2 by superlu)" in repr(analysis)
    assert "(2 by superlu)" in repr(analysis.factorise(A))
    assert solvers.analyse(sp.csc_array(np.eye(3))).solvers == {}
    own = solvers.analyse(A, solver=lambda *args: None)
    assert set(own.solvers.values()) == {"<lambda>"}
