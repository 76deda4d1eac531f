"""Why a model of Pyomo is singular, by the names of its constraints and variables.

Pyomo is imported when a model is read, never before. No solver and no compiled part of Pyomo is
needed: derivatives are those of ``pyomo.core.expr.calculus``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sparsematch import Explanation, explain_singularity
from sparsematch._base.tolerances import HALF_OF_THE_DIGITS
from sparsematch._text.name_lists import Names, count, counted_family, family
from sparsematch._types.html import Page
from sparsematch._types.singularity import members_of

__all__ = ["ModelExplanation", "explain_model"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelExplanation(Page):
    """Why a model is singular; ``str`` of it says why.

    Attributes
    ----------
    explanation : Explanation
        Of `matrix`: row i is ``equations[i]``, column j is ``variables[j]``.
    matrix : csc_array
        The Jacobian of the equations at the current values if it was asked for; else a one wherever
        a variable occurs in an equation.
    equations : tuple of ConstraintData
        The active equality constraints.
    variables : tuple of VarData
        The unfixed variables in them.
    suspects : tuple of VarData
        Fixed variables such that the rank grows by one if any one of them is unfixed: they are in
        over-determined equations. First those of whose family most are not fixed.
    n_inequalities : int
        Active constraints that are no equations, which are left out.
    assumed : tuple of VarData
        Variables without a value, which count as 1 where derivatives are taken.
    decided : dict of ConstraintData to float
        Equations whose variables are all fixed, and what each leaves: 0 if it holds.
    """

    explanation: Explanation
    matrix: Any
    equations: tuple[Any, ...]
    variables: tuple[Any, ...]
    suspects: tuple[Any, ...]
    n_inequalities: int
    assumed: tuple[Any, ...] = ()
    decided: dict[Any, float] = field(default_factory=dict)

    @property
    def dependent_equations(self) -> list[Any]:
        """The constraints of the over-determined part, or those that depend on each other."""
        why = self.explanation
        found = why.numbers.equations if why.numbers and not why.overdetermined else ()
        rows = members_of(each.indices for each in found) if found else why.overdetermined.rows
        return [self.equations[i] for i in rows.tolist()]

    @property
    def free_variables(self) -> list[Any]:
        """The variables of the under-determined part, or those that no equation determines."""
        why = self.explanation
        found = why.numbers.variables if why.numbers and not why.underdetermined else ()
        cols = members_of(each.indices for each in found) if found else why.underdetermined.cols
        return [self.variables[j] for j in cols.tolist()]

    def text(self, *, max_pieces: int = 3, max_names: int = 12) -> str:
        """Say what is wrong; what is long, by families: ``flow[*]`` for ``flow[1]``, ``flow[2]``...

        Arguments are those of `Explanation.text`.
        """
        text = self.explanation.text(max_pieces=max_pieces, max_names=max_names)
        head, *account = text.split("\n\n", 1)
        lines = [head]
        if any(v.fixed for equation in self.dependent_equations for v in _variables_in(equation)):
            lines += ["", *self._suspects_text(max_names)]
        lines += ["", *account] if account else []
        lines += self._decided_text(max_names)
        if self.assumed:
            names = Names(tuple(v.name for v in self.assumed), "variable")
            has = "has no value and counts" if len(self.assumed) == 1 else "have no value and count"
            listed = names.list(np.arange(len(self.assumed)), max_names)
            lines += ["", f"{count(len(self.assumed), 'variable')} {has} as 1: {listed}"]
        wrong = bool(self.dependent_equations or self.free_variables)
        if wrong and self.explanation.numeric and self.explanation.stored_zeros:
            lines += ["", "Zeros are derivatives at the current values; others may do better."]
        if self.n_inequalities:
            are = "is" if self.n_inequalities == 1 else "are"
            lines += ["", f"{count(self.n_inequalities, 'inequality constraint')} {are} left out."]
        return "\n".join(lines)

    def _decided_text(self, max_names: int) -> list[str]:
        if not self.decided:
            return []
        violated = {c.name: left for c, left in self.decided.items() if left}
        shown = [f"{name} by {left:.3g}" for name, left in list(violated.items())[:max_names]]
        more = f" and {len(violated) - len(shown):,} more" if len(violated) > len(shown) else ""
        fixed = f"All variables of {count(len(self.decided), 'equation')} are fixed"
        holds = f"{len(self.decided) - len(violated):,} of them hold"
        return ["", f"{fixed}; {holds}" + (f", violated: {', '.join(shown)}{more}" * bool(shown))]

    def _suspects_text(self, max_names: int) -> list[str]:
        if not self.suspects:
            return ["Unfixing a variable does not help: no fixed one would raise the rank."]
        unfixed = Counter(family(v.name) for v in self.variables)
        families: dict[str, list[str]] = {}
        for v in self.suspects:
            families.setdefault(family(v.name), []).append(v.name)
        lines = [
            f"  {counted_family(names)}"
            + (f", of whose family {unfixed[kind]:,} are not fixed" if unfixed[kind] else "")
            for kind, names in list(families.items())[:max_names]
        ]
        if hidden := len(families) - len(lines):
            lines.append(f"  and {hidden:,} more {'family' if hidden == 1 else 'families'}")
        if len(self.suspects) == 1:
            return ["Unfixing this variable raises the rank. Is it fixed by mistake?", *lines]
        return [
            f"These {len(self.suspects):,} fixed variables occur in over-determined equations.",
            "Any one, unfixed, raises the rank by one; one of them may be fixed by mistake:",
            *lines,
        ]

    def __repr__(self) -> str:
        return f"Model{self.explanation!r}"


def explain_model(
    model: Any, *, numeric: bool = False, tolerance: float = 1e-10
) -> ModelExplanation:
    """Explain why the equations of a Pyomo model are singular.

    Equations are the active equality constraints of the model and of its active blocks; unknowns
    are the variables in them that are not fixed. Inequalities, objectives, and variables in no
    equation do not count. The model is not changed.

    Parameters
    ----------
    model : ConcreteModel or Block
        A model, a block of one, or an indexed block.
    numeric : bool, optional
        By default, only which variable occurs in which equation is read, and no variable needs a
        value. If True, the Jacobian at the current values is made, and what is numerically singular
        in it is explained as well. Values that are missing count as 1.
    tolerance : float, optional
        With `numeric`: the residual up to which a combination counts as vanishing.

    Returns
    -------
    ModelExplanation
        ``print`` it to read it. Its ``explanation`` has indices, into ``equations`` and
        ``variables``; ``suspects`` are the variables that may be fixed by mistake.

    Raises
    ------
    ImportError, TypeError, ValueError
        If Pyomo is not installed, `model` is no block of it, or not constructed; with `numeric`: if
        an equation has no finite derivative at the values.

    See Also
    --------
    sparsematch.explain_singularity : The same of a matrix and of names.

    Notes
    -----
    A variable occurs in an equation if it is in its expression, whatever it is multiplied by. Time:
    that of walking through all expressions, some 10 us for each variable in each equation, and
    twice as much for derivatives.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from sparsematch.pyomo import explain_model
    >>> m = pyo.ConcreteModel()
    >>> m.feed, m.top, m.bottom = pyo.Var(), pyo.Var(), pyo.Var()
    >>> m.split = pyo.Constraint(expr=m.top == 0.6 * m.feed)
    >>> m.balance = pyo.Constraint(expr=m.feed == m.top + m.bottom)
    >>> m.feed.fix(10)
    >>> m.bottom.fix(4)
    >>> why = explain_model(m)
    >>> print(why)
    Full structural rank, but not square: 2 equations, 1 variable, rank 1 for almost all values.
    The values were not looked at: numeric=True looks at them, too.
    <BLANKLINE>
    These 2 fixed variables occur in over-determined equations.
    Any one, unfixed, raises the rank by one; one of them may be fixed by mistake:
      feed
      bottom
    <BLANKLINE>
    Over-determined: 2 equations with only 1 variable between them
      equations: split, balance
      variables: top
      to do: drop one of these equations (any will do), or bring another variable into one of them
    >>> [variable.name for variable in why.suspects]
    ['feed', 'bottom']
    """
    equations, n_inequalities = _equations(model)
    members = [_variables_in(equation) for equation in equations]
    unfixed = [[v for v in occurring if not v.fixed] for occurring in members]
    variables = list({id(v): v for occurring in unfixed for v in occurring}.values())
    place = {id(v): j for j, v in enumerate(variables)}
    indices = np.array([place[id(v)] for occurring in unfixed for v in occurring], np.int64)
    indptr = np.cumsum([0, *map(len, unfixed)])
    with _ones_for_missing(members if numeric else []) as assumed:
        data = np.ones(indices.size)
        if numeric:
            rows = [_derivatives(*row) for row in zip(equations, unfixed, strict=True)]
            data = np.array([value for row in rows for value in row], np.float64)
        A = csr_array((data, indices, indptr), shape=(len(equations), len(variables))).tocsc()
        names = ([part.name for part in parts] for parts in (equations, variables))
        why = explain_singularity(A, *names, numeric=numeric, tolerance=tolerance)
        suspects = _suspects(why, equations, members, tolerance)
    decided = _decided(c for c, occurring in zip(equations, unfixed, strict=True) if not occurring)
    found = tuple(equations), tuple(variables), _most_likely_first(suspects, variables)
    return ModelExplanation(why, A, *found, n_inequalities, assumed, decided)


def _equations(model: Any) -> tuple[list[Any], int]:
    """Return the active equality constraints, and how many other constraints are active."""
    from pyomo.core.base import Block, Constraint

    if getattr(model, "ctype", None) is not Block:
        raise TypeError(f"model must be a model or a block of Pyomo, not {type(model).__name__}")
    if not model.parent_component().is_constructed():
        raise ValueError("model is not constructed: its create_instance() returns one that is")
    blocks = model.values() if model.is_indexed() else [model]
    found = [c for b in blocks for c in b.component_data_objects(Constraint, active=True)]
    equations = [c for c in found if c.equality or (c.has_lb() and c.lb == c.ub)]
    return equations, len(found) - len(equations)


def _variables_in(equation: Any) -> list[Any]:
    """Return the variables in an equation, fixed ones too, each of them once."""
    from pyomo.core.expr.visitor import identify_variables

    return list(identify_variables(equation.body))


@contextmanager
def _ones_for_missing(members: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    """Give variables without a value a 1 as long as derivatives are taken; yield these."""
    without = {id(v): v for occurring in members for v in occurring if v.value is None}
    stale = [v.stale for v in without.values()]
    try:
        for v in without.values():
            v.set_value(1.0, skip_validation=True)
        yield tuple(without.values())
    finally:
        for v, was_stale in zip(without.values(), stale, strict=True):
            v.set_value(None, skip_validation=True)
            v.stale = was_stale


def _decided(equations: Iterable[Any]) -> dict[Any, float]:
    """Return what equations without free variables leave, 0 if half of the digits are right."""
    from pyomo.core.expr.numvalue import value

    left = {}
    for equation in equations:
        right = value(equation.ub)
        if (body := value(equation.body, exception=False)) is not None:
            amount = abs(float(body) - right)
            left[equation] = amount if amount > HALF_OF_THE_DIGITS * max(1, abs(right)) else 0.0
    return left


def _derivatives(equation: Any, variables: list[Any]) -> list[float]:
    """Differentiate an equation at the current values."""
    from pyomo.core.expr.calculus.derivatives import differentiate
    from pyomo.core.expr.calculus.diff_with_pyomo import DifferentiationException

    try:
        values = [float(value) for value in differentiate(equation.body, wrt_list=variables)]
        reason = "" if all(map(isfinite, values)) else "the derivative is not finite"
    except (ArithmeticError, DifferentiationException, TypeError, ValueError) as error:
        reason = str(error)
    if reason:
        at = ", ".join(f"{v.name} = {v.value}" for v in variables[:6])
        raise ValueError(f"{equation.name} cannot be differentiated at {at}: {reason}")
    return values


def _suspects(
    why: Explanation, equations: list[Any], members: list[list[Any]], tolerance: float
) -> tuple[Any, ...]:
    """Return the fixed variables whose column would raise the rank."""
    if why.overdetermined:
        rows = why.overdetermined.rows.tolist()
        return tuple({id(v): v for i in rows for v in members[i] if v.fixed}.values())
    found: dict[int, Any] = {}
    for dependence in why.numbers.equations if why.numbers else ():
        rows = dependence.indices.tolist()
        fixed = list({id(v): v for i in rows for v in members[i] if v.fixed}.values())
        derivatives = np.array([_derivatives(equations[i], fixed) for i in rows])
        terms = dependence.coefficients[:, None] * derivatives
        grows = np.abs(terms.sum(0)) > tolerance * np.abs(terms).max(0, initial=0)
        found |= {id(v): v for v, kept in zip(fixed, grows.tolist(), strict=True) if kept}
    return tuple(found.values())


def _most_likely_first(suspects: Sequence[Any], variables: Iterable[Any]) -> tuple[Any, ...]:
    """Sort variables by the share of their family that is fixed: a mistake is fixed alone."""
    unfixed = Counter(family(v.name) for v in variables)
    families = [family(v.name) for v in suspects]
    fixed = Counter(families)
    shares = [fixed[shared] / (fixed[shared] + unfixed[shared]) for shared in families]
    return tuple(suspects[k] for k in np.argsort(shares, kind="stable").tolist())
