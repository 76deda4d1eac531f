"""Compilation, device primitives, transpose, alternating searches, certificates."""

from sparsematch._engines.cuda.core import certificates, compile
from sparsematch._engines.operations import CertificateOps, DeviceCompilerOps
from sparsematch._engines.registry import register_operations

register_operations(
    "cupy",
    DeviceCompilerOps(compile_all=compile.compile_all),
    CertificateOps(
        count_entries=certificates.count_entries,
        wrong_pair=certificates.wrong_pair,
        free_pair=certificates.free_pair,
        vertex_cover=certificates.vertex_cover,
    ),
)
