"""Coarsening of graphs by matching: one level, and a hierarchy of levels."""

from __future__ import annotations  # readable names in help()

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from sparsematch._api.arguments import Rng, check_flags, check_share
from sparsematch._api.general import approximate_matching
from sparsematch._api.ranks import over_ranks
from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import IndexArray
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import check_count, not_sparse
from sparsematch._engines.operations import CoarseningOps
from sparsematch._engines.registry import Run, operations
from sparsematch._input.bipartite import read_entries
from sparsematch._input.foreign import from_other_library
from sparsematch._input.mates import read_mates
from sparsematch._types import coarsening
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.choices import ApproximateMethod
from sparsematch._types.coarsening import CoarseLevel, Coarsening, CoarseningHierarchy
from sparsematch._types.matching import Matching
from sparsematch._types.sparse_like import SparseLike

if TYPE_CHECKING:
    from sparsematch._types.over_ranks.matrix import DistributedCSR


@documented
def coarsen(
    G: SparseLike | DistributedCSR,
    matching: Any,
    *,
    join_unmatched: bool = False,
    workers: int | None = None,
) -> Coarsening:
    """Merge the two vertices of each matched edge: the coarse matrix and the prolongation.

    Parameters
    ----------
    G : sparse array or matrix, shape (n, n)
        Any square matrix: it need not be symmetric. Entries in the same place are added up. On a
        GPU, so are the results. A `DistributedCSR`, which must have values, is processed by all its
        ranks, each of which calls this. It is not modified.
    matching : GraphMatching or array of int, shape (n,)
        As `approximate_matching` gives it, or its mates: where ``mate[v]`` is w, ``mate[w]`` is v,
        and -1 means unmatched. The pairs need not be edges. Over ranks the mates of the own rows.
    join_unmatched : bool, optional
        What becomes of an unmatched vertex. By default it stays alone. If True, it joins the
        aggregate of its heaviest matched neighbour, if it has one: that of the entries, in its row
        (of CSC: its column), of largest absolute value. Not over ranks.
    {workers}
        On a GPU this is ignored.

    Returns
    -------
    Coarsening
        A pair: ``matrix``, which is ``P.T @ G @ P``, and ``prolongation``, which is P. Coarse
        vertices are numbered in the order of the smaller vertices of the pairs. Over ranks both are
        a `DistributedCSR`; a coarse row is where the smaller vertex of its pair is.

    Raises
    ------
    TypeError, ValueError
        If `G` is not a sparse matrix of numbers, or not square; or `matching` is of another size,
        or no matching.

    See Also
    --------
    approximate_matching : Finds the matching.
    coarsening_hierarchy : Does both again and again.

    Notes
    -----
    Time: O(n + nnz), and a sort of each row. Real and complex values keep their type; integers and
    booleans are added up in 64 bits (on a GPU, booleans in double precision). The result does not
    depend on the number of workers, and is symmetric to the last bit if `G` is; over ranks if `G`
    has no repeated entries.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import approximate_matching, coarsen
    >>> G = csr_array([[4, -2, 0, 0], [-2, 3, -1, 0], [0, -1, 3, -2], [0, 0, -2, 4]])
    >>> matrix, P = coarsen(G, approximate_matching(G))
    >>> P.toarray()
    array([[1, 0],
           [1, 0],
           [0, 1],
           [0, 1]])
    >>> matrix.toarray()
    array([[ 3, -1],
           [-1,  3]])
    """
    if ranks := over_ranks(G, "coarsening"):
        return ranks.coarsen(G, matching, join_unmatched)
    check_flags(join_unmatched=join_unmatched)
    matrix, graph, values = _read(G)
    how = _read_mates(matching, graph), bool(join_unmatched), Run(resolve_workers(workers))
    product = operations(CoarseningOps, graph.backend).galerkin_product
    labels, indptr, indices, sums = product(graph, values, *how)
    # the same sums, but for what they mean
    if matrix.data.dtype.kind == "u" and sums.dtype.kind == "i":
        sums = sums.view(np.uint64)
    n, form = indptr.size - 1, "csc" if graph.flipped else "csr"
    module = sp if sp.issparse(matrix) else sys.modules["cupyx.scipy.sparse"]
    kind = "array" if isinstance(matrix, sp.sparray) else "matrix"
    csr, own = (getattr(module, f"{each}_{kind}") for each in ("csr", form))
    P = coarsening.aggregation_operator(csr, labels, n, sums.real.dtype)
    return Coarsening(coarsening.compressed(own, (n, n), sums, indices, indptr), P)


