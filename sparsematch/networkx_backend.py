"""A back-end of NetworkX: its bipartite maximum matchings and vertex covers, found by this package.

NetworkX finds it by the entry point ``networkx.backends`` of the installed package, and imports it
when it is asked for by name::

    networkx.bipartite.maximum_matching(G, top_nodes, backend="sparsematch")

or first of all, for programs that know nothing of it, Pyomo's incidence analysis among them::

    NETWORKX_BACKEND_PRIORITY=sparsematch python program.py

Functions, arguments, results and errors are those of NetworkX. Directed graphs are left to it. The
graph is read in each call, and no copy is kept.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sparsematch import maximum_transversal, vertex_cover

__all__ = ["eppstein_matching", "hopcroft_karp_matching", "to_vertex_cover"]

_Nodes = Iterable[Hashable] | None


class _Graph:
    """A NetworkX graph, marked as ours."""

    __networkx_backend__ = "sparsematch"

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def is_directed(self) -> bool:
        return bool(self.graph.is_directed())


def convert_from_nx(graph: Any, **_: Any) -> _Graph:
    """Mark a graph as ours; NetworkX says what of it has to be kept, and all is."""
    return _Graph(graph)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Give back the graph that was marked, and anything else as it is."""
    return result.graph if isinstance(result, _Graph) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Tell NetworkX whether a call is for us, or why not."""
    graph = args[0] if args else kwargs["G"]
    return "sparsematch accepts undirected graphs only" if graph.is_directed() else True


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Tell NetworkX that it is worth it, always."""
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
    top, bottom, A = _read(G, top_nodes)
    row_mate = maximum_transversal(A).row_mate.tolist()
    mates = {top[i]: bottom[j] for i, j in enumerate(row_mate) if j >= 0}
    return mates | {mate: node for node, mate in mates.items()}


def eppstein_matching(G: Any, top_nodes: _Nodes = None) -> dict[Any, Any]:
    """Do the same as `hopcroft_karp_matching`."""
    return hopcroft_karp_matching(G, top_nodes)


def to_vertex_cover(G: Any, matching: Mapping[Any, Any], top_nodes: _Nodes = None) -> set[Any]:
    """Find a minimum vertex cover of a bipartite graph, given a maximum matching.

    Parameters
    ----------
    G : graph
        Undirected and bipartite.
    matching : dict
        What `hopcroft_karp_matching` returned.
    top_nodes : container of nodes, optional
        All nodes of one side. Needed if the graph is not connected.

    Returns
    -------
    set
        As many nodes as there are pairs, one end of each edge at least.

    Raises
    ------
    networkx.AmbiguousSolution
        If the graph is not connected and `top_nodes` is not given.
    networkx.NetworkXError
        If the graph is not bipartite, or an edge joins two nodes of one side.
    ValueError
        If `matching` is not a maximum matching of the graph.
    """
    top, bottom, A = _read(G, top_nodes)
    place = {node: j for j, node in enumerate(bottom)}
    row_mate = [place.get(matching.get(node), -1) for node in top]
    cover = vertex_cover(A, np.array(row_mate, np.int64))
    return {*(top[i] for i in cover.rows.tolist()), *(bottom[j] for j in cover.cols.tolist())}


def _read(G: Any, top_nodes: _Nodes) -> tuple[list[Any], list[Any], csr_array]:
    """Return the nodes of both sides, and the matrix of the edges between them."""
    import networkx as nx

    graph = G
    if isinstance(G, _Graph):
        graph = G.graph
        # NetworkX keeps what was converted until the graph changes; there is nothing to keep, and
        # it would warn.
        (getattr(graph, "__networkx_cache__", None) or {}).get("backends", {}).pop(
            "sparsematch", None
        )
    tops, _ = nx.bipartite.sets(graph, top_nodes)
    top, bottom = [v for v in graph if v in tops], [v for v in graph if v not in tops]
    if len(top) < len(tops):
        raise nx.NetworkXError(
            f"top_nodes has {len(tops - set(top))} nodes that are not in the graph"
        )
    place = {node: j for j, node in enumerate(bottom)}
    adjacency = graph.adj
    try:
        neighbours = [[place[node] for node in adjacency[v]] for v in top]
    except KeyError as error:
        raise nx.NetworkXError(
            f"Graph is not bipartite: an edge joins {error.args[0]!r} to its own side"
        ) from None
    indptr = np.cumsum([0, *map(len, neighbours)])
    indices = np.fromiter((j for row in neighbours for j in row), np.int64, indptr[-1])
    if max(len(top), len(bottom), indptr[-1]) < 2**31:
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    ones = np.ones(indices.size, np.int8)
    return top, bottom, csr_array((ones, indices, indptr), shape=(len(top), len(bottom)))
