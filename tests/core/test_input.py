"""Every way to call the library wrongly: which exception, and a message that names the value."""

import itertools
import re

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from broken import CALLS
from sparsematch._engines.cpu import _core
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.bipartite import BipartiteCSR

pytestmark = pytest.mark.wheel

A = sp.csr_array(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]]))

#: The calls of a pattern.
NAMES = ["maximum_transversal", "structural_rank", "block_triangular_form", "connected_components"]
NAMES += ["is_structurally_singular", "is_reducible", "is_block_form", "is_matching", "is_maximal"]
NAMES += ["is_maximum", "vertex_cover"]


@pytest.fixture(params=NAMES)
def function(request):
    return CALLS[request.param]


def broken(form=sp.csr_array, **arrays):
    """A 3 by 4 matrix whose index arrays were overwritten after SciPy had checked them."""
    B = form(A)
    for name, values in arrays.items():
        setattr(B, name, np.asarray(values, getattr(B, name).dtype))
    return B


def says(*words):
    """A pattern for a message that has all of these in it, in any order."""
    return "".join(rf"(?=.*{re.escape(str(word))})" for word in words)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.eye(3), "ndarray"),
        ([[1, 0], [0, 1]], "list"),
        (None, "NoneType"),
        ("west0479.mtx", "str"),
        (7, "int"),
    ],
    ids=["array", "list", "None", "str", "int"],
)
def test_not_a_sparse_matrix(function, value, name):
    with pytest.raises(TypeError, match=says("A must be", "sparse", name)):
        function(value)


def test_one_dimension(function):
    with pytest.raises(ValueError, match=says("A", "two dimensions", 1)):
        function(sp.coo_array(np.array([1, 0, 2])))


@pytest.mark.parametrize("form", ["bsr", "dia", "dok", "lil"])
def test_slow_formats_warn_and_work(form):
    B = A.asformat(form)
    with pytest.warns(sp.SparseEfficiencyWarning, match="CSC, CSR, or COO") as record:
        m = sm.maximum_transversal(B)
    assert m.cardinality == 3
    assert record[0].filename == __file__, "the warning points at the caller"


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_index_out_of_range(function, form):
    """The entry, its row or column, and the size are all named."""
    for position, value in ((0, 4), (6, 2**31 - 1), (3, -1), (5, -(2**31))):
        B = broken(form, indices=np.where(np.arange(7) == position, value, form(A).indices))
        major = int(np.searchsorted(B.indptr, position, side="right")) - 1
        kind = "row" if form is sp.csr_array else "column"
        words = says(f"A.indices[{position}]", value, f"{kind} {major}")
        with pytest.raises(ValueError, match=words):
            function(B)


def test_index_out_of_range_beyond_32_bits(function):
    B = A.copy()
    B.indptr, B.indices = B.indptr.astype(np.int64), B.indices.astype(np.int64)
    for value in (2**32, -(2**40), 2**62):
        B.indices[4] = value
        with pytest.raises(ValueError, match=says("A.indices[4]", value, "row 2")):
            function(B)


@pytest.mark.parametrize(
    ("indptr", "words"),
    [
        ([1, 2, 4, 7], ("A.indptr[0]", 1)),
        ([-1, 2, 4, 7], ("A.indptr[0]", -1)),
        ([0, 4, 2, 7], ("A.indptr", "row 1", 4, 2)),
        ([0, -3, 4, 7], ("A.indptr", "row 0", 0, -3)),
        ([0, 2, 4, 8], ("A.indptr[-1]", 8, 7)),
        ([0, 2, 4, 2**31 - 1], ("A.indptr[-1]", 2**31 - 1, 7)),
        ([0, 2, 7], ("A.indptr", 3, 4)),
        ([0, 2, 4, 7, 7], ("A.indptr", 5, 4)),
        ([], ("A.indptr", 0, 4)),
    ],
    ids=str,
)
def test_row_pointers(function, indptr, words):
    with pytest.raises(ValueError, match=says(*words)):
        function(broken(indptr=indptr))


