"""A combination of rows or columns that vanishes, as an equation that can be read."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._text.latex import escape
from sparsematch._text.name_lists import Names, counted_family, family

_DIGITS = 4  # of a coefficient that is shown: enough to recognise it
_EXACT = 1e-7  # relative: rounding in a null vector whose minimal support is ill-conditioned
_INSIDE = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")  # brackets
_SMALL = 1e-3  # of the largest coefficient: shares that a full vector mostly has
_LARGEST = 100  # of whole coefficients: larger ones are no easier to read than decimals


@dataclass(frozen=True, slots=True)
class Combination:
    """Terms that add up to zero, each a coefficient and a name, and words on those not shown."""

    terms: tuple[tuple[Any, str], ...]
    more: str = ""
    indent: int = 0

    def __str__(self) -> str:
        return f"{' ' * self.indent}{self.sum()} = 0"

    def sum(self) -> str:
        """Return the terms alone."""
        return self._join(" * ", bracketed)

    def latex(self) -> str:
        r"""Return it as mathematics, for which ``\text`` of amsmath is needed."""
        terms = self._join(r"\,", lambda name: rf"\text{{{escape(name)}}}")
        return f"${terms} = 0$"

    def _join(self, times: str, write: Any) -> str:
        words = ""
        for value, name in self.terms:
            minus = not np.iscomplex(value) and np.real(value) < 0
            sign = ("-" if minus else "") if not words else (" - " if minus else " + ")
            factor = number(-value if minus else value)
            words += f"{sign}{'' if factor == '1' else factor + times}{write(name)}"
        return words + self.more


def combination(
    indices: IndexArray, coefficients: Array, names: Names, most: int, indent: int = 0
) -> Combination:
    """Return the equation; of over `most` terms those of a family with equal factors are one."""
    # Unless families have many factors: then the largest terms are shown. The first coefficient is
    # positive if it is real.
    order, more = largest_first(coefficients, most)
    values = readable(coefficients)
    if not np.iscomplexobj(values) and order and values[order[0]] < 0:
        values = -values
    groups: dict[tuple[str, str], tuple[Any, list[str]]] = {}
    if indices.size > most and names.given is not None:
        for k, value in zip(indices.tolist(), values, strict=True):
            key = number(value), family(names.of(k))
            groups.setdefault(key, (value, []))[1].append(names.of(k))
    kinds = {kind for _, kind in groups}
    if not 0 < len(groups) < indices.size or len(groups) > max(most, len(kinds)):
        terms = ((values[k], names.of(int(indices[k]))) for k in order)
        return Combination(tuple(terms), more, indent)
    shown = list(groups.values())[:most]
    hidden = indices.size - sum(len(members) for _, members in shown)
    terms = ((value, f"{'sum of ' * (len(of) > 1)}{counted_family(of)}") for value, of in shown)
    return Combination(tuple(terms), f" and {hidden:,} more" if hidden else "", indent)


def largest_first(values: Array, most: int) -> tuple[list[int], str]:
    """Return which of more than `most` coefficients to show, the largest, and how to go on."""
    # Those that are a small share of the largest are bounded instead.
    if values.size <= most:
        return list(range(values.size)), ""
    size = np.abs(values)
    order = np.argsort(-np.round(size / size.max(), 9), kind="stable")  # rounding orders nothing
    shown = min(most, int((size > _SMALL * size.max()).sum()))
    words = f" and {values.size - shown:,} more"
    if 0 < shown < most and (largest := size[order[shown]] / size.max()):
        words += f", all below 1e{np.ceil(np.log10(largest)):.0f}"
    return order[:shown].tolist(), words


def readable(coefficients: Array) -> Array:
    """Return coefficients, the largest 1, as they are if they are short, else as whole numbers."""
    # Decimals if neither is possible: 1/3 of the first and all of the second are 1 and 3.
    if _is_whole(coefficients * 100) or np.iscomplexobj(coefficients):
        near = np.round(coefficients * 100) / 100
        is_near = np.abs(coefficients - near) <= _EXACT * np.abs(coefficients)
        return np.where(is_near, near, coefficients)
    least = np.abs(coefficients).min()
    for k in range(1, 13):
        scaled = coefficients * (k / least)
        if np.abs(scaled).max() > _LARGEST:
            break
        if _is_whole(scaled):
            return np.round(scaled)
    return coefficients


def number(value: Any) -> str:
    """Return a coefficient with few digits."""
    if np.iscomplexobj(value):
        if abs(value.real) <= _EXACT * abs(value):
            return f"{value.imag:.{_DIGITS}g}j"
        if abs(value.imag) > _EXACT * abs(value):
            return f"({value.real:.{_DIGITS}g}{value.imag:+.{_DIGITS}g}j)"
        value = value.real
    return f"{value:.{_DIGITS}g}"


def _is_whole(values: Array) -> bool:
    return bool(np.all(np.abs(values - np.round(values)) <= _EXACT * np.abs(values)))


def bracketed(name: str) -> str:
    """Return a name in parentheses if it looks like a formula itself."""
    outside = _INSIDE.sub("", name)
    return f"({name})" if any(sign in outside for sign in "=+-*/<>") else name
