"""What the CPU packages build on: views, run context, threads, signals, transpose, certificates."""

import os
import threading

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core import certificates
from sparsematch._engines.operations import CertificateOps
from sparsematch._engines.registry import register_operations

register_operations(
    "numpy",
    CertificateOps(
        count_entries=certificates.count_entries,
        wrong_pair=certificates.wrong_pair,
        free_pair=certificates.free_pair,
        vertex_cover=certificates.vertex_cover,
    ),
)

# The core polls for signals on the main thread alone, where Python handles them; in a forked
# process that is the thread that forked.
_core.set_main_thread(threading.main_thread().ident or 0)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _core.set_main_thread(threading.get_ident()))
