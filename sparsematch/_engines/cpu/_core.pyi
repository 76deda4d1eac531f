"""The C++ core.

Arrays of one call are all int32 or all int64. A row is what `indptr` runs over, a column what
`indices` names: see `csr.py`. Of two arrays in a tuple the first is that of the rows. Classes come
in pairs, for either type; what they offer is said where the protocol is.
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
#: indptr and indices; of rows and columns mates and trees, parent and before of columns; leaves.
_ForestArrays = tuple[_Indices, tuple[_Indices, _Indices, _Indices], IndexArray]
#: indptr and indices; mates; two numbers for each: degree, exclusive or of the neighbours.
_RankSide = tuple[_Indices, IndexArray, IndexArray]
_Progress = Callable[[int, int, int], object] | None

def set_main_thread(ident: int, /) -> None:
    """Tell on which thread Python handles signals, so that calls ask for them there."""

def transpose(matrix: Csr, lists: _Indices, workers: int, /) -> None:
    """Write the indptr and indices of the transpose."""

def check_matching(matrix: Csr, mates: _Indices, /) -> tuple[str | None, int, int]:
    """Return (what is wrong, row, column): a key of `FLAWS`, or None."""

def free_entry(matrix: Csr, mates: _Indices, /) -> tuple[int, int]:
    """Return an entry whose ends are both free, or (-1, -1)."""

def vertex_cover(matrix: Csr, mates: _Indices, cover: _Flags, workers: int, /) -> bool:
    """Write the cover if the matching is maximum; return whether it is."""

def engines() -> list[dict[str, Any]]:
    """List what `Engine` needs to know of each engine."""

def run_engine(
    name: str,
    matrix: Csr,
    transposed: Csr | None,
    mates: _Indices,
    workers: int,
    settings: Settings,
    options: Mapping[str, bool | float],
    finished: _Flags | None,
    forced: IndexArray | None,
) -> tuple[dict[str, Any], tuple[int, int]]:
    """Improve the mates; return fields of `StepInfo`, and how many pairs were forced by either end.

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

class DegreeStatistics:
    """Of the degrees of some rows or columns.

    Attributes
    ----------
    n, entries, squares, n_ones, empty : int
        How many there are, the sums of their degrees and of the squares; how many have one entry,
        and none.
    mean, variation, ones : float
        The mean degree; the variance over the mean, 0 where all are equal and 1 in random graphs;
        the share of those with one entry.
    """

    @property
    def n(self) -> int: ...
    @property
    def entries(self) -> int: ...
    @property
    def squares(self) -> int: ...
    @property
    def n_ones(self) -> int: ...
    @property
    def empty(self) -> int: ...
    @property
    def mean(self) -> float: ...
    @property
    def variation(self) -> float: ...
    @property
    def ones(self) -> float: ...

class OrderFeatures:
    """The order of the rows, by a sample of 512 pairs of neighbouring ones.

    Attributes
    ----------
    pairs : int
        Those of which both rows have entries.
    near, far : float
        The median distance of their middle entries, in columns; that of the middle entries of two
        rows that are far apart.
    ascending : bool
        Whether the degrees of the rows ascend, and are not all equal.
    """

    @property
    def pairs(self) -> int: ...
    @property
    def near(self) -> float: ...
    @property
    def far(self) -> float: ...
    @property
    def ascending(self) -> bool: ...
    def are_near(self, share: float, /) -> bool:
        """Tell whether `near` is below this share of `far`; True where the pairs are too few."""

def order_features(matrix: Csr, /) -> OrderFeatures:
    """Return what a sample tells about the order of the rows."""

def degree_statistics(indptr: IndexArray, workers: int, /) -> DegreeStatistics:
    """Return the statistics of the rows."""

def column_statistics(matrix: Csr, workers: int, /) -> DegreeStatistics:
    """Return those of a sample of the columns."""

def shared_pair_density(matrix: Csr, workers: int, /) -> float:
    """Return with how many others a row shares two columns, on average, by a sample."""

def block_labels(
    matrix: Csr,
    transposed: Csr | None,
    mates: _Indices,
    row_group: IndexArray,
    forced: tuple[IndexArray, int, int] | None,
    workers: int,
) -> int:
    """Write the group of each row; return how many blocks the square part has."""

