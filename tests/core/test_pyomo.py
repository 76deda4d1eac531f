"""Models of Pyomo: names, families, suspects by definition, errors that name a component."""

import numpy as np
import pytest

from calls import run_python

pyo = pytest.importorskip("pyomo.environ", reason="explains models of Pyomo: pip install pyomo")
from sparsematch.pyomo import explain_model  # noqa: E402


def flowsheet():
    """A feed and a recycle mixed, converted and split; the overall balance repeats the others."""
    m = pyo.ConcreteModel()
    m.species = pyo.Set(initialize=["A", "B"])
    for stream in ("feed", "mixed", "reacted", "product", "recycle"):
        m.add_component(stream, pyo.Var(m.species, initialize=5.0))
    m.feed.fix()
    m.rate, m.conversion = pyo.Var(initialize=3.0), pyo.Var(initialize=0.8)
    m.conversion.fix()
    flow, change = m.component, {"A": -1, "B": 1}

    def balance(left, right, change=lambda i: 0):
        def rule(m, i):
            return sum(flow(s)[i] for s in left) + change(i) == sum(flow(s)[i] for s in right)

        return pyo.Constraint(m.species, rule=rule)

    m.mixer = balance(["feed", "recycle"], ["mixed"])
    m.reactor = balance(["mixed"], ["reacted"], lambda i: change[i] * m.rate)
    m.splitter = balance(["reacted"], ["product", "recycle"])
    m.kinetics = pyo.Constraint(expr=m.rate == m.conversion * m.mixed["A"])
    m.purity = pyo.Constraint(expr=m.recycle["B"] == 0.05 * m.recycle["A"])
    m.overall = pyo.Constraint(expr=sum(m.feed.values()) == sum(m.product.values()))
    return m


def network(n_units=4, n_cells=3):
    """Heat exchangers in a row, each in cells; nothing is wrong with it."""
    m = pyo.ConcreteModel()
    m.units, m.cells = pyo.RangeSet(n_units), pyo.RangeSet(n_cells)

    @m.Block(m.units)
    def unit(b, _):
        b.hot, b.cold = (pyo.Var(range(n_cells + 1), initialize=T) for T in (400.0, 300.0))
        b.duty, b.area = pyo.Var(m.cells, initialize=10.0), pyo.Var(initialize=2.0)
        b.area.fix()
        cells = m.cells
        b.released = pyo.Constraint(cells, rule=lambda b, k: b.hot[k - 1] - b.hot[k] == b.duty[k])
        b.absorbed = pyo.Constraint(cells, rule=lambda b, k: b.cold[k - 1] - b.cold[k] == b.duty[k])
        b.transfer = pyo.Constraint(
            cells, rule=lambda b, k: b.duty[k] == b.area * (b.hot[k] - b.cold[k])
        )
        b.limit = pyo.Constraint(cells, rule=lambda b, k: b.hot[k] >= b.cold[k])

    first, last, skip = m.unit[1], m.unit[n_units], pyo.Constraint.Skip
    first.hot[0].fix(500.0)
    last.cold[n_cells].fix(280.0)
    m.link = pyo.Constraint(
        m.units, rule=lambda m, u: m.unit[u - 1].hot[n_cells] == m.unit[u].hot[0] if u > 1 else skip
    )
    m.back = pyo.Constraint(
        m.units,
        rule=lambda m, u: m.unit[u].cold[n_cells] == m.unit[u + 1].cold[0] if u < n_units else skip,
    )
    return m


def rank(why, numeric):
    return (
        np.linalg.matrix_rank(why.matrix.toarray()) if numeric else why.explanation.structural_rank
    )


def check_suspects(m, numeric=False):
    """Unfixing a variable raises the rank if it is a suspect, and else it does not."""
    why = explain_model(m, numeric=numeric)
    suspects = {v.name for v in why.suspects}
    assert len(suspects) == len(why.suspects)
    for v in m.component_data_objects(pyo.Var):
        if v.fixed:
            v.unfix()
            more = rank(explain_model(m, numeric=numeric), numeric) - rank(why, numeric)
            assert more == (v.name in suspects), v.name
            v.fix()
    return why


def test_a_model_with_nothing_wrong():
    why = explain_model(network())
    assert str(why) == (
        "Structurally nonsingular: 42 equations, 42 variables, rank 42 for almost all values.\n"
        "The values were not looked at: numeric=True looks at them, too.\n\n"
        "12 inequality constraints are left out."
    )
    assert (why.dependent_equations, why.free_variables, why.suspects) == ([], [], ())
    assert repr(why) == "ModelExplanation(42x42, structural rank 42: full)"
    assert set(why.matrix.data) == {1.0}


