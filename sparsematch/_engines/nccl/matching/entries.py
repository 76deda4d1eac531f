"""Lists of the own entries in some columns.

The kernel is that of `over_ranks/entries.cuh` of the back-end for a GPU.
"""

from typing import Any, NamedTuple

import numpy as np

from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.layout import Struct
from sparsematch._types.arrays import namespace
from sparsematch._types.distributed import DistributedCSR


class EntryList(NamedTuple):
    """Own entries: pairs of a row and a column, and how many there are, even without room."""

    entries: Any
    found: Any
    room: int

    def struct(self, kernels: Kernels) -> Struct:
        """Return it as kernels take it."""
        arrays = {"entries": self.entries, "found": self.found}
        return kernels.struct("EntryList", **arrays, room=np.int64(self.room))


def list_entries(kernels: Kernels, A: DistributedCSR, cols: Any, room: int) -> EntryList:
    """Return the own entries in a set of columns. Time: O(own entries)."""
    xp, nnz, n_rows = namespace(A.indptr), A.local_nnz, len(A.own_rows)
    listed = EntryList(xp.empty(2 * room, A.dtype), xp.zeros(1, np.int64), room)
    sizes = {"first_row": A.first_row, "n_rows": n_rows, "nnz": nnz}
    sizes = {name: np.int64(size) for name, size in sizes.items()}
    lists = kernels.struct("Lists", indptr=A.indptr, indices=A.indices, **sizes)
    if n_rows:
        kernels.launch("list_entries", -(-nnz // 8), lists, cols, listed.struct(kernels))
    return listed
