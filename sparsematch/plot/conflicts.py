"""Pictures of conflicts and dependences: where too many equations or variables are, and which."""

from __future__ import annotations  # readable names in help()

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsematch import Dependence, Explanation, explain_singularity
from sparsematch._base.arrays import Array
from sparsematch._input.matrix import checked
from sparsematch._text.combination import bracketed, number, readable
from sparsematch._text.name_lists import count
from sparsematch._types.singularity import members_of
from sparsematch._types.sparse_like import SparseLike
from sparsematch.plot import cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EMPTY = "#a9adb5"  # of rows and columns without entries
_NAMED = 24  # rows or columns of a conflict, whose names are all written; of more, a few are
_FEW = 4  # rows and columns of a conflict that is drawn at a smaller scale
_WRITTEN = 12  # rows and columns of a dependence whose values are written, not drawn
_LETTERS = 32  # of a name: longer ones leave no room for the picture


class _Group(NamedTuple):
    """Rows and columns to be marked in the matrix, and drawn by themselves."""

    side: str  # of what there are too many: "rows", "columns"
    rows: Array
    cols: Array
    # the rows, or columns, to be marked in the matrix: those that are too many, or that are in this
    # dependence or in another of the kind
    marked: Array
    factors: Array | None = None  # by which these rows, or columns, vanish together
    n_alike: int = 1  # dependences of the kind

    @property
    def style(self) -> tuple[str, str]:
        """The colours of its face and edge."""
        return cells.PARTS["vertical" if self.side == "rows" else "horizontal"][1:3]

    @property
    def label(self) -> str:
        """What is said of it below the picture."""
        over = self.side == "rows"
        members = count(self.marked.size, "equation" if over else "variable")
        if self.factors is not None:
            return f"{'dependent' if over else 'free'}: {members}"
        return f"{'over' if over else 'under'}-determined: {members} of a conflict"

    @property
    def title(self) -> str:
        """What is said of it above its own axes."""
        counts = count(self.rows.size, "equation"), count(self.cols.size, "variable")
        if self.factors is not None:
            words = f"{counts[0]}, dependent" if self.side == "rows" else f"{counts[1]}, free"
            return words if self.n_alike == 1 else f"{words} (1 of {self.n_alike:,})"
        return ", ".join(counts if self.side == "rows" else counts[::-1])


