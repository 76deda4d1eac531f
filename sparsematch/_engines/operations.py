"""What a back-end does beside matching, by concept, in terms of the user's rows and columns.

Each package of a back-end registers the operations of its concept when it is imported: when they
are first asked for. What it leaves out is not done where its matrices live: calling it raises
TypeError.
"""

from __future__ import annotations  # the types below are not imported to run

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    from sparsematch._base.arrays import Array, BoolArray, FloatArray, IndexArray, IndexPair
    from sparsematch._engines.registry import Run
    from sparsematch._types import labels, weighted
    from sparsematch._types.bipartite import BipartiteCSR
    from sparsematch._types.block_form import BlockLayout
    from sparsematch._types.edge_file import EdgeFile
    from sparsematch._types.factors import BlockAnalysis, BlockLU, Found, UpperTrapezoid
    from sparsematch._types.graph import GraphProperties
    from sparsematch._types.matching import Matching
    from sparsematch._types.symmetric import SymmetricTransversal
    from sparsematch._types.weighted_proof import Proof

#: Of one process, or of a rank: `BipartiteCSR` and `Matching`, `DistributedCSR` and
#: `DistributedMatching`; `Graph` or `GraphPart`.
_Matrix = TypeVar("_Matrix")
_Mates = TypeVar("_Mates")
_Lists = TypeVar("_Lists")


def host_only(*_: Any) -> Any:
    raise TypeError(
        "the matrix is on a GPU, but this is done in host memory only; A.get() copies it there"
    )


class Operations:
    """What a back-end offers of one concept: its functions, by name."""

    #: The package of a back-end that registers it; none: it takes all packages.
    package: ClassVar[str] = ""

    def __init__(self, **offered: Any) -> None:
        vars(self).update(dict.fromkeys(type(self).__annotations__, host_only) | offered)


class DeviceCompilerOps(Operations):
    """Kernels that are compiled on first use."""

    #: Compile them ahead; the number of modules.
    compile_all: Callable[[], int]


class CertificateOps(Operations, Generic[_Matrix, _Mates]):
    """Whether arrays are consistent; whether a matching is valid, maximal, maximum."""

    package = "core"

    #: The number of entries, or -1 if the arrays are not consistent: on a device their lengths must
    #: fit, in host memory their types, and a number of threads may be given, too.
    count_entries: Callable[..., int]
    #: The first thing wrong with a matching: (key of ``FLAWS``, row, column), or None.
    wrong_pair: Callable[[_Matrix, _Mates], tuple[str, int, int] | None]
    #: An entry whose row and column are both unmatched, or None: the matching is maximal.
    free_pair: Callable[[_Matrix, _Mates], tuple[int, int] | None]
    #: A cover as large as the matching, or None: there is an augmenting path. In host memory a
    #: number of threads may be given, too.
    vertex_cover: Callable[..., labels.VertexCover | None]


class MatchingOps(Operations):
    """Maximum matchings of what no engine has to be chosen for."""

    package = "matching"

    #: How many pairs of a small pattern, whether that is the most, first in a tuple; None if large
    #: or inconsistent. Given unchecked fields of a `BipartiteCSR`, and a matching to be written.
    match_small: Callable[[tuple[Any, ...], Matching], Any]
    #: A context within which calls share the threads that the first of them starts.
    kept_team: Callable[[], AbstractContextManager[object]]


