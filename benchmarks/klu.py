"""SuiteSparse's KLU through its C interface, for comparison, for matrices of doubles."""

import ctypes
import ctypes.util
import importlib.util
import os

import numpy as np

ARGUMENTS = {
    "klu_defaults": "p", "klu_analyze": "ippp", "klu_factor": "ppppp", "klu_refactor": "pppppp",
    "klu_solve": "ppiipp", "klu_free_numeric": "pp", "klu_free_symbolic": "pp",
}  # fmt: skip


def load():
    """Return the library: that of KLU_LIBRARY, the system's, that of PyKLU; None if there is none.

    Its functions lack where the library was not made to be used.
    """
    found = os.environ.get("KLU_LIBRARY") or ctypes.util.find_library("klu")
    if found is None and importlib.util.find_spec("PyKLU"):
        module = importlib.util.find_spec("PyKLU._klu")
        found = module and module.origin
    if found is None:
        return None
    library = ctypes.CDLL(found)
    kinds = {"p": ctypes.c_void_p, "i": ctypes.c_int}
    for name, arguments in ARGUMENTS.items():
        if function := getattr(library, name, None):
            function.argtypes = [kinds[kind] for kind in arguments]
            if name in ("klu_analyze", "klu_factor"):
                function.restype = ctypes.c_void_p
    return library


class Klu:
    """One matrix in CSC. Arrays are given by their addresses, so that no call looks them up."""

    def __init__(self, library, A):
        self._library, self._n = library, A.shape[0]
        self._memory = ctypes.create_string_buffer(4096)  # larger than any version's klu_common
        self._common = ctypes.addressof(self._memory)
        library.klu_defaults(self._common)
        self._arrays = [array.astype(np.int32) for array in (A.indptr, A.indices)]
        self._pattern = [array.ctypes.data for array in self._arrays]
        self._symbolic, self._numeric = ctypes.c_void_p(), ctypes.c_void_p()

    def first(self, values):
        """Analyse and factorise; False if the matrix is singular."""
        self._symbolic.value = self._library.klu_analyze(self._n, *self._pattern, self._common)
        return self.factorise(values)

    def factorise(self, values):
        """Factorise with new pivots; those of before must be freed."""
        self._numeric.value = self._library.klu_factor(
            *self._pattern, values, self._symbolic, self._common
        )
        return bool(self._numeric)

    def refactorise(self, values):
        """Factorise with the same pivots."""
        return bool(
            self._library.klu_refactor(
                *self._pattern, values, self._symbolic, self._numeric, self._common
            )
        )

    def solve(self, x, width=1):
        """Solve in place, columns one after the other."""
        self._library.klu_solve(self._symbolic, self._numeric, self._n, width, x, self._common)

    def free(self):
        """Give back what `first` made."""
        for pointer, kind in ((self._numeric, "numeric"), (self._symbolic, "symbolic")):
            if pointer:
                free = getattr(self._library, f"klu_free_{kind}")
                free(ctypes.addressof(pointer), self._common)

    def __del__(self):
        self.free()
