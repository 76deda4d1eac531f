"""What a back-end for ranks does with matrices over ranks, by concept: see `operations`.

All are collective, but those of `GraphPartOps`. Certificates and general graphs have the same
operations as in one process: `CertificateOps`, `GraphOps`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from sparsematch._base.arrays import Array, FloatArray, IndexArray
from sparsematch._engines.operations import Operations
from sparsematch._engines.registry import Run
from sparsematch._types.graph import GraphProperties
from sparsematch._types.labels import CoarseParts
from sparsematch._types.over_ranks.block_form import DistributedBlockForm
from sparsematch._types.over_ranks.graph_part import GraphPart, LocalMaxPart
from sparsematch._types.over_ranks.matching import DistributedMatching, DistributedTransversal
from sparsematch._types.over_ranks.matrix import DistributedCSR


class DistributionOps(Operations):
    """Matrices over several ranks."""

    package = "matching"

    #: The matrix, given a communicator, a shape, batches of each rank: rows, columns, maybe values.
    assemble: Callable[[Any, tuple[int, int], Iterable[tuple[Array, ...]]], DistributedCSR]
    #: The matrix with its rows where a matching puts them.
    permute_and_redistribute: Callable[[DistributedCSR, DistributedMatching], DistributedCSR]
    #: The matrix with its values multiplied by factors of the own rows and columns.
    scale: Callable[[DistributedCSR, FloatArray, FloatArray], DistributedCSR]
    #: The mates of own columns, given those of own rows, where both are the same vertices.
    mates_by_column: Callable[[DistributedCSR, IndexArray], IndexArray]


class GraphPartOps(Operations):
    """What a rank does alone with its rows of a general graph over ranks, where they live."""

    package = "graph.part"

    #: What one pass over its entries finds.
    part_properties: Callable[[GraphPart, Run], GraphProperties]
    #: The sum of magnitudes of matched edges whose smaller end is its own, given mates of its own.
    part_weight: Callable[[GraphPart, IndexArray], float]
    #: Local max on its vertices, to be started.
    local_max_part: Callable[[GraphPart, Run], LocalMaxPart]


class DistributedCoarseningOps(Operations):
    """Coarsening over ranks, by the mates of the own rows."""

    package = "coarsening"

    #: The first vertex whose mate is not matched with it, or -1.
    wrong_mate: Callable[[DistributedCSR, IndexArray], int]
    #: The coarse matrix and the prolongation.
    coarsen: Callable[[DistributedCSR, IndexArray], tuple[DistributedCSR, DistributedCSR]]


class DistributedDecompositionOps(Operations):
    """Blocks of a matrix over ranks, given a maximum matching and the run that found it."""

    package = "decomposition"

    #: The block form.
    block_form: Callable[[DistributedCSR, DistributedMatching, Run], DistributedBlockForm]
    #: The coarse part of the own rows and columns.
    coarse_parts: Callable[[DistributedCSR, DistributedMatching], CoarseParts]


class DistributedWeightedOps(Operations):
    """Matchings of weighted matrices over ranks."""

    package = "weighted"

    #: A transversal with a large product, given positive values, and whether factors are wanted.
    maximum_product: Callable[[DistributedCSR, bool, Run], DistributedTransversal]
