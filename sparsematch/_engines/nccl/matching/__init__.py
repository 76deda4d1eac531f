"""Matching of matrices distributed over the GPUs of several ranks. *Experimental*."""

from sparsematch._engines.cuda.core.drivers import register_driver
from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.nccl.matching import (
    auto,
    certificates,
    cheap,
    distribution,
    min_degree,
    ms_bfs,
)
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_operations
from sparsematch._types.arrays import advising

register_driver("auto", "exact", auto, backend="nccl")
register_driver("ms_bfs", "exact", ms_bfs, backend="nccl", default_init="cheap")
register_driver("cheap", "heuristic", cheap, backend="nccl")
register_driver("min_degree", "heuristic", min_degree, backend="nccl")

register_operations(
    "nccl",
    CertificateOps(
        wrong_pair=advising(certificates.wrong_pair),
        free_pair=advising(certificates.free_pair),
        vertex_cover=advising(certificates.vertex_cover),
    ),
)
register_operations(
    "nccl",
    DistributionOps(
        assemble=distribution.on_hosts().assemble,
        permute_and_redistribute=distribution.permute_and_redistribute,
        mates_by_column=distribution.mates_by_column,
    ),
)