def test_one_variable_fixed_too_many():
    """41 equations are one conflict; what was fixed alone of its family comes first."""
    m = network()
    m.unit[3].duty[2].fix()
    why = check_suspects(m)
    lines = why.text(max_names=5).splitlines()
    assert lines[3:10] == [
        "These 7 fixed variables occur in over-determined equations.",
        "Any one, unfixed, raises the rank by one; one of them may be fixed by mistake:",
        "  unit[1].hot[0], of whose family 15 are not fixed",
        "  unit[4].cold[3], of whose family 15 are not fixed",
        "  unit[3].duty[2], of whose family 11 are not fixed",
        "  unit[*].area (4)",
        "",
    ]
    assert lines[-1] == "12 inequality constraints are left out."
    assert "  and 3 more families" in why.text(max_names=1).splitlines()


def test_components_are_those_of_the_model():
    m = network(2, 2)
    m.unit[1].area.unfix()
    why = explain_model(m)
    assert why.explanation.row_names == tuple(c.name for c in why.equations)
    assert why.explanation.col_names == tuple(v.name for v in why.variables)
    assert any(v is m.unit[1].area for v in why.free_variables)
    assert why.dependent_equations == []


def test_a_model_is_left_as_it_was_and_pyomo_is_not_imported_before_it():
    code = "import sys, sparsematch.pyomo; print('pyomo' in sys.modules)"
    assert run_python("-c", code).stdout.split() == ["False"]
    m = flowsheet()
    before = [(v.value, v.fixed, v.stale) for v in m.component_data_objects(pyo.Var)]
    explain_model(m, numeric=True)
    assert before == [(v.value, v.fixed, v.stale) for v in m.component_data_objects(pyo.Var)]


def test_a_repeated_balance():
    why = check_suspects(flowsheet(), numeric=True)
    assert [c.name for c in why.dependent_equations] == [
        *(f"{unit}[{i}]" for unit in ("mixer", "reactor", "splitter") for i in "AB"),
        "overall",
    ]
    assert why.suspects == ()
    assert "Unfixing a variable does not help: no fixed one would raise the rank." in str(why)
    assert explain_model(flowsheet()).explanation.structural_rank == 9


def test_a_fixed_variable_that_makes_equations_parallel():
    """The unfixed parts of two rows are parallel; only what is fixed is not."""
    m = pyo.ConcreteModel()
    m.x, m.z = pyo.Var([1, 2], initialize=1.0), pyo.Var([1, 2], initialize=2.0)
    m.a = pyo.Constraint(expr=m.x[1] + m.x[2] == m.z[1])
    m.b = pyo.Constraint(expr=2 * m.x[1] + 2 * m.x[2] == 2 * m.z[1] + m.z[2] ** 2)
    m.z.fix()
    why = check_suspects(m, numeric=True)
    assert [v.name for v in why.suspects] == ["z[2]"]
    assert "\nUnfixing this variable raises the rank. Is it fixed by mistake?\n  z[2]\n" in str(why)


def test_derivatives_that_are_zero_at_the_current_values():
    m = pyo.ConcreteModel()
    m.flow, m.T = pyo.Var(initialize=0.0), pyo.Var(initialize=300.0)
    m.stopped = pyo.Constraint(expr=m.flow == 0)
    m.energy = pyo.Constraint(expr=m.flow * (m.T - 280) == 0)
    why = explain_model(m, numeric=True)
    assert why.explanation.structural_rank == 1
    assert "Zeros are derivatives at the current values" in str(why)
    assert explain_model(m).explanation.structural_rank == 2


def test_which_constraints_count():
    m = pyo.ConcreteModel()
    m.x, m.p = pyo.Var([1, 2, 3]), pyo.Param(initialize=2, mutable=True)
    m.equal = pyo.Constraint(expr=m.x[1] == m.p)
    m.ranged = pyo.Constraint(expr=(2, m.x[2], 2))
    m.bounds = pyo.Constraint(expr=(m.p, m.x[2] + m.x[3], m.p))
    m.wide = pyo.Constraint(expr=(1, m.x[3], 2))
    m.above = pyo.Constraint(expr=m.x[3] >= 1)
    m.skipped = pyo.Constraint([1, 2], rule=lambda m, i: pyo.Constraint.Skip)
    m.listed = pyo.ConstraintList()
    m.listed.add(m.x[3] == 1)
    m.off = pyo.Constraint(expr=m.x[3] == 1)
    m.off.deactivate()
    m.again = pyo.Reference(m.equal)
    m.b = pyo.Block([1, 2], rule=lambda b: setattr(b, "c", pyo.Constraint(expr=m.x[1] == 3)))
    m.b[2].deactivate()
    why = explain_model(m)
    names = ["equal", "ranged", "bounds", "listed[1]", "b[1].c"]
    assert [c.name for c in why.equations] == names
    assert why.n_inequalities == 2
    assert [c.name for c in explain_model(m.b).equations] == ["b[1].c"]
    assert [c.name for c in explain_model(m.b[1]).equations] == ["b[1].c"]
    assert explain_model(m.b[2]).equations == ()
    assert explain_model(pyo.ConcreteModel()).explanation.shape == (0, 0)


