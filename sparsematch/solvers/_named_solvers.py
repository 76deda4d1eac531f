"""The external solvers that go by a name: SuperLU, and those that need a library of their own."""

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsematch._base.arrays import IndexArray
from sparsematch._base.errors import pip_install, unknown_choice
from sparsematch._types.upstream_warnings import upstream_warnings_raised
from sparsematch.solvers._choice import installed
from sparsematch.solvers._external import Choice, MakeExternal, Singular, SuperLUFactor, Values
from sparsematch.solvers._kvxopt import KvxoptFactor
from sparsematch.solvers._mumps import MumpsFactor
from sparsematch.solvers._pardiso import PardisoFactor


class UmfpackFactor:
    """A block factorised by UMFPACK, through scikit-umfpack."""

    def __init__(
        self, indptr: IndexArray, rows: IndexArray, values: Values, memory: dict[str, Any]
    ) -> None:
        from scikits import umfpack

        n = indptr.size - 1
        self._umfpack = umfpack
        arrays = values, rows.astype(np.int32), indptr.astype(np.int32)
        self._A = sp.csc_matrix(arrays, shape=(n, n))
        family = "zi" if values.dtype.kind == "c" else "di"
        # The condition is for the user to ask; solving does not warn.
        self._context = umfpack.UmfpackContext(family, maxCond=np.inf)
        self._context.symbolic(self._A)
        self.refactorise(values)

    def refactorise(self, values: Values) -> None:
        """Factorise new values."""
        self._A = sp.csc_matrix((values, self._A.indices, self._A.indptr), shape=self._A.shape)
        try:
            with upstream_warnings_raised(self._umfpack.UmfpackWarning):
                self._context.numeric(self._A)
        except self._umfpack.UmfpackWarning:
            raise Singular from None
        info = self._context.info
        rough = info[self._umfpack.UMFPACK_RCOND]  # of the diagonal of U
        if rough == 0:
            raise Singular
        self.doubtful = not rough > 1e-8
        self.nnz = int(info[self._umfpack.UMFPACK_LNZ] + info[self._umfpack.UMFPACK_UNZ])

    def solve(self, b: Values, trans: str) -> Values:
        """Solve, a column at a time."""
        names = {"N": "UMFPACK_A", "T": "UMFPACK_Aat", "H": "UMFPACK_At"}
        code, columns = getattr(self._umfpack, names[trans]), map(np.ascontiguousarray, b.T)
        return np.stack([self._context.solve(code, self._A, b) for b in columns], axis=1)


class Way(NamedTuple):
    """A library that offers a solver, and how it is installed."""

    module: str
    make: MakeExternal
    how: str


#: Those that go by a name, the first that is installed.
WAYS: dict[str, tuple[Way, ...]] = {
    "umfpack": (
        Way(
            "scikits.umfpack",
            UmfpackFactor,
            "scikit-umfpack 0.4: conda install -c conda-forge scikit-umfpack, or, with "
            "SuiteSparse 7, " + pip_install("scikit-umfpack"),
        ),
        Way("kvxopt", KvxoptFactor, "kvxopt: " + pip_install("kvxopt")),
    ),
    "pardiso": (Way("pypardiso", PardisoFactor, "pypardiso: " + pip_install("pypardiso")),),
    "mumps": (
        Way(
            "mumps",
            MumpsFactor,
            "python-mumps: conda install -c conda-forge python-mumps, or, with MUMPS, "
            + pip_install("python-mumps"),
        ),
    ),
}
NAMES = ("auto", "superlu", *WAYS)


class Chooser(NamedTuple):
    """What chooses the kernel of each block, and makes it."""

    choose: Callable[[str], Choice]  #: Given the name of the kernel that the core has chosen.
    #: What is not as by default in the policy of the analysis: `Policy` of cost.hpp.
    policy: dict[str, Any]


def find_solver(name: Any) -> Chooser:
    """Look up a solver by name, or a class of the user's; ``"auto"`` chooses for each block.

    A `Chooser` is what it is. ImportError if what it needs is not installed.
    """
    if isinstance(name, Chooser):
        return name
    if callable(name):
        text = getattr(name, "__name__", type(name).__name__)
        return Chooser(lambda _: Choice(name, text, "asked for"), {"forced": "user"})
    if not isinstance(name, str) or name not in NAMES:
        raise unknown_choice("solver", name, NAMES)
    if name == "auto":
        return Chooser(_predicted, installed())
    choice = Choice(_find(name), name, "asked for")
    return Chooser(lambda _: choice, {} if name == "superlu" else {"forced": name})


def _predicted(kernel: str) -> Choice:
    try:
        return Choice(_find(kernel), kernel, "predicted to be the fastest")
    except ImportError:  # broken: what is not there is not needed
        return Choice(SuperLUFactor, "superlu", f"instead of {kernel}, which cannot be imported")


def _find(name: str) -> MakeExternal:
    if name == "superlu":
        return SuperLUFactor
    for way in WAYS[name]:
        try:
            importlib.import_module(way.module)
        except ImportError as error:
            missing = error
        else:
            return way.make
    needs = "; or ".join(way.how for way in WAYS[name])
    raise ImportError(f"solver is {name!r}, which needs {needs}") from missing