class DecompositionOps(Operations):
    """Blocks and components of a matrix.

    Matchings must be maximum. The run and the by-products are those of the search that found the
    matching, or an empty run and None.
    """

    package = "decomposition"

    #: The group of every row.
    block_labels: Callable[[BipartiteCSR, Matching, Run, Any], labels.BlockLabels]
    #: The coarse part of every row and column, from the matrix alone.
    coarse_parts: Callable[[BipartiteCSR], tuple[labels.Parts, labels.Parts]]
    #: Whether a consistent layout is that of the block triangular form.
    is_block_form: Callable[[BipartiteCSR, BlockLayout], bool]
    #: Components of the graph.
    connected_components: Callable[[BipartiteCSR], labels.Components]
    #: The permutations of the block form, given the groups of the rows, and how many threads.
    block_permutation: Callable[[Matching, labels.BlockLabels, int], labels.BlockPermutation]
    #: The stable order that sorts labels in ``range(n_labels)``, where each begins and all end.
    order_by_label: Callable[[IndexArray, int], IndexPair]
    #: Pieces and violators of the vertical part, or, the last argument set, of the horizontal one.
    hall_violators: Callable[[BipartiteCSR, Matching, Run, Any, bool], labels.HallViolators]


class WeightedOps(Operations):
    """Matchings of weighted matrices; workers are how many threads may be used, if there are any.

    A run has these, and an account of stages. A tolerance is by how much a pair may cost more than
    its duals: what is not optimal, but faster, where a back-end makes use of it.
    """

    package = "weighted"

    #: Whether rows ascend, so without repeats; least magnitude; largest, NaN if one is not finite.
    read_values: Callable[[BipartiteCSR, FloatArray, int], tuple[bool, float, float]]
    #: A maximum matching of least cost and its duals, given finite costs of entries, none twice.
    least_cost: Callable[..., weighted.LeastCost]
    #: The weighted transversal with the largest product; whether factors are wanted, whether
    #: magnitudes are rounded, the run, tolerance, what to begin with.
    maximum_product: Callable[..., weighted.WeightedTransversal]
    #: The row of each column's pair, or -1, and factors of rows and columns, given a square matrix
    #: by columns and magnitudes, positive and finite, none repeated.
    product_diagonal: Callable[
        [BipartiteCSR, FloatArray], tuple[IndexArray, FloatArray, FloatArray]
    ]
    #: Rows, values and row sums of a square matrix by columns, scaled, with that diagonal.
    scale_columns: Callable[..., tuple[IndexArray, Any, Any]]
    #: Writes those of the rows of an array of values, one for each entry, none repeated, in the
    #: given order, to the batch, of products or costs, from the given place on, given the one to
    #: begin with, if any, whether searches took long for that, and workers. The first row with a
    #: value that is refused, or how many rows there are; and whether searches took long.
    write_products: Callable[..., tuple[int, bool]]
    #: The same with duals that stay feasible longest when values change, given the magnitudes.
    central_duals: Callable[
        [BipartiteCSR, FloatArray, weighted.WeightedTransversal], weighted.WeightedTransversal
    ]
    #: The weighted transversal with the largest sum; the run, tolerance, what to begin with.
    maximum_sum: Callable[..., weighted.WeightedTransversal]
    #: The weighted transversal whose smallest magnitude is largest.
    bottleneck: Callable[[weighted.WeightedCSR, Run], weighted.WeightedTransversal]
    #: Matching of greatest or least weight, given what rows and columns cost if unmatched, whether
    #: weight is greatest and cardinality maximum, the run, what to begin with, column capacities.
    maximum_weight: Callable[..., weighted.WeightedMatching]
    #: What the duals of such a matching prove, or None, given its tolerance; it must be a matching
    #: of the graph, and maximum if that is what it says.
    prove: Callable[[weighted.SignedCSR, weighted.WeightedMatching, float | None], Proof | None]
    #: Whether the cover of a bottleneck transversal, a maximum one, proves it optimal.
    is_bottleneck: Callable[[weighted.WeightedCSR, weighted.WeightedTransversal], bool]
    #: Symmetric transversal of largest product, given sorted rows, if factors are wanted, workers,
    #: what to begin with, the matrix's if known; ValueError unless magnitudes are symmetric.
    symmetric_product: Callable[..., SymmetricTransversal]
    #: The magnitudes on the diagonal, given sorted rows; ValueError if they are not symmetric.
    symmetric_diagonal: Callable[[weighted.WeightedCSR], FloatArray]
    #: Whether a symmetric transversal has pivots and factors as defined, given the diagonal; its
    #: matching, which must be one, is proved as that of a weighted transversal.
    is_symmetric: Callable[[weighted.WeightedCSR, SymmetricTransversal, FloatArray, int], bool]


