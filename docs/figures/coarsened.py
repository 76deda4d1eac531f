"""A mesh with its matched edges, and what coarsening makes of it, twice."""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from matplotlib.collections import LineCollection
from scipy.spatial import Delaunay

from sparsematch import coarsening_hierarchy

points = np.random.default_rng(5).random((90, 2))
corners = Delaunay(points).simplices
i, j = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]).T
lengths = np.linalg.norm(points[i] - points[j], axis=1)
G = sp.coo_array((1 / lengths, (i, j)), shape=(90, 90)).tocsr()
G = G.maximum(G.T)  # the shorter an edge, the heavier
levels = coarsening_hierarchy(G, min_vertices=12, join_unmatched=False).levels[:3]

figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for k, (ax, level) in enumerate(zip(axes, levels, strict=True)):
    edges = sp.triu(level.matrix, 1).tocoo()
    ends = np.stack([points[edges.row], points[edges.col]], axis=1)
    ax.add_collection(LineCollection(ends, color="#9aa3b0", linewidth=0.8))
    if k < 2:
        mate = level.matching.mate
        pairs = [(v, mate[v]) for v in range(len(mate)) if v < mate[v]]
        ax.add_collection(LineCollection([points[[u, v]] for u, v in pairs], color="#c85200", lw=3))
    ax.scatter(*points.T, s=14 * 2**k, color="#0072b2", zorder=3)
    ax.set(title=f"level {k}: {len(points)} vertices", aspect="equal", xticks=[], yticks=[])
    P = level.prolongation
    if P is not None:  # a coarse vertex is drawn in the middle of those that it stands for
        points = (P.T @ points) / P.sum(axis=0)[:, np.newaxis]
