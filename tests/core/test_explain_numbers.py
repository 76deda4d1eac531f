"""What is said of a matrix whose numbers make it singular: in words, as data, for LaTeX."""

import dataclasses
import functools
import json
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
import sparsematch._blame.defects
from sparsematch import Dependence, Explanation, NumericalDefects, SingularBlock

pytestmark = pytest.mark.wheel

# Two resistors between three nodes, none of which is grounded.
FLOATING = sp.csr_array([[1.5, -1.5, 0.0], [-1.5, 3.5, -2.0], [0.0, -2.0, 2.0]])
NODES, POTENTIALS = ["node[a]", "node[b]", "node[c]"], ["u[a]", "u[b]", "u[c]"]

# A resistor and a capacitor in a loop without ground: two singular blocks, one deficiency.
LOOP = {
    "R.v=R.p.v-R.n.v": {"R.v": 1, "R.p.v": -1, "R.n.v": 1},
    "0=R.p.i+R.n.i": {"R.p.i": 1, "R.n.i": 1},
    "R.i=R.p.i": {"R.i": 1, "R.p.i": -1},
    "R.v=R*R.i": {"R.v": 1, "R.i": -1},
    "C.v=C.p.v-C.n.v": {"C.p.v": 1, "C.n.v": -1},
    "0=C.p.i+C.n.i": {"C.p.i": 1, "C.n.i": 1},
    "C.i=C.p.i": {"C.i": 1, "C.p.i": -1},
    "C.i=C*der(C.v)": {"C.i": 1, "der(C.v)": -1},
    "R.p.v=C.p.v": {"R.p.v": 1, "C.p.v": -1},
    "R.n.v=C.n.v": {"R.n.v": 1, "C.n.v": -1},
    "0=R.p.i+C.p.i": {"R.p.i": 1, "C.p.i": 1},
    "0=R.n.i+C.n.i": {"R.n.i": 1, "C.n.i": 1},
}


def loop():
    names = list(dict.fromkeys(name for terms in LOOP.values() for name in terms))
    A = sp.lil_array((12, 12))
    for i, terms in enumerate(LOOP.values()):
        for name, value in terms.items():
            A[i, names.index(name)] = value
    return A.tocsc(), list(LOOP), names


def dependence(side, indices, coefficients, residual=0.0):
    values = np.asarray(coefficients)
    return Dependence(side, np.asarray(indices), values / np.abs(values).max(), residual)


def defects(n, equations=(), variables=(), blocks=()):
    return NumericalDefects(n, equations, variables, blocks, 1e-10)


def explained(monkeypatch, found, names=None):
    """The explanation of a matrix in which this is found."""
    module = types.SimpleNamespace(numerical_defects=lambda A, missing, tolerance: found)
    monkeypatch.setitem(sys.modules, "sparsematch._blame.defects", module)
    return sm.explain_singularity(sp.eye_array(found.n, format="csr"), names, names, numeric=True)


def test_a_part_without_a_reference():
    why = sm.explain_singularity(FLOATING, NODES, POTENTIALS, numeric=True)
    text = str(why)
    assert text.startswith("Numerically singular: 3 equations, 3 variables, but rank 2 with these")
    assert "Dependent: 3 equations, each of which follows from the others\n" in text
    assert "\n  node[a] + node[b] + node[c] = 0\n" in text
    shift = "3 variables without a reference may all shift by one amount: u[a], u[b], u[c]\n"
    assert f"\nFree: {shift}  to do: fix one of these variables (any will do) as the" in text
    assert text.index("Free") < text.index("Dependent")
    assert (why.is_singular, why.is_numerically_singular, why.numbers.rank) == (False, True, 2)
    assert sm.explain_singularity(FLOATING).is_numerically_singular is None


