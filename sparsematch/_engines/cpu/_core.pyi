"""The C++ core.

Arrays of one call are all int32 or all int64; major is what `indptr` runs over, minor what
`indices` names.
"""

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from sparsematch._types.arrays import BoolArray, FloatArray, IndexArray
from sparsematch._types.factors import BlockLU, BlockPlan

def engines() -> list[tuple[str, bool, str, bool, dict[str, bool | float], str]]:
    """List (name, exact, transpose, threads, options with their defaults, summary)."""

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
    seed: int,
    options: Mapping[str, bool | float],
    settled_major: BoolArray | None,
    settled_minor: BoolArray | None,
    forced: IndexArray | None,
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

def assignment(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    cost: FloatArray,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    major_dual: FloatArray,
    minor_dual: FloatArray,
    detailed: bool,
    /,
) -> dict[str, Any]:
    """Match every major at least cost; ``"feasible"`` in the account tells whether that can be done."""

def matched_entries(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    major_mate: IndexArray,
    entry: IndexArray,
    /,
) -> None:
    """Write where the matched entry of each major stands, or -1."""

def check_matching(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    /,
) -> tuple[int, int, int]:
    """Return (what is wrong, major, minor), starting with 0 if nothing is."""

def check_maximal(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    /,
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
    t_indptr: IndexArray | None,
    t_indices: IndexArray | None,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    major_group: IndexArray,
    forced: IndexArray | None,
    forced_by_major: int,
    forced_by_minor: int,
    /,
) -> int:
    """Write the group of each major; return how many blocks the square part has."""

def connected_components(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    major_label: IndexArray,
    minor_label: IndexArray,
    /,
) -> int:
    """Write the components' numbers, and return how many there are."""

def hall_violators(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    major_piece: IndexArray,
    minor_piece: IndexArray,
    members: IndexArray,
    partners: IndexArray,
    starts: IndexArray,
    /,
) -> int:
    """Write the pieces with too many majors, and one minimal violator of each; return how many.

    The mates change.
    """

def sort_by_label(
    labels: IndexArray, n_labels: int, order: IndexArray, starts: IndexArray, /
) -> None:
    """Write the stable order."""

def block_permutation(
    row_group: IndexArray,
    row_mate: IndexArray,
    n_square: int,
    row_perm: IndexArray,
    col_perm: IndexArray,
    starts: IndexArray,
    /,
) -> None:
    """Write the permutations of the block form, but for the free columns, and where each group begins."""

def take_diagonal(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    /,
) -> bool:
    """Match along the diagonal if it is there in full, and tell whether it is."""

def bfs_depth_to(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    t_indptr: IndexArray,
    t_indices: IndexArray,
    majors: int,
    /,
) -> int:
    """Return the levels a breadth-first search needs to see so many majors."""

def degree_statistics(indptr: IndexArray, /) -> tuple[int, int]:
    """Return the sum of the squared degrees of the majors, and how many majors have one entry."""

def shared_pair_density(n_minor: int, indptr: IndexArray, indices: IndexArray, /) -> float:
    """Return with how many others a major shares two minors, in the mean, by a sample."""

def renumber(
    n_minor: int,
    indptr: IndexArray,
    indices: IndexArray,
    t_indptr: IndexArray,
    t_indices: IndexArray,
    major_order: IndexArray,
    major_place: IndexArray,
    minor_order: IndexArray,
    new_indptr: IndexArray,
    workers: int,
    /,
) -> None:
    """Write the breadth-first order of both sides, and the lists in these numbers; their indices replace t_indices.

    `major_order` has room for one more.
    """

def permute_matching(
    major_place: IndexArray,
    minor_order: IndexArray,
    minor_mate: IndexArray,
    new_major_mate: IndexArray,
    new_minor_mate: IndexArray,
    /,
) -> None:
    """Write a matching in the new numbers."""