def is_block_form(matrix: Csr, mates: _Indices, blocks: _Indices, n_blocks: int, /) -> bool:
    """Tell whether blocks of rows and columns are those of the block triangular form."""

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
    """Write the pieces with too many rows, and a minimal violator of each; return how many.

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

def bottleneck(
    matrix: Csr,
    magnitude: FloatArray,
    mates: _Indices,
    covers: tuple[BoolArray, BoolArray],
    workers: int,
    /,
) -> float:
    """Write a matching whose smallest magnitude is largest, and a cover of larger entries."""

def magnitudes(
    matrix: Csr, values: FloatArray, magnitude: FloatArray, workers: int, /
) -> tuple[bool, float, float]:
    """Write magnitudes; return whether no entry is repeated, the least, the largest or NaN."""

def matched_sum(matrix: Csr, values: FloatArray, row_mate: IndexArray, /) -> float:
    """Return the sum of the values of the matched entries."""

def scale_factors(
    matrix: Csr,
    pairs: tuple[FloatArray, IndexArray],
    duals: tuple[FloatArray, FloatArray],
    scales: tuple[FloatArray, FloatArray],
    flags: tuple[bool, bool, bool],
    workers: int,
    /,
) -> bool:
    """Write factors, given magnitudes and row mates; return whether all are in range.

    Flags: flipped, powers of two, whether the scales hold exponentials already, or 0 (rows).
    """

def least_cost(
    matrix: Csr,
    cost: FloatArray,
    mates: _Indices,
    duals: tuple[FloatArray, FloatArray],
    workers: int,
    limits: tuple[float, float] | None = None,
    warm: bool = False,
) -> None:
    """Write a maximum matching of least cost, and duals that prove it.

    Warm: the arrays hold those of similar costs, to begin with.
    """

def scale_columns(
    matrix: Csr,
    values: NDArray[Any],
    row_of: IndexArray,
    scales: tuple[FloatArray, FloatArray],
    out: tuple[IndexArray, NDArray[Any], NDArray[Any]],
    /,
) -> None:
    """Write rows, scaled values and row sums of a matrix whose stored rows are its columns."""

def product_batch(
    matrix: Csr,
    values: FloatArray,
    mates: tuple[IndexArray, IndexArray],
    duals: tuple[FloatArray, FloatArray],
    scales: tuple[FloatArray, FloatArray],
    numbers: tuple[FloatArray, BoolArray],
    first: tuple[IndexArray, FloatArray],
    flags: tuple[bool, bool],
    workers: int,
    /,
) -> tuple[int, float]:
    """Write transversals with the largest product of many matrices with one pattern.

    Arrays of several dimensions are flat. Numbers: objectives, and whether all factors are in
    range. First: mates of stored rows and duals of stored columns to begin with, or empty arrays.
    Flags: whether rows are the user's columns, and whether to begin with an auction. Returns the
    first matrix with a value that is not finite, or how many there are, and the passes made.
    """

def matched_entries(matrix: Csr, row_mate: IndexArray, entry: IndexArray, workers: int, /) -> None:
    """Write the position of the matched entry of each row, or -1."""

def unsymmetric_entry(matrix: Csr, weight: FloatArray, diagonal: FloatArray, /) -> int:
    """Return the position of the first entry that has no equal one across the diagonal, or -1.

    The diagonal is written. Rows must be sorted.
    """

def largest_scaled(
    matrix: Csr, weight: FloatArray, scale: FloatArray, largest: FloatArray, workers: int, /
) -> None:
    """Write the largest entry of each row, scaled on both sides."""

def make_pivots_ones(
    matrix: Csr, weight: FloatArray, diagonal: FloatArray, mates: _Indices, scale: FloatArray, /
) -> None:
    """Correct the factors of pivots that are matched, given mates in the matching and in pivots."""

def split_pivots(diagonal: FloatArray, mates: _Indices, partner: IndexArray, /) -> None:
    """Write the partner of each row; paths of the matching become pairs."""

def graph_engines() -> list[dict[str, Any]]:
    """List what `Engine` needs to know of each engine for general graphs."""

def match_graph(
    name: str,
    graph: GraphArrays,
    mate: IndexArray,
    workers: int,
    settings: Settings,
    options: Mapping[str, bool | float],
    /,
) -> dict[str, Any]:
    """Write mates that are all -1; return fields of `StepInfo`."""

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
) -> tuple[IndexArray, tuple[IndexArray, IndexArray, NDArray[Any]]]:
    """Return the aggregates of a matching, and the coarse matrix: indptr, indices, values."""

def match_edges(
    path: str,
    layout: dict[str, int],
    folder: str,
    mate: IndexArray,
    weighted: bool,
    seed: int,
    progress: _Progress,
) -> dict[str, Any]:
    """Match the edges of a file; the mates are written, and all -1 before."""

def largest_vertex(path: str, layout: dict[str, int], progress: _Progress) -> int:
    """Return the largest vertex of a file of edges; -1: it has none; -2: it cannot be read."""

def block_plan(
    columns: Csr, form: _Form, external_only: BoolArray, limits: dict[str, float], /
) -> BlockPlan:
    """Plan the factorisation of a square matrix, given by columns, by its block form.

    `form`: row_perm, col_perm, row_blocks; `limits`: those of `AnalysisLimits` in symbolic.hpp that
    are not the defaults.
    """

def value_norms(indptr: IndexArray, values: NDArray[Any], /) -> tuple[float, float]:
    """Return the largest absolute value and the 1-norm, not finite if a value is not."""

def equal_indices(x: IndexArray, y: IndexArray, /) -> bool:
    """Return whether two arrays of the same type are equal."""

def order_by_columns(
    indptr: IndexArray, indices: IndexArray, /
) -> tuple[IndexArray, IndexArray, IndexArray] | None:
    """Return pointers and rows of the columns of a square matrix, and which entry each is.

    It is given by rows: None unless each of them ascends without repeats.
    """

def is_canonical(indptr: IndexArray, indices: IndexArray, /) -> bool:
    """Return whether these are columns of a square matrix, each ascending without repeats."""

def gather(values: NDArray[Any], places: IndexArray, /) -> NDArray[Any]:
    """Return the values at these places, which are not checked."""

def steady_diagonal(
    indptr: IndexArray, rows: IndexArray, values: NDArray[Any], share: float, /
) -> bool:
    """Return whether nearly all diagonal entries are this share of the largest of their column."""

def elimination_tree(
    indptr: IndexArray, indices: IndexArray, order: IndexArray, /
) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Return the order as a postorder, the parents, and the entries of L below its diagonal.

    The pattern is symmetric, without its diagonal.
    """

