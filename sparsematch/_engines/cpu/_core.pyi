"""The C++ core.

Arrays of one call are all int32 or all int64; major is what `indptr` runs over, minor what `indices` names.
"""

from collections.abc import Mapping
from typing import Any

from numpy import int8
from numpy.typing import NDArray

from sparsematch._types.arrays import BoolArray, IndexArray

def engines() -> list[tuple[str, bool, str, bool, str]]:
    """List (name, exact, transpose, threads, names of options)."""

def run(
    name: str,
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    t_indptr: IndexArray | None,
    t_indices: IndexArray | None,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    workers: int,
    edge_limit: int,
    detailed: bool,
    options: Mapping[str, bool | float],
    /,
) -> dict[str, Any]:
    """Run one engine on the mates."""

def transpose(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    t_indptr: IndexArray,
    t_indices: IndexArray,
    workers: int,
    /,
) -> None:
    """Write the transpose."""

def check_matching(
    n_minor: int, indptr: IndexArray, indices: IndexArray, major_mate: IndexArray, minor_mate: IndexArray, /
) -> tuple[int, int, int]:
    """Return (what is wrong, major, minor), starting with 0 if nothing is."""

def check_maximal(
    n_minor: int, indptr: IndexArray, indices: IndexArray, major_mate: IndexArray, minor_mate: IndexArray, /
) -> tuple[int, int]:
    """Return an entry whose ends are both free, or (-1, -1)."""

def cover(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    major_cover: BoolArray,
    minor_cover: BoolArray,
    /,
) -> bool:
    """Write the cover if the matching is maximum, and tell whether it is."""

def block_labels(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    major_part: NDArray[int8],
    minor_part: NDArray[int8],
    major_block: IndexArray,
    minor_block: IndexArray,
    /,
) -> int:
    """Write parts and blocks, and return the number of blocks of the square part."""

def connected_components(
    n_minor: int, indptr: IndexArray, indices: IndexArray, major_label: IndexArray, minor_label: IndexArray, /
) -> int:
    """Write the components' numbers, and return how many there are."""

def sort_by_label(labels: IndexArray, n_labels: int, order: IndexArray, /) -> None:
    """Write the stable order."""
