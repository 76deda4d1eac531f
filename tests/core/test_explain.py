"""Explanations: pieces by definition, every conflict one and minimal, advice that works."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import oracle
import sparsematch as sm
import suitesparse
from calls import frozen, random_matrix
from gallery import GALLERY
from strategies import INDEX_TYPES, larger, matrices, with_index_type

pytestmark = [pytest.mark.asan, pytest.mark.wheel]


def sides(A, why):
    """Each part, the matrix whose rows are too many in it, and its fields from that side."""
    A = sp.csr_array(A)
    yield why.overdetermined, A, ("rows", "cols")
    yield why.underdetermined, sp.csr_array(A.T), ("cols", "rows")


def neighbours(A, rows):
    lists = [A.indices[A.indptr[i] : A.indptr[i + 1]] for i in rows]
    return np.unique(np.concatenate(lists or [[]])).astype(int)


def check_conflict(A, rows, cols):
    """Too few columns by one, and no proper subset has too few.

    With the columns matched, one row is left; whatever has too few columns holds it, and with a row
    all that the row's columns are matched to. If this leads everywhere, the whole is the only such
    set.
    """
    assert neighbours(A, rows).tolist() == cols.tolist()
    assert len(cols) == len(rows) - 1
    block = sp.csr_array(A[rows][:, cols])
    mate, n = np.zeros(0, int), len(rows)
    if len(cols):
        narrow = with_index_type(block.sorted_indices(), np.int32)
        mate = sp.csgraph.maximum_bipartite_matching(narrow, perm_type="row")
    assert np.all(mate >= 0)
    entries = block.tocoo()
    arcs = entries.row, mate[entries.col]
    leads_to = sp.csr_array((np.ones(entries.nnz), arcs), shape=(n, n))
    free = (set(range(n)) - set(mate.tolist())).pop()
    reached = sp.csgraph.breadth_first_order(leads_to, free, return_predecessors=False)
    assert len(reached) == n


def check(A, why, most=None):
    """Everything an explanation says, against the definitions."""
    form = sm.block_triangular_form(A)
    assert (sm.is_block_form(A, form), why.shape) == (True, A.shape)
    assert why.structural_rank == form.structural_rank
    assert why.is_singular == (form.structural_rank < min(A.shape))
    assert why.overdetermined.rows.tolist() == sorted(form.vertical.rows.tolist())
    assert why.overdetermined.cols.tolist() == sorted(form.vertical.cols.tolist())
    assert why.underdetermined.rows.tolist() == sorted(form.horizontal.rows.tolist())
    assert why.underdetermined.cols.tolist() == sorted(form.horizontal.cols.tolist())
    for part, B, (many, few) in sides(A, why):
        pieces = part[:most]
        sizes = [getattr(piece.conflict, many).size for piece in pieces]
        assert sizes == sorted(sizes), "the shortest first"
        if len(part) == len(pieces):
            check_pieces(B, part, many, few)
        for piece in pieces:
            rows = getattr(piece.conflict, many)
            assert piece.candidates.tolist() == rows.tolist()
            assert piece.surplus == getattr(piece, many).size - getattr(piece, few).size > 0
            assert set(rows.tolist()) <= set(getattr(piece, many).tolist())
            check_conflict(B, rows, getattr(piece.conflict, few))


def check_pieces(A, part, many, few):
    """The pieces divide the part, into connected pieces without entries between them."""
    rows, cols = getattr(part, many), getattr(part, few)
    for field, whole in ((many, rows), (few, cols)):
        members = np.concatenate([getattr(piece, field) for piece in part] or [[]])
        assert sorted(members.tolist()) == whole.tolist()
    n, labels, _ = sm.connected_components(A[rows][:, cols])
    assert len(part) == n
    found = {frozenset(getattr(piece, many).tolist()) for piece in part}
    assert found == {frozenset(rows[labels == k].tolist()) for k in range(n)}
    assert sum(piece.surplus for piece in part) == part.surplus


def test_gallery(matrix):
    for form in (sp.csr_array, sp.csc_array, sp.coo_array):
        check(matrix, sm.explain_singularity(form(matrix)))


@given(matrices() | larger())
def test_random_matrices(A):
    check(A, sm.explain_singularity(A))


@given(matrices() | larger())
def test_no_other_conflict_on_fewer_of_its_columns(A):
    """Small matrices are within the budget: without any one column, the rows can be matched."""
    for part, B, (many, few) in sides(A, sm.explain_singularity(A)):
        for piece in part:
            cols = getattr(piece.conflict, few).tolist()
            for c in cols:
                left = set(cols) - {c}
                rows = getattr(piece, many).tolist()
                rows = [i for i in rows if left.issuperset(neighbours(B, [i]).tolist())]
                assert sm.structural_rank(sp.csr_array(B[rows])) == len(rows)


@given(matrices())
def test_the_advice_works(A):
    """Without any one candidate a row less is too many; the missing entries give full rank."""
    why, dense = sm.explain_singularity(A), oracle.as_csr(A).toarray()
    for piece in why.overdetermined:
        for i in piece.candidates:
            less = sm.explain_singularity(sp.csr_array(np.delete(dense, i, axis=0)))
            assert less.overdetermined.surplus == why.overdetermined.surplus - 1
            assert less.structural_rank == why.structural_rank
    rows, cols = why.missing_entries
    assert len(rows) == min(A.shape) - why.structural_rank
    full = dense.copy()
    full[rows, cols] = 1
    assert sm.structural_rank(sp.csr_array(full)) == min(A.shape)
    raising = np.zeros(A.shape, bool)
    raising[np.ix_(why.overdetermined.rows, why.underdetermined.cols)] = True
    for i, j in np.argwhere(dense == 0)[:40]:
        more = dense.copy()
        more[i, j] = 1
        assert (sm.structural_rank(sp.csr_array(more)) > why.structural_rank) == raising[i, j]


@pytest.mark.parametrize("dtype", INDEX_TYPES)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_index_types_and_input_untouched(dtype, form):
    A = frozen(with_index_type(form(GALLERY["three_coarse_parts"]()), dtype))
    why = sm.explain_singularity(A)
    for piece in (why.overdetermined[0], why.underdetermined[0]):
        arrays = piece.rows, piece.cols, piece.conflict.rows, piece.conflict.cols
        assert {array.dtype for array in arrays} == {np.dtype(dtype)}
    assert {array.dtype for array in why.missing_entries} == {np.dtype(dtype)}
    check(A, why)


def test_any_engine_and_a_given_matching(exact):
    A = random_matrix(60, 55, 2, seed=31)
    check(A, sm.explain_singularity(A, method=exact.name, workers=2))
    m = sm.maximum_transversal(A, method=exact.name)
    why = sm.explain_singularity(A, matching=m)
    assert why.matching == m
    check(A, sm.explain_singularity(A, matching=sm.maximum_transversal(A, method="none")))


def test_a_short_conflict_is_found_among_many():
    """Two rows with the same column, among 300 rows too many: not the first conflict found."""
    rng = np.random.default_rng(5)
    dense = sp.random_array((600, 300), density=0.03, random_state=rng, format="lil")
    dense[450:452] = 0
    dense[450:452, 7] = 1
    dense = sp.csr_array(dense)
    why = sm.explain_singularity(dense)
    check(dense, why)
    assert len(why.overdetermined[0].conflict.rows) <= 2


def test_text_with_names():
    A = GALLERY["hall_violator"]()
    why = sm.explain_singularity(A, list("abcde"), np.array(list("uvwxy")))
    text = str(why)
    assert "Structurally singular: 5 equations, 5 variables, but rank 4 at most" in text
    assert "equations: a, b, c\n" in text
    assert "variables: u, v\n" in text
    assert "counted from 0" not in text
    assert why.row_names == tuple("abcde")
    assert why.row_name(1) == "b"
    assert why.text() == text


def test_long_lists_are_cut():
    pairs = sp.block_diag([sp.csr_array(np.ones((2, 1)))] * 50)
    why = sm.explain_singularity(sp.block_diag([pairs, pairs.T]))
    assert "and 47 more pieces" in str(why)
    assert len(str(why).splitlines()) < 40
    assert why.text(max_pieces=50).count("to do:") == 100
    why = sm.explain_singularity(sp.csr_array(np.ones((40, 39))))
    assert "and 28 more" in why.text()
    assert "row 39" in why.text(max_names=40)


def test_pieces_are_a_sequence():
    why = sm.explain_singularity(GALLERY["two_components"]())
    part = why.overdetermined
    assert isinstance(part, sm.DeficientPieces)
    for k, piece in enumerate(part):
        assert piece.rows.tolist() == part[k].rows.tolist()
    assert part[-1].rows.tolist() == part[len(part) - 1].rows.tolist()
    assert isinstance(part[0], sm.DeficientPiece)
    with pytest.raises(IndexError):
        part[len(part)]
    sizes = [piece.candidates.size for piece in why.pieces]
    assert sizes == sorted(sizes)
    assert len(sizes) == len(part) + len(why.underdetermined)


def test_repr_and_dict():
    why = sm.explain_singularity(GALLERY["hall_violator"](), row_names=["a", "b", "c", "d", "e"])
    assert isinstance(why, sm.Explanation)
    assert repr(why) == "Explanation(5x5, structural rank 4: 1 row too many, 1 column too many)"
    assert repr(why.overdetermined) == "DeficientPieces(1 piece, rows 1 too many)"
    assert repr(why.overdetermined[0]) == "DeficientPiece(3x2, rows 1 too many, conflict 3x2)"
    fields = json.loads(json.dumps(why.to_dict()))
    (piece,) = fields["overdetermined"]["pieces"]
    assert piece["conflict_row_names"] == ["a", "b", "c"]
    assert piece["conflict_cols"] == [0, 1]
    assert "conflict_col_names" not in piece
    cut = sm.explain_singularity(sp.csr_array((9, 9))).to_dict(max_pieces=2)
    assert cut["underdetermined"]["n_pieces"] == 9


@pytest.mark.parametrize(
    ("names", "error", "words"),
    [
        (["a"], ValueError, "row_names has 1 name, but the matrix has 5 rows"),
        ("abcde", TypeError, "row_names must be a sequence with the names of all rows, not str"),
        ({"a": 1}, TypeError, "row_names must be a sequence with the names of all rows, not dict"),
        (7, TypeError, "row_names must be a sequence with the names of all rows, not int"),
    ],
)
def test_wrong_names(names, error, words):
    with pytest.raises(error, match=words):
        sm.explain_singularity(GALLERY["hall_violator"](), names)


@pytest.mark.parametrize("argument", ["max_pieces", "max_names"])
def test_counts_of_the_text_are_checked(argument):
    why = sm.explain_singularity(sp.csr_array((2, 2)))
    with pytest.raises(ValueError, match=f"{argument} is -1"):
        why.text(**{argument: -1})
    with pytest.raises(TypeError, match=f"{argument} must be an integer"):
        why.text(**{argument: 1.5})


def slow_cases():
    """Shapes on which a search without its budget, or a copy per piece, is quadratic: minutes."""
    n = 60_000
    yield "no entries", sp.csr_array((n, n))
    yield "one column", sp.csr_array(np.ones((n, 1)))
    yield "chain", sp.csr_array(sp.eye_array(n + 1, n) + sp.eye_array(n + 1, n, k=-1))
    yield "bands, many too many", random_matrix(2 * n, n, 6, seed=3)
    chains = [sp.eye_array(n), sp.eye_array(n, k=1), np.ones((2, n))]
    yield "star of chains", sp.csr_array(sp.vstack(chains))


@pytest.mark.large
@pytest.mark.parametrize("case", list(slow_cases()), ids=lambda case: case[0])
def test_long_pieces(case):
    check(case[1], sm.explain_singularity(case[1]), most=3)


@pytest.mark.large
@pytest.mark.parametrize(
    "name", suitesparse.cases(lambda row: not row["sprank"] == row["rows"] == row["cols"])
)
def test_real_data(name):
    A = sp.csr_array(suitesparse.load(name))
    why = sm.explain_singularity(A)
    check(A, why, most=200)
    assert str(why)


def test_long_lists_count_the_members_of_a_family():
    names = [f"balance[{k}]" for k in range(40)] + ["feed[1]", "flow[a,Liq].T", "flow[b].T"]
    tall = sp.csr_array(np.ones((43, 42)))
    why = sm.explain_singularity(tall, names)
    assert "equations: balance[*] (40), feed[1], flow[*].T (2)\n" in str(why)
    assert "equations: balance[*] (40) and 3 more of 2 families\n" in why.text(max_names=1)
    assert "equations: balance[0], balance[1]" in why.text(max_names=43)
    indexed = [f"unit[{k // 20}].flow[0.0,{k},{'abc'[k % 3]}]" for k in range(40)]
    indexed += ["x[1].y[1,2]", "x[2].y[1]", "x[2].y[z]"]
    text = sm.explain_singularity(tall, indexed).text(max_names=3)
    assert "equations: unit[*].flow[0.0,*,*] (40), x[*].y[*] (3)\n" in text


def test_long_lines_are_broken_between_names():
    A = sp.csr_array(np.ones((40, 3)))
    rows = [f"balance[{i}] of energy = inflow - outflow" for i in range(40)]
    lines = str(sm.explain_singularity(A, rows)).splitlines()
    assert max(map(len, lines)) <= 100
    assert f"     equations: {rows[0]}, {rows[1]}," in lines
    assert f"{'':16}{rows[2]}, {rows[3]}" in lines
    long = ["x" * 120, "a", "b"]
    assert (
        f"     equations: {long[0]}," in str(sm.explain_singularity(A[:3, :1], long)).splitlines()
    )


def test_long_equations_are_broken_between_terms():
    A = np.diag(np.full(9, 2.0)) + 1
    A[8] = A[:8].sum(axis=0)
    names = [f"a rather long name {i}" for i in range(9)]
    lines = str(sm.explain_singularity(sp.csr_array(A), names, numeric=True)).splitlines()
    assert f"  {' + '.join(names[:4])}" in lines
    assert f"    + {' + '.join(names[4:8])}" in lines
    assert f"    - {names[8]} = 0" in lines


def test_stored_zeros_are_counted_and_what_they_change_is_said():
    A = sp.csr_array(([1.0, 0.0, 0.0, 2.0], ([0, 1, 1, 0], [0, 1, 0, 1])), shape=(2, 3))
    why = sm.explain_singularity(A)
    assert (why.structural_rank, why.stored_zeros, why.rank_without_zeros) == (2, 2, 1)
    assert "Entries include 2 stored zeros; without zeros the structural rank is 1 of 2." in str(
        why
    )
    assert why.to_dict()["rank_without_zeros"] == 1
    why = sm.explain_singularity(sm.view(A, zeros="drop"))
    assert (why.structural_rank, why.stored_zeros, why.rank_without_zeros) == (1, 2, None)
    assert "2 stored zeros dropped." in str(why)
    assert "zero" not in str(sm.explain_singularity(sp.csr_array(np.ones((2, 3)))))
    check(sp.csr_array(A.toarray()), why)


def test_zeros_among_duplicates_and_without_values():
    cancelled = sp.coo_array(([1, -1, 1], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    why = sm.explain_singularity(cancelled)
    assert (why.structural_rank, why.stored_zeros, why.rank_without_zeros) == (2, 1, 1)
    pattern = sm.BipartiteCSR.from_arrays([0, 1, 2], [0, 1], (2, 2))
    assert sm.explain_singularity(pattern).stored_zeros == 0
