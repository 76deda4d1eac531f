"""Maximum transversals over ranks, and the decompositions that are built on them."""

from collections.abc import Mapping
from typing import Any

from sparsematch._api.arguments import Rng, read_seed
from sparsematch._api.over_ranks.check import read_matching
from sparsematch._api.runs import improve, report
from sparsematch._api.workers import resolve_workers
from sparsematch._engines.distributed_operations import DistributedDecompositionOps
from sparsematch._engines.registry import Run, operations, plan, plan_exact, read_options
from sparsematch._types.labels import CoarseParts
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed
from sparsematch._types.run_info import RunInfo


def maximum_transversal(
    A: DistributedCSR,
    same: dict[str, Any],
    initial: Any,
    workers: int | None,
    rng: Rng,
    options: Mapping[str, Any] | None,
) -> DistributedMatching | tuple[DistributedMatching, RunInfo]:
    """Find a maximum transversal; `same` are its arguments that do not differ. Collective."""
    warm, details = initial is not None, same["return_info"]
    with agreed(A, "maximum_transversal", **same, warm=warm):
        chosen = plan(A.backend, same["method"], same["init"])
        settings = read_options(options, *chosen)
        run = Run(resolve_workers(workers), read_seed(rng), settings, details, warm=warm)
    matching = _start(A, initial, "initial")
    improve(A, matching, chosen, run)
    return (matching, report(chosen, run, matching.cardinality)) if details else matching


def maximum_matching(
    A: DistributedCSR,
    call: str,
    initial: Any = None,
    *,
    method: str = "auto",
    workers: int | None,
    options: Mapping[str, Any] | None = None,
    return_info: bool = False,
) -> tuple[DistributedMatching, Run]:
    """Find a maximum matching for a call; also return the run. Collective."""
    warm = initial is not None
    with agreed(A, call, method=method, warm=warm, return_info=return_info):
        chosen = plan_exact(A.backend, method)
        settings = read_options(options, *chosen)
        run = Run(resolve_workers(workers), 0, settings, return_info, warm=warm)
    matching = _start(A, initial, "matching")
    improve(A, matching, chosen, run)
    return matching, run


def block_triangular_form(
    A: DistributedCSR, matching: Any = None, call: str = "block_triangular_form", **settings: Any
) -> Any:
    """Return the block form, and its account if that is wanted. Collective."""
    maximum, run = maximum_matching(A, call, matching, **settings)
    form = operations(DistributedDecompositionOps, A.backend).block_form(A, maximum, run)
    if not run.detailed:
        return form
    return form, report(plan_exact(A.backend, settings["method"]), run, maximum.cardinality)


def coarse_dulmage_mendelsohn(A: DistributedCSR, matching: Any, **settings: Any) -> CoarseParts:
    """Return the coarse part of the own rows and columns. Collective."""
    maximum, _ = maximum_matching(A, "coarse_dulmage_mendelsohn", matching, **settings)
    return operations(DistributedDecompositionOps, A.backend).coarse_parts(A, maximum)


def _start(A: DistributedCSR, initial: Any, name: str) -> DistributedMatching:
    """Return the empty matching, or a copy of a given one. Collective."""
    if initial is None:
        return DistributedMatching.start(A)
    return read_matching(A, initial, name, "maximum_transversal from a matching")
