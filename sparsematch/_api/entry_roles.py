"""Which entries of a matrix can be on the diagonal: those of some maximum matching, or of all."""

from __future__ import annotations  # readable names in help()

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch._api.decomposition import block_form
from sparsematch._api.weighted import proved
from sparsematch._api.workers import resolve_workers
from sparsematch._base.arrays import Array, IndexPair, advising, namespace
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import wrong_type
from sparsematch._input.bipartite import read_entries
from sparsematch._input.foreign import from_other_library
from sparsematch._input.scipy import check_sparse
from sparsematch._types.bipartite import BipartiteCSR, entry_places
from sparsematch._types.choices import ExactMethod
from sparsematch._types.sparse_like import Local
from sparsematch._types.weighted import SignedCSR, WeightedMatching, WeightedTransversal
from sparsematch._types.weighted_proof import Proof

_NEVER, _SOMETIMES, _ALWAYS = 0, 1, 2


@documented
@advising
def entry_roles(
    A: Local,
    *,
    optimum: WeightedTransversal | WeightedMatching | None = None,
    matching: Any = None,
    method: ExactMethod = "auto",
    workers: int | None = None,
) -> Any:
    """Tell for each entry whether it is in no, in some or in every maximum matching, or optimum.

    In terms of equations (rows) and variables (columns): which variable an equation can determine.
    An entry that is in no maximum matching may be deleted, and the structural rank stays; one that
    is in all of them may not.

    Parameters
    ----------
    {A}
        With `optimum` its numbers count, too.
    optimum : WeightedTransversal or WeightedMatching, optional
        Of `A`, and not of a bottleneck: then "maximum matching" means a matching as good as this
        one, up to rounding. It is the only one if no entry has the role 1. In host memory.
    {initial_matching}
    {method}
    {workers}

    Returns
    -------
    ndarray of int8, shape (nnz,)
        0: in no maximum matching, 1: in some, 2: in every one. In the order of ``A.data`` if `A` is
        CSR, CSC or COO, else in that of its CSR form; of a `view` that drops zeros, of the entries
        that are left. Repeated entries have the same role. Where the matrix is.

    {raises_of_patterns}
        Also if `optimum` is not proved by its duals, or a matching is given beside it.

    See Also
    --------
    block_triangular_form : The entries within diagonal blocks are those of some maximum matching.

    Notes
    -----
    Dulmage, Mendelsohn, Two algorithms for bipartite graphs (J. SIAM 11, 1963). In the square part
    an entry is in some perfect matching if and only if it is within a diagonal block, and in all if
    that is 1 x 1; within the horizontal or the vertical part all are in some, and none in all.
    Optima are the matchings along the entries that cost what their duals are, which leave unmatched
    what has the largest dual: the same of a graph of the pairs, and a vertex for what is unmatched.
    Time: that of `block_triangular_form`, and O(nnz); with `optimum` a sort where they are
    repeated or zeros of a transversal.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import entry_roles
    >>> A = csr_array([[1, 1, 1], [0, 1, 1], [0, 1, 1]])
    >>> csr_array((entry_roles(A), A.indices, A.indptr), shape=A.shape).toarray()
    array([[2, 0, 0],
           [0, 1, 1],
           [0, 1, 1]], dtype=int8)

    Which pairs are in every assignment of least cost?

    >>> from sparsematch import maximum_weight_matching
    >>> costs = csr_array([[1, 5, 7], [6, 2, 4], [3, 4, 6]])
    >>> best = maximum_weight_matching(costs, maximize=False, cardinality="maximum")
    >>> entry_roles(costs, optimum=best).reshape(3, 3)
    array([[2, 0, 0],
           [0, 1, 1],
           [0, 1, 1]], dtype=int8)
    """
    given, threads = from_other_library(A), resolve_workers(workers)
    if optimum is not None:
        if matching is not None:
            raise ValueError("give an optimum or a matching, not both")
        return _roles_in_optima(given, optimum, threads)
    graph = read_entries(given, threads=threads).graph
    form, _ = block_form(graph, matching, method=method, workers=workers)
    xp, (row_of, col_of) = namespace(graph.indptr), form.block_labels
    rows, cols = _coordinates(given, graph)
    block = row_of[rows]
    roles = xp.where(block == col_of[cols], xp.int8(_SOMETIMES), xp.int8(_NEVER))
    begins, starts = form.row_blocks, form.col_blocks
    is_single = (begins[:-1] >= form.coarse_rows[1]) & (begins[:-1] < form.coarse_rows[2])
    is_single &= (begins[1:] - begins[:-1] == 1) & (starts[1:] - starts[:-1] == 1)
    roles[(roles == _SOMETIMES) & is_single[block]] = _ALWAYS
    return roles


