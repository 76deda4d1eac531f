"""What can only be done with a matrix that is distributed over ranks."""

from typing import Any

from sparsematch._api.over_ranks.check import read_matching
from sparsematch._base.errors import wrong_type
from sparsematch._engines.distributed_operations import DistributionOps
from sparsematch._engines.registry import operations
from sparsematch._types.over_ranks.matching import DistributedTransversal
from sparsematch._types.over_ranks.matrix import DistributedCSR, agreed


def permute_and_redistribute(A: DistributedCSR, matching: Any) -> DistributedCSR:
    """Move rows to where their matched entries are on the diagonal, to the ranks of these places.

    For distributed solvers that do not permute rows themselves. Collective. No rank has the whole
    permutation.

    Parameters
    ----------
    A : DistributedCSR
        The matrix, with its values if there are some.
    matching : DistributedMatching, DistributedTransversal or (row_mate, col_mate)
        A matching of `A`; of a square matrix a perfect one, where its structural rank allows. With
        a transversal that has factors, the values are scaled by them.

    Returns
    -------
    DistributedCSR
        Row j of it is the row matched with column j, others as in `Matching.as_permutation`. Each
        rank has as many rows as in `A`. Columns are where they were.

    Raises
    ------
    TypeError, ValueError
        If `A` is no DistributedCSR, `matching` not one of `A`, naming the first wrong pair, or
        there are factors and `A` has no values.

    See Also
    --------
    maximum_transversal : A matching.
    maximum_product_transversal : One with large entries, and factors.
    DistributedMatching.perm_r : The permutation, whole, for solvers that expect it.

    Notes
    -----
    SuperLU_DIST is told ``RowPerm = NOROWPERM``; PETSc creates a matrix of the result's arrays.
    The right-hand side is permuted in the same way, and the solution is that of `A`. With factors,
    the former is multiplied by ``row_scale`` before, and the latter by ``col_scale`` afterwards.
    Time: O(own rows and entries), three exchanges, and more only for many entries.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import DistributedCSR, maximum_transversal, permute_and_redistribute
    >>> A = DistributedCSR.from_local(None, csr_array([[0., 2.], [1., 3.]]))
    >>> permute_and_redistribute(A, maximum_transversal(A)).to_local().toarray()
    array([[1., 3.],
           [0., 2.]])
    """
    if not isinstance(A, DistributedCSR):
        raise wrong_type("A", A, "a DistributedCSR; A[matching.as_permutation()] permutes others")
    ops = operations(DistributionOps, A.backend)
    row_scale = col_scale = None
    if isinstance(matching, DistributedTransversal):
        row_scale, col_scale, matching = matching.row_scale, matching.col_scale, matching.matching
    with agreed(A, "permute_and_redistribute", factors=row_scale is not None):
        if row_scale is not None and A.values is None:
            raise ValueError("A has no values, which the factors of the transversal scale")
    given = read_matching(A, matching, "matching", "permute_and_redistribute of a matching")
    if row_scale is not None and col_scale is not None:
        A = ops.scale(A, row_scale, col_scale)
    return ops.permute_and_redistribute(A, given)
