"""
How heavy, how fast: engines for general graphs
===============================================

The figures of two papers on approximate matching, remeasured on small graphs while
this page was built: Fagginger Auer and Bisseling (2012), who introduced
``red_blue``, and Birn, Osipov, Sanders, Schulz and Sitchinava (2013), from whom
``local_max`` is. ``benchmarks/paper_figures.py`` draws them at full size, with more
graphs and times.
"""

# %%
# Graphs
# ------
#
# As in the second paper: Delaunay triangulations of random points weighted by
# length, and random graphs with alpha edges for each vertex, weighted at random.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.spatial import Delaunay

from sparsematch import approximate_matching

rng = np.random.default_rng(2013)


def delaunay(n):
    """A Delaunay triangulation of n random points."""
    points = rng.random((n, 2))
    indptr, indices = Delaunay(points).vertex_neighbor_vertices
    rows = np.repeat(np.arange(n), np.diff(indptr))
    lengths = np.linalg.norm(points[rows] - points[indices], axis=1)
    half = sp.triu(sp.coo_array((lengths, (rows, indices)), shape=(n, n)), 1)
    return sp.csr_array(half + half.T)


def random(n, alpha):
    """A random graph with about alpha n edges."""
    low, high = np.sort(rng.integers(n, size=(2, alpha * n)), axis=0)
    # repeats are added up here, once
    half = sp.csr_array((rng.random(alpha * n), (low, high)), shape=(n, n))
    return sp.csr_array(half + half.T)


# %%
# Weight
# ------
#
# Relative to ``gpa``, which is heaviest. ``greedy``, ``suitor`` and ``local_max``
# find the same matching, a few per cent lighter, and at least half as heavy as any.
# ``hem`` and ``red_blue`` promise nothing, and lose more where a vertex has few
# edges to choose from.

families = {
    "Delaunay": delaunay,
    "random, alpha = 4": lambda n: random(n, 4),
    "alpha = 16": lambda n: random(n, 16),
}
sizes = [1 << k for k in range(9, 15)]

figure, axes = plt.subplots(
    1, 3, figsize=(10, 3.6), sharey=True, layout="constrained"
)
for ax, (name, make) in zip(axes, families.items(), strict=True):
    graphs = [make(n) for n in sizes]
    heaviest = np.array(
        [approximate_matching(G, method="gpa").weight for G in graphs]
    )
    for method, style in (
        ("local_max", "o-C0"),
        ("hem", "P-C4"),
        ("red_blue", "D-C3"),
    ):
        weight = np.array(
            [approximate_matching(G, method=method, rng=1).weight for G in graphs]
        )
        ax.plot(sizes, weight / heaviest, style, markersize=4, label=method)
    ax.axhline(1, color="C7", label="gpa")
    ax.set_xscale("log", base=2)
    ax.set(title=name, xlabel="vertices")
    ax.grid(alpha=0.3)
axes[0].set_ylabel("weight / weight of gpa")
axes[2].legend(frameon=False, loc="lower right")
plt.show()

# %%
# Edges left
# ----------
#
# Each round of ``local_max`` removes some three quarters of the edges, so that all
# rounds together scan each edge little more than once. Where weights grow along a
# path, as lengths do in a triangulation, it takes longer.

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for name, make in families.items():
    step = approximate_matching(
        make(1 << 14), method="local_max", return_info=True
    ).info.steps[0]
    ax.plot(
        np.array(step.live_edges) / step.live_edges[0],
        "o-",
        markersize=4,
        label=name,
    )
ax.plot(0.25 ** np.arange(8), "k:", label="a quarter is left")
ax.set(
    xlabel="rounds",
    ylabel="share of the edges that are left",
    yscale="log",
    ylim=(1e-5, 1.5),
)
ax.grid(alpha=0.3)
ax.legend(frameon=False)
plt.show()

# %%
# :doc:`/howto/coarsen_a_graph` says which engine to choose for what.