class GraphOps(Operations, Generic[_Lists]):
    """General graphs beside their matching."""

    package = "graph"

    #: Its properties, found in one pass.
    validate_graph: Callable[[_Lists, Run], GraphProperties]
    #: The sum of the absolute values of a matching's edges; on a GPU, an array of shape ().
    matched_weight: Callable[[_Lists, IndexArray], Any]
    #: The graph whose edges weigh the larger of two entries, of which one may be absent.
    take_larger: Callable[[_Lists], _Lists]
    #: The first entry that is to blame, if the properties say that there is one.
    one_sided_entry: Callable[[_Lists], tuple[int, int] | None]
    first_infinite: Callable[[_Lists], tuple[int, int, float]]


class CoarseningOps(Operations):
    """Coarsening by a matching of a general graph."""

    package = "coarsening"

    #: The first vertex whose mate is not matched with it, or -1.
    wrong_mate: Callable[[IndexArray], int]
    #: The aggregate of each vertex, and indptr, indices and values of the coarse matrix, given a
    #: square matrix by rows or columns, its values, mates, and whether unmatched vertices join.
    galerkin_product: Callable[
        [BipartiteCSR, Array, IndexArray, bool, Run], tuple[Any, Any, Any, Any]
    ]


class StreamOps(Operations):
    """Graphs in files of edges."""

    package = "stream"

    #: The weight, given a file, mates to be written, whether weights count, scratch folder, run.
    match_edges: Callable[[EdgeFile, IndexArray, bool, str, Run], float]


class LuOps(Operations):
    """Factorisation of square matrices by columns."""

    package = "lu"

    #: How matrices are to be factorised, as `factorise` reads it: a policy (`Policy` of cost.hpp),
    #: whether a matching is searched for, how much the diagonal is preferred, or None if the
    #: analysis will do, and the share of a block's largest entry below which a pivot is small.
    wishes: Callable[[dict[str, Any], bool, float | None, float], Any]
    #: Analyses and factorises compressed columns or rows: indptr, indices, values, the number of
    #: rows, whether they are rows, whether zeros are dropped, and wishes. None where arrays are of
    #: other types, lists do not ascend or have repeats.
    factorise: Callable[..., tuple[BlockLU, Found] | None]
    #: Factors of nothing yet by an analysis, of numbers like those given; the last two as above.
    new_factors: Callable[[BlockAnalysis, Array, float, float], BlockLU]
    #: Whether two arrays of indices are equal.
    equal_indices: Callable[[IndexArray, IndexArray], bool]


class QrOps(Operations):
    """QR factorisation of matrices by rows."""

    package = "qr"

    #: R of a matrix, and Q^H applied to right-hand sides, given its values, these, and for each
    #: column the size up to which what is left of it is zero, and whether it comes last.
    factorise: Callable[[BipartiteCSR, Array, Array, FloatArray, BoolArray], UpperTrapezoid]
    #: Writes components and exponents of units, of a system by columns: connected_components.hpp.
    component_units: Callable[..., None]
    #: Solves in place with a triangular R, as the core has patterns, given its values, right-hand
    #: sides as a vector, how many, and whether with its conjugate transpose.
    solve_upper: Callable[[Any, Array, Array, int, bool], None]
    #: ``y -= A x``, of vectors so, or with the transpose (T) or the conjugate transpose (H).
    subtract_product: Callable[[Any, Array, Array, Array, int, str], None]
    #: Triangular solves with R by columns, sparse right-hand sides; elements up to a size become 0.
    solve_upper_sparse: Callable[[Any, Any, float], Any]
