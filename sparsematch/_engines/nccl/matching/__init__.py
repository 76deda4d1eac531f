"""Matching of matrices distributed over the GPUs of several ranks."""

from sparsematch._engines.nccl.matching import (
    auto,
    certificates,
    cheap,
    distribution,
    min_degree,
    ms_bfs,
)
from sparsematch._engines.operations import CertificateOps, DistributionOps
from sparsematch._engines.registry import Engine, register, register_operations
from sparsematch._types.arrays import advising

for _module, _kind, _init in (
    (auto, "exact", "none"),
    (ms_bfs, "exact", "cheap"),
    (cheap, "heuristic", "none"),
    (min_degree, "heuristic", "none"),
):
    register(
        Engine(
            name=_module.__name__.rpartition(".")[2],
            kind=_kind,
            backend="nccl",
            summary=_module.SUMMARY,
            default_init=_init,
            improve=advising(_module.improve),
        )
    )

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
