"""Scaling by powers of two, which rounds nothing: exponents of what there is, and factors by them.

Exponents, not factors, as neither 2**-1074 nor a product of two factors need have an inverse.
`logarithmic_scaling` makes all entries of a matrix as nearly 1 as can be, whatever the units are:
Curtis, Reid, On the automatic scaling of matrices for Gaussian elimination (J. Inst. Maths Applics
10, 1972): the logarithms of the entries are least in the sum of their squares, by conjugate
gradients. Other units change the factors, and nothing else. One weak row or column, as dependent
ones are, has little influence, unlike on the scaling by the transversal of largest product.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from sparsematch._base.arrays import Array, FloatArray, IndexArray, IndexPair, scale_entries
from sparsematch._engines.operations import QrOps, WeightedOps
from sparsematch._engines.registry import Run, operations
from sparsematch._input.assembled import compressed_matrix
from sparsematch._input.canonical import pattern_of, transposed
from sparsematch._types.bipartite import BipartiteCSR

#: Steps of conjugate gradients: units differing by 1e24 at random needed 12 to 90 of them.
_MAX_STEPS = 200
#: Steps towards maxima of 1, each of which halves what is missing, and a half that will do.
_SWEEPS, _LEVEL = 12, 0.5
#: Root mean square of what is left, in powers of two.
_PRECISION = 0.05
#: Beyond any exponent of a quotient of doubles: that of zero, `beyond` in the core.
_FAR = 15000


def exponents_of(values: Array) -> IndexArray:
    """Return e with the larger part of each value from 2^(e - 1) to below 2^e; 0 of a zero."""
    # by parts: of a complex number of doubles the absolute value need not be one
    return np.frexp(np.maximum(np.abs(values.real), np.abs(values.imag)))[1]


def largest_exponents(values: Array, of: IndexArray, n: int) -> IndexArray:
    """Return such an exponent of the largest value of each row or column, 0 where all are zero."""
    largest = np.zeros(n)
    np.maximum.at(largest, of, np.maximum(np.abs(values.real), np.abs(values.imag)))
    return exponents_of(largest)


def times_power(values: Array, exponents: IndexArray) -> Array:
    """Multiply values by 2^exponents, which are broadcast."""
    parts = np.ascontiguousarray(values)[..., np.newaxis].view(np.float64)
    product: Array = np.ldexp(parts, exponents[..., np.newaxis])
    return product.view(values.dtype)[..., 0]


def column_norms(x: Array) -> FloatArray:
    """Return the 2-norm of each column, whose square need not be a double."""
    norm = blas.dznrm2 if x.dtype.kind == "c" else blas.dnrm2
    return np.array([norm(column) for column in x.T]) if x.size else np.zeros(x.shape[1])


def residual(A: Any, x: Array, b: Array, side: str = "N", values: Array | None = None) -> Array:
    """Return ``b - A x`` of a CSR or CSC matrix, of its transpose (T), or of A^H (H) by rows."""
    # `values`: others, for the entries of A
    if A.format == "csc":  # of which the arrays are those of A^T by rows
        side = "NT"[side == "N"]
    data = A.data if values is None else values
    graph, r = (A.shape[A.format == "csr"], A.indptr, A.indices), np.array(b, data.dtype, order="C")
    vectors = np.ascontiguousarray(x, data.dtype).ravel(), r.ravel(), x[:1].size
    operations(QrOps, "numpy").subtract_product(graph, data, *vectors, side)
    return r


def scaled_columns(B: Any) -> tuple[Any, IndexArray]:
    """Return B by rows, B 2^-e with the largest entry of each column from 1/2 to 1, and e."""
    B = B if B.format == "csr" else transposed(B, "csr")
    exponents = largest_exponents(B.data, B.indices, B.shape[1])
    values = times_power(B.data, -exponents[B.indices])
    return compressed_matrix("csr", B.shape, B.indptr, B.indices, values), exponents


def power_of_two(exponents: Array) -> FloatArray:
    """Return powers with whole exponents, cut off where they or their inverses are no doubles."""
    return np.ldexp(1.0, np.clip(exponents, -1022, 1022).astype(int))


def scaled(A: Any, rows: FloatArray, cols: FloatArray) -> Any:
    """Return a copy of a CSC matrix with its rows and columns multiplied by positive factors."""
    values = scale_entries(A.data, rows[A.indices], np.repeat(cols, np.diff(A.indptr)))
    return compressed_matrix("csc", A.shape, A.indptr, A.indices, values)


class OwnUnits(NamedTuple):
    """A system whose components have units of their own, the middle of what they have being 1."""

    # With that, neither values nor elements of x are near the ends of the range of doubles.
    A: Any
    graph: BipartiteCSR  #: The pattern of A.
    b: Array
    #: Exponents of the units of the elements of b, and of x.
    unit_of_b: IndexArray
    unit_of_x: IndexArray
    labels: IndexPair  #: The components of rows and columns.

    def back(self, x: Array) -> tuple[Array, ...]:
        """Return x and its residual's norms in the user's units, and x as these leave it here."""
        users = times_power(x, self.unit_of_x)
        kept = times_power(users, -self.unit_of_x)
        left = times_power(residual(self.A, kept, self.b), self.unit_of_b)
        return users, column_norms(left), kept


def in_own_units(A: Any, b: Array) -> OwnUnits:
    """Give units to the components of a system, a CSC matrix without stored zeros."""
    graph, (m, n), k = pattern_of(A), A.shape, b.shape[1]
    size_of_b = np.where(b != 0, exponents_of(b), _FAR)
    labels = np.empty(m, graph.dtype), np.empty(n, graph.dtype)
    unit, of_b, of_x = (np.empty(size, np.int32) for size in (n, (m, k), (n, k)))
    sizes = exponents_of(A.data), size_of_b.astype(np.int32).ravel(), k
    given = (m, graph.indptr, graph.indices), *sizes, *labels
    operations(QrOps, "numpy").component_units(*given, unit, of_b.ravel(), of_x.ravel())
    values = times_power(A.data, -np.repeat(unit, np.diff(A.indptr)))
    own = compressed_matrix("csc", A.shape, graph.indptr, graph.indices, values)
    return OwnUnits(own, graph, times_power(b, -of_b), of_b, of_x, labels)


def logarithmic_scaling(A: Any) -> tuple[FloatArray, FloatArray]:
    """Return powers of two that scale rows and columns of a CSC matrix without stored zeros."""
    m, n = A.shape
    if not A.nnz:
        return np.ones(m), np.ones(n)
    cols = np.repeat(np.arange(n), np.diff(A.indptr))
    exponents = np.log2(np.abs(A.data))
    minus = compressed_matrix("csc", A.shape, A.indptr, A.indices, np.full(A.nnz, -1.0))
    by_row = np.bincount(A.indices, minlength=m).astype(float)
    count = np.maximum(np.concatenate([by_row, np.diff(A.indptr)]), 1)
    x = np.zeros(m + n)
    left = -np.concatenate([np.bincount(A.indices, exponents, m), np.bincount(cols, exponents, n)])
    z = left / count
    step, energy = z.copy(), float(left @ z)
    for _ in range(_MAX_STEPS):
        if energy <= _PRECISION**2 * A.nnz:
            break
        product = count * step
        product[:m] = residual(minus, step[m:], product[:m])
        product[m:] = residual(minus, step[:m], product[m:], "T")
        length = energy / float(step @ product)
        x += length * step
        left -= length * product
        z = left / count
        before, energy = energy, float(left @ z)
        step = z + energy / before * step
    row, col = (np.asarray(np.round(half), np.float64) for half in (x[:m], x[m:]))
    for _ in range(2):
        row -= np.ceil(_largest(exponents + row[A.indices] + col[cols], A.indices, m))
        col -= np.ceil(_largest(exponents + row[A.indices] + col[cols], cols, n))
    # a factor for all rows and its inverse for all columns: none is cut off if that can be
    middle = np.floor((max(row.max(), -col.min()) + min(row.min(), -col.max())) / 2)
    return power_of_two(row - middle), power_of_two(col + middle)


def row_maxima(values: Array, indptr: IndexArray) -> Array:
    """Return the largest of the values of each row of a CSR matrix, 0 where there are none."""
    largest = np.zeros(indptr.size - 1, values.dtype)
    if (filled := np.flatnonzero(np.diff(indptr))).size:
        largest[filled] = np.maximum.reduceat(values, indptr[filled])
    return largest


def maxima_scaling(A: Any) -> tuple[FloatArray, FloatArray]:
    """Return powers of two that bring the largest entries of a CSC matrix's lines near 1."""
    # Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices
    # (RAL-TR-2001-034, 2001). Stored entries are not zero.
    m, n = A.shape
    exponents = np.log2(np.abs(A.data))
    sides = (A.indices, m), (np.repeat(np.arange(n), np.diff(A.indptr)), n)
    total = [np.zeros(m), np.zeros(n)]
    for _ in range(_SWEEPS):
        halves = [_largest(exponents, *side) / 2 for side in sides]
        for k, half in enumerate(halves):
            total[k] -= half
            exponents -= half[sides[k][0]]
        if max(np.abs(half).max(initial=0) for half in halves) < _LEVEL:
            break
    return power_of_two(np.round(total[0])), power_of_two(np.round(total[1]))


def product_scaling(A: Any) -> tuple[FloatArray, FloatArray] | None:
    """Return powers of two that scale the transversal of largest product to 1, or None."""
    # Of the duals, not of the factors: these may be beyond the range of doubles.
    from sparsematch._input.weighted import as_weighted  # what few blocks need

    best = operations(WeightedOps, "numpy").maximum_product(as_weighted(A), False, False, Run())
    if not best.matching.is_perfect:
        return None
    row, col = (np.rint(dual / np.log(2)) for dual in (best.row_dual, best.col_dual))
    return power_of_two(row), power_of_two(col)


def _largest(exponents: FloatArray, of: Any, n: int) -> FloatArray:
    largest: FloatArray = np.full(n, -np.inf)
    np.maximum.at(largest, of, exponents)
    return np.where(np.isfinite(largest), largest, 0)
