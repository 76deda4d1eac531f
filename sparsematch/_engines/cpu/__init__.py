"""The back-end for matrices in host memory; each of its packages registers what it offers."""

import os
import threading

from sparsematch._engines.cpu._find_core import load_core

if _found := load_core():
    _core = _found
else:
    from sparsematch._engines.cpu import _core  # which lies here

# The core polls for signals on the main thread alone, where Python handles them; in a forked
# process that is the thread that forked.
_core.set_main_thread(threading.main_thread().ident or 0)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _core.set_main_thread(threading.get_ident()))
