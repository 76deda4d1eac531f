"""A check of block forms."""

from __future__ import annotations  # readable names in help()

from sparsematch._base.arrays import on_gpu
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import wrong_type
from sparsematch._engines.operations import DecompositionOps
from sparsematch._engines.registry import operations
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.block_form import BlockForm
from sparsematch._types.block_layout import block_layout
from sparsematch._types.sparse_like import SparseLike


@documented
def is_block_form(A: SparseLike, form: BlockForm) -> bool:
    """Tell whether a block form is the block triangular form of a matrix, by the form alone.

    Nothing is matched again, and none of the searches is used that find block forms.

    Parameters
    ----------
    {A}
        Not over ranks: a `DistributedBlockForm` can be gathered, and checked with the whole matrix.
    form : BlockForm
        What `block_triangular_form` returned, or `BlockForm.from_matlab` has read.

    Returns
    -------
    bool
        True if all of this holds. ``row_perm`` and ``col_perm`` are permutations, and the
        boundaries are those of blocks and parts as `BlockForm` describes them. No entry is below
        the diagonal blocks. The matching stands on the diagonals of A12, A23 and A34, all its pairs
        are entries, and it is maximum. No block can be split: those of the square part are
        irreducible, alternating paths lead from a free column to all of the horizontal part, and
        from a free row to all of the vertical part. So the parts and blocks are the only right
        ones; of their order, others may be right as well.

    Raises
    ------
    TypeError
        If `A` is not a sparse matrix or `form` not a `BlockForm`, or only one of them is on a GPU.
    ValueError
        If the index arrays of `A` are inconsistent, or `form` is of a matrix of another shape.

    See Also
    --------
    block_triangular_form
    is_maximum : Of a matching alone.

    Notes
    -----
    Koenig's theorem for the matching; Dulmage, Mendelsohn, Coverings of bipartite graphs (Canadian
    J. Math. 10, 1958), for the parts; Tarjan's algorithm (SIAM J. Comput. 1, 1972) for the blocks.
    What is on a GPU is checked in host memory. Time: O(n_rows + n_cols + nnz), by one thread.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import block_triangular_form, is_block_form
    >>> A = csr_array([[1, 1, 1], [0, 1, 0], [1, 1, 1]])
    >>> form = block_triangular_form(A)
    >>> is_block_form(A, form), is_block_form(csr_array([[1, 1, 1]] * 3), form)
    (True, False)
    """
    graph = as_bipartite(A)
    if not isinstance(form, BlockForm):
        raise wrong_type("form", form, "a BlockForm")
    if on_gpu(form.row_perm) != (graph.backend == "cupy"):
        raise TypeError("A and form must both be on a GPU, or both in host memory")
    if form.shape != graph.shape:
        raise ValueError(
            f"form is of a matrix of shape {form.shape}, but A has shape {graph.shape}"
        )
    layout = block_layout(form)
    if layout is None:
        return False
    return operations(DecompositionOps, graph.backend).is_block_form(graph, layout)
