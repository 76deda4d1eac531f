"""SuiteSparse's KLU through ctypes, for comparison, for matrices of doubles."""

import ctypes
import ctypes.util
import importlib.util

import numpy as np


def load():
    """Return the system's library, or the one within PyKLU from PyPI; None if there is neither."""
    found = ctypes.util.find_library("klu")
    if found is None and importlib.util.find_spec("PyKLU"):
        module = importlib.util.find_spec("PyKLU._klu")
        found = module and module.origin
    if found is None:
        return None
    library = ctypes.CDLL(found)
    for name in ("klu_analyze", "klu_factor"):
        getattr(library, name).restype = ctypes.c_void_p
    return library


class Klu:
    """One matrix: its pattern is analysed when it is made."""

    def __init__(self, library, A):
        self._library = library
        self._common = ctypes.create_string_buffer(4096)  # larger than any version's klu_common
        library.klu_defaults(self._common)
        self._indptr, self._indices = (array.astype(np.int32) for array in (A.indptr, A.indices))
        self._n, self._numeric = A.shape[0], ctypes.c_void_p()
        pattern = self._pointer(self._indptr), self._pointer(self._indices)
        self._symbolic = ctypes.c_void_p(library.klu_analyze(self._n, *pattern, self._common))
        self._free = (library.klu_free_numeric, library.klu_free_symbolic)

    def _pointer(self, array):
        return ctypes.c_void_p(array.ctypes.data)

    def factorise(self, values):
        """Factorise new values with the same pivots."""
        self._free[0](ctypes.byref(self._numeric), self._common)
        arrays = (self._pointer(array) for array in (self._indptr, self._indices, values))
        self._numeric = ctypes.c_void_p(
            self._library.klu_factor(*arrays, self._symbolic, self._common)
        )
        return bool(self._numeric)

    def refactorise(self, values):
        """Factorise with the same pivots."""
        arrays = (self._pointer(array) for array in (self._indptr, self._indices, values))
        return bool(
            self._library.klu_refactor(*arrays, self._symbolic, self._numeric, self._common)
        )

    def solve(self, b):
        """Solve with one right-hand side."""
        x = b.copy()
        self._library.klu_solve(
            self._symbolic, self._numeric, self._n, 1, self._pointer(x), self._common
        )
        return x

    def __del__(self):
        self._free[0](ctypes.byref(self._numeric), self._common)
        self._free[1](ctypes.byref(self._symbolic), self._common)
