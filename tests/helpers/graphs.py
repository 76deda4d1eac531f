"""Symmetric matrices for the tests of general graphs, and an independent oracle of matchings."""

import itertools

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from strategies import INDEX_TYPES, with_index_type

_WORD = 2**64 - 1


def graph(n, edges, weights=None, form="csr", dtype=np.int32):
    """The symmetric matrix of these pairs as given: loops once, repeats in both triangles."""
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    weights = np.ones(len(edges)) if weights is None else np.asarray(weights, float)
    u, v = edges.T
    off = u != v
    coords = np.concatenate([u, v[off]]), np.concatenate([v, u[off]])
    order = np.argsort(coords[0], kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(coords[0], minlength=n))])
    data = np.concatenate([weights, weights[off]])[order]
    A = sp.csr_array((data, coords[1][order], indptr), shape=(n, n))
    return with_index_type(A if form == "csr" else sp.csc_array(A), dtype)


@st.composite
def graphs(draw, max_side=16, max_edges=40, dtypes=INDEX_TYPES):
    """Any graph: loops, repeats, unsorted neighbours, weights with ties, zero and negative."""
    n = draw(st.integers(1, max_side))
    ends = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=max_edges))
    # multiples of 2**-20: repeats add up to the same sum in any order, in both triangles
    fraction = st.integers(-(2**30), 2**30).map(lambda k: k / 2**20)
    weight = draw(st.sampled_from([st.just(1.0), st.integers(-2, 2), fraction]))
    weights = draw(st.lists(weight, min_size=len(edges), max_size=len(edges)))
    form, dtype = draw(st.sampled_from(["csr", "csc"])), draw(st.sampled_from(dtypes))
    return graph(n, edges, weights, form, dtype)


def random_graph(n, degree, seed, weights=True):
    """About `degree` neighbours for each vertex, weights between 0 and 1."""
    rng = np.random.default_rng(seed)
    n_edges = n * degree // 2
    A = sp.coo_array((rng.random(n_edges), rng.integers(n, size=(2, n_edges))), shape=(n, n))
    A = sp.triu(A, 1)
    A = (A + A.T).tocsr()
    A.data = A.data if weights else np.ones(A.nnz)
    return A


def save_edges(path, u, v, *weight):
    """A file of edges: 32-bit vertices, and perhaps weights."""
    edges = np.empty(len(u), [("u", "i4"), ("v", "i4"), ("weight", "f8")][: 2 + len(weight)])
    for name, column in zip(edges.dtype.names, (u, v, *weight), strict=True):
        edges[name] = column
    np.save(path, edges)


def star(n, weights=None):
    """Vertex 0 joined to all others."""
    return graph(n, [(0, v) for v in range(1, n)], weights)


def path(weights):
    """Edges of these weights, one after another."""
    return graph(len(weights) + 1, [(v, v + 1) for v in range(len(weights))], weights)


def edges_of(G):
    """The edges of a symmetric matrix as {(u, v): weight}, u < v; duplicate entries added."""
    A = sp.coo_array(G).copy()
    A.sum_duplicates()
    entries = zip(A.row.tolist(), A.col.tolist(), A.data.tolist(), strict=True)
    return {(i, j): abs(w) for i, j, w in entries if i < j}


def assert_maximal(G, mate):
    """Fail unless the mates are a matching of the graph to which no edge can be added."""
    edges, mate = edges_of(G), np.asarray(mate)
    assert len(mate) == G.shape[0]
    for v in np.flatnonzero(mate != -1).tolist():
        u = int(mate[v])
        assert 0 <= u < len(mate)
        assert mate[u] == v, "both ends of a pair agree"
        assert (min(u, v), max(u, v)) in edges, "each pair is an edge"
    assert not [pair for pair in edges if mate[pair[0]] == mate[pair[1]] == -1]


def weight_of(G, mate):
    """The weight of a matching."""
    edges = edges_of(G)
    return sum(edges[u, int(v)] for u, v in enumerate(mate) if u < v)


def _hash(x):
    x = (x + 0x9E3779B97F4A7C15) & _WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


def edge_hash(u, v, seed):
    """The hash by which the library orders edges of equal weight."""
    return _hash((u * 0xD6E8FEB86659FD93 + v * 0xA0761D6478BD642F + seed) & _WORD)


def vertex_hash(v, step, seed):
    """The hash that the library draws from for a vertex in a round."""
    return _hash((v * 0xD6E8FEB86659FD93 + step * 0xA0761D6478BD642F + seed) & _WORD)


def greedy(G, weights=True, seed=0):
    """The matching that taking edges one by one, in the strict order, ends with."""
    mate, edges = np.full(G.shape[0], -1), edges_of(G)
    rank = lambda e: (weights and edges[e], edge_hash(*e, seed), e)
    for u, v in sorted(edges, key=rank, reverse=True):
        if mate[u] == mate[v] == -1:
            mate[u], mate[v] = v, u
    return mate


def red_blue(G, weights, seed, p=0.53406):
    """Algorithm 3 of Fagginger Auer and Bisseling: the mates, and how many after each round."""
    n, edges, C = G.shape[0], edges_of(G), sp.coo_array(G)
    # Lists as they are stored: a walk through one may begin at a loop.
    lists = [sorted(set(C.col[C.row == v].tolist())) for v in range(n)]

    def rank(u, v):
        u, v = min(u, v), max(u, v)
        return (edges[u, v] if weights else 0, edge_hash(u, v, seed), (u, v))

    mate, matched = np.full(n, -1), []
    for step in itertools.count():
        if all(mate[u] != -1 or mate[v] != -1 for u, v in edges):
            return mate, matched
        hashes = [vertex_hash(v, step, seed) for v in range(n)]
        blue = [h >> 11 < int(p * 2.0**53) for h in hashes]
        proposals = {}
        for v in range(n):
            if mate[v] != -1 or not blue[v]:
                continue
            skip = (hashes[v] & 0xFFFFFFFF) * len(lists[v]) >> 32
            red = [w for w in lists[v][skip:] + lists[v][:skip] if mate[w] == -1 and not blue[w]]
            if red:
                w = max(red, key=lambda w, v=v: rank(v, w)) if weights else red[0]
                proposals.setdefault(w, []).append(v)
        for w, makers in proposals.items():
            v = max(makers, key=lambda v, w=w: rank(v, w)) if weights else min(makers)
            mate[v], mate[w] = w, v
        matched.append(int((mate != -1).sum()))
