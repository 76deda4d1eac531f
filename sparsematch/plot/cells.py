"""What all pictures share: entries as an image, colours of the parts, matplotlib."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._base.errors import pip_install, wrong_type

_CELLS = 400  # cells along the longer side of the image
COUNTABLE = 60  # rows and columns of a matrix whose cells are separated by lines
_SUBCELLS = 6  # of a countable matrix's cell, along each side; the outer ones stay clear
_INK = (0.10, 0.14, 0.30)
PARTS = {  # shade of the coarse part, face and edge of its blocks, meaning
    # blue, grey and vermilion can be told apart whatever colours one does not see
    "horizontal": ("#d9e9f5", "#b9d8ee", "#0072b2", "under-determined (horizontal)"),
    "square": ("#f1f2f4", "#dfe2e7", "#5b6270", "well-determined (square)"),
    "vertical": ("#fbe5d6", "#f7ccae", "#c85200", "over-determined (vertical)"),
}


def check_picture(path: str | os.PathLike[str]) -> None:
    """Raise ImportError without matplotlib, ValueError if it cannot write this kind of picture."""
    import_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in kinds:
        listed = ", ".join(f".{kind}" for kind in kinds)
        what = f"'{kind}' is not a kind of picture" if kind else "the name has no extension"
        raise ValueError(f"{what}; the extensions of pictures are {listed}")


def import_matplotlib() -> None:
    """Raise ImportError, saying how to install it, if matplotlib is not there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(f"pictures need matplotlib: {pip_install('matplotlib')}") from error


def given_or_made(A: Any, given: Any, make: Callable[[Any], Any], name: str, kind: type) -> Any:
    """Return what is known of a matrix, of this kind and shape, or make it; or raise."""
    import_matplotlib()
    if given is not None and not isinstance(given, kind):
        raise wrong_type(name, given, f"of type {kind.__name__}")
    found: Any = make(A) if given is None else given
    if tuple(found.shape) != tuple(A.shape):
        text = f"{name} is of a matrix of shape {tuple(found.shape)}, A has shape {tuple(A.shape)}"
        raise ValueError(text)
    return found


def new_figure(figure: Any, size: tuple[float, float]) -> Any:
    """Return the figure that is given, or a new one; without a layout engine it gets one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size) if figure is None else figure
    if figure.figure.get_layout_engine() is None:
        figure.figure.set_layout_engine("constrained", w_pad=0.15, h_pad=0.08)
    return figure


def frame_matrix(ax: Any, shape: tuple[int, int], narrowest: float, order: str = "") -> None:
    """Fit axes to a matrix, rows downwards; a very long or wide one is not to scale."""
    n_rows, n_cols = (max(n, 1) for n in shape)
    ax.set_box_aspect(min(max(n_rows / n_cols, narrowest), 2))
    ax.set(xlim=(-0.5, n_cols - 0.5), ylim=(n_rows - 0.5, -0.5))
    ax.set(xlabel=f"column{order}", ylabel=f"row{order}")
    number_axes(ax)
    if max(n_rows, n_cols) <= COUNTABLE:  # entries can be counted by eye: lines between the cells
        ax.set_xticks(np.arange(n_cols - 1) + 0.5, minor=True)
        ax.set_yticks(np.arange(n_rows - 1) + 0.5, minor=True)
        ax.tick_params(which="minor", length=0)
        ax.grid(which="minor", color="#c8ccd4", linewidth=0.5)
        ax.set_axisbelow(False)


def width_of(figure: Any) -> float:
    """Return the width in inches, of a subfigure too."""
    return float(figure.bbox.width / figure.dpi)


def legend_below(figure: Any, handles: list[Any], inches: float) -> None:
    """Put a legend below the picture, if there is anything in it; an entry takes some inches."""
    if not handles:
        return
    fitting = max(1, int(width_of(figure) / inches))
    columns = 2 if len(handles) == 4 and fitting > 2 else min(fitting, len(handles))
    where = {"loc": "outside lower center", "ncols": columns}
    figure.legend(handles=handles, fontsize=9, frameon=False, **where)


def number_axes(ax: Any) -> None:
    """Write few numbers at the axes, thousands separated; of long ones below it even fewer."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    n_cols, narrow = ax.get_xlim()[1], (ax.get_box_aspect() or 1) > 4 / 3
    below = 5 if n_cols < (1e3 if narrow else 1e6) else 2 if narrow else 3
    for axis, most in ((ax.xaxis, below), (ax.yaxis, 5)):
        axis.set_major_locator(MaxNLocator(most, integer=True, min_n_ticks=1))
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.tick_params(labelsize=8)


