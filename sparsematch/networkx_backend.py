"""A back-end of NetworkX: matchings and vertex covers of bipartite graphs, found by this package.

NetworkX finds it by the entry point ``networkx.backends`` of the installed package, and imports it
when it is asked for by name::

    networkx.bipartite.maximum_matching(G, top_nodes, backend="sparsematch")

or first of all, for programs that know nothing of it, Pyomo's incidence analysis among them::

    NETWORKX_BACKEND_PRIORITY=sparsematch python program.py

Functions, arguments, results and errors are those of NetworkX. Directed graphs are left to it, and
of `max_weight_matching` and `min_weight_matching`, which are for any graph, those that are not
bipartite, or whose weights are no doubles. The two sides of a graph and the edges between them are
kept with it until it changes, unless ``networkx.config.cache_converted_graphs`` is False; weights
are read in each call.
"""

from collections.abc import Hashable, Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sparsematch import maximum_transversal, maximum_weight_matching, vertex_cover
from sparsematch._api.weighted import full_matching
from sparsematch._input.bipartite import as_bipartite
from sparsematch._types.bipartite import keep_entries

__all__ = [
    "eppstein_matching",
    "hopcroft_karp_matching",
    "max_weight_matching",
    "min_weight_matching",
    "minimum_weight_full_matching",
    "to_vertex_cover",
]

_Nodes = Iterable[Hashable] | None
_ANY_GRAPH = {"max_weight_matching", "min_weight_matching"}
_WEIGHTED = {"minimum_weight_full_matching", *_ANY_GRAPH}
_EXACT = 2.0**45  # sum of whole weights, of which rounding errors stay far below 1
_KEPT = "sparsematch"  # with a graph, in what NetworkX clears when the graph changes


class _Sides(NamedTuple):
    """The nodes of both sides, and the matrix of the edges between them, a row to a top node."""

    top: list[Any]
    bottom: list[Any]
    matrix: csr_array


class _Graph:
    """A NetworkX graph, marked as ours."""

    __networkx_backend__ = "sparsematch"

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def is_directed(self) -> bool:
        return bool(self.graph.is_directed())

    def is_multigraph(self) -> bool:
        return bool(self.graph.is_multigraph())


def convert_from_nx(graph: Any, **_: Any) -> _Graph:
    """Mark a graph as ours; NetworkX says what of it has to be kept, and all is."""
    return _Graph(graph)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Give back the graph that was marked, and anything else as it is."""
    return result.graph if isinstance(result, _Graph) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Tell NetworkX whether a call is for us, or why not."""
    graph = args[0] if args else kwargs["G"]
    if graph.is_directed():
        return "sparsematch accepts undirected graphs only"
    if name in _WEIGHTED and graph.is_multigraph():
        return "sparsematch accepts one edge between two nodes only"
    if name in _ANY_GRAPH:
        place = 2 if name == "max_weight_matching" else 1  # the last argument
        weight = args[place] if len(args) > place else kwargs.get("weight", "weight")
        return _can_match_by_weight(_plain(graph), weight)
    return True


def _can_match_by_weight(graph: Any, weight: Any) -> bool | str:
    """Tell whether doubles give what NetworkX does, or why not."""
    if not nx.is_bipartite(graph):
        return "sparsematch matches by weight in bipartite graphs only"
    weights = np.array([value for *_, value in graph.edges(data=weight, default=1)])
    if weights.dtype.kind not in "biuf" or weights.ndim != 1 or not np.isfinite(weights).all():
        return "sparsematch matches by weights that are finite real numbers only"
    if weights.dtype.kind != "f" and np.abs(weights.astype(float)).sum() >= _EXACT:
        return "sparsematch matches by whole numbers that add up to less than 2**45 only"
    return True


