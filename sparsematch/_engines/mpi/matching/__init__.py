"""Matching of matrices distributed over ranks."""

from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.mpi.core import certificates
from sparsematch._engines.mpi.core.assemble import assemble
from sparsematch._engines.mpi.core.graph_parts import mates_by_column
from sparsematch._engines.mpi.core.permute import permute_and_redistribute, scale
from sparsematch._engines.mpi.matching import auto, by_rank, cheap, karp_sipser, ms_bfs
from sparsematch._engines.mpi.matching.forest import vertex_cover
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_module, register_operations

register_module("auto", "exact", "mpi", auto)
register_module("ms_bfs", "exact", "mpi", ms_bfs, default_init="by_rank")
register_module("cheap", "heuristic", "mpi", cheap)
register_module("by_rank", "heuristic", "mpi", by_rank)
register_module("karp_sipser", "heuristic", "mpi", karp_sipser)

register_operations(
    "mpi",
    CertificateOps(
        wrong_pair=certificates.wrong_pair,
        free_pair=certificates.free_pair,
        vertex_cover=vertex_cover,
    ),
    DistributionOps(
        assemble=assemble,
        permute_and_redistribute=permute_and_redistribute,
        scale=scale,
        mates_by_column=mates_by_column,
    ),
)
