"""What the CPU packages build on: views, run context, threads, signals, transpose, certificates."""

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core import certificates
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_operations

register_operations(
    "numpy",
    CertificateOps(
        count_entries=_core.count_entries,
        wrong_pair=certificates.wrong_pair,
        free_pair=certificates.free_pair,
        vertex_cover=certificates.vertex_cover,
    ),
)
