"""The second example of `explain_singular_values`: an island without slack."""

import matplotlib.pyplot as plt
import scipy.sparse as sp

from sparsematch import explain_singularity
from sparsematch.plot import spy_conflicts

lines = [(1, 2, 10), (2, 3, 17), (3, 4, 9), (4, 1, 23), (2, 4, 14)]
lines += [(5, 6, 11), (6, 7, 13), (7, 8, 19), (8, 5, 7), (5, 7, 3), (8, 9, 5), (9, 6, 29)]
L = sp.lil_array((10, 10))
for i, j, susceptance in lines:
    L[i, i] += susceptance
    L[j, j] += susceptance
    L[i, j] -= susceptance
    L[j, i] -= susceptance
A = L.tocsr()[2:, 2:]  # bus 1 is the slack
names = [f"bus {bus}" for bus in range(2, 10)], [f"angle{bus}" for bus in range(2, 10)]
why = explain_singularity(A, *names, numeric=True)
spy_conflicts(A, why, title="an island without slack", figure=plt.figure(figsize=(10, 3.9)))
