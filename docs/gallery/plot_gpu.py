"""
Host or GPU: where a GPU pays
=============================

The calls are the same; the work is done where the matrix is. ``view(A,
device="cuda")`` copies a SciPy matrix for each call, and results are CuPy arrays.
This page measures from which size on that is faster. On a machine without a GPU it
says so, and shows what was recorded on one.

:doc:`/howto/gpu` has the rest.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from sparsematch import engines, maximum_transversal, view

# %%
# What runs where
# ---------------
#
# The list does not depend on what is installed.

for kind in "heuristic", "exact", "approximate":
    for place, backend in ("host", "numpy"), ("GPU", "cupy"):
        names = ", ".join(e.name for e in engines(kind, backend=backend))
        print(f"{kind}, {place}: {names}")

# %%
# Matrices
# --------
#
# Random ones with three entries in each row, and five-point grids: as they are
# numbered, where the host has almost nothing to search, and permuted at random.

rng = np.random.default_rng(2011)


def random(n):
    """A matrix with about three entries in each row."""
    rows, cols = rng.integers(n, size=(2, 3 * n))
    return sp.csr_array((np.ones(3 * n), (rows, cols)), shape=(n, n))


def grid(n):
    """A square grid without diagonal, with about n points."""
    side = int(n**0.5)
    path = sp.diags_array([1, 1], offsets=[-1, 1], shape=(side, side), dtype=float)
    return sp.csr_array(sp.kronsum(path, path))


def scrambled(n):
    """The same, rows and columns permuted independently."""
    A = grid(n)
    rows, cols = (rng.permutation(A.shape[0]) for _ in range(2))
    return sp.csr_array(A[rows][:, cols])


families = {"random": random, "grid": grid, "grid, scrambled": scrambled}

# %%
# Measure
# -------
#
# The fastest of five calls each, on the GPU with both copies.


def fastest(call):
    """The least time in ms, after a first call, which compiles."""
    times = []
    for _ in range(6):
        begin = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - begin))
    return min(times[1:])


def measure(A):
    """The times on the host and on the GPU; an error without one."""
    B = view(A, device="cuda")
    return (
        fastest(lambda: maximum_transversal(A)),
        fastest(lambda: maximum_transversal(B).get()),
    )


try:
    maximum_transversal(view(sp.eye_array(1, format="csr"), device="cuda"))
    on_gpu = True
except (ImportError, RuntimeError) as error:
    print(f"{type(error).__name__}: {error}")
    on_gpu = False

if on_gpu:
    where = "measured while this page was built"
    sizes = 4 ** np.arange(5, 10)
    times = {
        name: np.transpose([measure(make(n)) for n in sizes])
        for name, make in families.items()
    }
else:
    where = "recorded on an NVIDIA H200 and one core of its host, November 2026"
    sizes = 4 ** np.arange(5, 12)
    times = {
        "random": (
            [0.23, 0.64, 2.6, 10.7, 59, 275, 1530],
            [0.51, 0.52, 0.74, 1.5, 2.7, 6.7, 29],
        ),
        "grid": (
            [0.03, 0.05, 0.28, 0.67, 2.6, 11.6, 54],
            [0.39, 0.48, 0.76, 1.3, 2.8, 7.1, 32],
        ),
        "grid, scrambled": (
            [0.08, 0.47, 2.9, 10, 41, 226, 1332],
            [0.40, 0.46, 0.74, 1.4, 3.1, 8.7, 37],
        ),
    }
print(where)

# %%
# The picture
# -----------

figure, axes = plt.subplots(1, 3, figsize=(11, 4), sharey=True, layout="constrained")
for ax, (name, (host, gpu)) in zip(axes, times.items(), strict=True):
    ax.loglog(sizes, host, "s-C1", label="host")
    ax.loglog(sizes, gpu, "o-C0", label="GPU, with both copies")
    ax.fill_between(sizes, host, gpu, np.less(gpu, host), color="C0", alpha=0.15)
    ax.set(title=name, xlabel="rows")
    ax.grid(alpha=0.3)
axes[0].set_ylabel("ms, maximum_transversal")
axes[0].legend(frameon=False)
figure.suptitle(where)
plt.show()
