"""Text of an account as LaTeX."""

from collections.abc import Iterable
from typing import Any

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{sign: rf"\{sign}" for sign in "{}$&#%_"},
}
_CONTINUED = " " * 9


def escape(text: str) -> str:
    """Return text that LaTeX prints as it is."""
    return "".join(_ESCAPES.get(sign, sign) for sign in text)


def document(lines: Iterable[Any]) -> str:
    """Return lines as paragraphs, those that are indented as items of lists."""
    # A line is a string, or has a method `latex`; far to the right it continues the one before.
    out: list[str] = []
    depth = 0
    for line in lines:
        text = str(line)
        if text.startswith(_CONTINUED):
            out[-1] += f" {escape(text.strip())}"
            continue
        wanted = min((len(text) - len(text.lstrip()) + 2) // 3, 2)
        out += [r"\end{itemize}"] * (depth - wanted) + [r"\begin{itemize}"] * (wanted - depth)
        depth = wanted
        words = escape(text.strip()) if isinstance(line, str) else line.latex()
        out.append(rf"\item {words}" if depth else words)
    return "\n".join([*out, *[r"\end{itemize}"] * depth])
