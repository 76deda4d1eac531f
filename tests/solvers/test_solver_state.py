"""What a factorisation is after each event: of which matrix, or of none; who else changed it."""

import itertools
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from calls import in_a_new_process, outside, run_python
from sparsematch import solvers
from sparsematch.solvers import PatternSolver, SingularMatrixError

DENSE = np.array([[4.0, 1, 0, 2], [0, 2, 1, 0], [0, 1, 3, 1], [0, 0, 0, 5]])
b = np.array([1.0, 2, 3, 4])
#: How the factors were made: by the core, or by an external solver.
WAYS = {"own": {}, "of the structure": {"pivoting": "structure"}, "outside": {"solver": outside()}}
FORMS = "csc", "csr", "coo", "values"


def new(form, dense=DENSE):
    A = sp.csc_array(dense)
    return A.data if form == "values" else A.asformat(form)


def scaled(form, factor):
    A = new(form)
    if form == "values":
        return factor * A
    A.data = factor * A.data
    return A


def with_value(form, value):
    A = scaled(form, 1.0)
    (A if form == "values" else A.data)[2] = value
    return A


def other_shape(form):
    if form == "values":
        return np.ones((2, 4))
    A = new(form)
    if form == "coo":
        return sp.coo_array((A.data, A.coords), shape=(5, 5))
    shape = (7, 4) if form == "csc" else (4, 7)
    return type(A)((A.data, A.indices, A.indptr), shape=shape)


def other_pattern(form):
    return np.ones(3) if form == "values" else sp.csc_array(np.eye(4)).asformat(form)


def other_type(form):
    A = new(form)
    if form == "values":
        return A.astype(str)
    A.data = A.data.astype(str)
    return A


def singular(form):
    return scaled(form, 1.0) * 0


def nearly_singular(form):
    dense = DENSE.copy()
    dense[1:3, 1:3] = [[1, 1], [-1, -1 - 3e-16]]
    return new(form, dense)


