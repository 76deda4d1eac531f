"""What a user sees of the package itself: names, hints, tables, types; what back-ends register."""

import inspect
import types
from typing import get_args, get_overloads, get_type_hints

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import run_python
from sparsematch import csgraph, linalg, plot, solvers
from sparsematch._engines import operations as concepts
from sparsematch._engines.registry import Engine, operations, register
from sparsematch._types.choices import ApproximateMethod, ExactMethod, Heuristic, Pivoting
from sparsematch._types.over_ranks.matrix import OverRanks
from sparsematch._types.sparse_like import Convertible, SparseLike

A = sp.csr_array(np.eye(4)[::-1])


def test_submodules_and_names_are_there_without_an_import_of_their_own():
    code = (
        "import sys, sparsematch as sm; assert 'numpy' not in sys.modules; "
        "print(sm.solvers.splu.__name__, sm.csgraph.structural_rank.__name__, sm.plot.__name__); "
        "print(all(getattr(sm, name) is not None for name in sm.__all__))"
    )
    done = run_python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["splu", "structural_rank", "sparsematch.plot", "True"]


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="'sparsematch' has no attribute 'nothing'"):
        _ = sm.nothing


@pytest.mark.parametrize(
    "module", [sm, csgraph, linalg, plot, solvers], ids=lambda module: module.__name__
)
def test_dir_lists_the_public_names_alone(module):
    names = {name for name in dir(module) if not name.startswith("__")}
    submodules = {"csgraph", "edge_files", "graclus", "linalg", "plot", "solvers"}
    assert names == set(module.__all__) | (submodules if module is sm else set())
    assert all(hasattr(module, name) for name in module.__all__)
    assert sorted(module.__all__) == list(module.__all__)


def test_dir_of_a_matching():
    assert not {"freeze", "start"} & set(dir(sm.maximum_transversal(A)))
    assert "as_permutation" in dir(sm.maximum_transversal(A))


def frame(package, kind):
    """An object of a class that another package would define."""
    return type(kind, (), {"__module__": f"{package}.core"})()


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (np.eye(3), "not numpy.ndarray; convert it: scipy.sparse.csr_array(A)"),
        ([[1, 0], [0, 1]], "not list; convert it: scipy.sparse.csr_array(A)"),
        (frame("pandas", "DataFrame"), "convert it: scipy.sparse.csr_array(A.to_numpy()), or A."),
        (frame("xarray", "DataArray"), "convert it: scipy.sparse.csr_array(A.to_numpy())"),
        ("a.mtx", "not str; convert it: scipy.io.mmread(path, spmatrix=False), for example"),
        (frame("networkx", "Graph"), "convert it: networkx.to_scipy_sparse_array(A)"),
    ],
)
@pytest.mark.parametrize(
    "call", [sm.structural_rank, sm.block_triangular_form, sm.maximum_product_transversal]
)
def test_what_is_not_sparse_gets_a_hint(call, value, hint):
    with pytest.raises(TypeError) as caught:
        call(value)
    assert hint in str(caught.value)


def test_no_hint_for_what_is_no_matrix():
    with pytest.raises(TypeError) as caught:
        sm.structural_rank(object())
    assert str(caught.value).endswith("not object")


@pytest.mark.parametrize(
    ("choices", "kind", "others"),
    [
        (ExactMethod, "exact", set()),
        (Heuristic, "heuristic", {"auto", "none"}),
        (ApproximateMethod, "approximate", set()),
    ],
)
def test_type_checkers_know_every_engine(choices, kind, others):
    names = {engine.name for engine in sm.engines(kind, backend=None)} | others
    assert set(get_args(choices)) == names


def hints(call):
    """Its annotations; what only ranks need is named in them, and not imported."""
    names = {name: getattr(sm, name) for name in sm.__all__}
    return get_type_hints(call, None, {**names, "OverRanks": OverRanks})


@pytest.mark.parametrize(
    ("call", "choices"),
    [
        (sm.structural_rank, ExactMethod),
        (sm.block_triangular_form, ExactMethod),
        (sm.explain_singularity, ExactMethod),
        (sm.approximate_matching, ApproximateMethod),
        (sm.coarsening_hierarchy, ApproximateMethod),
    ],
)
def test_signatures_name_the_engines(call, choices):
    assert isinstance(call, types.FunctionType)
    assert hints(call)["method"] == choices


