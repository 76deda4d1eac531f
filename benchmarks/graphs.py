"""General graphs for the benchmarks: symmetric matrices with edge weights.

A generator takes a numpy Generator and the number of vertices wanted, and returns the two ends of
the edges and their lengths, or None where an edge has none. The entry point is `build`. The
families are those of Birn et al. (Euro-Par 2013): Delaunay triangulations and geometric graphs
weighted by length, random graphs with alpha n edges; and a grid and a power-law graph.
"""

import numpy as np
import scipy.sparse as sp
from scipy.spatial import Delaunay, cKDTree

#: Edges for each vertex of a power-law graph.
_EDGE_FACTOR = 16


def in_strips(points):
    """Points in an order that keeps neighbours near: along strips across the square."""
    strip = np.floor(points[:, 0] * np.sqrt(len(points)) / 4)
    return points[np.lexsort((points[:, 1], strip))]


def lengths(points, u, v):
    """Euclidean lengths of edges between points."""
    return np.hypot(*(points[u] - points[v]).T)


def delaunay(rng, n):
    """Neighbours in a Delaunay triangulation of random points."""
    points = in_strips(rng.random((n, 2)))
    indptr, indices = Delaunay(points).vertex_neighbor_vertices
    u, v = np.repeat(np.arange(n), np.diff(indptr)), indices
    u, v = u[u < v], v[u < v]
    return u, v, lengths(points, u, v)


def rgg(rng, n):
    """Random points nearer to each other than 0.55 sqrt(ln n / n)."""
    points = in_strips(rng.random((n, 2)))
    u, v = cKDTree(points).query_pairs(0.55 * np.sqrt(np.log(n) / n), output_type="ndarray").T
    return u, v, lengths(points, u, v)


def random(rng, n, alpha):
    """Random pairs, `alpha` for each vertex."""
    return (*rng.integers(0, n, (2, alpha * n)), None)


def grid(rng, n):
    """A square grid, numbered line by line."""
    v = np.arange(round(n**0.5) ** 2).reshape(round(n**0.5), -1)
    ends = [(v[:, :-1], v[:, 1:]), (v[:-1], v[1:])]
    u, v = (np.concatenate([pair[k].ravel() for pair in ends]) for k in (0, 1))
    return u, v, None


def kron(rng, n):
    """A Kronecker graph as Graph500 draws it: a few vertices of very high degree, many of none."""
    bits = int(np.log2(n))
    u, v = np.zeros((2, _EDGE_FACTOR << bits), np.int64)
    for _ in range(bits):
        x = rng.random(u.size, dtype=np.float32)
        u = 2 * u + (x >= 0.76)
        v = 2 * v + (((x >= 0.57) & (x < 0.76)) | (x >= 0.95))
    names = rng.permutation(1 << bits)
    return names[u], names[v], None


GENERATORS = {
    "delaunay": delaunay,
    "rgg": rgg,
    "random_4": lambda rng, n: random(rng, n, 4),
    "random_16": lambda rng, n: random(rng, n, 16),
    "random_64": lambda rng, n: random(rng, n, 64),
    "grid": grid,
    "kron": kron,
}
#: The families that are weighted by length in the papers, and have an order worth scrambling.
GEOMETRIC = ("delaunay", "rgg")
NAMES = (*GENERATORS, "delaunay_scrambled", "rgg_scrambled", "grid_scrambled")


def build(name, n, weights="random", seed=2013):
    """The matrix of a graph of about n vertices; weights are "random", "length" or "unit"."""
    rng = np.random.default_rng([seed, n])
    family = name.removesuffix("_scrambled")
    u, v, length = GENERATORS[family](rng, n)
    n = {"grid": round(n**0.5) ** 2, "kron": 1 << int(np.log2(n))}.get(family, n)
    if name != family:
        names = rng.permutation(n)
        u, v = names[u], names[v]
    low, high = np.minimum(u, v).astype(np.int64), np.maximum(u, v)
    code = low * n + high
    if length is None:
        code = np.unique(code[u != v])
    else:
        order = np.argsort(code)
        code, length = code[order], length[order]
    weight = {"random": rng.random, "unit": np.ones, "length": lambda _: length}[weights](code.size)
    half = sp.coo_array(
        (weight, ((code // n).astype(np.int32), (code % n).astype(np.int32))), shape=(n, n)
    ).tocsr()
    return (half + half.T).tocsr()
