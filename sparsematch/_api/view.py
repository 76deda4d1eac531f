"""How a matrix is read: whether its stored zeros count, and where it is to be."""

from __future__ import annotations  # readable names in help()

from typing import TYPE_CHECKING, get_args, overload

from sparsematch._api.ranks import over_ranks
from sparsematch._base.errors import check_choice
from sparsematch._types.choices import Zeros
from sparsematch._types.sparse_like import Local, SparseLike
from sparsematch._types.view import MatrixView

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matrix import DistributedCSR, OverRanks


@overload
def view(A: Local, *, zeros: Zeros = ..., device: str | None = ...) -> MatrixView: ...
@overload
def view(A: OverRanks, *, zeros: Zeros = ..., device: str | None = ...) -> DistributedCSR: ...


def view(
    A: SparseLike | DistributedCSR, *, zeros: Zeros = "keep", device: str | None = None
) -> MatrixView | DistributedCSR:
    """Say how a matrix is to be read: with its stored zeros or without, here or on a GPU.

    Each call reads the matrix: O(nnz) for the zeros, a transfer for the device.

    Parameters
    ----------
    A : sparse array or matrix
        Of any library and shape. Nothing of it is copied, or read, before a call is given the view.
    zeros : {"keep", "drop"}, optional
        ``"drop"``: entries whose value is zero do not count, as after SciPy's ``sum_duplicates``
        and ``eliminate_zeros`` on a copy. By default every stored entry is one.
    device : {None, "cuda"}, optional
        ``"cuda"``: a matrix in host memory is copied to the current GPU, the matching that a call
        is given with it, and the work is done there. By default it is done where the matrix is.

    Returns
    -------
    MatrixView
        Every call takes it in place of `A`. A `DistributedCSR` gives another one, if zeros are
        dropped: all ranks call this then, and `device` must be None.

    Raises
    ------
    TypeError, ValueError
        If `zeros` or `device` is none of the choices. What a call is given raises, beside all else,
        ValueError if zeros are to be dropped of a pattern without values; ImportError or
        RuntimeError if CuPy, the driver or the GPU is missing.

    See Also
    --------
    BipartiteCSR.from_arrays : Another view: index arrays as a pattern.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import structural_rank, view
    >>> A = csr_array(([5.0, 0.0], ([0, 1], [0, 1])))
    >>> structural_rank(A), structural_rank(view(A, zeros="drop"))
    (2, 1)
    """
    if ranks := over_ranks(A, "view"):
        return ranks.view(A, zeros, device)
    check_choice("zeros", zeros, get_args(Zeros))
    if device is not None:
        check_choice("device", device, ("cuda",))
    if isinstance(A, MatrixView):  # what either asks for
        zeros, device = zeros if A.zeros == "keep" else A.zeros, device or A.device
        A = A.matrix
    return MatrixView(A, zeros, device)
