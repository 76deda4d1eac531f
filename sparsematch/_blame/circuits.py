"""What a sparse matrix of any shape and rank maps to zero: a basis of few members, and the rank.

Rows and columns are scaled, so units do not count, and factorised by a sparse QR factorisation that
reveals the rank. A vector for each dependent column is then the combination of it with the
independent ones: a fundamental circuit, no member of which can be spared (Coleman, Pothen, The null
space problem I: complexity, SIAM J. Algebraic Discrete Methods 7, 1986). All are verified with the
matrix itself, in long double, in the units of the scaling and in the user's.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from sparsematch._base.arrays import Array, FloatArray, FloatPair, IndexArray
from sparsematch._base.memory import available_bytes
from sparsematch._base.tolerances import EPSILON, ROUNDING_OF_RESIDUALS, SINGULAR
from sparsematch._numerics import scaling as scalings
from sparsematch._numerics.foreign_calls import interruptible, pivots
from sparsematch._numerics.scaling import logarithmic_scaling, row_maxima, scaled, times_power
from sparsematch._systems.orthogonal import OrthogonalFactors

#: Operations of a product after which Ctrl-C is looked for.
_AT_ONCE = 1 << 21
#: Singular values that are not above the tolerance by this factor are near it.
_NEAR = 10


class Circuits(NamedTuple):
    """A basis of what a matrix maps to zero, a circuit for each dependent column.

    ``basis[free]`` is the identity.
    """

    scaled: Any  #: CSC, shape (columns, columns - rank), of the scaled columns.
    free: IndexArray  #: The dependent columns, ascending.
    scaling: FloatPair  #: Powers of two, of rows and columns.
    residuals: FloatArray  #: Relative to the largest term, in the worse of two units.
    smallest: float  #: Singular value of the independent columns, of the norm of the largest.
    is_settled: bool  #: Whether the rank is clear: nothing is near the tolerance.

    def basis(self) -> Any:
        """Return them in the user's units."""
        basis, exponents = self.scaled.copy(), np.log2(self.scaling[1]).astype(int)
        columns = np.repeat(self.free, np.diff(basis.indptr))
        basis.data = times_power(basis.data, exponents[basis.indices] - exponents[columns])
        return basis


def find_circuits(A: Any, rcond: float, drop: float) -> Circuits:
    """Find the circuits of a CSC matrix without stored zeros and duplicates."""
    # Columns are dependent if at most `rcond` is left; scaled coefficients up to `drop` are zero.
    m, n = A.shape
    with np.errstate(all="ignore"):
        scaling = logarithmic_scaling(A)
        nothing = np.empty((m, 0), A.dtype)
        factors = OrthogonalFactors(sp.csr_array(scaled(A, *scaling)), nothing, rcond, True)
        basis = sp.csc_array(factors.null_vectors(max(drop, 2 * EPSILON)))
        if (free := factors.dead).max(initial=0) >= n:
            free, basis = _on_own_columns(basis)
        own, _ = of_both = two_residuals(A, scaling, basis, scaling[1])
    residuals, smallest = of_both.max(axis=0), min(factors.smallest[:1], default=0.0)
    # small coefficients have less digits: what is large in other units only may be rounding alone
    clear = own.max(initial=0) <= max(rcond, SINGULAR) and smallest >= _NEAR * rcond
    clear &= residuals.max(initial=0) <= max(rcond, ROUNDING_OF_RESIDUALS)
    is_settled = bool(factors.is_settled and clear)
    return Circuits(basis, free, scaling, residuals, smallest, is_settled)


def _on_own_columns(basis: Any) -> tuple[IndexArray, Any]:
    """Return a basis that is the identity on as many rows, and these."""
    dense = basis.toarray()
    if dense.shape[1] > dense.shape[0]:  # of a factorisation that has not settled
        dense = dense[:, pivots(dense)[: dense.shape[0]]]
    free = np.sort(pivots(dense.conj().T)[: dense.shape[1]])
    return free, sp.csc_array(np.linalg.solve(dense[free].T, dense.T).T)


def orthonormal(vectors: Any) -> Array:
    """Return an orthonormal basis, dense, of what the columns of a CSC matrix span."""
    # With rows in descending order and pivots among the columns, errors are relative to each row.
    basis = vectors.copy()
    n, k = basis.shape
    need = 4.0 * basis.dtype.itemsize * n * k
    if need > (room := available_bytes(need)):
        raise MemoryError(
            f"an orthonormal basis of {k:,} vectors of {n:,} elements takes {need / 2**30:.1f} GiB "
            f"of memory, of which {room / 2**30:.1f} GiB are left; a sparse one may fit"
        )
    columns = np.repeat(np.arange(k), np.diff(basis.indptr))
    largest = scalings.largest_exponents(basis.data, columns, k)
    basis.data = times_power(basis.data, -largest[columns])
    dense = basis.toarray()
    order = np.argsort(-np.abs(dense).max(axis=1, initial=0), kind="stable")
    how: dict[str, Any] = {"mode": "economic", "pivoting": True, "check_finite": False}
    found = np.empty_like(dense)
    found[order] = interruptible(4.0 * dense.size * k, linalg.qr, dense[order], **how)[0]
    return found


def two_residuals(
    A: Any, scaling: FloatPair, vectors: Any, units: FloatArray | None = None
) -> FloatArray:
    """Return the largest element of ``A @ vector`` over the largest of its terms, for each."""
    # In two units: those of a scaling, and such that the largest entries of rows and columns are
    # about 1. Those of columns cancel; rows are multiplied by powers of two after the product, in
    # long double, which holds them all. Elements of vectors are multiplied by `units` before.
    (m, n), k = A.shape, vectors.shape[1]
    out = np.zeros((2, k))
    if not A.nnz or not vectors.nnz:
        return out
    long = np.clongdouble if A.dtype.kind == "c" else np.longdouble
    data = vectors.data.astype(long)
    if units is not None:
        data *= units.astype(np.longdouble)[vectors.indices]
    transposed = sp.csr_array((A.data.astype(long), A.indices, A.indptr), shape=(n, m))
    by_vector = sp.csr_array((data, vectors.indices, vectors.indptr), shape=(k, n))
    rows = [row.astype(np.longdouble) for row, _ in (scaling, scalings.maxima_scaling(A))]
    size = abs(transposed.data)
    largest = [row_maxima(size * row[A.indices], A.indptr) for row in rows]
    for some in _pieces(np.diff(A.indptr), vectors):
        mine = by_vector[some]
        product = mine @ transposed
        for result, row, of_columns in zip(out, rows, largest, strict=True):
            left = row_maxima(abs(product.data) * row[product.indices], product.indptr)
            terms = row_maxima(abs(mine.data) * of_columns[mine.indices], mine.indptr)
            result[some] = np.where(terms > 0, left / np.where(terms > 0, terms, 1), 0)
    return np.nan_to_num(out, nan=np.inf)


def _pieces(lengths: IndexArray, vectors: Any) -> Iterator[slice]:
    """Yield columns in pieces, of about _AT_ONCE operations with a matrix each."""
    work = np.concatenate([[0], np.cumsum(1 + lengths[vectors.indices])])[vectors.indptr]
    first = 0
    while first < vectors.shape[1]:
        last = max(first + 1, int(np.searchsorted(work, work[first] + _AT_ONCE, "right")) - 1)
        yield slice(first, last)
        first = last
