"""Results as notebooks show them: a small picture and counts, in HTML without a style sheet."""

from collections.abc import Iterable
from html import escape

#: Pixels of the longer side of a picture, and boxes that it has at most: notebooks stay small.
_SIDE, MOST_BOXES = 160, 400


def text_page(text: str) -> str:
    """Return a text whose lines are kept."""
    return f"<pre>{escape(text)}</pre>"


def picture_page(
    shape: tuple[int, int], rank: int, boxes: Iterable[tuple[int, int, int, int, str]], title: str
) -> str:
    """Return boxes of a matrix (top, left, height, width, colour) beside what is matched of it."""
    scale = _SIDE / max(*shape, 1)
    drawn = "".join(
        f'<rect x="{left * scale:.1f}" y="{top * scale:.1f}" width="{max(width * scale, 1):.1f}" '
        f'height="{max(height * scale, 1):.1f}" fill="{colour}"/>'
        for top, left, height, width, colour in boxes
    )
    n_rows, n_cols = shape
    size = f'width="{max(n_cols * scale, 1):.0f}" height="{max(n_rows * scale, 1):.0f}"'
    return (
        f'<div style="display:flex;gap:1em"><svg {size} style="border:1px solid #5b6270">{drawn}'
        f"</svg><div>{title}<br/>{n_rows:,} x {n_cols:,}<br/>{rank:,} matched<br/>"
        f"{n_rows - rank:,} rows, {n_cols - rank:,} columns unmatched</div></div>"
    )
