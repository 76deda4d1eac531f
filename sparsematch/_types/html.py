"""Results as notebooks show them: a small picture and counts, in HTML without a style sheet."""

from collections.abc import Callable, Iterable
from html import escape

#: Pixels of the longer side of a picture, and boxes that it has at most: notebooks stay small.
_SIDE, MOST_BOXES = 160, 400


class Page:
    """What shows itself by a text, whose lines a notebook keeps."""

    __slots__ = ()

    text: Callable[..., str]

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"


def picture_page(
    shape: tuple[int, int], rank: int, boxes: Iterable[tuple[int, int, int, int, str]], title: str
) -> str:
    """Return boxes of a matrix (top, left, height, width, colour) beside what is matched of it."""
    n_rows, n_cols = shape
    drawn = "".join(
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="{colour}" '
        f'stroke="{colour}" vector-effect="non-scaling-stroke"/>'
        for top, left, height, width, colour in boxes
    )
    size = f'viewBox="0 0 {n_cols} {n_rows}" width="{_SIDE * n_cols / max(*shape, 1):.0f}"'
    return (
        f'<div style="display:flex;gap:1em"><svg {size} style="border:1px solid #5b6270">{drawn}'
        f"</svg><div>{title}<br/>{n_rows:,} x {n_cols:,}<br/>{rank:,} matched<br/>"
        f"{n_rows - rank:,} rows, {n_cols - rank:,} columns unmatched</div></div>"
    )