def vertex_separator(indptr: IndexArray, indices: IndexArray, /) -> NDArray[np.int8]:
    """Return the side of each vertex, 0 or 1, or 2 if it is in the separator.

    The pattern is symmetric, without its diagonal.
    """

def elimination_order(
    indptr: IndexArray, indices: IndexArray, dissect: bool, leaf: int, /
) -> IndexArray:
    """Return an order by nested dissection down to parts of that size, or by minimum degree.

    The pattern is symmetric, without its diagonal.
    """

def markowitz_order(
    columns: Csr, values: NDArray[Any], work: float, active: float, /
) -> tuple[IndexArray, IndexArray, NDArray[np.float64]] | None:
    """Return orders of rows and columns, and the entries of L + U up to each column.

    None: a limit of work, or of entries left, was exceeded, or a column had zeros only.
    """

def quick_analysis(
    columns: Csr,
    values: NDArray[Any],
    given: IndexArray | _Form | None,
    make_plan: bool,
    exchange: bool,
    refuse_zeros: bool,
    limits: dict[str, float],
    /,
) -> dict[str, Any] | None:
    """Return fields of `QuickAnalysis`; None: no perfect matching is at hand, or zeros are refused.

    There is no plan if none is wanted, or if `exchange` allows another diagonal and it would pay.
    """

def new_factors(plan: BlockPlan, columns: Csr, values: NDArray[Any], /) -> BlockLU:
    """Make room for a factorisation of a matrix; of `values`, only the type counts."""

def factors_of(
    indptr: Any,
    indices: Any,
    values: Any,
    n: int,
    refuse_zeros: bool,
    preference: float,
    /,
) -> BlockLU | None:
    """Factorise a small matrix, given by columns; None where it takes more than one quick look.

    Such are index arrays that are not canonical, values that are not doubles, or not finite, zeros
    if they are refused, blocks for an external solver or another diagonal, singular matrices.
    """

BlockPlan32 = BlockPlan
BlockPlan64 = BlockPlan
BlockLU32 = BlockLU
BlockLU64 = BlockLU
BlockLUComplex32 = BlockLU
BlockLUComplex64 = BlockLU
LocalMaxPart32 = LocalMaxPart
LocalMaxPart64 = LocalMaxPart

def qr(
    rows: Csr,
    values: NDArray[Any],
    right: NDArray[Any],
    tolerance: FloatArray,
    last: BoolArray,
    gemm: Any,
    room: float,
    /,
) -> tuple[IndexArray, IndexArray, NDArray[Any], NDArray[Any], float]:
    """Return R by rows, the top of Q^H `right`, and the bytes that this was foreseen to take.

    Where these are more than `room`, nothing else. R: where rows begin, columns of it, values.
    `last`: columns that come after all others. `gemm`: the capsule of SciPy's ``cython_blas`` for
    this type of values.
    """

def solve_upper(upper: Csr, values: NDArray[Any], x: NDArray[Any], adjoint: bool, /) -> None:
    """Solve with an upper triangle, its diagonal first in each row, or its adjoint, in place."""
