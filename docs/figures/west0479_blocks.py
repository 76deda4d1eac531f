"""The matrix of the tutorial as it comes and in block triangular form."""

import matplotlib.pyplot as plt
from scipy.io import mmread

from sparsematch.plot import spy_blocks

spy_blocks(
    mmread("../getting_started/west0479.mtx", spmatrix=False), figure=plt.figure(figsize=(10, 5.6))
)
