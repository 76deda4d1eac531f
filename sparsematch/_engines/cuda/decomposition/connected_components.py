"""Connected components on the device. See connected_components.cu."""

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import lanes_of
from sparsematch._engines.cuda.core.transpose import LONG
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import Components

#: Entries that are joined at first.
FIRST = 2

_load = compile.declare("decomposition/connected_components", FIRST=FIRST, LONG=LONG)


def connected_components(graph: BipartiteCSR) -> Components:
    """Return the component of every row and column. Time: O(n_rows + n_cols + nnz), nearly."""
    # Labels ascend with the first row, then column, of a component. Workspace: 24 bytes a vertex.
    xp, dtype, (n_rows, n_cols) = namespace(graph.indptr), graph.dtype, graph.shape
    size = n_rows + n_cols
    if not size:
        return Components(0, xp.empty(0, dtype), xp.empty(0, dtype))
    kernels, n = _load(dtype), np.int64(size)
    up = xp.arange(size, dtype=np.int64)  # each vertex is a tree by itself
    if graph.nnz:
        shift, sizes = lanes_of(graph), dtype.type(graph.n_major)
        lists = graph.indptr, graph.indices, *(np.int64(k) for k in graph.orient(0, n_rows))
        long = xp.empty(graph.nnz // LONG + 1, dtype), xp.zeros(1, dtype)
        kernels.launch("join_first", graph.n_major, sizes, *lists, up)
        kernels.launch("flatten", size, n, up)
        kernels.launch("join_others", graph.n_major << int(shift), sizes, *lists, shift, up, *long)
        kernels.launch("join_long", compile.FILLING, *lists, up, *long, threads=1024)
    is_root, labels = xp.empty(size, dtype), xp.empty(size, dtype)
    kernels.launch("roots", size, n, up, is_root)
    number = xp.cumsum(is_root, dtype=dtype, out=is_root)
    kernels.launch("label", size, n, up, number, labels)
    return Components(int(number[-1]), labels[:n_rows], labels[n_rows:])
