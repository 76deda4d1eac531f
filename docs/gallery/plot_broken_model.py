"""
A broken model, explained
=========================

A model with a mistake often gives a matrix that is singular whatever its values. A
solver says that it is, and :func:`sparsematch.explain_singularity` says why:
equations that are too many for the variables in them, and variables that are too
many for the equations that contain them. :func:`sparsematch.plot.spy_conflicts`
draws both.

:doc:`/howto/explain_a_singular_matrix` has smaller examples, the terms, and how to
use them in a program.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from circuit import build_circuit, short_circuit
from sparsematch import explain_singularity, structural_rank
from sparsematch.plot import spy_conflicts


def incidence(model, variables):
    """The matrix of a model, {equation: variables}, and the names of both."""
    columns = {name: j for j, name in enumerate(variables.split())}
    A = sp.lil_array((len(model), len(columns)))
    for i, used in enumerate(model.values()):
        A[i, [columns[name] for name in used.split()]] = 1
    return A.tocsr(), list(model), list(columns)


def explain(model, variables):
    """The matrix of a model and what is wrong with it, printed as well."""
    A, equations, names = incidence(model, variables)
    why = explain_singularity(A, equations, names)
    print(why)
    return A, why


# %%
# A reactor with one equation forgotten
# -------------------------------------
#
# Seven equations for seven variables. The volume is specified twice, under two
# names, and nothing says how the density follows from the composition.

reactor = {
    "mass balance": "F rho",
    "balance of A": "F c_A r V",
    "balance of B": "F c_B r V",
    "rate law": "r c_A T",
    "energy balance": "F T r V",
    "volume": "V",
    "level control": "V",
}
A, why = explain(reactor, "F rho c_A c_B r T V")

# %%
# On the left the equations of the over-determined conflict are shaded in the matrix,
# and the variables of the under-determined one. Beside it are the two alone, with
# their names. The over-determined side points at the mistake itself. The other is
# as small as it can be, and still has six variables: one more equation in any of
# them would close the model.

spy_conflicts(A, why, title="a reactor", figure=plt.figure(figsize=(11, 4.2)))
plt.show()

# %%
# With the equation of state in place of the level control, the rank is full.

del reactor["level control"]
reactor["equation of state"] = "rho c_A c_B"
print(structural_rank(incidence(reactor, "F rho c_A c_B r T V")[0]))

# %%
# In a larger matrix
# ------------------
#
# A second voltage source is connected by mistake where there is one, in a circuit of
# several hundred equations, randomly permuted. The conflict is short all the same:
# the voltage is set twice, and how the current divides is not set at all.

A = short_circuit(build_circuit(600, seed=7)).matrix
order = np.random.default_rng(23).permutation(A.shape[0])
A = A[order][:, order]
why = explain_singularity(A)
print(why)

spy_conflicts(
    A,
    why,
    title="two sources across one node of many",
    figure=plt.figure(figsize=(11, 4.2)),
)
plt.show()
