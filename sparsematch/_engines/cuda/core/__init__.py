"""Compilation, device primitives, transpose, alternating searches, certificates."""

from sparsematch._base.arrays import advising
from sparsematch._engines.cuda.core import certificates, check
from sparsematch._engines.operations import CertificateOps, DeviceCheckOps
from sparsematch._engines.registry import register_operations

register_operations("cupy", DeviceCheckOps(count_entries=advising(check.count_entries)))
register_operations(
    "cupy",
    CertificateOps(
        wrong_pair=advising(certificates.wrong_pair),
        free_pair=advising(certificates.free_pair),
        vertex_cover=advising(certificates.vertex_cover),
    ),
)
