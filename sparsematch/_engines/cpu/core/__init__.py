"""What the CPU packages build on: views, run context, threads, signals, transpose, certificates."""

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core import certificates
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_operations

_count = {"count_entries": _core.count_entries}
register_operations("numpy", CertificateOps, _count, vars(certificates))
