"""
Newton steps of a power flow
============================

Newton's method solves one linear system in each step. The values change from step to
step, the pattern does not. What depends on the pattern alone, the block form and the
orders within the blocks, is found once.
"""

# %%
# A grid
# ------
#
# A substation, bus 0, feeds eight districts. Each is a tree of lines with a few more
# that close loops. Some buses have a generator, which holds its voltage; the others
# have loads. The buses are numbered at random.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from sparsematch import solvers
from sparsematch.plot import spy_blocks

rng = np.random.default_rng(8)
n_districts, size = 8, 50
n = 1 + n_districts * size
lines = []
for district in range(n_districts):
    first = 1 + district * size
    lines.append((0, first))
    lines += [
        (first + rng.integers(max(0, k - 6), k), first + k) for k in range(1, size)
    ]
    lines += [first + rng.choice(size, 2, replace=False) for _ in range(5)]
number = np.append(0, 1 + rng.permutation(n - 1))
start, end = number[np.array(lines)].T

generators = 1 + rng.choice(n - 1, 40, replace=False)
loads = np.setdiff1d(np.arange(1, n), generators)
power = np.zeros(n, complex)
power[loads] = -rng.uniform(0.005, 0.03, len(loads)) * (1 + 0.3j)
power[generators] = rng.uniform(0.02, 0.10, len(generators))
print(f"{n} buses, {len(start)} lines, {len(generators)} generators")

# %%
# The admittance matrix, in per unit as all else, has the lines off the diagonal and
# minus their sums on it.

admittance = 1 / (rng.uniform(0.005, 0.02, len(start)) * (1 + 3j))
row, col = np.concatenate([start, end]), np.concatenate([end, start])
Y = sp.csr_array((np.tile(-admittance, 2), (row, col)), shape=(n, n))
Y = (Y + sp.diags_array(-Y.sum(axis=1))).tocoo()

# %%
# Equations and their derivatives
# -------------------------------
#
# The unknowns are the angle and the magnitude of the voltage at each bus. A bus with
# a load has two equations, for the active and the reactive power. At a generator the
# second one says that the magnitude is 1, and at the substation both unknowns are
# given. Such an equation has a single entry, and is kept: all buses are then
# numbered alike.

i, k = Y.coords
diagonal = i == k
given = np.concatenate([[0, n], n + generators])  # equations with a single entry
rows, cols = (
    np.concatenate([i, i, n + i, n + i]),
    np.concatenate([k, n + k, k, n + k]),
)
kept = ~np.isin(rows, given)
rows, cols = np.append(rows[kept], given), np.append(cols[kept], given)


def mismatch_and_jacobian(state):
    """The residuals of all equations, and their derivatives."""
    angle, magnitude = state[:n], state[n:]
    voltage = magnitude * np.exp(1j * angle)
    flow = voltage[i] * np.conj(Y.data * voltage[k])
    total = np.bincount(i, flow.real, n) + 1j * np.bincount(i, flow.imag, n)
    by_angle = -1j * flow + np.where(diagonal, 1j * total[i], 0)
    by_magnitude = flow / magnitude[k] + np.where(
        diagonal, total[i] / magnitude[i], 0
    )
    values = np.concatenate(
        [by_angle.real, by_magnitude.real, by_angle.imag, by_magnitude.imag]
    )
    values = np.append(values[kept], np.ones(len(given)))
    residual = np.concatenate([(total - power).real, (total - power).imag])
    residual[0] = angle[0]
    residual[given[1:]] = state[given[1:]] - 1
    return residual, sp.csc_array((values, (rows, cols)), shape=(2 * n, 2 * n))


# %%
# The Jacobian
# ------------
#
# Since the voltage of the substation is given, the districts do not depend on each
# other: each is a block. The equations with a single entry are blocks of one. None
# of this shows in the order in which the buses are numbered.

flat = np.concatenate([np.zeros(n), np.ones(n)])
residual, J = mismatch_and_jacobian(flat)
analysis = solvers.analyse(J)
print(analysis)

spy_blocks(
    J,
    analysis.form,
    title="the Jacobian of the power flow",
    figure=plt.figure(figsize=(11, 6.2)),
)
plt.show()

# %%
# The steps
# ---------
#
# ``analyse`` has been called once. ``factorise`` chooses the pivots, and
# ``refactorise`` keeps them as long as none has become too small. For comparison,
# the same iteration with the first factorisation throughout.


def solve_power_flow(renew, steps):
    """The largest residual before each step."""
    state, largest, lu = flat.copy(), [], None
    for _ in range(steps):
        residual, J = mismatch_and_jacobian(state)
        largest.append(np.abs(residual).max())
        if lu is None:
            lu = analysis.factorise(J)
        elif renew:
            lu.refactorise(J)
        state -= lu.solve(residual)
    return state, largest


state, newton = solve_power_flow(renew=True, steps=7)
_, kept_factors = solve_power_flow(renew=False, steps=16)
angle, voltage = np.abs(state[:n]).max(), state[n:]
print(
    f"voltages from {voltage.min():.3f} to {voltage.max():.3f}, "
    f"angles up to {angle:.2f} rad"
)

# %%
# With new values in each step the number of correct digits doubles; with the first
# factorisation each step gains about the same number of digits. Both end where
# rounding errors take over.

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.semilogy(newton, "o-", label="refactorised in each step")
axes.semilogy(kept_factors, "s-", label="first factorisation kept")
axes.set_xlabel("steps done")
axes.set_ylabel("largest residual")
axes.grid(alpha=0.3)
axes.legend(frameon=False)
plt.show()

# %%
# ``refactorise`` compares the pattern of each matrix with the one that was analysed.
# Zeros that are stored belong to the pattern: where a derivative happens to vanish,
# its entry has to stay, as it does here. More in :doc:`/howto/solve_block_by_block`.
