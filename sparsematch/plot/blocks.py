"""Pictures of a matrix before and after the block triangular form."""

from __future__ import annotations  # readable names in help()

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsematch import BlockForm, block_triangular_form
from sparsematch._base.arrays import Array, inverse
from sparsematch._input.matrix import checked
from sparsematch._text.name_lists import count
from sparsematch._types.sparse_like import SparseLike
from sparsematch.plot import cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OUTLINED = 1 / 120  # a block is outlined if it is at least this part of the longer side
_NUMBERED = 24  # rows and columns up to which all have their numbers in the new order
_SMALL = 1 / 20  # a coarse part smaller than this is drawn by itself, too


def spy_blocks(
    A: SparseLike, form: BlockForm | None = None, *, title: str | None = None, figure: Any = None
) -> Figure:
    """Draw a sparse matrix as given and in block triangular form.

    The coarse Dulmage-Mendelsohn parts are shaded, the fine blocks outlined, and the legend gives
    their sizes. An over- or under-determined part too small to be seen is marked, and drawn by
    itself, enlarged.

    Parameters
    ----------
    A : sparse matrix or array
        In any format; only its pattern is drawn. It is not modified.
    form : BlockForm, optional
        The block triangular form of `A`; computed if not given.
    title : str, optional
        Written above the picture.
    figure : matplotlib Figure or SubFigure, optional
        Drawn into; a new ``matplotlib.figure.Figure`` if not given. A figure without a layout
        engine gets the constrained layout, which keeps the labels apart.

    Returns
    -------
    matplotlib Figure or SubFigure
        With two axes, before and after, one for each part that is enlarged, and those of the
        scale of shades; save it with ``savefig``.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If `A` is not a sparse matrix, or `form` not a `BlockForm`.
    ValueError
        If `form` is not of the shape of `A`.

    Examples
    --------
    >>> import scipy.sparse
    >>> from sparsematch.plot import spy_blocks
    >>> A = scipy.sparse.csr_array([[1, 0, 1], [1, 1, 1], [0, 0, 1]])
    >>> figure = spy_blocks(A, title="three blocks")
    >>> [axes.get_title() for axes in figure.axes]
    ['as given: 3 x 3, 6 entries', 'block form: 3 blocks, structural rank 3']
    """
    form = cells.given_or_made(A, form, block_triangular_form, "form", BlockForm)
    small = _small_parts(form)
    entries = checked(A, "A").tocoo()
    figure, before, after, *enlarged = _panels(entries.shape, len(small), figure)
    cells.draw_entries(before, entries.row, entries.col, entries.shape, bar=True)
    gap = ", " if cells.width_of(figure) >= 9 else ",\n"
    size = f"{form.shape[0]:,} x {form.shape[1]:,}{gap}{entries.nnz:,} entries"
    before.set_title(f"as given: {size}", fontsize=11)
    _number_small(after, form)
    _draw_parts(after, form)
    rows, cols = inverse(form.row_perm)[entries.row], inverse(form.col_perm)[entries.col]
    cells.draw_entries(after, rows, cols, entries.shape, bar=True)
    for ax, name in zip(enlarged, small, strict=True):
        top, left, height, width = _coarse_boxes(form)[name]
        centre, edge = (left + (width - 1) / 2, top + (height - 1) / 2), cells.PARTS[name][2]
        after.plot(*centre, marker="s", markersize=12, mfc="none", mec=edge, mew=2, zorder=4)
        _enlarge(ax, form, rows, cols, name)
    blocks = f"{count(form.n_blocks, 'block')}{gap}structural rank {form.structural_rank:,}"
    after.set_title(f"block form: {blocks}", fontsize=11)
    _draw_legend(figure, form, _draw_outlines(after, form))
    if title:
        figure.suptitle(title, fontsize=13, fontweight="bold")
    return figure


def _panels(shape: tuple[int, int], n_small: int, figure: Any) -> tuple[Any, ...]:
    """Lay out two pictures, side by side or stacked; a very long matrix is not to scale."""
    # Beside or below them are the parts that are enlarged.
    ratio = min(max(max(shape[0], 1) / max(shape[1], 1), 1 / 4), 2)
    stacked, extra = ratio < 1 / 2, 3.2 * bool(n_small)
    size = (9, 16 * ratio + 2.3 + extra) if stacked else (11 + extra, 5 * ratio + 1.6)
    figure = cells.new_figure(figure, size)
    small = [f"small {k}" for k in range(n_small)]
    if stacked:
        wide = max(n_small, 1)
        rows = [["before"] * wide, ["after"] * wide, *([small] if small else [])]
        axes = figure.subplot_mosaic(rows)
    else:
        rows = [["before", "after", name] for name in small] or [["before", "after"]]
        axes = figure.subplot_mosaic(rows, width_ratios=[1, 1, 0.5][: len(rows[0])])
    for name, order in (("before", ""), ("after", " in the new order")):
        cells.frame_matrix(axes[name], shape, 1 / 4, order)
    return figure, *(axes[name] for name in ("before", "after", *small))


