"""Maximum transversals, structural rank and block triangular forms of sparse matrices.

>>> from scipy.sparse import csr_array
>>> import sparsematch
>>> A = csr_array([[1, 0, 1], [1, 0, 0], [0, 1, 1]])
>>> sparsematch.maximum_transversal(A)
Matching(3x3, cardinality 3)
>>> sparsematch.structural_rank(A)
3
"""

from sparsematch._base.lazy import offered

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = offered(__name__, __file__)