def test_two_singular_blocks_with_one_deficiency():
    A, equations, variables = loop()
    text = str(sm.explain_singularity(A, equations, variables, numeric=True))
    first, _, blocks = text.partition("Where: ")
    balances = "(0=R.p.i+R.n.i) + (0=C.p.i+C.n.i) - (0=R.p.i+C.p.i) - (0=R.n.i+C.n.i) = 0"
    assert balances in first
    assert "may all shift by one amount: R.p.v, R.n.v, C.p.v, C.n.v\n" in first
    assert "R.v=R" not in first  # the voltage equations are not redundant
    assert blocks.startswith("in these diagonal blocks of the block triangular form (c")
    assert "Alone, these blocks lack 2 of the rank; with what couples them, it is only 1." in blocks


def test_equal_rows_of_a_large_block():
    rng = np.random.default_rng(1)
    A = (sp.random_array((30, 30), density=0.15, rng=rng) + 3 * sp.eye_array(30)).tolil()
    A[17] = A[4]
    why = sm.explain_singularity(A.tocsr(), numeric=True)
    assert why.numbers.equations[0].indices.tolist() == [4, 17]
    assert "  row 17 is the same as row 4\n" in str(why)
    assert str(why).endswith("Rows and columns are counted from 0.")


def test_what_is_replaced_as_advised_makes_the_matrix_nonsingular():
    """Also where dependences share members: three equal rows, three columns of one ratio."""
    rng = np.random.default_rng(4)
    dense = rng.integers(1, 9, (8, 8)).astype(float)
    dense[[2, 5]] = dense[1], 2 * dense[1]
    dense[:, [0, 3]] = dense[:, [6, 6]] * [1, -3]
    why = sm.explain_singularity(sp.csc_array(dense), numeric=True)
    rows, cols = why.numbers.one_choice
    assert len(set(rows.tolist())) == len(set(cols.tolist())) == 8 - why.numbers.rank
    assert why.numbers.rank == np.linalg.matrix_rank(dense)
    dense[rows] = 0
    dense[rows, cols] = 1
    assert np.linalg.matrix_rank(dense) == 8


def test_advice_prefers_the_singular_block():
    """Variables 0 and 1 follow from those that a block leaves free; so do equations, transposed."""
    A = sp.csc_array([[1, 0, -1, 0], [0, 1, 0, 1], [0, 0, 1, -1], [0, 0, -1, 1]])
    for matrix in (A, sp.csc_array(A.T)):
        why = sm.explain_singularity(matrix, numeric=True)
        assert why.numbers.variables[0].size + why.numbers.equations[0].size == 4 + 2
        assert all(chosen.min() >= 2 for chosen in why.numbers.one_choice)


@pytest.mark.parametrize(
    ("coefficients", "equation"),
    [
        ([0.5, 1], "0.5 * a + b = 0"),
        ([-0.5, 1], "0.5 * a - b = 0"),
        ([1, -1], "a - b = 0"),
        ([1, 2, 3], "a + 2 * b + 3 * c = 0"),
        ([-2, 3, 7], "2 * a - 3 * b - 7 * c = 0"),
        ([1, 0.123456789, -1e-9], "a + 0.1235 * b - 1e-09 * c = 0"),
        ([1, 0.5j, -1], "a + 0.5j * b - c = 0"),
    ],
)
def test_coefficients_are_short(coefficients, equation, monkeypatch):
    dependences = (dependence("rows", range(len(coefficients)), coefficients),)
    pair = (dependence("rows", [3, 4], [1, 1]),)  # a second one, so that each is numbered
    why = explained(monkeypatch, defects(5, dependences + pair), list("abcde"))
    if len(coefficients) > 2:
        assert f"     {equation}\n" in str(why)
    latex = why.to_latex()
    assert "e is d with the opposite sign" in latex
    plain = sm._text.combination.combination(
        np.arange(len(coefficients)), dependences[0].coefficients, names(list("abcde")), 12
    )
    assert str(plain) == equation


def names(given):
    from sparsematch._text.name_lists import Names

    return Names(tuple(given), "row")


