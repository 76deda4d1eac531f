"""The magnitudes of a badly scaled matrix, as given and permuted and scaled."""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import sparsematch

n = 10
T = sp.diags_array([-1.3, 4.0, -0.7], offsets=[-1, 0, 1], shape=(n, n))
grid = sp.kron(T, sp.eye_array(n)) + sp.kron(sp.eye_array(n), T)
rng = np.random.default_rng(1)
units = [sp.diags_array(10.0 ** rng.uniform(-6, 6, n * n)) for _ in range(2)]
A = (units[0] @ grid @ units[1]).tocsr()[rng.permutation(n * n)]
best = sparsematch.maximum_product_transversal(A)

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
for ax, matrix, title in (
    (axes[0], A, "as given"),
    (axes[1], best.permute(A), "permuted and scaled"),
):
    entries = matrix.tocoo()
    magnitude = np.log10(np.abs(entries.data))
    dots = ax.scatter(entries.col, entries.row, c=magnitude, s=9, cmap="viridis", vmin=-12, vmax=12)
    spread = f"$10^{{{magnitude.min():.0f}}}$ to $10^{{{abs(magnitude.max()):.0f}}}$"
    on_diagonal = int((entries.row == entries.col).sum())
    ax.set_title(f"{title}: {on_diagonal} on the diagonal,\nmagnitudes {spread}", fontsize=11)
    ax.set(xlim=(-1, n * n), ylim=(n * n, -1), aspect="equal", xlabel="column")
axes[0].set_ylabel("row")
figure.colorbar(dots, ax=axes, label="exponent of the magnitude, base 10", shrink=0.8)
