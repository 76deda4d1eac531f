"""
A circuit, solved block by block
================================

Modified nodal analysis writes a circuit as linear equations: Kirchhoff's current law at each node, and one equation
for each voltage source. An amplifier draws no current from what it senses. So the stage before it does not depend on
the stage behind it, and the matrix has a block triangular form. Solving with it takes a factorisation of the diagonal
blocks only.
"""

# %%
# The equations
# -------------
#
# :mod:`sparsematch.demo` builds a cascade of twelve networks of resistors and capacitors, with an amplifier in front of
# each. Two of the amplifiers also sense a later stage, and what lies between is a loop. The nodes are numbered in no
# useful order, as in a netlist. The equation of a source does not contain the current of this source, so there are
# zeros on the diagonal.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import splu

from sparsematch import block_triangular_form, solvers
from sparsematch.demo import build_circuit
from sparsematch.plot import spy_blocks

circuit = build_circuit(1500, seed=7)
A, b = circuit.matrix, circuit.rhs
print(f"{A.shape[0]} equations, {A.nnz} entries, {np.count_nonzero(A.diagonal() == 0)} zeros on the diagonal")

# %%
# The block form
# --------------
#
# The form depends on the pattern alone. Each large block is a stage, or the stages of a loop. A block of a single entry
# is a voltage that an amplifier sets, or the current that it delivers, which follows once the voltages are known. What
# an amplifier senses stands above the blocks.

form = block_triangular_form(A)
sizes = np.diff(form.row_blocks)
print(
    f"{form.n_blocks} blocks, {np.count_nonzero(sizes == 1)} of them of one entry; the largest has {sizes.max()} rows"
)

spy_blocks(A, form, title="a cascade of twelve stages", figure=plt.figure(figsize=(11, 6.2)))
plt.show()

# %%
# Two ways to solve
# -----------------
#
# :func:`sparsematch.solvers.splu` factorises the blocks, and multiplies with what stands above them. SciPy's ``splu``
# factorises the whole matrix. Both solutions leave a residual of rounding errors.

by_blocks = solvers.splu(A)
whole = splu(A)
for name, lu in ("block by block", by_blocks), ("as a whole", whole):
    x = lu.solve(b)
    print(f"{name}: relative residual {np.linalg.norm(A @ x - b) / np.linalg.norm(b):.0e}")

# %%
# The size of the factors
# -----------------------
#
# Entries that are stored measure memory, and the work of each further solve. For the blocks they include the entries
# above the diagonal blocks, which are kept as they are. For SciPy there are two lines: with its default order of the
# columns, and with minimum degree on the pattern of the matrix plus its transpose, which suits a circuit, but is at a
# loss where the diagonal has zeros and pivots have to move.

unknowns, stored = [], {"block by block": [], "SciPy, default": [], "SciPy, minimum degree": []}
for n_nodes in 300, 750, 1500, 3000, 4500:
    A = build_circuit(n_nodes, seed=7).matrix
    default, degree = splu(A), splu(A, permc_spec="MMD_AT_PLUS_A")
    unknowns.append(A.shape[0])
    stored["block by block"].append(solvers.splu(A).nnz)
    stored["SciPy, default"].append(default.L.nnz + default.U.nnz)
    stored["SciPy, minimum degree"].append(degree.L.nnz + degree.U.nnz)

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, entries), marker in zip(stored.items(), "osv", strict=True):
    axes.plot(unknowns, np.array(entries) / unknowns, marker=marker, label=name)
axes.set_xlabel("unknowns")
axes.set_ylabel("entries of the factors for each unknown")
axes.set_ylim(bottom=0)
axes.grid(alpha=0.3)
axes.legend(frameon=False)
plt.show()

# %%
# The gain is what the blocks allow. Where a matrix is a single block, there is none; and where the blocks are small, as
# in many models of processes and of networks, hardly anything is left to factorise.
# :doc:`/howto/solve_block_by_block` has the rest: new values for the same pattern, the condition number, other solvers
# for large blocks.
