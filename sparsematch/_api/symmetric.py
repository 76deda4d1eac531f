"""Symmetric transversals: one scaling, and pivots of one and of two rows."""

from __future__ import annotations  # readable names in help()

from dataclasses import replace
from typing import Any, get_args

from sparsematch._api.arguments import check_flags, check_tolerance
from sparsematch._api.check import matching_of
from sparsematch._api.workers import resolve_workers
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import operations
from sparsematch._input.weighted import as_symmetric
from sparsematch._types.choices import Triangle
from sparsematch._types.sparse_like import SparseLike
from sparsematch._types.symmetric import SymmetricTransversal
from sparsematch._types.weighted import WeightedTransversal
from sparsematch._types.weighted_proof import as_matching


@documented
def symmetric_product_transversal(
    A: SparseLike,
    *,
    scaling: bool = True,
    triangle: Triangle | None = None,
    workers: int | None = None,
) -> SymmetricTransversal:
    """Find pivots and one scaling for an LDL^T factorisation, by a transversal of largest product.

    Cycles of the transversal are divided into 2 x 2 pivots, which an ordering of the compressed
    graph keeps together. This is what HSL's MC64 and MC80, SPRAL's ``hungarian_scale_sym`` and the
    symmetric option of MUMPS and PARDISO compute.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        Real or complex symmetric, or Hermitian: the absolute values count. Entries in the same
        place are added up, and zeros are no candidates. It is not modified.
    {scaling}
    {triangle}
    {workers}

    Returns
    -------
    SymmetricTransversal
        With ``partner``, ``pairs``, ``singles``, ``factors``, and the transversal itself. In a
        structurally singular matrix some rows are left out, as few as can be; the others are
        structurally nonsingular by themselves.

    {raises_of_numbers}
        Also if `A` is not square or not symmetric, naming an entry.

    Warns
    -----
    RuntimeWarning
        If factors are beyond the range of doubles, and cut off; ``dual`` has their logarithms.

    See Also
    --------
    is_symmetric_transversal : The proof, in linear time.
    maximum_product_transversal : For matrices that are not symmetric.

    Notes
    -----
    Duff, Pralet, Strategies for scaling and pivoting for sparse symmetric indefinite problems (SIAM
    J. Matrix Anal. Appl. 27, 2005). Of the two ways to make pairs of an even cycle, the one with
    the larger product of determinants is taken; in an odd one the member with the largest scaled
    diagonal stays single. Time: that of `maximum_product_transversal`, and O(n + nnz).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import symmetric_product_transversal
    >>> A = csr_array([[1., 200., 0.], [200., 0., 5.], [0., 5., -4.]])
    >>> best = symmetric_product_transversal(A)
    >>> best.pairs.tolist(), best.singles.tolist()
    ([[0, 1]], [2])
    >>> float(abs(best.scale(A)).max().round(12))
    1.0
    """
    check_flags(scaling=scaling)
    threads = resolve_workers(workers, A)
    weighted = as_symmetric(A, read_triangle(triangle), threads=threads)
    product = operations(WeightedOps, weighted.graph.backend).symmetric_product
    return product(weighted, bool(scaling), threads)


@documented
def is_symmetric_transversal(
    A: SparseLike,
    transversal: SymmetricTransversal,
    *,
    triangle: Triangle | None = None,
    tolerance: float | None = None,
    workers: int | None = None,
) -> bool:
    """Tell whether a symmetric transversal is what it says, without a search.

    Time: O(n + nnz).

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        The matrix.
    transversal : SymmetricTransversal
        What `symmetric_product_transversal` returned.
    {triangle}
    {tolerance}
    {workers}

    Returns
    -------
    bool
        Whether the matching is a maximum transversal, and the duals prove that no other has a
        larger product; pivots are rows of its cycles that follow each other, all that it covers
        and no others; the objective is its own; and, if there are factors, no scaled entry exceeds
        1 by more than 1e-12, and no matched one is below 1 by more than 1e-12 times the largest of
        the dual, if that is above 1. Where factors were cut off, all must be what the dual says, up
        to as much.

    {raises_of_proofs}

    See Also
    --------
    symmetric_product_transversal, is_optimal_transversal

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import is_symmetric_transversal, symmetric_product_transversal
    >>> A = csr_array([[0, 7], [7, 2]])
    >>> best = symmetric_product_transversal(A)
    >>> is_symmetric_transversal(A, best), is_symmetric_transversal(3 * A, best)
    (True, False)
    """
    if not isinstance(transversal, SymmetricTransversal):
        raise wrong_type("transversal", transversal, "a SymmetricTransversal")
    check_tolerance("tolerance", tolerance)
    threads = resolve_workers(workers)
    weighted = as_symmetric(A, read_triangle(triangle), threads=threads)
    ops, dual = operations(WeightedOps, weighted.graph.backend), transversal.dual
    diagonal = ops.symmetric_diagonal(weighted)
    sides = (transversal.partner, dual), (transversal.diagonal, transversal.factors)
    given = matching_of(weighted.graph, transversal, "transversal", *sides, threads=threads)
    if given is None:
        return False
    unsymmetric = WeightedTransversal(given, "product", transversal.objective, dual, dual)
    proof = ops.prove(*as_matching(weighted, unsymmetric), tolerance)
    found = replace(transversal, matching=given)
    return proof is not None and ops.is_symmetric(weighted, found, diagonal, threads)


def read_triangle(triangle: Any) -> Triangle | None:
    """Return which triangle counts, or raise ValueError."""
    if triangle is not None and triangle not in get_args(Triangle):
        raise ValueError(f'triangle is {triangle!r}, but must be None, "lower" or "upper"')
    return triangle
