"""
An incomplete factorisation, saved
==================================

An incomplete LU factorisation drops small entries, and is used as a preconditioner.
With small or zero pivots it breaks down, or comes to its end and is of no use. Large
entries on the diagonal are the remedy:
:func:`sparsematch.maximum_product_transversal` permutes the rows so that the product
of the diagonal is largest, and scales rows and columns so that the diagonal is 1 in
magnitude and nothing else is larger.
"""

# %%
# A matrix
# --------
#
# Convection and diffusion on a square. The equations are randomly permuted, and
# equations and unknowns are badly scaled.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from matplotlib.colors import LogNorm
from scipy.sparse.linalg import LinearOperator, aslinearoperator, gmres, spilu

from sparsematch import maximum_product_transversal

side = 40
n = side * side
rng = np.random.default_rng(12)
line = sp.diags_array([-1.5, 2.0, -0.5], offsets=[-1, 0, 1], shape=(side, side))
grid = sp.kron(line, sp.eye_array(side)) + sp.kron(sp.eye_array(side), line)
row_units, col_units = (
    sp.diags_array(10.0 ** rng.uniform(-1.5, 1.5, n)) for _ in range(2)
)
A = sp.csc_array((row_units @ grid @ col_units).tocsr()[rng.permutation(n)])
solution = 1 / col_units.diagonal()
b = A @ solution
on_diagonal = np.count_nonzero(A.diagonal())
print(f"{n} equations, {A.nnz} entries, {on_diagonal} of them on the diagonal")

# %%
# Large entries on the diagonal
# -----------------------------
#
# The units are gone, and the rows are back in the order of the unknowns.

best = maximum_product_transversal(A)
B = sp.csc_array(best.permute(A))
diagonal = np.abs(B.diagonal())
print(f"diagonal from {diagonal.min():.3f} to {diagonal.max():.3f} in magnitude")
print(f"largest entry {np.abs(B.data).max():.3f}")

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.8), layout="constrained")
for ax, matrix, title in (
    (axes[0], A, "as given"),
    (axes[1], B, "permuted and scaled"),
):
    entries = matrix.tocoo()
    dots = ax.scatter(
        entries.col,
        entries.row,
        c=np.abs(entries.data),
        s=1.5,
        norm=LogNorm(1e-3, 1e3),
        cmap="viridis",
    )
    ax.set(
        title=title,
        xlim=(-0.5, n - 0.5),
        ylim=(n - 0.5, -0.5),
        aspect="equal",
        xlabel="column",
        ylabel="row",
    )
figure.colorbar(dots, ax=axes, label="magnitude", shrink=0.8)
plt.show()

# %%
# Factorise
# ---------
#
# SciPy's ``spilu``, with the same limits, of both matrices: ``fill_factor`` bounds
# the entries of the factors, relative to those of the matrix. It pivots by rows on
# its own, but under these limits it may find that nothing to divide by is left.

preconditioners = {}
for fill in 3, 8:
    for name, matrix in ("as given", A), ("permuted and scaled", B):
        label = f"{name}, fill {fill}"
        try:
            preconditioners[label] = ilu = spilu(
                matrix, drop_tol=1e-3, fill_factor=fill
            )
            pivot = np.abs(ilu.U.diagonal()).min()
            print(
                f"{label}: {ilu.L.nnz + ilu.U.nnz} entries, "
                f"smallest pivot {pivot:.0e}"
            )
        except RuntimeError as error:
            print(f"{label}: {error}")

# %%
# Solve
# -----
#
# GMRES with a preconditioner on the right, so that what it reports is the residual
# of the system as given, whichever preconditioner there is. The factors are of the
# permuted and scaled matrix; between two scalings and a permutation they stand for
# the inverse of the given one.

p = best.matching.as_permutation()


def inverse(label):
    """The operator that a factorisation stands for."""
    solve = preconditioners[label].solve
    if label.startswith("as given"):
        return LinearOperator(A.shape, solve, dtype=float)
    return LinearOperator(
        A.shape,
        lambda r: best.col_scale * solve((best.row_scale * r)[p]),
        dtype=float,
    )


def residuals(M=None):
    """The relative residual after each step, and the largest error at the end."""
    operator = aslinearoperator(A) if M is None else aslinearoperator(A) @ M
    norms = [1.0]
    y, _ = gmres(
        operator,
        b,
        rtol=1e-10,
        restart=60,
        maxiter=1,
        callback=norms.append,
        callback_type="pr_norm",
    )
    x = y if M is None else M @ y
    return norms, np.abs(x / solution - 1).max()


curves = {label: residuals(inverse(label)) for label in preconditioners}
curves["no preconditioner"] = residuals()
for label, (norms, error) in curves.items():
    print(
        f"{label}: residual {norms[-1]:.0e} after {len(norms) - 1} steps, "
        f"error {error:.0e}"
    )

# %%
figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
styles = {
    "permuted and scaled, fill 3": "C0-",
    "permuted and scaled, fill 8": "C0--",
    "as given, fill 3": "C1-",
    "as given, fill 8": "C1--",
    "no preconditioner": "k:",
}
for label in (label for label in styles if label in curves):
    axes.semilogy(
        curves[label][0],
        styles[label],
        linewidth=3 if label.startswith("as") else 1.8,
        label=label,
    )
axes.set_xlabel("steps of GMRES")
axes.set_ylabel("relative residual")
axes.grid(alpha=0.3)
axes.legend(frameon=False)
plt.show()

# %%
# The matrix as given has a factorisation with more fill only, and then GMRES gets
# nowhere with it: a pivot that is all but zero makes the inverse that it stands for
# very large, and far from that of the matrix. Permuted and scaled, there is a
# factorisation within both limits, and both are of use.
#
# :func:`sparsematch.solvers.spilu` does all of this in one call. How the transversal
# is chosen, and what else it is good for:
# :doc:`/howto/mc64`.
