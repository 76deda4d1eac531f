"""Block triangular form and coarse parts over ranks."""

from collections.abc import Mapping
from typing import Any

from sparsematch._api.over_ranks.transversal import maximum_matching
from sparsematch._engines.distributed_operations import DistributedDecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._types.labels import CoarseParts
from sparsematch._types.over_ranks.block_form import DistributedBlockForm
from sparsematch._types.over_ranks.matrix import DistributedCSR


def block_triangular_form(
    A: DistributedCSR,
    matching: Any = None,
    *,
    method: str = "auto",
    workers: int | None,
    options: Mapping[str, Any] | None = None,
    call: str = "block_triangular_form",
) -> DistributedBlockForm:
    """Return the block form. Collective."""
    maximum, run = maximum_matching(
        A, call, matching, method=method, workers=workers, options=options
    )
    return operations(DistributedDecompositionOps, A.backend).block_form(A, maximum, run)


def coarse_dulmage_mendelsohn(
    A: DistributedCSR, matching: Any, *, method: str, workers: int | None
) -> CoarseParts:
    """Return the coarse part of the own rows and columns. Collective."""
    call = "coarse_dulmage_mendelsohn"
    maximum, _ = maximum_matching(A, call, matching, method=method, workers=workers)
    return operations(DistributedDecompositionOps, A.backend).coarse_parts(A, maximum)
