"""The matrix of the tutorial after a mistake in one of its equations."""

import matplotlib.pyplot as plt
import scipy.sparse as sp
from scipy.io import mmread

from sparsematch.plot import spy_conflicts

B = sp.lil_array(mmread("../getting_started/west0479.mtx", spmatrix=False))
B[13, 29], B[13, 31] = 0, 1
spy_conflicts(B.tocsr(), figure=plt.figure(figsize=(10, 4.6)))