def hopcroft_karp_matching(G: Any, top_nodes: _Nodes = None) -> dict[Any, Any]:
    """Find a maximum matching of a bipartite graph.

    `networkx.bipartite.maximum_matching` is the same function.

    Parameters
    ----------
    G : graph
        Undirected and bipartite.
    top_nodes : container of nodes, optional
        All nodes of one side. Needed if the graph is not connected.

    Returns
    -------
    dict
        The mate of each matched node, of both sides.

    Raises
    ------
    networkx.AmbiguousSolution
        If the graph is not connected and `top_nodes` is not given.
    networkx.NetworkXError
        If the graph is not bipartite, or an edge joins two nodes of one side.

    Examples
    --------
    >>> from sparsematch.networkx_backend import hopcroft_karp_matching
    >>> import networkx as nx
    >>> hopcroft_karp_matching(nx.path_graph(4))
    {0: 1, 2: 3, 1: 0, 3: 2}
    """
    sides = _read(G, top_nodes)
    return _mates(sides, maximum_transversal(sides.matrix).row_mate)


eppstein_matching = hopcroft_karp_matching  # another algorithm for the same


def minimum_weight_full_matching(
    G: Any, top_nodes: _Nodes = None, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Find a matching of all nodes of the smaller side, of least total weight.

    The rest is as in `hopcroft_karp_matching`, and as NetworkX has it; edges of infinite weight do
    not count. Shortest augmenting paths on the edges that there are, of which NetworkX makes a
    dense matrix.

    Examples
    --------
    >>> from sparsematch.networkx_backend import minimum_weight_full_matching
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_weighted_edges_from([("a", 0, 4), ("a", 1, 1), ("b", 0, 3), ("b", 1, 2)])
    >>> minimum_weight_full_matching(graph, ["a", "b"])
    {'a': 1, 'b': 0, 1: 'a', 0: 'b'}
    """
    _refuse_multigraph(G)
    sides = _read(G, top_nodes)
    pattern, cost = sides.matrix, _weights(G, sides, weight)
    if np.isnan(cost).any() or np.isneginf(cost).any():
        raise ValueError(f"{weight!r} of an edge is NaN or minus infinity")
    kept = np.isfinite(cost)
    finite = keep_entries(as_bipartite(pattern, name="G"), kept)
    return _mates(sides, full_matching(finite, cost[kept]).row_mate)


def max_weight_matching(
    G: Any, maxcardinality: bool = False, weight: str = "weight"
) -> set[tuple[Any, Any]]:
    """Find a matching of greatest weight in a bipartite graph, connected or not.

    Arguments, result and errors are those of NetworkX, and a ValueError if a weight is not finite.
    The search is that of `sparsematch.maximum_weight_matching`; NetworkX's, for any graph, takes
    O(n^3).

    Examples
    --------
    >>> from sparsematch.networkx_backend import max_weight_matching
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_weighted_edges_from([(0, 1, 2), (1, 2, 5), (2, 3, 2)])
    >>> max_weight_matching(graph), sorted(max_weight_matching(graph, maxcardinality=True))
    ({(2, 1)}, [(0, 1), (2, 3)])
    """
    return _match_by_weight(G, weight, True, "maximum" if maxcardinality else "any")


def min_weight_matching(G: Any, weight: str = "weight") -> set[tuple[Any, Any]]:
    """Find a matching of least weight, of all with as many edges as possible.

    The rest is as in `max_weight_matching`.
    """
    return _match_by_weight(G, weight, False, "maximum")


def to_vertex_cover(G: Any, matching: Mapping[Any, Any], top_nodes: _Nodes = None) -> set[Any]:
    """Find a minimum vertex cover of a bipartite graph, given a maximum matching.

    That is what `hopcroft_karp_matching` returned; another one is a ValueError. The cover has as
    many nodes as there are pairs, one end of each edge at least.
    """
    top, bottom, A = _read(G, top_nodes)
    place = {node: j for j, node in enumerate(bottom)}
    row_mate = [place.get(matching.get(node), -1) for node in top]
    cover = vertex_cover(A, np.array(row_mate, np.int64))
    return {*(top[i] for i in cover.rows.tolist()), *(bottom[j] for j in cover.cols.tolist())}


def _match_by_weight(
    G: Any, weight: str, maximize: bool, cardinality: Literal["any", "maximum"]
) -> set[tuple[Any, Any]]:
    _refuse_multigraph(G)
    colors = nx.bipartite.color(_plain(G))  # of each component by itself
    sides = _read(G, [node for node, color in colors.items() if color])
    pattern, weights = sides.matrix, _weights(G, sides, weight)
    if not np.isfinite(weights).all():
        raise ValueError(f"{weight!r} of an edge is NaN or infinite")
    A = csr_array((weights, pattern.indices, pattern.indptr), shape=pattern.shape)
    found = maximum_weight_matching(A, maximize=maximize, cardinality=cardinality)
    rows, cols = found.matching.pairs()
    return {(sides.top[i], sides.bottom[j]) for i, j in zip(rows, cols, strict=True)}


def _refuse_multigraph(G: Any) -> None:
    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def _read(G: Any, top_nodes: _Nodes) -> _Sides:
    """Return the sides of a graph, as they were read last if it is the same graph still."""
    graph = _plain(G)
    tops = None if top_nodes is None else frozenset(top_nodes)
    kept = _kept_with(graph)
    key, n_nodes, sides = kept.get(_KEPT, (None, -1, None))
    if sides is None or n_nodes != len(graph) or key != tops:
        sides = _read_sides(graph, tops)
        kept[_KEPT] = tops, len(graph), sides
    return sides


def _plain(G: Any) -> Any:
    """Return the graph of NetworkX; forget that it was marked, or NetworkX warns of its cache."""
    if not isinstance(G, _Graph):
        return G
    cache = getattr(G.graph, "__networkx_cache__", None) or {}
    cache.get("backends", {}).pop("sparsematch", None)
    return G.graph


def _kept_with(graph: Any) -> dict[str, Any]:
    """Return the cache of a graph; a new one for a view, which is not told of changes."""
    # What NetworkX itself would keep is of no use: it warns each time that it is used.
    cache: dict[str, Any] | None = getattr(graph, "__networkx_cache__", None)
    if cache is None or hasattr(graph, "_graph") or not nx.config.cache_converted_graphs:
        return {}
    return cache


def _read_sides(graph: Any, top_nodes: Iterable[Any] | None) -> _Sides:
    tops, _ = nx.bipartite.sets(graph, top_nodes)
    top, bottom = [v for v in graph if v in tops], [v for v in graph if v not in tops]
    if len(top) < len(tops):
        text = f"top_nodes has {len(tops - set(top))} nodes that are not in the graph"
        raise nx.NetworkXError(text)
    place = {node: j for j, node in enumerate(bottom)}
    neighbours = [edges for v, edges in graph.adjacency() if v in tops]
    indptr = np.cumsum([0, *map(len, neighbours)])
    try:
        places = map(place.__getitem__, chain.from_iterable(neighbours))
        indices = np.fromiter(places, np.int64, indptr[-1])
    except KeyError as error:
        text = f"Graph is not bipartite: an edge joins {error.args[0]!r} to its own side"
        raise nx.NetworkXError(text) from None
    if max(len(top), len(bottom), indptr[-1]) < 2**31:
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    ones = np.ones(indices.size, np.int8)
    return _Sides(top, bottom, csr_array((ones, indices, indptr), shape=(len(top), len(bottom))))


def _weights(G: Any, sides: _Sides, weight: str | None) -> NDArray[np.float64]:
    """Return the weights of the edges, in the order of the matrix."""
    tops = set(sides.top)
    edges = [edges for v, edges in _plain(G).adjacency() if v in tops]
    found = (data.get(weight, 1) for row in edges for data in row.values())
    return np.fromiter(found, np.float64, sides.matrix.nnz)


def _mates(sides: _Sides, row_mate: NDArray[Any]) -> dict[Any, Any]:
    """Write a matching as NetworkX does: each matched node of both sides, and its mate."""
    mates = {sides.top[i]: sides.bottom[j] for i, j in enumerate(row_mate.tolist()) if j >= 0}
    return mates | {mate: node for node, mate in mates.items()}