def unpermute_matching(
    major_order: IndexArray,
    minor_order: IndexArray,
    new_major_mate: IndexArray,
    new_minor_mate: IndexArray,
    major_mate: IndexArray,
    minor_mate: IndexArray,
    workers: int,
    /,
) -> None:
    """Write a matching in the old numbers."""

def block_plan(
    indptr: IndexArray,
    indices: IndexArray,
    row_perm: IndexArray,
    col_perm: IndexArray,
    starts: IndexArray,
    external_only: BoolArray,
    limits: tuple[float, float, int],
    /,
) -> BlockPlan:
    """Plan a square matrix, given by columns, by blocks; some are left to an external solver."""

def survey(indptr: IndexArray, values: NDArray[Any], /) -> tuple[float, float]:
    """Return the largest absolute value and the 1-norm, not finite if an entry is not."""

def equal(x: IndexArray, y: IndexArray, /) -> bool:
    """Tell whether two arrays of the same type are equal."""

def is_canonical(indptr: IndexArray, indices: IndexArray, /) -> bool:
    """Tell whether these are compressed columns of a square matrix, each ascending without repeats."""

def take(values: NDArray[Any], places: IndexArray, /) -> NDArray[Any]:
    """Return the values at these places, which are not checked."""

def steady_diagonal(indptr: IndexArray, rows: IndexArray, values: NDArray[Any], /) -> bool:
    """Tell whether all entries on the diagonal are at least a tenth of the largest of their column."""

def quick_analysis(
    indptr: IndexArray,
    indices: IndexArray,
    values: NDArray[Any],
    given: IndexArray | tuple[IndexArray, IndexArray, IndexArray] | None,
    limits: tuple[int, int, float, int, tuple[float, float, int]],
    /,
) -> tuple[Any, ...] | None:
    """Return row_perm, col_perm, starts, largest absolute value, 1-norm, weak pivots, and a plan."""

def block_lu(plan: BlockPlan, values: NDArray[Any], /) -> BlockLU:
    """Make room for a factorisation; of `values`, only the type counts."""

def graph_engines() -> list[tuple[str, float, bool, dict[str, bool | float], str]]:
    """List (name, guarantee, threads, options with their defaults, summary) of the engines for general graphs."""

def match_graph(
    name: str,
    indptr: IndexArray,
    indices: IndexArray,
    weight: FloatArray | None,
    mate: IndexArray,
    workers: int,
    detailed: bool,
    seed: int,
    options: Mapping[str, bool | float],
    /,
) -> dict[str, Any]:
    """Run one engine for general graphs on mates that are all -1."""

def validate_graph(
    indptr: IndexArray, indices: IndexArray, weight: FloatArray | None, workers: int, /
) -> tuple[bool, bool, bool]:
    """Tell whether neighbours ascend strictly, both triangles agree, and weights are finite."""

def matched_weight(
    indptr: IndexArray, indices: IndexArray, weight: FloatArray | None, mate: IndexArray, /
) -> float:
    """Add up the moduli of the matched edges, each once."""

def wrong_mate(mate: IndexArray, /) -> int:
    """Return the first vertex whose mate is out of range, itself, or not matched with it; -1: there is none."""

def galerkin_product(
    indptr: IndexArray,
    indices: IndexArray,
    values: NDArray[Any],
    mate: IndexArray,
    join: bool,
    workers: int,
    /,
) -> tuple[IndexArray, IndexArray, IndexArray, NDArray[Any]]:
    """Return the aggregates of a matching, and the coarse matrix: indptr, indices, values."""

def match_edges(
    path: str,
    layout: tuple[int, ...],
    folder: str,
    mate: IndexArray,
    weighted: bool,
    seed: int,
    tell: Callable[[int, int, int], object] | None,
    /,
) -> dict[str, Any]:
    """Match the edges of a file; the mates are written, and all -1 before."""

def largest_vertex(
    path: str, layout: tuple[int, ...], tell: Callable[[int, int, int], object] | None, /
) -> int:
    """Return the largest vertex of a file of edges; -1: it has none; -2: it cannot be read."""