def test_pairs_and_ratios_in_words(monkeypatch):
    equations = (
        dependence("rows", [0, 1], [2, -1]),
        dependence("rows", [2, 3], [1, -1], 1e-12),
        dependence("rows", [4, 5], [1, 1]),
    )
    variables = (
        dependence("columns", [0, 1], [1, -2], 1e-12),
        dependence("columns", [2, 3, 4], [1, -2, 4]),
        dependence("columns", [5, 6], [1, 1]),
    )
    text = str(explained(monkeypatch, defects(7, equations, variables), list("abcdefg")))
    assert text.startswith("Nearly singular: 7 equations, 7 variables, but rank 4 to 12 digits.")
    assert "Dependent: 6 equations, 3 too many\n  1. 2 equations, one a multiple of" in text
    assert "     b is 2 * a\n" in text
    assert "one a multiple of the other (to 12 digits)\n     d is the same as c\n" in text
    assert "     f is e with the opposite sign\n" in text
    assert "drop one equation of each, for example a, c, e, or correct a coefficient;\n" in text
    assert "2 variables occur in one combination only (to 12 digits): a + 0.5 * b\n" in text
    assert "no equation notices: c by 0.25; d by -0.5; e by 1\n" in text
    assert "2 variables without a reference may all shift by one amount: " in text
    assert "a in the place of" not in text.replace("b in the place of a", "")


def test_long_ones_are_cut(monkeypatch):
    named = [f"balance[{k}]" for k in range(30)] + ["feed"] + [f"x{k}" for k in range(29)]
    equations = (
        dependence("rows", range(31), [1] * 30 + [-1]),
        dependence("rows", range(60), np.linspace(1, 3, 60)),
    )
    variables = (dependence("columns", range(31, 60), np.linspace(1e-5, 1, 29)),) * 2
    why = explained(monkeypatch, defects(60, equations, variables), named)
    text = str(why)
    assert "     sum of balance[*] (30) - feed = 0\n" in text
    assert " and 48 more = 0\n" in text
    assert "x27 by 0.9643;" in text
    assert " and 17 more\n" in text
    assert "  and 1 more\n" in why.text(max_pieces=1)
    assert len(why.to_dict(max_pieces=1)["numbers"]["dependent_equations"]) == 1
    single = str(explained(monkeypatch, defects(60, (), variables[:1]), named))
    assert "to do: fix one of these variables (best a large change)" in single


def test_blocks_without_a_dependence(monkeypatch):
    members = np.arange(3)
    block = SingularBlock(2, members, members, (), (), 1e-12)
    why = explained(monkeypatch, defects(5, (), (), (block,)), list("abcde"))
    text = str(why)
    assert "rank 5, but solutions lose 12 of 16 digits.\n" in text
    assert "Where: in these diagonal blocks of the block" in text
    assert "  block 2: 3 x 3, 12 of 16 digits lost\n     equations: a, b, c\n" in text
    assert why.is_numerically_singular is False


def test_many_multiples_are_one_set(monkeypatch):
    equations = (
        dependence("rows", [0, 1], [1, -1]),
        dependence("rows", [0, 5], [1, -1], 1e-12),
        dependence("rows", [1, 4], [2, -1]),
    )
    variables = (
        dependence("columns", [0, 1], [1, -2]),
        dependence("columns", [1, 2], [1, 1]),
        dependence("columns", [3, 4, 5], [1, 1, 1]),
    )
    text = str(explained(monkeypatch, defects(6, equations, variables), list("abcdef")))
    assert "Dependent: 4 equations, multiples of one another (to 12 digits)\n" in text
    assert "\n  b, f are the same as a\n  e is 2 * a\n" in text
    assert "to do: drop 3 equations, for example a, b, f, or correct a coefficient;\n" in text
    assert "unless the right-hand sides cancel as well, solutions are huge\n" in text
    assert "Free: 6 variables, 3 too many\n  1. 3 variables occur in one combination only: " in text
    assert "To make it nonsingular, do both" in text


def test_one_side_that_vanishes_proves_it(monkeypatch):
    rows = (dependence("rows", [0, 1], [1, 1], 1e-16),)
    cols = (dependence("columns", [1, 2], [1, 2], 1e-12),)
    text = str(explained(monkeypatch, defects(3, rows, cols)))
    assert text.startswith("Numerically singular: 3 equations, 3 variables, but rank 2 with these")


