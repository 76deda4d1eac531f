"""The external solvers that go by a name: SuperLU, and those that need a library of their own."""

import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._base.errors import check_choice, pip_install
from sparsematch._systems import external
from sparsematch._systems.external import Choice, MakeExternal, Memory, Singular, SuperLUFactor
from sparsematch._systems.pardiso import PardisoFactor

#: Errors of MUMPS: singular by its pattern or its numbers; no memory.
_SINGULAR, _NO_MEMORY = (-6, -10), (-7, -13)
_TRANSPOSED = 9  # icntl: 1 solves with the matrix, another number with its transpose
_NONZEROS = 29  # infog: entries of the factors


class UmfpackFactor:
    """A block factorised by UMFPACK, as the wheels of kvxopt bring it."""

    def __init__(self, indptr: IndexArray, rows: IndexArray, values: Array, memory: Memory) -> None:
        self._kvxopt: Any = importlib.import_module("kvxopt")
        self._solver: Any = importlib.import_module("kvxopt.umfpack")
        n = indptr.size - 1
        columns = np.repeat(np.arange(n), np.diff(indptr))
        places = rows.astype(np.int64), columns  # a copy is a C long, as kvxopt wants it
        self._A = self._kvxopt.spmatrix(values, *places, (n, n))
        self._symbolic = self._solver.symbolic(self._A)
        self._factorise()

    @property
    def nnz(self) -> int:
        """Entries of L and U, which kvxopt shows copies of only."""
        L, U, *_ = self._solver.get_numeric(self._A, self._numeric)
        return int(len(L.V) + len(U.V))

    def refactorise(self, values: Array) -> None:
        """Factorise new values in the order found first."""
        self._A.V = self._kvxopt.matrix(values, tc="z" if values.dtype.kind == "c" else "d")
        self._factorise()

    def _factorise(self) -> None:
        try:
            self._numeric = self._solver.numeric(self._A, self._symbolic)
        except ArithmeticError as error:
            raise Singular from error

    def solve(self, b: Array, trans: str) -> Array:
        """Solve, all right-hand sides at once."""
        x = self._kvxopt.matrix(np.asfortranarray(b))
        self._solver.solve(self._A, self._numeric, x, "C" if trans == "H" else trans)
        return np.array(x).reshape(b.shape)


class MumpsFactor:
    """A block factorised by MUMPS, through python-mumps."""

    def __init__(self, indptr: IndexArray, rows: IndexArray, values: Array, memory: Memory) -> None:
        n = indptr.size - 1
        self._shape, self._rows = (n, n), rows
        self._columns = np.repeat(np.arange(n, dtype=rows.dtype), np.diff(indptr))
        mumps: Any = importlib.import_module("mumps")
        takes_comm = "comm" in inspect.signature(mumps.Context).parameters
        mpi = sys.modules.get("mpi4py.MPI") if takes_comm else None
        # of this process alone, whatever other ranks there are
        self._context = mumps.Context(**({"comm": mpi.COMM_SELF} if mpi else {}))
        self._analysed = False
        self.refactorise(values)

    def refactorise(self, values: Array) -> None:
        """Factorise new values in the order found first."""
        places = self._rows, self._columns
        try:
            self._context.set_matrix(sp.coo_array((values, places), shape=self._shape))
            self._context.factor(reuse_analysis=self._analysed)
        except RuntimeError as error:  # MUMPSError
            code = getattr(error, "error", None)
            if code in _SINGULAR:
                raise Singular from error
            if code in _NO_MEMORY:
                raise MemoryError("MUMPS has no memory left for the factors") from error
            raise external.Unreliable(f"MUMPS failed: {error}") from error
        self._analysed = True
        entries = int(self._context.mumps_instance.infog[_NONZEROS])
        self.nnz = -1_000_000 * entries if entries < 0 else entries  # millions, if there are many

    def solve(self, b: Array, trans: str) -> Array:
        """Solve; MUMPS knows the transpose, and no conjugates."""
        if trans == "H":
            return self.solve(b.conj(), "T").conj()
        self._context.mumps_instance.icntl[_TRANSPOSED] = 1 if trans == "N" else 2
        kind = self._context.data.dtype
        return np.asarray(self._context.solve(np.asfortranarray(b, kind))).reshape(b.shape)


class Way(NamedTuple):
    """A library that offers a solver, and how it is installed."""

    module: str
    make: MakeExternal
    how: str


#: Those that go by a name.
WAYS: dict[str, Way] = {
    "umfpack": Way("kvxopt", UmfpackFactor, pip_install("kvxopt")),
    "pardiso": Way("pypardiso", PardisoFactor, pip_install("pypardiso")),
    "mumps": Way(
        "mumps",
        MumpsFactor,
        "conda install -c conda-forge python-mumps, or, with MUMPS, " + pip_install("python-mumps"),
    ),
}
NAMES = ("auto", "superlu", *WAYS)
#: Those that cannot be imported although they are there.
_broken: set[str] = set()


@functools.cache
def installed() -> tuple[str, ...]:
    """Return the names of those that are installed."""
    # Time, the first time: a look for each module, which is not imported unless it is chosen.
    return tuple(name for name in WAYS if name not in _broken and _is_there(WAYS[name].module))


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


class Chooser(NamedTuple):
    """What chooses the kernel of each block, and makes it."""

    choose: Callable[[str], Choice]  #: Given the name of the kernel that the core has chosen.
    #: What is not as by default in the policy of the analysis: `Policy` of cost.hpp.
    policy: dict[str, Any]


def find_solver(name: Any) -> Chooser:
    """Look up a solver by name, or a class of the user's; ``"auto"`` chooses for each block."""
    # A `Chooser` is what it is. ImportError if what it needs is not installed.
    if isinstance(name, Chooser):
        return name
    if callable(name):
        text = getattr(name, "__name__", type(name).__name__)
        return Chooser(lambda _: Choice(name, text, "asked for"), {"forced": "user"})
    if isinstance(name, str) and name == "auto":
        return Chooser(_predicted, {"available": installed()})
    check_choice("solver", name, NAMES)
    choice = Choice(_find(name), name, "asked for")
    return Chooser(lambda _: choice, {"forced": name})


def _predicted(kernel: str) -> Choice:
    try:
        return Choice(_find(kernel), kernel, "predicted to be the fastest")
    except ImportError:  # broken: what is not there is not needed, and not chosen again
        if kernel in installed():
            _broken.add(kernel)
            installed.cache_clear()
        return Choice(SuperLUFactor, "superlu", f"instead of {kernel}, which cannot be imported")


def _find(name: str) -> MakeExternal:
    if name == "superlu":
        return SuperLUFactor
    way = WAYS[name]
    try:
        importlib.import_module(way.module)
    except ImportError as error:
        raise ImportError(f"solver is {name!r}, which needs {way.module}: {way.how}") from error
    return way.make