def _number_small(ax: Any, form: BlockForm) -> None:
    """Give the rows and columns of a small matrix in its new order the numbers that they had."""
    if 0 < max(form.shape) <= _NUMBERED:
        sides = (ax.yaxis, "row", form.row_perm), (ax.xaxis, "column", form.col_perm)
        for axis, noun, order in sides:
            axis.set_ticks(range(len(order)), labels=[str(k) for k in np.asarray(order)])
            axis.set_label_text(f"{noun} as given, in the new order")


def _small_parts(form: BlockForm) -> list[str]:
    """List the over- and under-determined parts that are too small to be seen, but no points."""
    limit = _SMALL * max(form.shape)
    return [
        name
        for name, (_, _, height, width) in _coarse_boxes(form).items()
        if name != "square" and max(height, width) < limit and min(height, width) > 0
    ]


def _enlarge(ax: Any, form: BlockForm, rows: Array, cols: Array, name: str) -> None:
    """Draw the entries of one part by themselves, rows and columns with the numbers they had."""
    top, left, height, width = _coarse_boxes(form)[name]
    face, _, edge, meaning = cells.PARTS[name]
    ax.set_facecolor(face)
    cells.frame_matrix(ax, (height, width), 1 / 3)
    ax.set(xlabel="", ylabel="")
    ax.yaxis.set_major_formatter(partial(_number, form.row_perm[top : top + height]))
    ax.xaxis.set_major_formatter(partial(_number, form.col_perm[left : left + width]))
    inside = (rows >= top) & (rows < top + height) & (cols >= left) & (cols < left + width)
    cells.draw_entries(ax, rows[inside] - top, cols[inside] - left, (height, width))
    ax.set_title(f"{meaning.split()[0]}: {height:,} x {width:,}", fontsize=10, color=edge)
    for spine in ax.spines.values():
        spine.set_color(edge)


def _number(order: Array, place: float, _: int) -> str:
    return f"{order[int(place)]:,}" if 0 <= place < order.size else ""


def _draw_parts(ax: Any, form: BlockForm) -> None:
    from matplotlib.patches import Rectangle

    for name, (top, left, height, width) in _coarse_boxes(form).items():
        shade: Any = {"facecolor": cells.PARTS[name][0], "edgecolor": "none", "zorder": 1}
        ax.add_patch(Rectangle((left - 0.5, top - 0.5), width, height, **shade))


def _draw_outlines(ax: Any, form: BlockForm) -> int:
    """Outline the blocks that are large enough to be seen, and return how many those are."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    tops, lefts = np.asarray(form.row_blocks), np.asarray(form.col_blocks)
    heights, widths = np.diff(tops), np.diff(lefts)
    large = np.flatnonzero(np.maximum(heights, widths) >= _OUTLINED * max(form.shape))
    parts, last = _coarse_boxes(form), len(heights) - 1
    ends = {k: name for k, name in ((0, "horizontal"), (last, "vertical")) if name in parts}
    styles = [cells.PARTS[ends.get(k, "square")] for k in large.tolist()]
    boxes = [Rectangle((lefts[k] - 0.5, tops[k] - 0.5), widths[k], heights[k]) for k in large]
    faces, edges = [style[1] for style in styles], [style[2] for style in styles]
    ax.add_collection(PatchCollection(boxes, facecolor=faces, edgecolor="none", zorder=1.5))
    lines: Any = {"edgecolor": edges, "linewidth": 1.1, "zorder": 3}
    ax.add_collection(PatchCollection(boxes, facecolor="none", **lines))
    return len(boxes)


def _draw_legend(figure: Any, form: BlockForm, outlined: int) -> None:
    from matplotlib.patches import Patch

    handles = []
    for name, (_, _, height, width) in _coarse_boxes(form).items():
        _, face, edge, meaning = cells.PARTS[name]
        label = f"{meaning}: {height:,} x {width:,}"
        handles.append(Patch(facecolor=face, edgecolor=edge, label=label))
    if hidden := form.n_blocks - outlined:
        label = f"{count(hidden, 'small block')} not outlined"
        handles.append(Patch(facecolor="none", edgecolor="none", label=label))
    cells.legend_below(figure, handles, 3)


def _coarse_boxes(form: BlockForm) -> dict[str, tuple[int, int, int, int]]:
    """Top, left, height and width of the coarse parts that are not empty."""
    rows, cols = np.asarray(form.coarse_rows).tolist(), np.asarray(form.coarse_cols).tolist()
    boxes = {
        "horizontal": (0, 0, rows[1], cols[2]),
        "square": (rows[1], cols[2], rows[2] - rows[1], cols[3] - cols[2]),
        "vertical": (rows[2], cols[3], rows[4] - rows[2], cols[4] - cols[3]),
    }
    return {name: box for name, box in boxes.items() if box[2] or box[3]}
