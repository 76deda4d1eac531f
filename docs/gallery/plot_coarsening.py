"""
A mesh, coarsened by matching
=============================

Merging the two ends of each edge of a matching makes a smaller graph of the same
shape. Doing it again and again makes the levels on which multigrid, partitioning and
clustering work.
"""

# %%
# A matching of a mesh
# --------------------
#
# A Delaunay triangulation of random points, finer towards the middle. The weight of
# an edge is the inverse of its length, so that near points are merged first.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from matplotlib.collections import LineCollection
from scipy.spatial import Delaunay

from sparsematch import approximate_matching, coarsening_hierarchy

rng = np.random.default_rng(5)
n = 1200
radius, angle = rng.random(n) ** 0.8, 2 * np.pi * rng.random(n)
points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
indptr, indices = Delaunay(points).vertex_neighbor_vertices
u, v = np.repeat(np.arange(n), np.diff(indptr)), indices
lengths = np.linalg.norm(points[u] - points[v], axis=1)
half = sp.triu(sp.coo_array((1 / lengths, (u, v)), shape=(n, n)), 1)
G = sp.csr_array(half + half.T)


def draw_graph(ax, G, points, **how):
    """Draw each edge as a line."""
    edges = sp.triu(G, 1, format="coo")
    lines = np.stack([points[edges.row], points[edges.col]], axis=1)
    ax.add_collection(LineCollection(lines, **how))
    ax.set_aspect("equal")
    ax.set_axis_off()


matching = approximate_matching(G)
smaller, larger = matching.pairs()
print(
    matching,
    f"{100 * matching.cardinality * 2 / n:.0f}% of the vertices are matched",
)

figure, ax = plt.subplots(figsize=(6, 6), layout="constrained")
draw_graph(ax, G, points, color="0.8", linewidth=0.6)
ax.add_collection(
    LineCollection(
        np.stack([points[smaller], points[larger]], axis=1),
        color="C0",
        linewidth=2.5,
    )
)
alone = np.flatnonzero(matching.mate < 0)
ax.plot(*points[alone].T, "o", color="C3", markersize=3, label="unmatched")
ax.autoscale()
ax.legend(loc="lower right", frameon=False)
plt.show()

# %%
# The levels
# ----------
#
# :func:`sparsematch.coarsening_hierarchy` matches and merges until the graph is
# small. The unmatched vertices join a pair next to them. A coarse vertex is drawn in
# the middle of the points that it stands for: that is one product with the
# prolongation.

hierarchy = coarsening_hierarchy(G, min_vertices=20)
print(hierarchy)

chosen = [0, 1, 2, 3, 4, len(hierarchy) - 1]
figure, axes = plt.subplots(2, 3, figsize=(9.5, 6.6), layout="constrained")
for ax, k in zip(axes.flat, chosen, strict=True):
    P = hierarchy.prolongation(k)
    size = P.T @ np.ones(n)
    centres = (P.T @ points) / size[:, None]
    draw_graph(ax, hierarchy.levels[k].matrix, centres, color="0.55", linewidth=0.6)
    ax.scatter(*centres.T, s=2 + 1.5 * size, color="C0", zorder=2)
    ax.set_title(f"level {k}: {hierarchy.sizes[k]} vertices", fontsize=10)
plt.show()

# %%
# The aggregates
# --------------
#
# Seen from the finest level, a coarse vertex is a set of fine ones: its *aggregate*.
# Each is connected, since only neighbours are merged.

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.8), layout="constrained")
for ax, k in zip(axes, (2, 4), strict=True):
    labels = hierarchy.aggregates(k)
    within = G.tocoo()
    keep = labels[within.row] == labels[within.col]
    inside = sp.coo_array(
        (within.data[keep], (within.row[keep], within.col[keep])), shape=G.shape
    )
    shades = rng.permutation(hierarchy.sizes[k])[labels] % 20
    draw_graph(ax, inside, points, color="0.4", linewidth=1)
    ax.scatter(*points.T, c=shades, cmap="tab20", s=14, zorder=2)
    ax.set_title(f"level {k}: {hierarchy.sizes[k]} aggregates", fontsize=10)
plt.show()

# %%
# :doc:`/howto/coarsen_a_graph` says how to use the levels: for multigrid with PyAMG,
# and for partitioning.
