"""Pictures of conflicts: where too many equations or variables are, and which."""

from typing import Any

import numpy as np

from sparsematch import DeficientPiece, Explanation, explain_singularity
from sparsematch.plot.cells import COUNTABLE, PARTS, draw_entries, draw_grid, import_matplotlib

_NAMED = 24  # rows or columns of a conflict, whose names are all written; of more, a few are


def spy_conflicts(
    A: Any, why: Explanation | None = None, *, title: str | None = None, figure: Any = None
) -> Any:
    """Draw why a matrix is structurally singular: its shortest conflicts, with their names.

    Parameters
    ----------
    A : sparse matrix or array
        In any format; only its pattern is drawn. It is not modified.
    why : Explanation, optional
        The explanation of `A`; computed if not given.
    title : str, optional
        Written above the picture.
    figure : matplotlib Figure or SubFigure, optional
        Drawn into; a new ``matplotlib.figure.Figure`` if not given.

    Returns
    -------
    matplotlib Figure or SubFigure
        The matrix with the equations of the over-determined conflict and the variables of the
        under-determined one marked, and beside it an axes for each of the two that there is.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If `why` is not of the shape of `A`.

    Examples
    --------
    >>> import scipy.sparse
    >>> from sparsematch.plot import spy_conflicts
    >>> A = scipy.sparse.csr_array([[1, 0, 0], [1, 0, 0], [1, 1, 1]])
    >>> figure = spy_conflicts(A)
    >>> [axes.get_title() for axes in figure.axes]
    ['3 x 3, structural rank 2', '2 equations, 1 variable', '2 variables, 1 equation']
    """
    import_matplotlib()
    if why is None:
        why = explain_singularity(A)
    if why.shape != tuple(A.shape):
        raise ValueError(f"why is of a matrix of shape {why.shape}, A has shape {tuple(A.shape)}")
    conflicts = [part[0] for part in (why.overdetermined, why.underdetermined) if part]
    figure, whole, *close = _panels(A.shape, len(conflicts), figure)
    entries = A.tocoo()
    draw_entries(whole, entries.row, entries.col, A.shape)
    whole.set_title(
        f"{A.shape[0]:,} x {A.shape[1]:,}, structural rank {why.structural_rank:,}", fontsize=11
    )
    for ax, piece in zip(close, conflicts, strict=True):
        _mark(whole, piece)
        _draw_conflict(ax, entries, why, piece)
    if title:
        figure.suptitle(title, fontsize=13, fontweight="bold")
    return figure


def _panels(shape: tuple[int, int], n_conflicts: int, figure: Any) -> tuple[Any, ...]:
    """Side by side: the matrix, and an axes for each conflict."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    n_rows, n_cols = (max(n, 1) for n in shape)
    if figure is None:
        figure = Figure(figsize=(4.5 * (1 + n_conflicts) + 0.5, 5))
    if figure.figure.get_layout_engine() is None:
        figure.figure.set_layout_engine("constrained", w_pad=0.15, h_pad=0.08)
    whole, *close = figure.subplots(1, 1 + n_conflicts, squeeze=False)[0]
    whole.set_box_aspect(min(max(n_rows / n_cols, 1 / 4), 2))
    whole.set_xlim(-0.5, n_cols - 0.5)
    whole.set_ylim(n_rows - 0.5, -0.5)
    whole.set_xlabel("column")
    whole.set_ylabel("row")
    for axis in (whole.xaxis, whole.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))
    draw_grid(whole, n_rows, n_cols)
    return figure, whole, *close


def _mark(ax: Any, piece: DeficientPiece) -> None:
    """Shade the rows, or columns, of a conflict, wide enough to be seen in a large matrix."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    over = piece.side == "rows"
    _, face, edge, _ = PARTS["vertical" if over else "horizontal"]
    right, bottom = ax.get_xlim()[1], ax.get_ylim()[0]
    boxes = [
        Rectangle((-0.5, k - 0.5), right + 0.5, 1)
        if over
        else Rectangle((k - 0.5, -0.5), 1, bottom + 0.5)
        for k in piece.candidates.tolist()
    ]
    width = 0.5 if len(boxes) <= COUNTABLE else 0  # the edges of many would hide their faces
    ax.add_collection(
        PatchCollection(boxes, facecolor=face, edgecolor=edge, linewidth=width, zorder=1.5)
    )


def _draw_conflict(ax: Any, entries: Any, why: Explanation, piece: DeficientPiece) -> None:
    """Draw the entries of a conflict by themselves, its rows and columns named."""
    rows, cols, over = piece.conflict.rows, piece.conflict.cols, piece.side == "rows"
    shape = rows.size, cols.size
    inside = np.isin(entries.row, rows) & np.isin(entries.col, cols)
    _, face, edge, _ = PARTS["vertical" if over else "horizontal"]
    ax.set_facecolor(face)
    ax.set_xlim(-0.5, max(shape[1], 1) - 0.5)
    ax.set_ylim(max(shape[0], 1) - 0.5, -0.5)
    ax.set_box_aspect(min(max((shape[0] or 1) / (shape[1] or 1), 1 / 4), 2))
    draw_entries(
        ax,
        np.searchsorted(rows, entries.row[inside]),
        np.searchsorted(cols, entries.col[inside]),
        shape,
    )
    draw_grid(ax, *shape)
    for axis, members, name in ((ax.yaxis, rows, why.row_name), (ax.xaxis, cols, why.col_name)):
        shown = members.size if members.size <= _NAMED else _NAMED // 3
        places = np.linspace(0, members.size - 1, shown, dtype=int)
        axis.set_ticks(places, labels=[name(k) for k in members[places].tolist()])
        axis.set_tick_params(labelsize=8)
    ax.xaxis.set_tick_params(rotation=45 if shape[1] <= 3 else 90)
    counts = _count(shape[0], "equation"), _count(shape[1], "variable")
    ax.set_title(", ".join(counts if over else counts[::-1]), fontsize=11, color=edge)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
