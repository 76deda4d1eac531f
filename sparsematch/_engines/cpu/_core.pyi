"""The C++ core.

Arrays of one call are all int32 or all int64; major is what `indptr` runs over, minor what
`indices` names. Of two arrays in a tuple the first is that of the majors.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.cpu.core.csr import Csr, GraphArrays, Settings
from sparsematch._types.arrays import BoolArray, FloatArray, IndexArray
from sparsematch._types.factors import BlockLU, BlockPlan
from sparsematch._types.over_ranks.graph_part import LocalMaxPart

_Indices = tuple[IndexArray, IndexArray]
_Flags = tuple[BoolArray, BoolArray]
_Form = tuple[IndexArray, IndexArray, IndexArray]
_PlanLimits = tuple[float, float, int, float, float]
_Layout = tuple[int, ...]
#: indptr, indices, then of majors and minors mates and trees; parent and before of minors; leaves.
_ForestArrays = tuple[IndexArray, IndexArray, _Indices, _Indices, _Indices, IndexArray]
#: indptr, indices, mates, and two numbers for each: degree, exclusive or of the neighbours.
_RankSide = tuple[IndexArray, IndexArray, IndexArray, IndexArray]
_Progress = Callable[[int, int, int], object] | None

def set_main_thread(ident: int, /) -> None:
    """Tell on which thread Python handles signals, so that calls ask for them there."""

def transpose(matrix: Csr, lists: _Indices, workers: int, /) -> None:
    """Write the indptr and indices of the transpose."""

def check_matching(matrix: Csr, mates: _Indices, /) -> tuple[int, int, int]:
    """Return (what is wrong, major, minor), starting with 0 if nothing is."""

def free_entry(matrix: Csr, mates: _Indices, /) -> tuple[int, int]:
    """Return an entry whose ends are both free, or (-1, -1)."""

def vertex_cover(matrix: Csr, mates: _Indices, cover: _Flags, workers: int, /) -> bool:
    """Write the cover if the matching is maximum; return whether it is."""

def engines() -> list[tuple[Any, ...]]:
    """List the fields of `EngineEntry` of each engine."""

def run_engine(
    name: str,
    matrix: Csr,
    transposed: Csr | None,
    mates: _Indices,
    settings: Settings,
    options: Mapping[str, bool | float],
    settled: _Flags | None,
    forced: IndexArray | None,
    /,
) -> tuple[tuple[Any, ...], tuple[int, int]]:
    """Improve the mates; return the fields of `StepInfo` from phases on, and of `Forced`.

    Options of other engines are ignored.
    """

def forest_over_ranks(
    arrays: _ForestArrays,
    starts: _Indices,
    rank: int,
    limits: tuple[int, int],
    prune: bool,
    /,
) -> Any:
    """Return the kernel of a rank that has no tree yet.

    `limits`: entries read in a step, about, and roots announced in one, at most.
    """

def augmentation_over_ranks(
    arrays: _ForestArrays, mates: _Indices, starts: _Indices, rank: int, /
) -> Any:
    """Return the kernel of a rank that writes the mates."""

def karp_sipser_over_ranks(
    rows: _RankSide, cols: _RankSide, starts: _Indices, rank: int, budget: int, seed: int, /
) -> Any:
    """Return the kernel of a rank; `budget`: entries read in a step, about."""

def transposition_over_ranks(
    indptr: IndexArray,
    indices: IndexArray,
    starts: _Indices,
    rank: int,
    filled: IndexArray,
    lists: IndexArray,
    fill: bool,
    budget: int,
    /,
) -> Any:
    """Return the kernel of a rank that fills lists from where they end, or counts them."""

def trimming_over_ranks(
    indptr: IndexArray,
    indices: IndexArray,
    count: IndexArray,
    level: IndexArray,
    starts: IndexArray,
    rank: int,
    budget: int,
    /,
) -> Any:
    """Return the kernel of a rank that trims vertices without predecessors."""

def propagation_over_ranks(
    indptr: IndexArray,
    indices: IndexArray,
    label: IndexArray,
    starts: IndexArray,
    rank: int,
    budget: int,
    /,
) -> Any:
    """Return the kernel of a rank that raises labels to the largest of those that lead there."""

def owner_order(
    starts: IndexArray, keys: IndexArray, order: IndexArray, counts: IndexArray, /
) -> None:
    """Write the stable order of keys by owner, and how many each rank owns."""

def places_in_lists(keys: IndexArray, filled: IndexArray, places: IndexArray, /) -> None:
    """Write the place of each element behind what is in its list already."""

def match_diagonal(matrix: Csr, mates: _Indices, /) -> bool:
    """Match along the diagonal if it is there in full; return whether it is."""

def degree_statistics(indptr: IndexArray, workers: int, /) -> tuple[int, int, int, int, int]:
    """Return of the majors their number, entries, and sum of squared degrees.

    Then how many have one entry, and how many none.
    """

def order_signs(matrix: Csr, /) -> tuple[int, float, float, bool]:
    """Return what a sample tells about the order of the majors: the fields of `OrderSigns`."""

def column_statistics(matrix: Csr, workers: int, /) -> tuple[int, int, int, int, int]:
    """Return the same of a sample of the minors."""

def shared_pair_density(matrix: Csr, workers: int, /) -> float:
    """Return with how many others a major shares two minors, on average, by a sample."""

def block_labels(
    matrix: Csr,
    transposed: Csr | None,
    mates: _Indices,
    major_group: IndexArray,
    forced: tuple[IndexArray, int, int] | None,
    workers: int,
    /,
) -> int:
    """Write the group of each major; return how many blocks the square part has."""

def is_block_form(matrix: Csr, mates: _Indices, blocks: _Indices, n_blocks: int, /) -> bool:
    """Tell whether blocks of majors and minors are those of the block triangular form."""

def connected_components(matrix: Csr, labels: _Indices, /) -> int:
    """Write the components' numbers, and return how many there are."""

