"""The example of `read_a_block_form`: a matrix with all three coarse parts."""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from sparsematch.plot import spy_blocks

A = [
    [1, 1, 0, 0, 0, 0, 0],
    [0, 1, 1, 1, 0, 0, 0],
    [0, 0, 0, 1, 1, 0, 0],
    [0, 0, 0, 1, 1, 1, 0],
    [0, 0, 0, 0, 0, 1, 1],
    [0, 0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 0, 1],
]
spy_blocks(sp.csr_array(np.array(A)), figure=plt.figure(figsize=(9, 5)))
