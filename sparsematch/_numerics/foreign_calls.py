"""Calls of other libraries: SciPy's solvers as they are at first, and long calls that can be left.

A user may put the functions of `sparsematch.linalg` in the place of SciPy's; these are not to call
themselves. Hence this module is imported with the package, and everything else uses its names.
"""

import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import spilu as spilu
from scipy.sparse.linalg import splu as splu
from scipy.sparse.linalg import spsolve as spsolve

#: Rows up to which a dense decomposition takes a tenth of a second at most: singular values do.
FEW_ROWS = 500
#: Entries of dense matrices that are held at once: 32 MB.
DENSE_ENTRIES = 1 << 22
#: Multiplications up to which a call is not worth another thread, which takes 0.05 ms: some 10 ms.
_BRIEF = 1e7
#: Seconds after which handlers of signals run, at most, where a wait is not woken by the signal.
_TICK = 0.05


def interruptible(work: float, call: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
    """Return what a call of compiled code returns that releases the GIL, but leave it on Ctrl-C."""
    # In a thread of its own, if it may take more than `_BRIEF` multiplications, and is made where
    # signals are handled. A handler that raises leaves that thread behind, and nobody sees what
    # comes of it: the call must not write to what the caller goes on using, nor read what that may
    # change. Only a process that ends waits for it. Not for SciPy's SuperLU: factors give their
    # memory back in the thread that made them only; allocated there it troubles forks and the exit.
    if work <= _BRIEF or threading.current_thread() is not threading.main_thread():
        return call(*args, **named)
    context = contextvars.copy_context()  # errstate, too
    found: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            found.put((context.run(call, *args, **named), None))
        except BaseException as error:
            found.put((None, error))

    try:
        threading.Thread(target=run, daemon=False).start()
    except RuntimeError:  # there are as many as there may be
        return call(*args, **named)
    while True:  # Thread.join, interrupted, would take the thread for ended
        with contextlib.suppress(queue.Empty):
            result, error = found.get(timeout=_TICK)
            break
    if error is None:
        return result
    try:
        raise error
    finally:
        del error  # no cycle with the frame, which would keep the arrays


def qr(x: NDArray[Any], mode: Any = "reduced") -> Any:
    """Do as NumPy's."""
    return interruptible(_dense_work(x), np.linalg.qr, x, mode)


def svd(x: NDArray[Any], **how: Any) -> Any:
    """Do as NumPy's."""
    return interruptible(10.0 * _dense_work(x), np.linalg.svd, x, **how)


def pivots(x: NDArray[Any]) -> NDArray[Any]:
    """Return the columns in the order in which SciPy's QR factorisation pivots them."""
    # SciPy 1.18 holds the GIL meanwhile: there, Ctrl-C waits for its end.
    return interruptible(2.0 * _dense_work(x), linalg.qr, x, mode="r", pivoting=True)[1]


def _dense_work(x: NDArray[Any]) -> float:
    return float(x.size) * min(x.shape[-2:])
