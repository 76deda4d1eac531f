"""Elimination orders by themselves: the core's headers, compiled here on first use (orders.cpp)."""

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_suffix(".cpp")
CORE = SOURCE.parents[1] / "sparsematch" / "_engines" / "cpu"
COMPILER = None if sys.platform == "win32" else shutil.which(os.environ.get("CXX", "c++"))


@functools.cache
def library():
    """Compile it, unless that was done for this source; open it."""
    digest = hashlib.sha256(SOURCE.read_bytes())
    for header in sorted(CORE.rglob("*.hpp")):
        digest.update(header.read_bytes())
    folder = Path(tempfile.gettempdir()) / f"sparsematch-orders-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{digest.hexdigest()[:16]}.so"
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}.tmp")
        options = ["-std=c++20", "-O2", "-shared", "-fPIC", "-pthread", f"-I{CORE}"]
        subprocess.run([COMPILER, *options, str(SOURCE), "-o", str(partial)], check=True)
        partial.replace(path)
    found = ctypes.CDLL(str(path))
    found.kernel_costs.restype = ctypes.c_char_p
    for function in (found.markowitz_real, found.markowitz_complex):
        function.restype = ctypes.c_bool
    return found


def graph(A):
    """The arguments that say what the pattern of a matrix is; read only."""
    return A.shape[1], *(np.ascontiguousarray(part, np.int32) for part in (A.indptr, A.indices))


def call(name, *arguments):
    """Call a function: arrays by their addresses."""
    passed = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments]
    return getattr(library(), name)(*passed)


def elimination_tree(A, order):
    """The order as a postorder, the parents in its tree, the entries of L below the diagonal."""
    order = np.array(order, np.int32)
    parent, counts = np.empty((2, order.size), np.int32)
    call("elimination_tree", *graph(A), order, parent, counts)
    return order, parent, counts


def elimination_order(A, dissect, leaf):
    """An order by nested dissection, or by minimum degree alone."""
    order = np.empty(A.shape[0], np.int32)
    given = ctypes.c_bool(dissect), ctypes.c_int64(leaf)
    call("elimination_order", *graph(A), *given, order)
    return order


def vertex_separator(A):
    """The side of each vertex, 0 or 1, or 2 if it is in the separator."""
    part = np.empty(A.shape[0], np.int8)
    call("vertex_separator", *graph(A), part)
    return part


def markowitz_order(A, work=np.inf, active=np.inf):
    """Orders of rows and columns, entries of L + U up to each column; or None. And the polls."""
    rows, cols = np.empty((2, A.shape[0]), np.int32)
    stored, polls = np.empty(A.shape[0]), np.zeros(1, np.int64)
    limits = ctypes.c_double(work), ctypes.c_double(active)
    name = "markowitz_complex" if np.iscomplexobj(A.data) else "markowitz_real"
    found = call(name, *graph(A), A.data, *limits, rows, cols, stored, polls)
    return (rows, cols, stored) if found else None, int(polls[0])


def kernel_costs():
    """What each kernel costs, in seconds: fixed, an entry, one of L + U, a multiplication."""
    found, costs = {}, np.empty(4)
    while name := call("kernel_costs", len(found), costs):
        found[name.decode()] = costs.tolist()
    return found
