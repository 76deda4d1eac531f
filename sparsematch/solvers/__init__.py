"""Sparse linear systems solved block by block: SciPy's calls on the block triangular form.

>>> import numpy as np
>>> from scipy.sparse import csc_array
>>> from sparsematch.solvers import splu
>>> lu = splu(csc_array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [4.0, 0.0, 5.0]]))
>>> lu.solve(np.array([2.0, 4.0, 9.0]))
array([1., 1., 1.])
"""

from sparsematch._types.diagnosis import BlockCondition, Diagnosis, Misscaled, Spectrum
from sparsematch.solvers._calls import analyse, factorized, splu, spsolve
from sparsematch.solvers._device import DeviceLU
from sparsematch.solvers._diagnose import diagnose
from sparsematch.solvers._errors import (
    IllConditionedWarning,
    NotFiniteError,
    SingularMatrixError,
)
from sparsematch.solvers._ilu import TransversalILU, spilu
from sparsematch.solvers._like_scipy import IgnoredOptionWarning
from sparsematch.solvers._lu import Analysis, BlockTriangularLU
from sparsematch.solvers._pattern_solver import PatternSolver
from sparsematch.solvers._permutations import from_superlu, to_superlu

analyze = analyse

__all__ = [
    "Analysis",
    "BlockCondition",
    "BlockTriangularLU",
    "DeviceLU",
    "Diagnosis",
    "IgnoredOptionWarning",
    "IllConditionedWarning",
    "Misscaled",
    "NotFiniteError",
    "PatternSolver",
    "SingularMatrixError",
    "Spectrum",
    "TransversalILU",
    "analyse",
    "analyze",
    "diagnose",
    "factorized",
    "from_superlu",
    "spilu",
    "splu",
    "spsolve",
    "to_superlu",
]


def __dir__() -> list[str]:
    return __all__