def test_what_only_qr_finds_is_named(monkeypatch):
    """Another singular value is near the tolerance, so that the rank is not settled."""
    rng = np.random.default_rng(3)
    A = np.zeros((9, 9))
    A[:5, :5], A[5:, 5:] = rng.standard_normal((5, 5)), rng.standard_normal((4, 4))
    A[4, :5] = A[0, :5] - 2 * A[1, :5] + 1e-9 * rng.standard_normal(5)
    A[:, 8] = 2 * A[:, 7]
    nothing = NumericalDefects(9, (), (), (), 1e-10, is_complete=False)
    some = defects(
        9, (dependence("rows", [0, 1], [1, 1]),), (dependence("columns", [0, 1], [1, 1]),)
    )
    some = dataclasses.replace(some, is_complete=False)
    for known, named in ((nothing, [7, 8]), (some, [0, 1])):
        found = functools.partial(lambda known, *_, **__: known, known)
        monkeypatch.setattr(sparsematch._blame.defects, "numerical_defects", found)
        why = sm.explain_singularity(sp.csr_array(A), numeric=True)
        assert why.numbers.variables[0].indices.tolist() == named
        assert "Numerically singular: 9 equations, 9 variables, but rank at most 8" in str(why)


def test_where_one_block_is_singular():
    A = sp.block_diag([FLOATING, [[2.0]]], format="csr")
    text = str(sm.explain_singularity(A, numeric=True))
    assert (
        "in diagonal block 0 of the block triangular form (counted from 0), 3 x 3, rank 2" in text
    )
    assert "Where" not in str(sm.explain_singularity(FLOATING, numeric=True))


def test_structure_comes_first_and_zeros_are_dropped():
    hidden = FLOATING.copy()
    hidden[0, 0] = hidden[0, 1] = 0
    why = sm.explain_singularity(hidden, numeric=True)
    assert (why.is_singular, why.structural_rank, why.stored_zeros) == (True, 2, 2)
    assert (why.numbers.rank, why.rank_without_zeros) == (2, None)
    lines = str(why).splitlines()
    assert lines[0].startswith("Structurally singular")
    assert lines[1:3] == [
        "2 stored zeros dropped.",
        "With these values the rank is 2, no less.",
    ]
    wide = sm.explain_singularity(sp.csr_array(np.ones((2, 3))), numeric=True)
    assert wide.numbers.rank == 1


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.int64, np.float32, np.complex64, np.longdouble]
)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_types_of_values(dtype, form):
    A = sp.csr_array(np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype)).asformat(form)
    kept = A.copy()
    why = sm.explain_singularity(A, numeric=True)
    assert why.numbers.equations[0].indices.tolist() == [0, 1]
    assert abs(A - kept).nnz == 0


def test_complex_numbers_are_written_as_pairs():
    A = sp.csr_array([[1, 1j, 0], [2j, -2, 0], [0, 1, 1]])
    why = sm.explain_singularity(A, numeric=True)
    fields = json.loads(json.dumps(why.to_dict()))["numbers"]
    (one,) = fields["dependent_equations"]
    assert len(one["coefficients"]) == 2
    assert [len(parts) for parts in one["coefficients"]] == [2, 2]
    assert "row 1 is 2j * row 0\n" in str(why)


def test_dict_and_repr():
    why = sm.explain_singularity(FLOATING, NODES, POTENTIALS, numeric=True)
    assert repr(why) == "Explanation(3x3, structural rank 3: full, rank 2 in numbers)"
    fields = json.loads(json.dumps(why.to_dict()))["numbers"]
    assert (fields["rank"], fields["singular"], fields["tolerance"]) == (2, True, 1e-10)
    (one,) = fields["free_variables"]
    assert (one["indices"], one["coefficients"]) == ([0, 1, 2], [1.0, 1.0, 1.0])
    assert one["names"] == POTENTIALS
    assert one["residual"] < 1e-14
    assert fields["one_choice"] == {"rows": [0], "cols": [0]}
    assert fields["blocks"][0]["deficiency"] == 1
    assert sm.explain_singularity(FLOATING).to_dict()["numbers"] is None


