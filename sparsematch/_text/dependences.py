"""Equations that depend on each other, or variables that are free, in words."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._base.tolerances import HALF_OF_THE_DIGITS, ROUNDING_OF_RESIDUALS
from sparsematch._text.combination import combination, largest_first, number, readable
from sparsematch._text.name_lists import Names, count
from sparsematch._text.wording import Line, Wording
from sparsematch._types.singularity import Dependence, members_of

_TINY = 0.1  # a coefficient, of 1: solutions lose a digit where it alone is chosen


class Multiples(NamedTuple):
    """Rows or columns each of which is a multiple of the first, the smallest."""

    side: str
    indices: IndexArray
    factors: Array  #: The first is 1.
    residual: float  #: The largest of the pairs.


def paragraph(
    found: Sequence[Dependence], chosen: IndexArray, wording: Wording, by_reference: bool = False
) -> list[Line]:
    """Describe the dependences of one side, each by what it says, and what to do."""
    # `chosen`: members, example of what resolves all; `by_reference`: only references are missing.
    if not found:
        return []
    lines, n_sets = described(found, wording)
    one, d = found[0], len(found)
    if over := one.side == "rows":
        noun, verb, how, rest = "equation", "drop", "", ", or correct a coefficient;"
        if by_reference:
            verb, how, rest = "replace", " by that of the reference", ";"
    else:
        noun, verb, rest = "variable", "fix", ", or write an equation that notices the change"
        how = " as the reference" if by_reference else ""
    if d == 1:
        choice = "any will do"
        if np.abs(one.coefficients).min() < _TINY:  # which leaves the matrix nearly singular
            choice = f"best a large {'factor' if over else 'change'}"
        which = f"one of these {noun}s ({choice}){how}"
    else:
        which = f"one {noun} of each" if n_sets == d else count(d, noun)
        which += f"{how}, for example {wording.names(one.side).first(chosen, wording.most_names)}"
    lines.append(f"  to do: {verb} {which}{rest}")
    if over:
        exact = max(each.residual for each in found) <= ROUNDING_OF_RESIDUALS
        otherwise = "there is no solution" if exact else "solutions are huge"
        lines.append(f"         unless the right-hand sides cancel as well, {otherwise}")
    return lines


def described(
    dependences: Sequence[Dependence], wording: Wording, nearly: str = "", of: Sequence[int] = ()
) -> tuple[list[Line], int]:
    """Describe the dependences of one side, and return how many sets they are."""
    # There may be more: `of` how many members, and how many of these are too many.
    over = dependences[0].side == "rows"
    kind, noun = ("Dependent", "equation") if over else ("Free", "variable")
    kind = nearly + kind.lower() if nearly else kind
    sets = _gathered(dependences)
    members, surplus = of or (members_of(x.indices for x in dependences).size, len(dependences))
    n_sets = len(sets) + surplus - len(dependences)
    if n_sets == 1:
        words, *details = _describe(sets[0], wording, 2)
        return [f"{kind}: {words}", *details], 1
    lines: list[Line] = [f"{kind}: {count(members, noun)}, {surplus:,} too many"]
    for place, each in enumerate(sets[: wording.most], start=1):
        words, *details = _describe(each, wording, 5)
        lines += [f"  {place}. {words}", *details]
    if (hidden := n_sets - min(len(sets), wording.most)) > 0:
        lines.append(f"  and {hidden:,} more")
    return lines, n_sets


def vanishing_digits(residual: float) -> str:
    """Word a residual: 1e-12 are twelve digits."""
    return count(int(-np.log10(residual)), "digit")


def _describe(one: Dependence | Multiples, wording: Wording, indent: int) -> list[Line]:
    """Say in words what a combination means, and below it who takes part."""
    names, most, digits = wording.names(one.side), wording.most_names, _digits(one.residual)
    size = one.indices.size
    if one.side == "rows":
        if isinstance(one, Multiples):
            words = "one a multiple of the other" if size == 2 else "multiples of one another"
            details = [" " * indent + line for line in _multiples(one, names, most)]
            return [f"{size:,} equations, {words}{digits}", *details]
        words = f"{count(size, 'equation')}, each of which follows from the others{digits}"
        return [words, combination(one.indices, one.coefficients, names, most, indent)]
    variables = count(size, "variable")
    if isinstance(one, Multiples):
        if size > 2 or abs(one.factors[1] + 1) >= HALF_OF_THE_DIGITS:
            order = np.argsort(one.indices)
            factors = one.factors[order] / np.abs(one.factors).max()
            only = combination(one.indices[order], factors, names, most).sum()
            return [f"{variables} occur in one combination only{digits}: {only}"]
    elif not one.is_constant:
        words = f"{variables} may change together, and no equation notices{digits}"
        return [f"{words}: {_changes(one, names, most)}"]
    shift = f"{variables} without a reference may all shift by one amount{digits}"
    return [f"{shift}: {names.list(np.sort(one.indices), most)}"]


def _multiples(one: Multiples, names: Names, most: int) -> list[str]:
    """Say which rows are multiples of which."""
    base = names.of(int(one.indices[0]))
    alike: dict[str, list[int]] = {}
    for place, factor in enumerate(one.factors[1:], start=1):
        alike.setdefault(number(factor), []).append(place)
    lines = []
    for places in alike.values():
        listed = names.list(one.indices[places], most)
        verb = "is" if len(places) == 1 else "are"
        lines.append(f"{listed} {verb} {_times(one.factors[places[0]], base)}")
    hidden = [f"and {len(lines) - most:,} more"] if len(lines) > most else []
    return lines[:most] + hidden


def _times(factor: Any, name: str) -> str:
    """Word a multiple of a row or column."""
    value = number(factor)
    if value == "1":
        return f"the same as {name}"
    return f"{name} with the opposite sign" if value == "-1" else f"{value} * {name}"


def _changes(one: Dependence, names: Names, most: int) -> str:
    """List by how much each variable changes, those together that change alike."""
    values, (order, more) = readable(one.coefficients), largest_first(one.coefficients, most)
    if order and values[order[0]].real < 0:
        values = -values
    alike: dict[str, list[str]] = {}
    for k in order:
        alike.setdefault(number(values[k]), []).append(names.of(int(one.indices[k])))
    return "; ".join(f"{', '.join(of)} by {value}" for value, of in alike.items()) + more


def _digits(residual: float) -> str:
    """Say to how many digits a combination vanishes, if it is not all of them."""
    return "" if residual <= ROUNDING_OF_RESIDUALS else f" (to {vanishing_digits(residual)})"


@np.errstate(all="ignore")
def _gathered(dependences: Iterable[Dependence]) -> list[Dependence | Multiples]:
    """Return dependences, those of two that share members as one, in the place of the first."""
    neighbours: dict[int, list[tuple[int, Any, float]]] = {}
    for one in dependences:
        if one.size == 2:
            (i, j), (x, y) = one.indices.tolist(), one.coefficients
            neighbours.setdefault(i, []).append((j, -x / y, one.residual))
            neighbours.setdefault(j, []).append((i, -y / x, one.residual))
    out: list[Dependence | Multiples] = []
    seen: set[int] = set()
    for one in dependences:
        if one.size != 2:
            out.append(one)
        elif int(one.indices[0]) not in seen:
            joined = _reached(one, neighbours)
            in_range = np.isfinite(joined.factors).all()
            out.append(joined if in_range else one)
            seen.update(joined.indices.tolist() if in_range else ())
    return out


def _reached(one: Dependence, neighbours: dict[int, list[tuple[int, Any, float]]]) -> Multiples:
    """Return all that are multiples of one of a pair, by way of other pairs."""
    first = int(one.indices[0])
    factor, queue, residual = {first: 1.0}, [first], 0.0
    for k in queue:
        for other, times, size in neighbours[k]:
            residual = max(residual, size)
            if other not in factor:
                factor[other] = factor[k] * times
                queue.append(other)
    indices = np.array(sorted(factor), one.indices.dtype)
    factors = np.array([factor[k] for k in indices.tolist()])
    base = int(np.argmin(np.round(np.abs(factors), 8)))  # the first of those that are as small
    order = np.r_[base, np.delete(np.arange(indices.size), base)]
    return Multiples(one.side, indices[order], factors[order] / factors[base], residual)
