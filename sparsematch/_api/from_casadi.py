"""Matrices of CasADi, converted once where several calls are to read them."""

from typing import Any

from sparsematch._input import casadi
from sparsematch._types.errors import wrong_type


def from_casadi(A: Any) -> Any:
    """Convert a matrix or a sparsity pattern of CasADi.

    All functions accept either as it is; CasADi hands out its arrays as lists, which costs more
    than most of them, so convert once what is to be read several times.

    Parameters
    ----------
    A : casadi.DM or casadi.Sparsity
        The pattern of what is symbolic, SX or MX, is ``A.sparsity()``.

    Returns
    -------
    csc_array or BipartiteCSR
        A matrix with the values of a DM, zeros that are stored among them; a view without values of
        a pattern.

    Raises
    ------
    TypeError
        If `A` is neither.

    See Also
    --------
    BlockForm.to_casadi : The block lower triangular form, as ``Sparsity.btf`` returns it.

    Examples
    --------
    >>> import casadi  # doctest: +SKIP
    >>> S = casadi.Sparsity.lower(3)  # doctest: +SKIP
    >>> sparsematch.block_triangular_form(sparsematch.from_casadi(S)).n_blocks  # doctest: +SKIP
    3
    """
    if (found := casadi.convert(A)) is None:
        raise wrong_type("A", A, "a DM or a Sparsity of CasADi")
    return found