def test_type_checkers_tell_sparse_matrices_from_others():
    """Convertible is what SciPy's matrices have, whatever the format, and arrays have not."""
    names = {name for name in dir(Convertible) if not name.startswith("_")}
    assert names == {"shape", "nnz", "tocsr"}
    for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"):
        for A in (sp.eye_array(2, format=form), sp.csr_matrix((2, 2)).asformat(form)):
            assert all(hasattr(A, name) for name in names)
            assert not callable(getattr(A, "get", None)) or form == "dok"
    assert not hasattr(np.eye(2), "nnz")
    assert hints(sm.maximum_transversal)["A"] == SparseLike | sm.DistributedCSR
    forms = [hints(call)["return"] for call in get_overloads(sm.block_triangular_form)]
    kinds = sm.BlockForm, sm.DistributedBlockForm
    assert forms == [kind for form in kinds for kind in (form, tuple[form, sm.RunInfo])]
    assert get_type_hints(solvers.analyse)["pivoting"] == Pivoting


@pytest.mark.parametrize(
    "module", [sm, csgraph, linalg, plot, solvers], ids=lambda module: module.__name__
)
def test_help_names_types_in_a_word(module):
    """No spelt-out union of protocols, no list of engines that belong to other back-ends."""
    for name in module.__all__:
        call = getattr(module, name)
        if isinstance(call, types.FunctionType):
            text = str(inspect.signature(call))
            assert "sparse_like" not in text
            assert "'auto', '" not in text
            assert "numpy." not in text


def test_small_results_are_shown_in_a_line():
    tall = sp.csr_array([[0, 1], [1, 0], [1, 1]])
    form = sm.block_triangular_form(tall)
    shown = {
        "Part(3x2)": form.vertical,
        "CoarseParts(horizontal 0x0, square 0x0, vertical 3x2)": sm.coarse_dulmage_mendelsohn(tall),
        "Components(3x2, 1 component)": sm.connected_components(tall),
        "VertexCover(rows 0, columns 2)": sm.vertex_cover(tall, form.matching),
        "TransversalILU(4x4, 8 entries)": solvers.spilu(sp.csc_array(A)),
    }
    assert [repr(value) for value in shown.values()] == list(shown)


def test_engines_are_shown_as_a_table():
    engines = sm.engines("exact")
    assert isinstance(engines, tuple)
    heads, *rows = repr(engines).splitlines()
    assert heads.split() == ["name", "kind", "backend", "workers", "summary"]
    assert [row.split()[0] for row in rows] == [engine.name for engine in engines]
    assert len({row.index("exact") for row in rows}) == 1
    assert repr(sm.engines("exact", backend="numpy")[:0]) == "()"


def test_a_run_is_shown_as_a_table_of_steps():
    _, info = sm.maximum_transversal(A, method="hopcroft_karp", init="cheap", return_info=True)
    head, heads, *rows = repr(info).splitlines()
    assert head.startswith("RunInfo: 4 pairs by method 'hopcroft_karp', init 'cheap', 1 worker, ")
    assert heads.split() == ["engine", "ms", "edges", "pairs"], "what there is something in"
    assert [row.split()[0] for row in rows] == ["cheap", "hopcroft_karp"]


def test_only_approximate_engines_have_a_guarantee():
    for engine in sm.engines(backend=None):
        assert (engine.guarantee is None) is (engine.kind != "approximate")


def test_host_memory_has_every_operation():
    for concept in vars(concepts).values():
        name = getattr(concept, "__name__", "")
        # those of devices alone, and of several ranks alone
        if name.endswith("Ops") and not name.startswith(("Device", "Distribut")):
            offered = operations(concept, "numpy")
            missing = concept()
            assert all(
                getattr(offered, name) is not getattr(missing, name)
                for name in concept.__annotations__
                if not name.startswith("distributed")  # of several ranks alone
            )


def test_an_operation_that_a_back_end_does_not_have():
    with pytest.raises(TypeError, match="in host memory only"):
        operations(concepts.WeightedOps, "cupy").least_cost(None, None)
    with pytest.raises(TypeError, match="in host memory only"):
        operations(concepts.DecompositionOps, "cupy").hall_violators(None, None, None, True)


def test_engines_do_not_replace_each_other():
    with pytest.raises(ValueError, match="registered already"):
        register(Engine(name="cheap", kind="heuristic", backend="numpy", summary="", improve=print))
