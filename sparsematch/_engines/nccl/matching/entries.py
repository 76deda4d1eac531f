"""Lists of the own entries in some columns; see `over_ranks/entries.cuh` of the back-end for a GPU."""

from typing import Any

import numpy as np

from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.layout import Struct
from sparsematch._types.arrays import namespace
from sparsematch._types.distributed import DistributedCSR


def list_entries(kernels: Kernels, A: DistributedCSR, cols: Any, room: int) -> Struct:
    """Return a list of own entries in a set of columns, as kernels take it.

    Those beyond the room are left out. Time: O(own entries).
    """
    xp, nnz, n_rows = namespace(A.indptr), A.local_nnz, len(A.own_rows)
    entries, found = xp.empty(2 * room, A.dtype), xp.zeros(1, np.int64)
    listed = kernels.struct("EntryList", entries=entries, room=np.int64(room), found=found)
    sizes = {"first_row": A.first_row, "n_rows": n_rows, "nnz": nnz}
    sizes = {name: np.int64(size) for name, size in sizes.items()}
    lists = kernels.struct("Lists", indptr=A.indptr, indices=A.indices, **sizes)
    if n_rows:
        kernels.launch("list_entries", -(-nnz // 8), lists, cols, listed)
    return listed
