"""The first example of `explain_a_singular_matrix`: two sources across one node."""

import matplotlib.pyplot as plt
import scipy.sparse as sp

from sparsematch import explain_singularity
from sparsematch.plot import spy_conflicts

circuit = {
    "currents at node 1": "v1 v2 i_A i_B",
    "currents at node 2": "v1 v2 v3",
    "currents at node 3": "v2 v3",
    "source A": "v1",
    "source B": "v1",
}
names = ["v1", "v2", "v3", "i_A", "i_B"]
A = sp.lil_array((5, 5))
for i, used in enumerate(circuit.values()):
    A[i, [names.index(name) for name in used.split()]] = 1
A = A.tocsr()
why = explain_singularity(A, list(circuit), names)
spy_conflicts(A, why, title="two sources across one node", figure=plt.figure(figsize=(10, 3.9)))