def test_an_equation_of_fixed_variables_alone():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], initialize=1.0)
    m.x.fix()
    m.c = pyo.Constraint(expr=m.x[1] == m.x[2])
    text = str(explain_model(m))
    assert "1 equation without variables" in text
    assert "  x[*] (2)" in text


def test_the_jacobian():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3], initialize={1: 2.0, 2: 3.0, 3: 0.5})
    m.x[3].fix()
    m.a = pyo.Constraint(expr=m.x[1] ** 2 * m.x[2] == 5)
    m.b = pyo.Constraint(expr=pyo.exp(m.x[3] * m.x[1]) == m.x[2] / m.x[3])
    J = explain_model(m, numeric=True).matrix.toarray()
    np.testing.assert_allclose(J, [[12, 4], [0.5 * np.e, -2]], rtol=1e-14)


@pytest.mark.parametrize(
    ("equation", "words"),
    [
        (lambda x: pyo.log(x) == 0, "math domain error"),
        (lambda x: 1 / x == 1, "division by zero"),
        (lambda x: pyo.sqrt(x) == 1, "0.0 cannot be raised to a negative power"),
        (lambda x: pyo.exp(x + 1000) == 1, "math range error"),
        (lambda x: abs(x) == 1, r"abs\(x\) at x=0"),
        (lambda x: (x - 1) ** 0.5 == 1, "complex"),
        (lambda x: 1e308 * 10 * x == 1, "not finite"),
    ],
)
def test_no_derivative_at_the_current_values(equation, words):
    m = pyo.ConcreteModel()
    m.flow = pyo.Var([1], initialize=0.0)
    m.law = pyo.Constraint(expr=equation(m.flow[1]))
    why = f"law cannot be differentiated at flow\\[1\\] = 0.0: .*{words}"
    with pytest.raises(ValueError, match=why):
        explain_model(m, numeric=True)
    assert explain_model(m).explanation.structural_rank == 1


@pytest.mark.parametrize("fixed", [False, True])
def test_a_variable_without_a_value_counts_as_1(fixed):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], initialize={1: 1.0})
    m.x[2].fixed = fixed
    m.c = pyo.Constraint(expr=m.x[1] ** 3 == 5 * m.x[2])
    stale = m.x[2].stale
    why = explain_model(m, numeric=True)
    assert [v.name for v in why.assumed] == ["x[2]"]
    assert "1 variable has no value and counts as 1: x[2]" in str(why).splitlines()
    assert why.matrix.toarray().tolist() == [[3.0] if fixed else [3.0, -5.0]]
    assert (m.x[2].value, m.x[2].stale) == (None, stale)
    assert explain_model(m).assumed == ()
    m.d = pyo.Constraint(expr=1 / (m.x[1] - m.x[2]) == 1)
    with pytest.raises(ValueError, match="d cannot be differentiated at"):
        explain_model(m, numeric=True)
    assert m.x[2].value is None


def test_equations_whose_variables_are_all_fixed():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3], initialize={1: 2.0, 2: 3.0, 3: 1.0})
    m.holds = pyo.Constraint(expr=m.x[1] + m.x[2] == 5)
    m.not_yet = pyo.Constraint(expr=m.x[1] * m.x[2] == 5.5)
    m.free = pyo.Constraint(expr=m.x[3] == 4)
    m.x[1].fix()
    m.x[2].fix()
    why = explain_model(m)
    assert {c.name: left for c, left in why.decided.items()} == {"holds": 0.0, "not_yet": 0.5}
    words = "All variables of 2 equations are fixed; 1 of them hold, violated: not_yet by 0.5"
    assert words in str(why).splitlines()
    m.not_yet.deactivate()
    assert "All variables of 1 equation are fixed; 1 of them hold" in str(explain_model(m))


def test_what_is_no_model():
    for wrong in (None, np.eye(2), "model", pyo.Var()):
        with pytest.raises(TypeError, match="model must be a model or a block of Pyomo, not"):
            explain_model(wrong)
    abstract = pyo.AbstractModel()
    abstract.x = pyo.Var()
    with pytest.raises(ValueError, match="not constructed"):
        explain_model(abstract)
    with pytest.raises(TypeError, match="max_names"):
        explain_model(network()).text(max_names="all")
