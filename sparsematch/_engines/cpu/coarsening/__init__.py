"""Coarsening in host memory: the aggregates of a matching, and the product with them."""

from typing import Any

from sparsematch._base.arrays import IndexArray
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr
from sparsematch._engines.operations import CoarseningOps
from sparsematch._engines.registry import Run, register_operations
from sparsematch._types.bipartite import BipartiteCSR


def galerkin_product(
    graph: BipartiteCSR, values: Any, mate: IndexArray, join: bool, run: Run
) -> tuple[Any, Any, Any, Any]:
    """Return aggregates of vertices; indptr, indices and values of the coarse matrix."""
    given = csr(graph), values, mate, join
    labels, (indptr, indices, sums) = _core.galerkin_product(*given, run.workers)
    # C++ and NumPy may name the same type differently, which would be seen where it is printed.
    labels, indptr, indices = (array.view(graph.dtype) for array in (labels, indptr, indices))
    return labels, indptr, indices, sums.view(values.dtype)


register_operations("numpy", CoarseningOps, {"wrong_mate": _core.wrong_mate}, globals())
