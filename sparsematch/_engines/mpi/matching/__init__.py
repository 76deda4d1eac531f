"""Matching of matrices distributed over ranks."""

from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.mpi.core import certificates, distribution, graph_parts
from sparsematch._engines.mpi.matching import auto, by_rank, cheap, forest, karp_sipser, ms_bfs
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_module, register_operations

register_module("auto", "exact", "mpi", auto)
register_module("ms_bfs", "exact", "mpi", ms_bfs, default_init="by_rank")
register_module("cheap", "heuristic", "mpi", cheap)
register_module("by_rank", "heuristic", "mpi", by_rank)
register_module("karp_sipser", "heuristic", "mpi", karp_sipser)

register_operations("mpi", CertificateOps, vars(certificates), vars(forest))
register_operations("mpi", DistributionOps, vars(distribution), vars(graph_parts))
