"""What lines of an account have in common."""

import re
from dataclasses import dataclass

from sparsematch._text.combination import Combination
from sparsematch._text.name_lists import Names

Line = str | Combination

_WIDTH = 100  # columns of a line: what a terminal shows
_LABEL = re.compile(r" *([a-z ]+: |\d+\. )")  # "  variables: ", before a list
_AFTER_COMMA, _BEFORE_SIGN = re.compile(r"(?<=[,;]) | (?=[+-] )"), re.compile(r" (?=[+-] )")


@dataclass(frozen=True, slots=True)
class Wording:
    """How rows and columns are called, and how much is shown of what there may be much of."""

    rows: Names
    cols: Names
    most: int  #: Conflicts, dependences, blocks and pairs, of each kind.
    most_names: int  #: Names in a list, and terms of an equation.
    choice: str = ""  #: What is said of which member of a conflict to choose.

    def names(self, side: str) -> Names:
        """Return the names of the rows or of the columns."""
        return self.rows if side == "rows" else self.cols


def wrapped(line: Line, indent: int | None = None) -> str:
    """Break a long line between the members of a list, or the terms of an equation."""
    # What follows is indented as the list is, unless another `indent` is given.
    text = str(line)
    if len(text) <= _WIDTH:
        return text
    if indent is None:
        label = _LABEL.match(text)
        indent = label.end() if label else len(text) - len(text.lstrip()) + 2
    first, *rest = (_AFTER_COMMA if isinstance(line, str) else _BEFORE_SIGN).split(text)
    lines = [first]
    for part in rest:
        if len(lines[-1]) + 1 + len(part) <= _WIDTH:
            lines[-1] += f" {part}"
        else:
            lines.append(" " * indent + part)
    return "\n".join(lines)
