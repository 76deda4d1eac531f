"""What all pictures share: entries as an image, colours of the parts, matplotlib."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CELLS = 400  # cells along the longer side of the image
COUNTABLE = 60  # rows and columns of a matrix whose cells are separated by lines
_INK = (0.10, 0.14, 0.30)
PARTS = {  # shade of the coarse part, face and edge of its blocks, meaning
    "horizontal": ("#dbe8f7", "#c3daf3", "#1f5fa8", "under-determined (horizontal)"),
    "square": ("#f0f7ec", "#d3eac9", "#2e7d32", "well-determined (square)"),
    "vertical": ("#fdebdb", "#fbd7b5", "#c25a00", "over-determined (vertical)"),
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
        raise ImportError("pictures need matplotlib: pip install 'sparsematch[plot]'") from error


def draw_grid(ax: Any, n_rows: int, n_cols: int) -> None:
    """Separate the cells of a matrix small enough for its entries to be counted by eye."""
    if max(n_rows, n_cols) <= COUNTABLE:
        ax.set_xticks(np.arange(n_cols - 1) + 0.5, minor=True)
        ax.set_yticks(np.arange(n_rows - 1) + 0.5, minor=True)
        ax.tick_params(which="minor", length=0)
        ax.grid(which="minor", color="#c8ccd4", linewidth=0.5)
        ax.set_axisbelow(False)


def draw_entries(ax: Any, rows: NDArray[Any], cols: NDArray[Any], shape: tuple[int, int]) -> None:
    """Draw the entries as an image with a cell for each, or for many of them."""
    if len(rows) == 0:
        ax.text(
            0.5, 0.5, "no entries", transform=ax.transAxes, ha="center", va="center", color="grey"
        )
        return
    n_rows, n_cols = shape
    shown_rows, shown_cols = min(n_rows, _CELLS), min(n_cols, _CELLS)
    cells = (rows.astype(np.int64) * shown_rows // n_rows) * shown_cols + cols.astype(
        np.int64
    ) * shown_cols // n_cols
    counts = np.bincount(cells, minlength=shown_rows * shown_cols).reshape(shown_rows, shown_cols)
    image = np.zeros((shown_rows, shown_cols, 4))
    image[..., :3] = _INK
    image[..., 3] = _darkness(counts, exact=shown_rows == n_rows and shown_cols == n_cols)
    extent = (-0.5, n_cols - 0.5, n_rows - 0.5, -0.5)
    ax.imshow(image, extent=extent, aspect="auto", interpolation="nearest", zorder=2)


def _darkness(counts: NDArray[Any], exact: bool) -> NDArray[Any]:
    """Opacity of each cell: one entry can be seen, more are darker on a logarithmic scale."""
    if exact:
        return (counts > 0).astype(float)
    scale = np.log1p(counts) / np.log1p(max(counts.max(), 2))
    return np.where(counts > 0, 0.5 + 0.5 * scale, 0.0)
