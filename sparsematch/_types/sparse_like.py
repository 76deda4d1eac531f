"""What type checkers are told of the sparse matrices of other libraries, most without types.

Nothing is checked by these at run time; `as_bipartite` does that.
"""

from typing import Any, Protocol, TypeAlias, TypeVar

from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.view import MatrixView


class Convertible(Protocol):
    """What the sparse matrices of SciPy, CuPy and pydata/sparse have, arrays and lists have not."""

    @property
    def shape(self) -> Any: ...
    @property
    def nnz(self) -> Any: ...
    def tocsr(self) -> Any: ...


class Tensor(Protocol):
    """What the tensors of PyTorch have."""

    def crow_indices(self) -> Any:
        """Return where each row begins."""


class Batched(Protocol):
    """What the arrays of ``jax.experimental.sparse`` have."""

    @property
    def n_batch(self) -> Any:
        """How many of its dimensions are batches."""


class Spmatrix(Protocol):
    """What the matrices of cvxopt and kvxopt have."""

    @property
    def CCS(self) -> Any:
        """Its columns: where each begins, the rows, the values."""


class Symbolic(Protocol):
    """What the matrices and patterns of CasADi have."""

    def colind(self) -> Any:
        """Return where each column begins."""


#: Entries as SciPy's `coo_array` takes them: their values, their rows and columns.
Triple: TypeAlias = tuple[Any, tuple[Any, Any]]

SparseLike: TypeAlias = (
    Convertible | Tensor | Batched | Spmatrix | Symbolic | Triple | BipartiteCSR | MatrixView
)


#: A matrix that comes back with its type.
Sparse = TypeVar("Sparse", bound=SparseLike)

#: A matrix of this process, in overloads beside one over ranks. That it is a type variable and no
#: union lets mypy choose, not give up, where the library of the matrix has no types.
Local = TypeVar("Local", bound=SparseLike)
