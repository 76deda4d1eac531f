"""Whether the arrays of a view are consistent: one launch, one wait for the device."""

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import HostNumbers
from sparsematch._types.bipartite import BipartiteCSR


def count_entries(graph: BipartiteCSR) -> int:
    """Return the number of entries, or -1 if the arrays are not consistent.

    Their lengths must fit. Time: O(n_major + nnz).
    """
    report = HostNumbers(namespace(graph.indptr), 2)
    sizes = (graph.dtype.type(n) for n in (graph.n_major, graph.n_minor, graph.indices.size))
    n = max(graph.n_major, graph.indices.size)
    arrays = graph.indptr, graph.indices, report.pointer
    compile.load("core/check", graph.dtype).launch("check", -(-n // 4), *sizes, *arrays)
    wrong, nnz = report.read()
    return -1 if wrong else int(nnz)
