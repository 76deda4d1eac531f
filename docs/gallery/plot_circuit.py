"""
A circuit, solved block by block
================================

Modified nodal analysis writes a circuit as linear equations: Kirchhoff's current law
at each node, and one equation for each voltage source. An amplifier draws no current
from what it senses. So the stage before it does not depend on the stage behind it,
and the matrix has a block triangular form. Solving with it takes a factorisation of
the diagonal blocks only.
"""

# %%
# The equations
# -------------
#
# ``tests/helpers/circuit.py`` builds a cascade of twelve networks of resistors and
# capacitors, with an amplifier in front of each. Two of the amplifiers also sense a
# later stage, and what lies between is a loop. The nodes are numbered in no useful
# order, as in a netlist. The equation of a source does not contain the current of
# this source, so there are zeros on the diagonal.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import splu

from circuit import build_circuit
from sparsematch import block_triangular_form, solvers
from sparsematch.plot import spy_blocks

circuit = build_circuit(1500, seed=7)
A, b = circuit.matrix, circuit.rhs
zeros = np.count_nonzero(A.diagonal() == 0)
print(f"{A.shape[0]} equations, {A.nnz} entries, {zeros} zeros on the diagonal")

# %%
# The block form
# --------------
#
# The form depends on the pattern alone. Each large block is a stage, or the stages
# of a loop. A block of a single entry is a voltage that an amplifier sets, or the
# current that it delivers, which follows once the voltages are known. What an
# amplifier senses is above the blocks.

form = block_triangular_form(A)
sizes = np.diff(form.row_blocks)
single = np.count_nonzero(sizes == 1)
print(
    f"{form.n_blocks} blocks, {single} of them of one entry; "
    f"the largest has {sizes.max()} rows"
)

spy_blocks(
    A, form, title="a cascade of twelve stages", figure=plt.figure(figsize=(11, 6.2))
)
plt.show()

# %%
# Two ways to solve
# -----------------
#
# :func:`sparsematch.solvers.splu` factorises the blocks, and multiplies with the
# entries above them. SciPy's ``splu`` factorises the whole matrix. Both solutions
# leave a residual of rounding errors.

by_blocks = solvers.splu(A)
whole = splu(A)
for name, lu in ("block by block", by_blocks), ("as a whole", whole):
    x = lu.solve(b)
    residual = np.linalg.norm(A @ x - b) / np.linalg.norm(b)
    print(f"{name}: relative residual {residual:.0e}")

# %%
# The size of the factors
# -----------------------
#
# Entries that are stored measure memory, and the work of each further solve. For the
# blocks they include the entries above them, which are kept as they are. There are
# two lines for each way of solving. ``pivoting`` says what goes to the diagonals of
# the blocks: with ``"structure"`` entries found by the pattern, with ``"product"``
# those with the largest product; by default the former, unless many would be poor
# pivots in blocks that take much work. SciPy's ``permc_spec`` is the order of the
# columns: its default suits any matrix, minimum degree suits those whose pattern is
# nearly symmetric, as that of a circuit is.

ways = {
    "block by block": solvers.splu,
    'block by block, pivoting="product"': lambda A: solvers.splu(
        A, pivoting="product"
    ),
    "SciPy": splu,
    'SciPy, permc_spec="MMD_AT_PLUS_A"': lambda A: splu(
        A, permc_spec="MMD_AT_PLUS_A"
    ),
}
matrices = [
    build_circuit(n_nodes, seed=7).matrix
    for n_nodes in (300, 750, 1500, 2250, 3000, 3750, 4500)
]
unknowns = np.array([A.shape[0] for A in matrices])

figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
for (name, factorise), style in zip(
    ways.items(), ("o-C0", "o--C0", "s-C1", "s--C1"), strict=True
):
    factors = [factorise(A) for A in matrices]
    entries = [
        lu.nnz if isinstance(lu, solvers.BlockTriangularLU) else lu.L.nnz + lu.U.nnz
        for lu in factors
    ]
    axes.plot(unknowns, entries / unknowns, style, label=name)
axes.set_xlabel("unknowns")
axes.set_ylabel("entries of the factors for each unknown")
axes.set_ylim(bottom=0)
axes.grid(alpha=0.3)
axes.legend(frameon=False, loc="lower right")
plt.show()

# %%
# Where the line of the first way leaves that of the second, a few pivots have been
# poor: others were chosen in their place, which causes fill, though less work than
# to search for better ones. Then ``growth``, the largest entry of U over the largest
# of the matrix, is large as well:

for pivoting in "auto", "product":
    lu = solvers.splu(matrices[-1], pivoting=pivoting)
    print(f"{pivoting}: {lu.nnz} entries, growth {lu.growth:.1f}")

# %%
# The blocks of this circuit are few and large, so what is gained beside a good order
# of the columns is little. Where a matrix is a single block it is nothing. Where the
# blocks are small, hardly anything is left to factorise.
# :doc:`/howto/solve_block_by_block` has the rest: new values for the same pattern,
# the condition number, other solvers for large blocks.
