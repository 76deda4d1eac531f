"""Matching of matrices distributed over ranks."""

from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.mpi.core import certificates
from sparsematch._engines.mpi.core.assemble import assemble
from sparsematch._engines.mpi.core.columns import mates_by_column
from sparsematch._engines.mpi.matching import auto, by_rank, cheap, karp_sipser, ms_bfs
from sparsematch._engines.mpi.matching.cover import vertex_cover
from sparsematch._engines.mpi.matching.permute import permute_and_redistribute, scale
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import Engine, register, register_operations

for _module, _kind, _init in (
    (auto, "exact", "none"),
    (ms_bfs, "exact", "by_rank"),
    (cheap, "heuristic", "none"),
    (by_rank, "heuristic", "none"),
    (karp_sipser, "heuristic", "none"),
):
    register(
        Engine(
            name=_module.__name__.rpartition(".")[2],
            kind=_kind,
            backend="mpi",
            summary=_module.SUMMARY,
            default_init=_init,
            improve=_module.improve,
        )
    )

register_operations(
    "mpi",
    CertificateOps(
        wrong_pair=certificates.wrong_pair,
        free_pair=certificates.free_pair,
        vertex_cover=vertex_cover,
    ),
)
register_operations(
    "mpi",
    DistributionOps(
        assemble=assemble,
        permute_and_redistribute=permute_and_redistribute,
        scale=scale,
        mates_by_column=mates_by_column,
    ),
)
