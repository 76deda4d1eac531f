"""Names of rows or columns in a list, as text: of a long one, the members of a family are counted.

A family are the names that differ only in what is in brackets.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sparsematch._base.arrays import IndexArray

_INDEX = re.compile(r"\[[^\[\]]*\]")


class Names(NamedTuple):
    """What the user calls the rows, or the columns."""

    given: tuple[str, ...] | None
    noun: str  #: With its number, the name of one if none are given: ``"row"``, ``"column"``.

    def of(self, k: int) -> str:
        """Return what row, or column, `k` is called."""
        return self.given[k] if self.given is not None else f"{self.noun} {k}"

    def first(self, indices: IndexArray, most: int) -> str:
        """Return the names of some, of more than `most` the first ones."""
        return _cut([(self.of(k), 1) for k in indices[:most].tolist()], indices.size, most)

    def list(self, indices: IndexArray, most: int) -> str:
        """Return the names of some, with commas between them."""
        # Of more than `most` the families are listed, ``balance[*] (40)``. If these are too many,
        # the first are, and the other names counted.
        if self.given is None or indices.size <= most:
            return self.first(indices, most)
        families: dict[str, list[str]] = {}
        for k in indices.tolist():
            families.setdefault(family(self.given[k]), []).append(self.given[k])
        groups = [(counted_family(names), len(names)) for names in families.values()]
        return _cut(groups, indices.size, most)


def _cut(groups: list[tuple[str, int]], total: int, most: int) -> str:
    shown, rest = groups[:most], len(groups[most:])
    hidden = total - sum(size for _, size in shown)
    words = ", ".join(name for name, _ in shown)
    if not hidden:
        return words
    families = "one family" if rest == 1 else f"{rest:,} families"
    return f"{words} and {hidden:,} more" + f" of {families}" * (0 < rest < hidden)


def family(name: str) -> str:
    """Return a name with a star for what is in brackets: ``flow[*].x`` for ``flow[3].x``."""
    return _INDEX.sub("[*]", name)


def shared_name(names: Sequence[str]) -> str:
    """Return the name of members of a family, with a star for each index in which they differ.

    >>> shared_name(["unit[2].flow[0.0,Liq]", "unit[2].flow[0.0,Vap]"])
    'unit[2].flow[0.0,*]'
    """
    words = _INDEX.split(names[0])
    for place, indices in enumerate(zip(*map(_INDEX.findall, names), strict=True)):
        words[place] += _shared_index(indices)
    return "".join(words)


def counted_family(names: Sequence[str]) -> str:
    """Return the name that members of a family share, and how many they are; of one its name."""
    return f"{shared_name(names)} ({len(names):,})" if len(names) > 1 else names[0]


def _shared_index(indices: tuple[str, ...]) -> str:
    """Return what some indices in brackets share, a star for what they do not."""
    if len(set(indices)) == 1:
        return indices[0]
    parts = [index[1:-1].split(",") for index in indices]
    if len({len(part) for part in parts}) > 1:
        return "[*]"
    shared = [values[0] if len(set(values)) == 1 else "*" for values in zip(*parts, strict=True)]
    return "[*]" if set(shared) == {"*"} else f"[{','.join(shared)}]"


def count(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural unless it is one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
