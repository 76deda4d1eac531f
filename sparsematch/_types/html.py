"""Results as notebooks show them: a small picture and counts, in HTML without a style sheet."""

from collections.abc import Iterable, Mapping
from html import escape

#: Pixels of the longer side of a picture, and boxes that it has at most: notebooks stay small.
_SIDE, MOST_BOXES = 160, 400

#: Top, left, height and width of a box, in rows and columns, and its colour.
Box = tuple[int, int, int, int, str]


def text_page(text: str) -> str:
    """Return a text whose lines are kept."""
    return f"<pre>{escape(text)}</pre>"


def picture_page(
    title: str, shape: tuple[int, int], boxes: Iterable[Box], counts: Mapping[str, object]
) -> str:
    """Return the boxes of a matrix beside a table."""
    n_rows, n_cols = shape
    scale = _SIDE / max(n_rows, n_cols, 1)
    drawn = "".join(
        f'<rect x="{left * scale:.1f}" y="{top * scale:.1f}" width="{max(width * scale, 1):.1f}" '
        f'height="{max(height * scale, 1):.1f}" fill="{colour}"/>'
        for top, left, height, width, colour in boxes
    )
    size = f'width="{max(n_cols * scale, 1):.0f}" height="{max(n_rows * scale, 1):.0f}"'
    frame = 'style="border:1px solid #5b6270"'
    cells = "".join(
        f"<tr><td>{escape(name)}</td><td>{value:,}</td></tr>" for name, value in counts.items()
    )
    return (
        f"<div><div>{escape(title)}: {n_rows:,} x {n_cols:,}</div>"
        f'<div style="display:flex;gap:1em"><svg {size} {frame}>{drawn}</svg>'
        f"<table>{cells}</table></div></div>"
    )
