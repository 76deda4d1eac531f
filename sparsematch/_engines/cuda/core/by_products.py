"""What a step on a GPU leaves to the next, and to the block form."""

from dataclasses import dataclass
from typing import NamedTuple

from sparsematch._engines.registry import ByProducts, Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching


class HostResult(NamedTuple):
    """What the host has found: all that its block form takes.

    Attributes
    ----------
    graph : BipartiteCSR
        The copy in host memory.
    matching : Matching
        Maximum, in host memory.
    run : Run
        Of the engines of the host.
    by_products : ByProducts or None
        Theirs.
    """

    graph: BipartiteCSR
    matching: Matching
    run: Run
    by_products: ByProducts | None


@dataclass(kw_only=True, slots=True)
class DeviceByProducts(ByProducts):
    """Those on a GPU.

    Attributes
    ----------
    symmetric : bool or None
        Whether the pattern is symmetric, once a step has needed to know.
    free_together : bool
        Whether rows and columns of the same numbers are free.
    in_order : bool
        Whether the lists follow an order of the minors, which the host finds its way along.
    host : bool
        Whether the block form may be left to the host.
    host_result : HostResult or None
        What the host has found, if the matching was left to it.
    """

    symmetric: bool | None = None
    free_together: bool = False
    in_order: bool = False
    host: bool = False
    host_result: HostResult | None = None
