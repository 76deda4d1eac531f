"""Sparse linear systems solved block by block: SciPy's calls on the block triangular form.

>>> import numpy as np
>>> from scipy.sparse import csc_array
>>> from sparsematch.solvers import splu
>>> lu = splu(csc_array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [4.0, 0.0, 5.0]]))
>>> lu.solve(np.array([2.0, 4.0, 9.0]))
array([1., 1., 1.])
"""

import sparsematch._numerics.foreign_calls  # noqa: F401 - before anything is replaced
from sparsematch._base.lazy import offered

__getattr__, __dir__, __all__ = offered(__name__, __file__)
