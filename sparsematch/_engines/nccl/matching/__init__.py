"""Matching of matrices distributed over the GPUs of several ranks. *Experimental*."""

from functools import partial

from sparsematch._base.arrays import advising
from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.mpi.core import certificates
from sparsematch._engines.mpi.core.columns import mates_by_column
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching import auto, cheap, distribution, min_degree, ms_bfs
from sparsematch._engines.nccl.matching.cover import vertex_cover
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_module, register_operations

register_module("auto", "exact", "nccl", auto)
register_module("ms_bfs", "exact", "nccl", ms_bfs, default_init="cheap")
register_module("cheap", "heuristic", "nccl", cheap)
register_module("min_degree", "heuristic", "nccl", min_degree)

register_operations(
    "nccl",
    CertificateOps(
        wrong_pair=advising(partial(certificates.wrong_pair, connect=Exchange)),
        free_pair=advising(partial(certificates.free_pair, connect=Exchange)),
        vertex_cover=advising(vertex_cover),
    ),
)
register_operations(
    "nccl",
    DistributionOps(
        assemble=distribution.on_hosts().assemble,
        permute_and_redistribute=distribution.permute_and_redistribute,
        mates_by_column=partial(mates_by_column, connect=Exchange),
    ),
)
