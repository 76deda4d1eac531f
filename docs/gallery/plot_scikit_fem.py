"""
Transport with scikit-fem, swept along the flow
===============================================

With discontinuous elements and upwind fluxes, an element depends only on those from
which the flow comes. Where no flow returns, the elements can be solved one by one,
swept in the right order. :func:`sparsematch.block_triangular_form` finds this order
from the matrix, and where a flow does return, the elements that must be solved
together.
"""

# %%
# The problem
# -----------
#
# Something is carried through a square by a flow from the left, which has a vortex,
# and decays slowly. scikit-fem assembles the bilinear form: one part inside the
# elements, one for the flow across the edges between them, one for the boundary.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import splu
from skfem import (
    Basis,
    BilinearForm,
    BoundaryFacetBasis,
    ElementDG,
    ElementTriP1,
    InteriorFacetBasis,
    LinearForm,
    MeshTri,
    asm,
)
from skfem.helpers import dot, grad

from sparsematch import block_triangular_form, solvers


def flow(x):
    """The velocity at points: a stream, and a vortex about (0.55, 0.45)."""
    dx, dy = x[0] - 0.55, x[1] - 0.45
    spin = 24 * np.exp(-30 * (dx**2 + dy**2))
    return np.array([1 - spin * dy, 0.4 + spin * dx])


@BilinearForm
def inside(u, v, w):
    return -u * dot(flow(w.x), grad(v)) + 0.2 * u * v


@BilinearForm
def across(u, v, w):
    """From the upwind side, which is side 0 of an edge where the flow leaves it."""
    out = dot(flow(w.x), w.n)
    jump = v * (-1) ** w.idx[1]
    return np.where(out > 0, w.idx[0] == 0, w.idx[0] == 1) * out * u * jump


@BilinearForm
def outflow(u, v, w):
    return np.maximum(dot(flow(w.x), w.n), 0) * u * v


@LinearForm
def inflow(v, w):
    """Bands on the left and at the bottom."""
    band = np.sin(8 * np.pi * (w.x[1] - w.x[0])) > 0
    return -np.minimum(dot(flow(w.x), w.n), 0) * band * v


mesh = MeshTri.init_tensor(*2 * [np.linspace(0, 1, 31)])
how = {"elem": ElementDG(ElementTriP1()), "intorder": 4}
basis, boundary = Basis(mesh, **how), BoundaryFacetBasis(mesh, **how)
sides = [InteriorFacetBasis(mesh, side=side, **how) for side in (0, 1)]
A = inside.assemble(basis) + asm(across, sides, sides) + outflow.assemble(boundary)
b = inflow.assemble(boundary)
print(f"{mesh.nelements} triangles, {A.shape[0]} unknowns, {A.nnz} entries")

# %%
# Block by block
# --------------
#
# Nearly every block is one triangle, with its three unknowns. The largest is the
# vortex. :func:`sparsematch.solvers.splu` factorises the blocks; SciPy's the whole
# matrix.

form = block_triangular_form(A)
sizes, counts = np.unique(np.diff(form.row_blocks) // 3, return_counts=True)
print(f"blocks of {sizes} triangles: {counts}")

lu, whole = solvers.splu(A), splu(A.tocsc())
u = lu.solve(b)
print(f"entries of the factors: {lu.nnz}, SciPy's {whole.L.nnz + whole.U.nnz}")
print(f"largest residual: {np.abs(A @ u - b).max():.0e}")

# %%
# The order of the sweep
# ----------------------
#
# The last block is solved first. On the left its step is the colour of a triangle,
# and the vortex, all of which is one step, is red.

dofs = basis.element_dofs  # three for each triangle
block = np.empty(A.shape[0], int)
block[form.row_perm] = np.repeat(np.arange(form.n_blocks), np.diff(form.row_blocks))
block = block[dofs[0]]
vortex = block == np.bincount(block).argmax()

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
mesh_of = mesh.p[0], mesh.p[1], mesh.t.T
steps = left.tripcolor(*mesh_of, form.n_blocks - block)
figure.colorbar(steps, ax=left, label="step of the sweep", shrink=0.75)
left.tripcolor(*mesh_of, np.ones(block.size), mask=~vortex, cmap="Reds_r")
x = np.linspace(0, 1, 40)
left.streamplot(x, x, *flow(np.array(np.meshgrid(x, x))), color="w", linewidth=0.6)

corners = *mesh.p[:, mesh.t.T.ravel()], np.arange(dofs.size).reshape(-1, 3)
right.tripcolor(*corners, u[dofs.T.ravel()], shading="gouraud", vmin=0, vmax=1)
for ax, title in (left, "flow, and order of the triangles"), (right, "solution"):
    ax.set(title=title, aspect="equal", xlim=(0, 1), ylim=(0, 1))
    ax.set_axis_off()
plt.show()
