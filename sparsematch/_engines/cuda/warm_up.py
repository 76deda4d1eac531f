"""All modules that calls may need, compiled ahead of them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile, thresholds
from sparsematch._engines.cuda.decomposition import block_form, connected_components
from sparsematch._engines.cuda.graph import local_max
from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.cuda.matching import apfb, karp_sipser, ms_bfs, start_common
from sparsematch._engines.cuda.matching.choice import POLICY
from sparsematch._engines.cuda.weighted import auction

_Module = tuple[str, "np.dtype[Any]", dict[str, int]]


def modules() -> list[_Module]:
    """Return name, index type and macros of every module; those of `auto` with int32 first."""
    types = np.dtype(np.int32), np.dtype(np.int64)
    return [
        (name, dtype, macros)
        for variants in (_of_calls, _of_engines, _of_weighted, _of_graphs)
        for dtype in types
        for name, macros in variants(dtype)
    ]


def compile_all(progress: Callable[[str, int, int], object]) -> int:
    """Compile what is not in the cache; return how many modules there are.

    `progress` is called with the name of a module that is ready, how many are, and of how many.
    Raises CompileError if the compiler refuses one.
    """
    waiting = [compile.load(name, dtype, **macros) for name, dtype, macros in modules()]
    for done, kernels in enumerate(waiting, 1):
        kernels.ready()
        progress(kernels.name, done, len(waiting))
    return len(waiting)


def _of_calls(dtype: "np.dtype[Any]") -> Iterator[compile.Module]:
    """Yield what `auto`, block forms and certificates are made of."""
    for name in (
        "core/check",
        "core/certificates",
        "matching/one_block",
        "matching/row_singletons",
    ):
        yield name, {}
    yield "matching/graph_karp_sipser", karp_sipser.MACROS
    yield "matching/features", {"MAX_SHARED": POLICY.max_shared}
    for name in ("cheap", "karp_sipser"):
        yield f"matching/{name}", {"STRETCH": start_common.STRETCH}
    rare = {"RARE": thresholds.RARE}
    yield "matching/min_degree", {"STRETCH": start_common.STRETCH} | rare
    yield from ms_bfs.modules(dtype)
    yield from block_form.modules(dtype)
    components = {"FIRST": connected_components.FIRST, "LONG": connected_components.LONG}
    yield "decomposition/connected_components", components


def _of_engines(dtype: "np.dtype[Any]") -> Iterator[compile.Module]:
    """Yield what the other engines need."""
    yield "matching/push_relabel", apfb.MACROS
    yield "matching/apfb", apfb.MACROS
    for shape in ms_bfs.shapes(dtype):
        yield "matching/ms_bfs", shape | {"LOCKSTEP": 1}


def _of_weighted(_: "np.dtype[Any]") -> Iterator[compile.Module]:
    """Yield what weighted transversals need beside a maximum one."""
    yield "weighted/proof", {}
    for name in ("auction", "primal_dual"):
        yield f"weighted/{name}", {"NARROW": auction.NARROW}


def _of_graphs(_: "np.dtype[Any]") -> Iterator[compile.Module]:
    """Yield what general graphs and coarsening need."""
    yield "coarsening/coarsen", {}
    for weight in (8, 4, 0):
        for shape in general.shapes(weight):
            yield "graph/validate", shape
            yield "graph/local_max", shape | {"NARROW": local_max.NARROW}
            yield "graph/red_blue", shape