def test_index_arrays_of_other_types():
    B = A.copy()
    B.indices = B.indices.astype(float)
    with pytest.raises(TypeError, match=says("A.indices", "integers", "float64")):
        sm.structural_rank(B)
    B = A.copy()
    B.indptr = B.indptr.astype(np.uint16)
    assert sm.structural_rank(B) == 3
    B.indices = B.indices.astype(np.int64)
    assert sm.structural_rank(B) == 3
    assert sm.maximum_transversal(B).row_mate.dtype == np.int64


@pytest.mark.parametrize(
    ("n", "dtype"), [(2**31 - 100, np.int32), (2**31 - 1, np.int64), (2**31, np.int64)]
)
def test_as_many_columns_as_32_bits_can_number(n, dtype):
    """Blocks are numbered beyond the columns: 32 bits end before these do."""
    arrays = np.array([5, n - 1], np.int32), np.arange(3, dtype=np.int32)
    wide = sp.csr_array((np.ones(2), *arrays), shape=(2, n))
    assert as_bipartite(wide).dtype == dtype


@pytest.mark.parametrize(("argument", "other"), [("method", "cheap"), ("init", "hopcroft_karp")])
def test_unknown_engine(argument, other):
    """Also one that is of the other kind."""
    for name in ("hopcroft-karp", other):
        with pytest.raises(ValueError, match=says(argument, repr(name), "'auto'", "'none'")):
            sm.maximum_transversal(A, **{argument: name})
    for call in (sm.structural_rank, sm.block_triangular_form):
        with pytest.raises(ValueError, match=says("method", "'fastest'", "'auto'")):
            call(A, method="fastest")
    for value in (None, 3, sm.maximum_transversal, b"auto"):
        with pytest.raises(TypeError, match=says(argument, "string", type(value).__name__)):
            sm.maximum_transversal(A, **{argument: value})


WORKERS = [(n, ValueError) for n in (0, -2, 10**6)]
WORKERS += [(value, TypeError) for value in (2.0, "2", True)]


@pytest.mark.parametrize(
    "name", ["maximum_transversal", "structural_rank", "block_triangular_form", "is_reducible"]
)
@pytest.mark.parametrize(("value", "error"), WORKERS, ids=str)
def test_workers(name, value, error):
    words = says("workers", value if error is ValueError else type(value).__name__)
    with pytest.raises(error, match=words):
        getattr(sm, name)(A, workers=value)
    for wrong in (value, None):
        with pytest.raises((error, TypeError), match="workers"), sm.set_workers(wrong):
            pass


def test_options():
    for method, options, error, words in (
        ("hopcroft_karp", {"hkwd": True}, ValueError, ("hkwd", "'hkdw'")),
        ("hopcroft_karp", {"grafting": True}, ValueError, ["grafting"]),
        ("hopcroft_karp", {"hkdw": "yes"}, TypeError, ("hkdw", "str")),
        ("ms_bfs_graft", {"alpha": "5"}, TypeError, ("alpha", "str")),
        ("hopcroft_karp", ["hkdw"], TypeError, ("options", "list")),
    ):
        with pytest.raises(error, match=says(*words)):
            sm.maximum_transversal(A, method=method, options=options)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 0])
@pytest.mark.parametrize(("method", "option"), [("ms_bfs_graft", "alpha"), ("push_relabel", "k")])
def test_senseless_numbers(method, option, value):
    with pytest.raises(ValueError, match=says(option, value, "positive")):
        sm.maximum_transversal(A, method=method, options={option: value})


@pytest.mark.parametrize("value", ["7", 1.5, [1, "x"]], ids=str)
def test_rng(value):
    with pytest.raises((TypeError, ValueError)):
        sm.maximum_transversal(A, rng=value)


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError, match="positional"):
        sm.maximum_transversal(A, "auto")
    with pytest.raises(TypeError, match="nonsense"):
        sm.maximum_transversal(A, nonsense=1)