def draw_entries(
    ax: Any, rows: NDArray[Any], cols: NDArray[Any], shape: tuple[int, int], bar: bool = False
) -> None:
    """Draw the entries as an image with a cell for each, or for many, and then perhaps a scale."""
    # One entry can be seen, more are darker on a logarithmic scale.
    from matplotlib.colors import ListedColormap, LogNorm

    if len(rows) == 0:
        centred = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "no entries", color="grey", **centred)
        return
    n_rows, n_cols = shape
    shown_rows, shown_cols = min(n_rows, _CELLS), min(n_cols, _CELLS)
    cells = (rows.astype(np.int64) * shown_rows // n_rows) * shown_cols
    cells += cols.astype(np.int64) * shown_cols // n_cols
    counts = np.bincount(cells, minlength=shown_rows * shown_cols).reshape(shown_rows, shown_cols)
    places = -(-n_rows // shown_rows), -(-n_cols // shown_cols)
    lightest, darkest = 1.0, 2.0
    if places != (1, 1):  # where most cells have entries, ink is lighter
        lightest = np.interp(np.count_nonzero(counts) / counts.size, [0.02, 0.5], [0.5, 0.1])
        # as dark as a diagonal: what is spread evenly over all cells stays lighter than that
        darkest = max(counts.max(), (places[0] * places[1]) ** 0.5, 2)
    elif max(shape) <= COUNTABLE:
        counts = np.kron(counts, np.pad(np.ones((_SUBCELLS - 2,) * 2, int), 1))
    shades = ListedColormap([(*_INK, opacity) for opacity in np.linspace(lightest, 1, 64)])
    how: Any = {"norm": LogNorm(1, darkest), "cmap": shades, "interpolation": "nearest"}
    extent = (-0.5, n_cols - 0.5, n_rows - 0.5, -0.5)
    image = ax.imshow(np.ma.masked_equal(counts, 0), **how, extent=extent, aspect="auto", zorder=2)
    if bar and places != (1, 1):
        _draw_scale(ax, image, places)


def draw_strip(ax: Any, members: NDArray[Any], side: str, colour: str, strength: float) -> None:
    """Shade rows or columns across the picture: one image, however many they are."""
    # Shades are half transparent, so that both are seen where they cross. Those of a few lines lie
    # above the entries, which would hide them where they are dense.
    from matplotlib.colors import to_rgb

    size = round((ax.get_ylim()[0] if side == "rows" else ax.get_xlim()[1]) + 0.5)
    shown = min(size, _CELLS // 2)  # lines of two cells: a thinner one may be lost in a small file
    share = np.bincount(members.astype(np.int64) * shown // size, minlength=shown) * shown / size
    strip = np.zeros((shown, 4))
    strip[:, :3] = to_rgb(colour)
    strip[:, 3] = np.where(share > 0, strength * np.maximum(np.minimum(share, 1), 0.5), 0)
    image = strip[:, None] if side == "rows" else strip[None]
    extent = (*ax.get_xlim(), *ax.get_ylim())
    zorder = 2.5 if size > COUNTABLE and np.count_nonzero(share) < shown / 2 else 1.5
    ax.imshow(image, extent=extent, aspect="auto", interpolation="nearest", zorder=zorder)


def _draw_scale(ax: Any, image: Any, places: tuple[int, int]) -> None:
    """Say below the picture what its shades mean."""
    from matplotlib.ticker import NullLocator

    bar = ax.figure.colorbar(image, ax=ax, location="bottom", shrink=0.6, aspect=40, pad=0.02)
    darkest = image.norm.vmax
    ticks = 10.0 ** np.arange(int(np.log10(darkest)) + 1)
    if ticks.size < 2:
        ticks = np.array([1, round(darkest)])
    bar.ax.xaxis.set_minor_locator(NullLocator())
    bar.set_ticks(ticks, labels=[f"{tick:,.0f}" for tick in ticks])
    bar.ax.tick_params(labelsize=8)
    bar.set_label(f"entries in a cell of {places[0]:,} x {places[1]:,}", fontsize=8)