def spy_conflicts(
    A: SparseLike, why: Explanation | None = None, *, title: str | None = None, figure: Any = None
) -> Figure:
    """Draw why a matrix is singular: its shortest conflicts or dependences, with their names.

    Parameters
    ----------
    A : sparse matrix or array
        In any format; only its pattern is drawn, and values of dependences. It is not modified.
    why : Explanation, optional
        The explanation of `A`; computed if not given, and then by its structure alone.
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
        marked only. Of a matrix that is singular by its numbers, likewise, a set of equations that
        depend on each other and one of free variables, each with its factor before its name.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If `A` is not a sparse matrix, or `why` not an `Explanation`.
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
    why = cells.given_or_made(A, why, explain_singularity, "why", Explanation)
    entries = checked(A, "A").tocoo()
    groups = _worth_seeing(why, entries)
    figure, whole, *close = _panels(entries.shape, groups, figure)
    cells.draw_entries(whole, entries.row, entries.col, entries.shape, bar=True)
    rank = f"structural rank {why.structural_rank:,}{'' if groups else ': no conflict'}"
    if why.numbers is not None:
        rank = f"rank {why.numbers.rank:,} with these values"
    whole.set_title(f"{entries.shape[0]:,} x {entries.shape[1]:,}, {rank}", fontsize=11)
    _name_small(whole, why)
    _mark(figure, whole, why, groups)
    for ax, group in zip(close, groups, strict=True):
        _draw_group(ax, entries, why, group)
    if title:
        figure.suptitle(title, fontsize=13, fontweight="bold")
    return figure


def _worth_seeing(why: Explanation, entries: Any) -> list[_Group]:
    """Choose two conflicts with entries: of both kinds, else the two shortest of one kind."""
    # Where the numbers are to blame, a dependence of each kind.
    if why.numbers is not None:
        both = why.numbers.equations, why.numbers.variables
        return [_of_dependences(alike, entries) for alike in both if alike]
    parts = why.overdetermined, why.underdetermined
    over, under = (part[part.n_empty : part.n_empty + 2] for part in parts)
    chosen = over[:1] + under[:1] if over and under else over + under
    return [_Group(piece.side, *piece.conflict, piece.candidates) for piece in chosen]


def _of_dependences(alike: tuple[Dependence, ...], entries: Any) -> _Group:
    """Return the rows of the first and the columns that they have entries in, or the reverse."""
    first = alike[0]
    over = first.side == "rows"
    own, other = (entries.row, entries.col) if over else (entries.col, entries.row)
    others = np.unique(other[np.isin(own, first.indices)])
    rows, cols = (first.indices, others) if over else (others, first.indices)
    factors = readable(first.coefficients)
    sign = -1 if factors[0].real < 0 else 1
    marked = members_of(each.indices for each in alike)
    return _Group(first.side, rows, cols, marked, sign * factors, len(alike))


def _panels(shape: tuple[int, int], groups: list[_Group], figure: Any) -> tuple[Any, ...]:
    """Side by side: the matrix, and an axes for each group, narrower if it has a few members."""
    widths = [1.0, *(0.6 if max(g.rows.size, g.cols.size) <= _FEW else 1.0 for g in groups)]
    figure = cells.new_figure(figure, (4.5 * sum(widths) + 1, 5.5))
    whole, *close = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    cells.frame_matrix(whole, shape, 1 / 4)
    return figure, whole, *close


def _name_small(ax: Any, why: Explanation) -> None:
    """Write the names that the user gave, if there is room for all."""
    for axis, names in ((ax.yaxis, why.row_names), (ax.xaxis, why.col_names)):
        if names is not None and 0 < len(names) <= _NAMED:
            _write_names(axis, range(len(names)), list(names))
    if why.col_names is not None and len(why.col_names) <= _NAMED:
        ax.xaxis.set_tick_params(rotation=90)


def _write_names(axis: Any, places: Any, names: list[str]) -> None:
    """Write names as they are, dollar signs too, but of long ones both ends only."""
    half = _LETTERS // 2
    shown = [f"{name[:half]}…{name[-half:]}" if len(name) > _LETTERS else name for name in names]
    axis.set_ticks(places, labels=shown, parse_math=False)


def _mark(figure: Any, ax: Any, why: Explanation, groups: list[_Group]) -> None:
    """Shade the rows and columns of the groups, and those without entries; say so below."""
    from matplotlib.patches import Patch

    handles = []
    parts = why.overdetermined, why.underdetermined
    for part in (part for part in parts if part.n_empty):  # below the others: they may be many
        cells.draw_strip(ax, part.empty, part.side, _EMPTY, 0.4)
        noun = "equation" if part.side == "rows" else "variable"
        label = f"{count(part.n_empty, noun)} without entries"
        handles.append(Patch(facecolor=_EMPTY, label=label))
    for group in groups:
        face, edge = group.style
        strength = 0.45 if max(why.shape) <= cells.COUNTABLE else 0.7
        cells.draw_strip(ax, group.marked, group.side, edge, strength)
        handles.append(Patch(facecolor=face, edgecolor=edge, label=group.label))
    cells.legend_below(figure, handles, 3.6)


def _draw_group(ax: Any, entries: Any, why: Explanation, group: _Group) -> None:
    """Draw the entries of a group by themselves, its rows and columns named."""
    shape = group.rows.size, group.cols.size
    at_row = _places(group.rows, why.shape[0])[entries.row]
    at_col = _places(group.cols, why.shape[1])[entries.col]
    inside = (at_row >= 0) & (at_col >= 0)
    face, edge = group.style
    ax.set_facecolor(face)
    cells.frame_matrix(ax, shape, 1 / 4)
    ax.set(xlabel="", ylabel="")
    if group.factors is not None and max(shape) <= _WRITTEN:
        _write_values(ax, at_row[inside], at_col[inside], entries.data[inside], shape)
    else:
        cells.draw_entries(ax, at_row[inside], at_col[inside], shape)
    row_name = why.row_name if why.row_names is not None else "row {:,}".format
    col_name = why.col_name if why.col_names is not None else "column {:,}".format
    sides = (ax.yaxis, "rows", group.rows, row_name), (ax.xaxis, "columns", group.cols, col_name)
    for axis, side, members, name in sides:
        shown = members.size if members.size <= _NAMED else _NAMED // 3
        places = np.linspace(0, members.size - 1, shown, dtype=int)
        names = [name(k) for k in members[places].tolist()]
        if group.factors is not None and side == group.side:
            terms = zip(group.factors[places], names, strict=True)
            names = [f"{number(x)} * {bracketed(name)}" for x, name in terms]
        _write_names(axis, places, names)
        axis.set_tick_params(labelsize=8)
    ax.xaxis.set_tick_params(rotation=45 if shape[1] <= 3 else 90)
    ax.set_title(group.title, fontsize=11, color=edge)


def _write_values(ax: Any, rows: Array, cols: Array, data: Array, shape: tuple[int, int]) -> None:
    """Write the values of a small matrix, duplicates added up, into their cells."""
    values = np.zeros(shape, np.result_type(data, float))
    np.add.at(values, (rows, cols), data)
    for i, j in np.argwhere(values != 0).tolist():
        ax.text(j, i, number(values[i, j]), ha="center", va="center", fontsize=7)


def _places(members: Array, size: int) -> Array:
    """Return where each of `size` vertices is among the members, -1 if it is none."""
    places = np.full(size, -1, members.dtype)
    places[members] = np.arange(members.size, dtype=members.dtype)
    return places
