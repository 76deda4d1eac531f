"""Compilation, device primitives, transpose, alternating searches, certificates."""

from sparsematch._engines.cuda.core import certificates, compile
from sparsematch._engines.operations import CertificateOps, DeviceCompilerOps
from sparsematch._engines.registry import register_operations

register_operations("cupy", DeviceCompilerOps, vars(compile))
register_operations("cupy", CertificateOps, vars(certificates))