BAD = {
    "NaN": (lambda form: with_value(form, np.nan), ValueError),
    "infinite": (lambda form: with_value(form, np.inf), ValueError),
    "another shape": (other_shape, ValueError),
    "another pattern": (other_pattern, ValueError),
    "no numbers": (other_type, TypeError),
    "singular": (singular, SingularMatrixError),
    "a warning": (nearly_singular, solvers.IllConditionedWarning),
    "complex, then no memory": (lambda form: 1j * scaled(form, 1.0), MemoryError),
    "no memory": (partial(scaled, factor=2.0), MemoryError),
    "interrupted": (partial(scaled, factor=2.0), KeyboardInterrupt),
}
USES = {
    "solve": lambda lu: lu.solve(b),
    "several": lambda lu: lu.solve(np.ones((4, 2)) + 1j, "H", check=False),
    "rcond": lambda lu: lu.rcond,
    "condition": lambda lu: lu.condition(),
    "growth": lambda lu: lu.growth,
    "nnz": lambda lu: lu.nnz,
    "report": lambda lu: lu.report(),
    "row_perm": lambda lu: lu.row_perm,
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_after_an_error_there_is_nothing_until_one_succeeds(way, form, what, monkeypatch):
    lu = solvers.splu(new("csc" if form == "values" else form), **WAYS[way])
    for use in USES.values():  # what has been computed once may be kept
        use(lu)
    make, error = BAD[what]
    with monkeypatch.context() as patch:
        if error in (MemoryError, KeyboardInterrupt):  # when the numbers are there already

            def fail(*_):
                raise error

            patch.setattr(solvers.BlockTriangularLU, "_warn_of_ill_conditioned", fail)
        with pytest.raises(error):
            lu.refactorise(make(form))
    assert "failed" in repr(lu)
    for use in USES.values():
        with pytest.raises(RuntimeError, match="nothing to solve with"):
            use(lu)
    for factor in (2.0, 3.0):
        lu.refactorise(scaled(form, factor))
        assert np.allclose(factor * DENSE @ lu.solve(b), b)


def refactorise(solver, form, factor):
    if solver.lu:
        solver.lu.refactorise(scaled(form, factor))


def spoil(solver, form):
    if solver.lu:
        with pytest.raises(ValueError, match="finite"):
            solver.lu.refactorise(with_value(form, np.nan))


EVENTS = {
    "A": lambda solver, form: solved(solver, new(form)),
    "2 A": lambda solver, form: solved(solver, scaled(form, 2.0)),
    "complex": lambda solver, form: solved(solver, scaled(form, 1 + 0j)),
    "values": lambda solver, form: solver.lu and solved(solver, new(form).data),
    "as A": lambda solver, form: refactorise(solver, form, 1.0),
    "as 3 A": lambda solver, form: refactorise(solver, form, 3.0),
    "spoilt": lambda solver, form: spoil(solver, form),
}


def solved(solver, A):
    dense = DENSE if isinstance(A, np.ndarray) else A.toarray()
    x = solver.solve(A, b)
    assert np.allclose(dense @ x, b)
    assert x.dtype == dense.dtype


@pytest.mark.parametrize("form", ["csc", "csr", "coo"])
def test_a_pattern_solver_whose_factors_others_change(form):
    """Everything that may happen in four steps."""
    for events in itertools.product(EVENTS, repeat=4):
        solver = PatternSolver()
        for name in events:
            if form == "csc" or name not in ("as A", "as 3 A", "spoilt"):
                EVENTS[name](solver, form)


def test_a_pattern_solver_reads_no_further_than_the_entries():
    """SciPy keeps room for more where a matrix has been put together."""
    A, solver = new("csc"), PatternSolver()
    for factor in (1.0, 2.0):
        long = sp.csc_array(A)
        long.data = np.append(factor * A.data, np.nan)
        long.indices = np.append(A.indices, 0).astype(np.int32)
        assert np.allclose(factor * DENSE @ solver.solve(long, b), b)
    with pytest.raises(ValueError, match="shape"):
        solver.solve(long.data, b)


REPLACED = """
import warnings
import networkx as nx
import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph as graphs
import scipy.sparse.linalg as linalg
import sparsematch, sparsematch.csgraph, sparsematch.linalg

for module, ours in ((linalg, sparsematch.linalg), (graphs, sparsematch.csgraph)):
    for name in ours.__all__:
        assert hasattr(module, name)
        setattr(module, name, getattr(ours, name))
warnings.simplefilter("ignore", sparsematch.solvers.IgnoredOptionWarning)
line = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(20, 20))
one = sp.eye_array(20)
heavy = sp.csc_array(sp.kron(sp.kron(line, one), one) + sp.kron(one, sp.kron(line, line)))
for A in (sp.csc_array([[4.0, 1.0], [1.0, 3.0]]), heavy):
    b = np.ones(A.shape[0])
    lu = linalg.splu(A, permc_spec="MMD_AT_PLUS_A")
    ways = {
        "splu": lu.solve, "factorized": linalg.factorized(A),
        "spsolve": lambda b: linalg.spsolve(A, b, use_umfpack=False),
        "superlu": sparsematch.solvers.splu(A, solver="superlu").solve,
        "spilu": linalg.spilu(A, drop_tol=1e-12, fill_factor=100).solve,
    }
    for name, solve in ways.items():
        assert np.allclose(A @ solve(b), b), name
singular = sp.csc_array(np.ones((2, 2)))
with warnings.catch_warnings(action="ignore"):
    assert np.isnan(linalg.spsolve(singular, np.ones(2))).all()
assert sparsematch.solvers.diagnose(singular).spectrum is not None
assert len(graphs.maximum_bipartite_matching(sp.csr_array(A))) == 8000
assert graphs.structural_rank(sp.csr_array(A)) == 8000
assert len(graphs.min_weight_full_bipartite_matching(sp.csr_array(np.eye(3)))[0]) == 3
nx.config.backend_priority.algos = ["sparsematch"]
G = nx.Graph([("a", 0), ("a", 1), ("b", 0)])
matching = nx.bipartite.maximum_matching(G)
assert len(matching) == 4
assert len(nx.bipartite.to_vertex_cover(G, matching)) == 2
assert len(nx.bipartite.minimum_weight_full_matching(G)) == 4
assert len(nx.max_weight_matching(G)) == len(nx.min_weight_matching(G)) == 2
print("done")
"""


def test_functions_in_the_place_of_those_that_they_stand_for_do_not_call_themselves():
    process = in_a_new_process(REPLACED)
    said, _ = process.communicate(timeout=200)
    assert (process.returncode, said.split()[-1:]) == (0, ["done"])


def test_nothing_is_left_at_exit():
    """What is remembered of arguments is freed before nanobind reports what was not."""
    code = (
        "import numpy as np, scipy.sparse as sp; from sparsematch import solvers; "
        "lu = solvers.splu(sp.csc_array(np.eye(3)))"
    )
    assert run_python("-c", code).stderr == ""