def hall_violators(
    matrix: Csr,
    mates: _Indices,
    pieces: _Indices,
    members: IndexArray,
    partners: IndexArray,
    starts: IndexArray,
    /,
) -> int:
    """Write the pieces with too many majors, and a minimal violator of each; return how many.

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
    perms: _Indices,
    starts: IndexArray,
    workers: int,
    /,
) -> None:
    """Write the permutations of the block form, but for free columns, and where groups begin."""

def assignment(
    matrix: Csr,
    cost: FloatArray,
    mates: _Indices,
    duals: tuple[FloatArray, FloatArray],
    workers: int,
    /,
) -> bool:
    """Match every major at least cost; return whether that can be done."""

def matched_entries(
    matrix: Csr, major_mate: IndexArray, entry: IndexArray, workers: int, /
) -> None:
    """Write the position of the matched entry of each major, or -1."""

def graph_engines() -> list[tuple[Any, ...]]:
    """List the fields of `EngineEntry` of each engine for general graphs."""

def match_graph(
    name: str,
    graph: GraphArrays,
    mate: IndexArray,
    settings: Settings,
    options: Mapping[str, bool | float],
    /,
) -> tuple[Any, ...]:
    """Write mates that are all -1; return the fields of `StepInfo` from phases on."""

def validate_graph(graph: GraphArrays, first: int, workers: int, /) -> tuple[bool, bool, int]:
    """Return whether neighbours ascend strictly, whether weights are finite, and a fingerprint.

    It is that of the upper triangle less that of the lower, modulo 2**64: 0 if both agree. The
    lists are those of the rows from `first` on.
    """

def matched_weight(graph: GraphArrays, mate: IndexArray, first: int, /) -> float:
    """Add up the absolute values of the matched edges, each once, that of its smaller end.

    The lists and mates are those of the rows from `first` on.
    """

def local_max_part(
    graph: GraphArrays, starts: NDArray[np.int64], rank: int, seed: int, /
) -> LocalMaxPart:
    """Begin local max on the vertices of one rank; `starts`: where those of each begin."""

def wrong_mate(mate: IndexArray, /) -> int:
    """Return the first vertex whose mate is out of range, itself or not matched with it, or -1."""

def galerkin_product(
    matrix: Csr, values: NDArray[Any], mate: IndexArray, join: bool, workers: int, /
) -> tuple[IndexArray, IndexArray, IndexArray, NDArray[Any]]:
    """Return the aggregates of a matching, and the coarse matrix: indptr, indices, values."""

def match_edges(
    path: str,
    layout: _Layout,
    folder: str,
    mate: IndexArray,
    weighted: bool,
    seed: int,
    progress: _Progress,
    /,
) -> dict[str, Any]:
    """Match the edges of a file; the mates are written, and all -1 before."""

def largest_vertex(path: str, layout: _Layout, progress: _Progress, /) -> int:
    """Return the largest vertex of a file of edges; -1: it has none; -2: it cannot be read."""

def block_plan(
    columns: Csr, form: _Form, external_only: BoolArray, limits: _PlanLimits, /
) -> BlockPlan:
    """Plan the factorisation of a square matrix, given by columns, by its block form.

    `form`: row_perm, col_perm, row_blocks; `limits`: multiplications per entry of L + U, entries of
    L + U per entry, and rows up to which these do not count; of blocks with weak pivots, entries
    of L + U per entry, and multiplications per entry up to which they are tried as they are.
    """

def value_norms(indptr: IndexArray, values: NDArray[Any], /) -> tuple[float, float]:
    """Return the largest absolute value and the 1-norm, not finite if a value is not."""

def equal_indices(x: IndexArray, y: IndexArray, /) -> bool:
    """Return whether two arrays of the same type are equal."""

def is_canonical(indptr: IndexArray, indices: IndexArray, /) -> bool:
    """Return whether these are columns of a square matrix, each ascending without repeats."""

def gather(values: NDArray[Any], places: IndexArray, /) -> NDArray[Any]:
    """Return the values at these places, which are not checked."""

def steady_diagonal(indptr: IndexArray, rows: IndexArray, values: NDArray[Any], /) -> bool:
    """Return whether all diagonal entries are at least a tenth of the largest of their column."""

def quick_analysis(
    columns: Csr,
    values: NDArray[Any],
    given: IndexArray | _Form | None,
    limits: tuple[int, int, bool, bool, int, _PlanLimits],
    /,
) -> tuple[Any, ...] | None:
    """Return the fields of `QuickAnalysis`; None: no perfect matching is at hand.

    `limits`: entries up to which a matching is found, and tried; whether a plan is wanted, and may
    be left out for another diagonal; rows of a block whose weak pivots do not count; those of
    `block_plan`.
    """

def block_lu(plan: BlockPlan, values: NDArray[Any], /) -> BlockLU:
    """Make room for a factorisation; of `values`, only the type counts."""