def coarsening_hierarchy(
    G: SparseLike,
    *,
    method: ApproximateMethod = "auto",
    weights: bool = True,
    rng: Rng = None,
    workers: int | None = None,
    symmetrize: bool = False,
    options: Mapping[str, Any] | None = None,
    join_unmatched: bool = True,
    min_vertices: int = 100,
    max_levels: int = 50,
    max_ratio: float = 0.9,
) -> CoarseningHierarchy:
    """Match and merge again and again, until the matrix is small.

    Time: O(n + nnz), expected, if each level is smaller than the one before by a constant factor.

    Parameters
    ----------
    G : sparse array or matrix, shape (n, n)
        A symmetric matrix, as for `approximate_matching`. It is not modified.
    method, weights, rng, workers, symmetrize, options : optional
        As in `approximate_matching`, for the matching on each level; with ``symmetrize=True`` the
        coarse matrices are those of `G` as it is.
    join_unmatched : bool, optional
        As in `coarsen`, but True by default: without it a star of n leaves takes n levels.
    min_vertices : int, optional
        Stop at a matrix with at most this number of rows.
    max_levels : int, optional
        Stop at this number of levels, the finest one included.
    max_ratio : float, optional
        Stop where the next level would have more than this share of the vertices; it is not kept.

    Returns
    -------
    CoarseningHierarchy
        With ``levels``, each of a ``matrix``, ``prolongation`` and ``matching``;
        ``prolongation(k)`` and ``aggregates(k)`` from level k to the finest one.

    Raises
    ------
    TypeError, ValueError
        As `approximate_matching`, or if a limit is out of range.

    See Also
    --------
    coarsen : One level.
    approximate_matching : What it starts from.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sparsematch import coarsening_hierarchy
    >>> path = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(16, 16), format="csr")
    >>> hierarchy = coarsening_hierarchy(path, min_vertices=4)
    >>> hierarchy.sizes[0], hierarchy.sizes[-1] <= 4, hierarchy.stopped_by
    (16, True, 'min_vertices')
    """
    check_count("min_vertices", min_vertices)
    check_count("max_levels", max_levels, least=1)
    check_share("max_ratio", max_ratio)
    if over_ranks(G, "coarsening"):
        raise not_sparse("G", G, "a sparse array or matrix of SciPy or CuPy")
    how: Any = {"method": method, "weights": weights, "workers": workers, "options": options}
    levels: list[CoarseLevel] = []
    G = from_other_library(G)
    while True:
        n = getattr(G, "shape", (0,))[0]
        stopped_by = "max_levels" if len(levels) + 1 >= max_levels else None
        stopped_by = "min_vertices" if n <= min_vertices else stopped_by
        if not (levels and stopped_by):  # the first is matched in any case: it may be no graph
            matching = approximate_matching(G, rng=rng, symmetrize=symmetrize, **how)
        if stopped_by is None:
            coarse, P = coarsen(G, matching, join_unmatched=join_unmatched, workers=workers)
            stopped_by = "max_ratio" if P.shape[1] > max_ratio * n else None
        if stopped_by is not None:
            return CoarseningHierarchy((*levels, CoarseLevel(G, None, None)), stopped_by)
        levels.append(CoarseLevel(G, P, matching))
        G = coarse


def _read(G: Any) -> tuple[Any, BipartiteCSR, Any]:
    """Return the matrix, its view, and its values in a type that is summed."""
    entries = read_entries(G, name="G", valued=True)
    graph, data = entries.graph, entries.values
    if graph.n_rows != graph.n_cols:
        raise ValueError(f"G has shape {graph.shape}, but the matrix of a graph must be square")
    dtype = coarsening.type_of_products(data.dtype, "G.data")
    if graph.backend == "numpy":
        data = np.ascontiguousarray(data, dtype.newbyteorder("="))
        data = data if dtype.kind in "fc" else data.view(np.int64)
    elif dtype.kind not in "fc":
        data = data.astype(np.float64)  # there are no sparse matrices of integers
    return entries.matrix, graph, data


def _read_mates(matching: Any, graph: BipartiteCSR) -> IndexArray:
    """Return the mates of a matching of a graph, checked, in the type of the indices."""
    given = matching.row_mate if isinstance(matching, Matching) else matching
    rows = "row", graph.n_rows
    mate = read_mates(given, rows, rows, graph, "matching")
    if (v := operations(CoarseningOps, graph.backend).wrong_mate(mate)) >= 0:
        raise ValueError(
            f"matching is not one of a graph: the mate of vertex {v} is {int(given[v])}, whose "
            f"mate is not {v}; approximate_matching gives such mates"
        )
    return mate
