"""Matching of matrices distributed over the GPUs of several ranks. *Experimental*."""

from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.mpi.core import certificates, distribution, graph_parts
from sparsematch._engines.nccl.matching import auto, cheap, forest, min_degree, ms_bfs
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_module, register_operations

register_module("auto", "exact", "nccl", auto)
register_module("ms_bfs", "exact", "nccl", ms_bfs, default_init="cheap")
register_module("cheap", "heuristic", "nccl", cheap)
register_module("min_degree", "heuristic", "nccl", min_degree)

register_operations("nccl", CertificateOps, vars(certificates), vars(forest))
_shared = distribution.assemble, distribution.permute_and_redistribute  # not its `scale`
register_operations("nccl", DistributionOps, vars(graph_parts), {f.__name__: f for f in _shared})
