"""What a step on a GPU leaves to the next, and to the block form."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sparsematch._engines.registry import ByProducts
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching


class HostResult(NamedTuple):
    """What the host has found: all that its block form takes."""

    graph: BipartiteCSR  #: The copy in host memory.
    matching: Matching  #: Maximum, in host memory.
    by_products: ByProducts | None  #: Theirs.


@dataclass(kw_only=True, slots=True)
class DeviceByProducts(ByProducts):
    """Those on a GPU."""

    #: Whether the pattern is symmetric, once a step has needed to know.
    symmetric: bool | None = None
    free_together: bool = False  #: Whether rows and columns of the same numbers are free.
    #: Whether the lists follow an order of the minors, which the host finds its way along.
    in_order: bool = False
    host: bool = False  #: Whether the block form may be left to the host.
    #: What the host has found, if the matching was left to it.
    host_result: HostResult | None = None


#: Those of the step before: None if there was none, or it leaves nothing.
Before: TypeAlias = DeviceByProducts | None
