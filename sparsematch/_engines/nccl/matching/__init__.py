"""Matching of matrices distributed over the GPUs of several ranks. *Experimental*."""

from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.mpi.core import certificates
from sparsematch._engines.mpi.core.assemble import assemble
from sparsematch._engines.mpi.core.graph_parts import mates_by_column
from sparsematch._engines.mpi.core.permute import permute_and_redistribute
from sparsematch._engines.nccl.matching import auto, cheap, min_degree, ms_bfs
from sparsematch._engines.nccl.matching.forest import vertex_cover
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_module, register_operations

register_module("auto", "exact", "nccl", auto)
register_module("ms_bfs", "exact", "nccl", ms_bfs, default_init="cheap")
register_module("cheap", "heuristic", "nccl", cheap)
register_module("min_degree", "heuristic", "nccl", min_degree)

register_operations(
    "nccl",
    CertificateOps(
        wrong_pair=certificates.wrong_pair,
        free_pair=certificates.free_pair,
        vertex_cover=vertex_cover,
    ),
    DistributionOps(
        assemble=assemble,
        permute_and_redistribute=permute_and_redistribute,
        mates_by_column=mates_by_column,
    ),
)