def _roles_in_optima(A: Any, optimum: Any, threads: int) -> Array:
    """Return the roles of the entries as stored, of which some may be repeated, or zeros."""
    if not isinstance(optimum, WeightedTransversal | WeightedMatching):
        raise wrong_type("optimum", optimum, "a WeightedTransversal or a WeightedMatching")
    if isinstance(optimum, WeightedTransversal) and optimum.job == "bottleneck":
        raise ValueError("optimum is a bottleneck transversal, but must be of a product or sum")
    if isinstance(optimum, WeightedMatching) and optimum.capacities is not None:
        raise ValueError("optimum has capacities, but must be one of single rows and columns")
    stored = read_entries(A, threads=threads, in_host=True).graph
    if (known := proved(A, optimum, None, threads, "optimum")) is None:
        raise ValueError("the duals of optimum do not prove that it is one of A")
    both = _coordinates(A, stored), entry_places(known[0].graph)
    wanted, key = (np.ravel_multi_index(places, stored.shape) for places in both)
    roles = _roles(*known)
    if np.array_equal(key, wanted):
        return roles
    key, roles = np.append(key, -1), np.append(roles, np.int8(_NEVER))
    order = np.argsort(key)
    place = order[np.searchsorted(key, wanted, side="right", sorter=order) - 1]
    return np.where(key[place] == wanted, roles[place], np.int8(_NEVER))


def _roles(signed: SignedCSR, found: WeightedMatching, proof: Proof) -> Array:
    """Return the roles of the entries of a graph among all optima.

    Two optima differ by cycles, and by paths between vertices that may be unmatched, of pairs and
    of entries that cost as much as their duals. With an arc from the pair of the row of such an
    entry to that of its column, and a vertex for what is unmatched, all of these are cycles; at
    maximum cardinality one for rows and one for columns, whose numbers are the same in all optima.
    """
    n = found.cardinality
    free_row, free_col = n, n + found.maximum_cardinality
    row_vertex, col_vertex = np.full(found.shape[0], free_row), np.full(found.shape[1], free_col)
    rows, cols = found.matching.pairs()
    row_vertex[rows] = col_vertex[cols] = np.arange(n)
    tight = proof.entries <= proof.tolerance
    rows, cols = entry_places(signed.graph)
    tail, head, itself = row_vertex[rows], col_vertex[cols], np.arange(n + 2)
    lowest_row, lowest_col = (level - proof.tolerance for level in proof.levels)
    arcs = (
        (tail[tight], head[tight]),
        (row_vertex[proof.row_excess >= lowest_row], free_row),  # which may become unmatched
        (free_col, col_vertex[proof.col_excess >= lowest_col]),
        (itself, itself),
    )
    tails, heads = np.hstack([np.stack(np.broadcast_arrays(*pair)) for pair in arcs])
    graph = sp.csr_array((np.ones(tails.size, bool), (tails, heads)), shape=(n + 2, n + 2))
    block = block_form(read_entries(graph).graph, itself)[0].block_labels[0]
    alone = np.bincount(block)[block] == 1
    roles = np.where(tight & (block[tail] == block[head]), np.int8(_SOMETIMES), np.int8(_NEVER))
    roles[tight & (tail == head) & (tail < n) & alone[tail]] = _ALWAYS
    return roles


def _coordinates(A: Any, graph: BipartiteCSR) -> IndexPair:
    """Return the rows and columns of the entries, in the order in which they are stored."""
    if getattr(A, "format", None) == "coo":
        coordinates = check_sparse(A, "A") if graph.backend == "numpy" else A
        return coordinates.row, coordinates.col
    return entry_places(graph)