def test_latex():
    A = sp.csr_array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0]])
    why = sm.explain_singularity(A, ["heat", r"m_A\{50%}", "sum"], numeric=True)
    lines = why.to_latex().splitlines()
    escaped = r"m\_A\textbackslash{}\{50\%\}"
    assert rf"\item $\text{{heat}} + \text{{{escaped}}} - \text{{sum}} = 0$" in lines
    assert lines.count(r"\begin{itemize}") == lines.count(r"\end{itemize}") > 1
    structural = sm.explain_singularity(sp.csr_array(np.ones((3, 2)))).to_latex()
    assert r"\item equations: row 0, row 1, row 2" in structural
    assert isinstance(why, Explanation)


@pytest.mark.parametrize(
    ("value", "words"),
    [(np.nan, r"A\[1, 2\] is nan, but values must be finite"), (-np.inf, r"A\[1, 2\] is -inf")],
)
def test_values_must_be_finite(value, words):
    A = FLOATING.copy()
    A[1, 2] = value
    with pytest.raises(ValueError, match=words):
        sm.explain_singularity(A, numeric=True)


@pytest.mark.parametrize(
    ("tolerance", "error", "words"),
    [
        (0, ValueError, "tolerance is 0, but must be between 0 and 1"),
        (np.nan, ValueError, "tolerance is nan"),
        ("small", TypeError, "tolerance must be a number, not str"),
        (True, TypeError, "tolerance must be a number, not bool"),
    ],
)
def test_tolerance_is_checked(tolerance, error, words):
    with pytest.raises(error, match=words):
        sm.explain_singularity(FLOATING, numeric=True, tolerance=tolerance)


def test_tolerance_decides():
    A = FLOATING.copy()
    A[0, 0] *= 1 + 1e-8
    assert not sm.explain_singularity(A, numeric=True).is_numerically_singular
    why = sm.explain_singularity(A, numeric=True, tolerance=1e-6)
    assert why.is_numerically_singular
    assert "Nearly singular" in str(why)


def test_what_has_no_values():
    pattern = sm.BipartiteCSR.from_arrays([0, 1, 2], [0, 1], (2, 2))
    with pytest.raises(TypeError, match="A must be a SciPy sparse array or matrix"):
        sm.explain_singularity(pattern, numeric=True)
    texts = sp.csr_array((np.array([b"a", b"b"]), [0, 1], [0, 1, 2]), shape=(2, 2))
    with pytest.raises(TypeError, match="must hold numbers"):
        sm.explain_singularity(texts, numeric=True)


EXTREME = [
    [[0, 1e-294], [1e-221, 1e187], [1e283, 0]],
    [[0, 0, 0, 0], [1e-116, 0, 1e269, 1e-260], [0, 0, 1, 0], [0, 0, 1, 0]],
    [
        [0, 1, 1e-227, 0, 0, 1e292],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 1],
        [0, 1e-174, 0, 1e297, 1, 0],
        [0, 1, 1e225, 0, 0, 1],
        [0, 1, 1e-257, 1e81, 0, 0],
    ],
    [[1e85, 1e-237, 1.0]],
    [[1e85], [1e-237], [1.0]],
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dense", EXTREME)
def test_values_at_both_ends_of_the_range(dense):
    why = sm.explain_singularity(sp.csr_array(dense), numeric=True)
    assert not {"nan", "inf"} & set(str(why).replace(",", " ").split())
    assert "0 * " not in str(why)


def test_sets_that_are_not_named_are_counted():
    why = sm.explain_singularity(sp.csr_array([[1e-200] * 2, [1e200] * 2, [3.0] * 2]), numeric=True)
    assert len(why.numbers.equations) == 2 or "and 1 more" in str(why)
