"""Sparse linear systems solved block by block: SciPy's calls on the block triangular form.

>>> import numpy as np
>>> from scipy.sparse import csc_array
>>> from sparsematch.solvers import splu
>>> lu = splu(csc_array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [4.0, 0.0, 5.0]]))
>>> lu.solve(np.array([2.0, 4.0, 9.0]))
array([1., 1., 1.])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import sparsematch._numerics.foreign_calls  # noqa: F401 - before anything is replaced

if TYPE_CHECKING:
    from sparsematch._systems.device import DeviceLU as DeviceLU
    from sparsematch._systems.errors import IllConditionedWarning as IllConditionedWarning
    from sparsematch._systems.errors import NotFiniteError as NotFiniteError
    from sparsematch._systems.errors import SingularMatrixError as SingularMatrixError
    from sparsematch._systems.like_scipy import IgnoredOptionWarning as IgnoredOptionWarning
    from sparsematch._systems.lu import Analysis as Analysis
    from sparsematch._systems.lu import BlockTriangularLU as BlockTriangularLU
    from sparsematch._text.diagnosis import Diagnosis as Diagnosis
    from sparsematch._types.diagnosis import BlockCondition as BlockCondition
    from sparsematch._types.diagnosis import Misscaled as Misscaled
    from sparsematch._types.diagnosis import Spectrum as Spectrum
    from sparsematch._types.factorisation_report import BlockReport as BlockReport
    from sparsematch._types.factorisation_report import FactorisationReport as FactorisationReport
    from sparsematch._types.least_squares import LeastSquares as LeastSquares
    from sparsematch._types.null_space import NullSpaceBasis as NullSpaceBasis
    from sparsematch.solvers._calls import analyse as analyse
    from sparsematch.solvers._calls import splu as splu
    from sparsematch.solvers._calls import spsolve as spsolve
    from sparsematch.solvers._diagnose import diagnose as diagnose
    from sparsematch.solvers._ilu import TransversalILU as TransversalILU
    from sparsematch.solvers._ilu import spilu as spilu
    from sparsematch.solvers._lstsq import lstsq as lstsq
    from sparsematch.solvers._null_space import null_space as null_space
    from sparsematch.solvers._pattern_solver import PatternSolver as PatternSolver

#: What each module offers; it is imported when first used.
_OFFERED = {
    "_types.diagnosis": "BlockCondition Misscaled Spectrum",
    "_text.diagnosis": "Diagnosis",
    "_types.factorisation_report": "BlockReport FactorisationReport",
    "_types.least_squares": "LeastSquares",
    "_types.null_space": "NullSpaceBasis",
    "solvers._calls": "analyse splu spsolve",
    "_systems.device": "DeviceLU",
    "solvers._diagnose": "diagnose",
    "_systems.errors": "IllConditionedWarning NotFiniteError SingularMatrixError",
    "solvers._ilu": "TransversalILU spilu",
    "_systems.like_scipy": "IgnoredOptionWarning",
    "solvers._lstsq": "lstsq",
    "_systems.lu": "Analysis BlockTriangularLU",
    "solvers._null_space": "null_space",
    "solvers._pattern_solver": "PatternSolver",
}
_PLACES = {name: module for module, names in _OFFERED.items() for name in names.split()}

__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"sparsematch.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
