"""Pictures of conflicts: where too many equations or variables are, and which."""

from __future__ import annotations  # readable names in help()

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsematch import DeficientPiece, Explanation, explain_singularity
from sparsematch._input.matrix import checked
from sparsematch._types.sparse_like import SparseLike
from sparsematch.plot.cells import (
    COUNTABLE,
    PARTS,
    count,
    draw_entries,
    draw_strip,
    frame_matrix,
    given_or_made,
    legend_below,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EMPTY = "#a9adb5"  # of rows and columns without entries
_NAMED = 24  # rows or columns of a conflict, whose names are all written; of more, a few are
_FEW = 4  # rows and columns of a conflict that is drawn at a smaller scale
_LETTERS = 32  # of a name: longer ones leave no room for the picture


def spy_conflicts(
    A: SparseLike, why: Explanation | None = None, *, title: str | None = None, figure: Any = None
) -> Figure:
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
        under-determined one marked, and beside it two axes at most, with the shortest conflicts
        that have entries, one of each kind if there is one. Rows and columns without entries are
        marked only.

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
    why = given_or_made(A, why, explain_singularity, "why")
    conflicts = _worth_seeing(why)
    figure, whole, *close = _panels(A.shape, conflicts, figure)
    matrix = checked(A, "A")
    entries = matrix.tocoo()
    draw_entries(whole, entries.row, entries.col, A.shape, bar=True)
    rank = f"structural rank {why.structural_rank:,}{'' if conflicts else ': no conflict'}"
    whole.set_title(f"{A.shape[0]:,} x {A.shape[1]:,}, {rank}", fontsize=11)
    _name_small(whole, why)
    _mark(figure, whole, why, conflicts)
    for ax, piece in zip(close, conflicts, strict=True):
        _draw_conflict(ax, entries, why, piece)
    if title:
        figure.suptitle(title, fontsize=13, fontweight="bold")
    return figure


def _worth_seeing(why: Explanation) -> list[DeficientPiece]:
    """Choose two conflicts with entries: of both kinds, else the two shortest of one kind."""
    parts = why.overdetermined, why.underdetermined
    over, under = (part[part.n_empty : part.n_empty + 2] for part in parts)
    return over[:1] + under[:1] if over and under else over + under


def _panels(
    shape: tuple[int, int], conflicts: list[DeficientPiece], figure: Any
) -> tuple[Any, ...]:
    """Side by side: the matrix, and an axes for each conflict, narrower if it has a few members."""
    few = [max(map(len, piece.conflict)) <= _FEW for piece in conflicts]
    widths = [1.0, *(0.6 if small else 1.0 for small in few)]
    figure = new_figure(figure, (4.5 * sum(widths) + 1, 5.5))
    whole, *close = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    frame_matrix(whole, shape, 1 / 4)
    return figure, whole, *close


def _name_small(ax: Any, why: Explanation) -> None:
    """Write the names that the user gave, if there is room for all."""
    sides = (ax.yaxis, why.row_names), (ax.xaxis, why.col_names)
    for axis, names in sides:
        if names is not None and 0 < len(names) <= _NAMED:
            _write_names(axis, range(len(names)), list(names))
    if why.col_names is not None and len(why.col_names) <= _NAMED:
        ax.xaxis.set_tick_params(rotation=90)


def _write_names(axis: Any, places: Any, names: list[str]) -> None:
    """Write names as they are, dollar signs too, but of long ones both ends only."""
    half = _LETTERS // 2
    shown = [f"{name[:half]}…{name[-half:]}" if len(name) > _LETTERS else name for name in names]
    axis.set_ticks(places, labels=shown, parse_math=False)


def _mark(figure: Any, ax: Any, why: Explanation, conflicts: list[DeficientPiece]) -> None:
    """Shade the rows and columns of the conflicts, and those without entries; say so below."""
    from matplotlib.patches import Patch

    handles = []
    parts = why.overdetermined, why.underdetermined
    for part in (part for part in parts if part.n_empty):  # below the others: they may be many
        draw_strip(ax, part.empty, part.side, _EMPTY, 0.4)
        noun = "equation" if part.side == "rows" else "variable"
        label = f"{count(part.n_empty, noun)} without entries"
        handles.append(Patch(facecolor=_EMPTY, label=label))
    for piece in conflicts:
        over = piece.side == "rows"
        _, face, edge, _ = PARTS["vertical" if over else "horizontal"]
        strength = 0.45 if max(why.shape) <= COUNTABLE else 0.7
        draw_strip(ax, piece.candidates, piece.side, edge, strength)
        members = count(piece.candidates.size, "equation" if over else "variable")
        label = f"{'over' if over else 'under'}-determined: {members} of a conflict"
        handles.append(Patch(facecolor=face, edgecolor=edge, label=label))
    if handles:
        columns = max(1, min(len(handles), int(figure.bbox.width / figure.dpi / 3.6)))
        legend_below(figure, handles, columns)


def _draw_conflict(ax: Any, entries: Any, why: Explanation, piece: DeficientPiece) -> None:
    """Draw the entries of a conflict by themselves, its rows and columns named."""
    rows, cols, over = piece.conflict.rows, piece.conflict.cols, piece.side == "rows"
    shape = rows.size, cols.size
    at_row = _places(rows, why.shape[0])[entries.row]
    at_col = _places(cols, why.shape[1])[entries.col]
    inside = (at_row >= 0) & (at_col >= 0)
    _, face, edge, _ = PARTS["vertical" if over else "horizontal"]
    ax.set_facecolor(face)
    frame_matrix(ax, shape, 1 / 4)
    ax.set(xlabel="", ylabel="")
    draw_entries(ax, at_row[inside], at_col[inside], shape)
    row_name = why.row_name if why.row_names is not None else "row {:,}".format
    col_name = why.col_name if why.col_names is not None else "column {:,}".format
    for axis, members, name in ((ax.yaxis, rows, row_name), (ax.xaxis, cols, col_name)):
        shown = members.size if members.size <= _NAMED else _NAMED // 3
        places = np.linspace(0, members.size - 1, shown, dtype=int)
        _write_names(axis, places, [name(k) for k in members[places].tolist()])
        axis.set_tick_params(labelsize=8)
    ax.xaxis.set_tick_params(rotation=45 if shape[1] <= 3 else 90)
    counts = count(shape[0], "equation"), count(shape[1], "variable")
    ax.set_title(", ".join(counts if over else counts[::-1]), fontsize=11, color=edge)


def _places(members: NDArray[Any], size: int) -> NDArray[Any]:
    """Return where each of `size` vertices is among the members, -1 if it is none."""
    places = np.full(size, -1, members.dtype)
    places[members] = np.arange(members.size, dtype=members.dtype)
    return places
