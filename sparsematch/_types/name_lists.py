"""Names of rows or columns in a list, as text: of a long one, the members of a family are counted.

A family are the names that differ only in what is in brackets.
"""

import re
from typing import NamedTuple

from sparsematch._types.arrays import IndexArray

_INDEX = re.compile(r"\[[^\[\]]*\]")


class Names(NamedTuple):
    """What the user calls the rows, or the columns."""

    given: tuple[str, ...] | None
    noun: str  #: With its number, the name of one if none are given: ``"row"``, ``"column"``.

    def of(self, k: int) -> str:
        """Return what row, or column, `k` is called."""
        return self.given[k] if self.given is not None else f"{self.noun} {k}"

    def list(self, indices: IndexArray, most: int) -> str:
        """Return the names of some, with commas between them.

        Of more than `most` the families are listed, ``balance[*] (40)``. If these are too many, the
        first are, and the other names counted.
        """
        if self.given is None or indices.size <= most:
            members = indices[:most].tolist()
            return _cut([(self.of(k), 1) for k in members], indices.size, most)
        families: dict[str, list[str]] = {}
        for k in indices.tolist():
            families.setdefault(family(self.given[k]), []).append(self.given[k])
        groups = [
            (f"{shared} ({len(names):,})" if len(names) > 1 else names[0], len(names))
            for shared, names in families.items()
        ]
        return _cut(groups, indices.size, most)


def _cut(groups: list[tuple[str, int]], total: int, most: int) -> str:
    shown, rest = groups[:most], len(groups[most:])
    hidden = total - sum(size for _, size in shown)
    words = ", ".join(name for name, _ in shown)
    if not hidden:
        return words
    kinds = f" of {count(rest, 'kind')}" if 0 < rest < hidden else ""
    return f"{words} and {hidden:,} more{kinds}"


def family(name: str) -> str:
    """Return a name with a star for what is in brackets: ``flow[*].x`` for ``flow[3].x``."""
    return _INDEX.sub("[*]", name)


def count(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural unless it is one."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