# An initial matching, and what is wrong with it.
STARTS = {
    "not an entry": (([2, -1, -1], [-1, -1, 0, -1]), ("row 0", "column 2", "A[0, 2]")),
    "one array, not an entry": ([-1, -1, 0], ("row 2", "column 0", "A[2, 0]")),
    "column does not agree": (([1, -1, -1], [-1, -1, -1, -1]), ("row 0", "column 1")),
    "row does not agree": (([-1, -1, -1], [-1, 2, -1, -1]), ("row 2", "column 1")),
    "two rows, one column": ([0, 0, -1], ("row", "column 0")),
    "no such column": ([4, -1, -1], ("row 0", 4)),
    "no such row": (([-1, -1, -1], [3, -1, -1, -1]), ("column 0", 3)),
    "negative": ([-2, -1, -1], ("row 0", -2)),
    "too long": ([-1, -1, -1, -1], (4, 3)),
    "too short": (([-1, -1], [-1, -1, -1, -1]), (2, 3)),
    "columns too short": (([-1, -1, -1], [-1, -1, -1]), (3, 4)),
}


@pytest.mark.parametrize("case", STARTS)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_wrong_start(case, form):
    start, words = STARTS[case]
    start = tuple(map(np.array, start)) if isinstance(start, tuple) else np.array(start)
    with pytest.raises(ValueError, match=says("initial is not a matching", *words)):
        sm.maximum_transversal(form(A), initial=start)
    with pytest.raises(ValueError, match=says("matching is not a matching", *words)):
        sm.block_triangular_form(form(A), matching=start)


def test_start_of_the_wrong_type():
    with pytest.raises(TypeError, match=says("initial", "integers", "float")):
        sm.maximum_transversal(A, initial=np.array([0.5, -1, -1]))
    with pytest.raises((TypeError, ValueError), match="initial"):
        sm.maximum_transversal(A, initial="cheap")
    with pytest.raises(ValueError, match=says("initial", 2)):
        sm.maximum_transversal(A, initial=np.full((3, 4), -1))


def test_permute_another_shape():
    form = sm.block_triangular_form(A)
    with pytest.raises(ValueError, match=says("(3, 4)", "(4, 3)")):
        form.permute(A.T)


def test_engines_of_an_unknown_kind():
    with pytest.raises(ValueError, match=says("kind", "'fast'", "'exact'", "'heuristic'")):
        sm.engines("fast")


def test_an_answer_that_does_not_fit_into_memory():
    with pytest.raises(MemoryError):
        sm.maximum_transversal(sp.csr_array((np.ones(1), [2**50], [0, 1]), shape=(1, 2**50 + 1)))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_arrays_that_an_engine_would_read_beyond_are_refused(dtype):
    """All of three rows, with the ends of the type among them: differences wrap around."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    for indptr in itertools.product([0, 1, 3, 4, -1, least, most], repeat=4):
        for indices in ([0, 1, 2], [0, 3, 1], [2, 0, -1], [least, 0, 1], [0, most, 1]):
            ends = [0, *indptr[1:]]
            legal = list(indptr) == ends == sorted(ends) and ends[-1] <= len(indices)
            legal = legal and all(0 <= j < 3 for j in indices[: indptr[-1]])
            arrays = np.array(indptr, dtype), np.array(indices, dtype)
            counted = _core.count_entries(BipartiteCSR(3, 3, *arrays, "numpy"), 1)
            assert counted == (indptr[-1] if legal else -1), (indptr, indices)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("place", [0, 1, 16383, 16384, 262143, 262144, 599_998, 599_999])
def test_one_index_too_many_is_found_wherever_it_is(place, workers):
    """At the ends of the pieces that threads read, and of vectors."""
    indptr, indices = np.arange(600_001), np.zeros(600_000, np.intp)
    graph = BipartiteCSR(600_000, 1, indptr, indices, "numpy")
    assert _core.count_entries(graph, workers) == 600_000
    indices[place] = 1
    assert _core.count_entries(graph, workers) == -1
    indices[place], indptr[place + 1] = 0, -1
    assert _core.count_entries(graph, workers) == -1


@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
def test_repeats_by_coordinates_add_up_to_more_than_their_type_holds(kind):
    weights = np.array([100, 100, 100, 100, 50, 50], np.int8)
    A = kind((weights, ([0, 0, 1, 1, 1, 2], [1, 1, 0, 0, 2, 1])), shape=(3, 3))
    assert sm.approximate_matching(A).mate.tolist() == [1, 0, -1]
    assert sm.maximum_weight_matching(A).objective == 400
    assert A.nnz == 6
    assert not A.has_canonical_format
