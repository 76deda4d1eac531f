"""What the drivers of the starts share: the vertices matched before, an order of the rows."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set, index_bits
from sparsematch._engines.cuda.core.layout import Struct
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

#: Neighbouring rows that are visited in their own order.
STRETCH = 32


def state(
    kernels: compile.Kernels, name: str, graph: BipartiteCSR, matching: Matching, **fields: Any
) -> Struct:
    """Return what the kernels of a start work on: the lists, both mates, and what else it has."""
    mates = Matching(*graph.orient(matching.row_mate, matching.col_mate))
    return kernels.struct(name, mates, lists=kernels.struct("Csr", graph), **fields)


def stretch_bits(n: int) -> np.int32:
    """Return the bits of the number of the last stretch of n rows."""
    return index_bits(-(-n // STRETCH))


def matched(kernels: compile.Kernels, mate: IndexArray, warm: bool) -> Any:
    """Return the vertices that have a mate, one bit each; none have unless the start is warm."""
    bits = bit_set(namespace(mate), mate.size)
    if warm:
        kernels.launch("mark", bits.size, mate.dtype.type(mate.size), mate, bits)
    return bits
