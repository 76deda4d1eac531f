"""On which thread the core polls for signals: Python handles them on the main thread alone."""

import os
import threading

from sparsematch._engines.cpu import _core


def follow_main_thread() -> None:
    """Tell the core which one is the main thread; in a forked process, the thread that forked."""
    _core.set_main_thread(threading.main_thread().ident or 0)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _core.set_main_thread(threading.get_ident()))
