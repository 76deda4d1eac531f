"""Symmetric indefinite factorisations of other libraries, for comparison: PARDISO and SSIDS.

Each takes a symmetric csr_array of doubles, whether to use its own scaling and matching, and an
order to use in place of its own; it analyses when it is made, and `order` is then that which it
uses.
"""

import ctypes
import ctypes.util
import pathlib
import sys

import numpy as np
import scipy.sparse as sp

import driver


class Pardiso:
    """That of Intel's MKL, by pypardiso."""

    def __init__(self, A, own=False, order=None):
        from pypardiso.pardiso_wrapper import PyPardisoSolver

        n, T = A.shape[0], sp.triu(A, format="coo")
        places = np.append(T.row, np.arange(n)), np.append(T.col, np.arange(n))
        values = np.append(T.data, np.zeros(n))  # it needs all diagonal entries
        self._upper = sp.csr_array(sp.coo_array((values, places), shape=A.shape))
        self._upper.sort_indices()
        self._solver = solver = PyPardisoSolver(mtype=-2)
        # Values are given; order by METIS; perturb below 1e-8; scale; match; count entries; pivots
        # of one and two rows.
        for place, value in ((1, 1), (2, 2), (10, 8), (11, own), (13, own), (18, -1), (21, 1)):
            solver.set_iparm(place, int(value))
        solver.set_iparm(5, 2 if order is None else 1)  # hand the order out, or use that given
        solver.perm = np.zeros(n, np.int32) if order is None else (order + 1).astype(np.int32)
        self.analysis = driver.seconds_of(lambda: self._run(11, np.zeros(n)))
        self.order = solver.perm - 1

    def _run(self, phase, b):
        self._solver.set_phase(phase)
        return self._solver._call_pardiso(self._upper, b)

    def factorise(self):
        """Factorise; return the object."""
        self._run(22, np.zeros(self._upper.shape[0]))
        self.pivots, self.entries = (self._solver.get_iparm(place) for place in (14, 18))
        return self

    def solve(self, b):
        """Solve with one right-hand side."""
        return self._run(33, b)


def fields(kind, names):
    """Fields of one type of a structure of C."""
    return [(name, kind) for name in names.split()]


class Options(ctypes.Structure):
    """Those of SSIDS."""

    _fields_ = [
        *fields(ctypes.c_int, "base print diagnostics error warning ordering nemin"),
        *fields(ctypes.c_bool, "ignore_numa use_gpu"),
        *fields(ctypes.c_int64, "min_gpu_work"),
        *fields(ctypes.c_float, "imbalance gpu_coefficient"),
        *fields(ctypes.c_int, "scaling"),
        *fields(ctypes.c_int64, "small_subtree"),
        *fields(ctypes.c_int, "block_size"),
        *fields(ctypes.c_bool, "action"),
        *fields(ctypes.c_int, "pivot_method"),
        *fields(ctypes.c_double, "small u"),
        ("unused", ctypes.c_char * 80),
    ]


class Inform(ctypes.Structure):
    """What SSIDS reports."""

    _fields_ = [
        *fields(ctypes.c_int, "flag dup missing range rank depth front delayed"),
        *fields(ctypes.c_int64, "entries flops"),
        ("unused", ctypes.c_char * 160),
    ]


def spral():
    """Return the system's SPRAL, or that of cmeel-spral."""
    found = ctypes.util.find_library("spral")
    if found is None:
        places = (pathlib.Path(path) / "cmeel.prefix/lib/libspral.so" for path in sys.path)
        found = next((str(path) for path in places if path.is_file()), None)
    if found is None:
        raise SystemExit("there is no SPRAL: pip install cmeel-spral")
    return ctypes.CDLL(found)


class Ssids:
    """That of SPRAL; OMP_CANCELLATION=true must be set."""

    def __init__(self, A, own=False, order=None):
        self._library, n = spral(), A.shape[0]
        lower = sp.csc_array(sp.tril(A))
        lower.sort_indices()
        self._matrix = lower.indptr.astype(np.int64), lower.indices.astype(np.int32), lower.data
        self._options, self._inform = Options(), Inform()
        self._library.spral_ssids_default_options(ctypes.byref(self._options))
        # Orders: 0, that given; 1, METIS; 2, by a matching, with 3 the scaling of it.
        self._options.base, self._options.print = 0, -1
        self._options.scaling = 3 if own else 0
        self._options.ordering = 2 if own else 1 if order is None else 0
        place = np.zeros(n, np.int32)
        if order is not None:
            place[order] = np.arange(n, dtype=np.int32)
        self._symbolic, self._numeric = ctypes.c_void_p(), ctypes.c_void_p()
        self.analysis = driver.seconds_of(lambda: self._analyse(place))
        self.order = np.argsort(place)

    def _checked(self):
        if self._inform.flag < 0:
            raise ArithmeticError(f"SSIDS {self._inform.flag}")

    def _pointers(self):
        return [ctypes.c_void_p(array.ctypes.data) for array in self._matrix]

    def _reports(self):
        return ctypes.byref(self._options), ctypes.byref(self._inform)

    def _analyse(self, place):
        self._library.spral_ssids_analyse(
            True, place.size, ctypes.c_void_p(place.ctypes.data), *self._pointers(),
            ctypes.byref(self._symbolic), *self._reports(),
        )  # fmt: skip
        self._checked()

    def factorise(self):
        """Factorise; return the object."""
        self._library.spral_ssids_factor(
            False, *self._pointers(), None, self._symbolic, ctypes.byref(self._numeric),
            *self._reports(),
        )  # fmt: skip
        self._checked()
        self.pivots, self.entries = self._inform.delayed, self._inform.entries
        return self

    def solve(self, b):
        """Solve with one right-hand side."""
        x = b.copy()
        self._library.spral_ssids_solve1(
            0, ctypes.c_void_p(x.ctypes.data), self._symbolic, self._numeric, *self._reports()
        )
        self._checked()
        return x

    def __del__(self):
        self._library.spral_ssids_free(ctypes.byref(self._symbolic), ctypes.byref(self._numeric))


SOLVERS = {"pardiso": Pardiso, "ssids": Ssids}
