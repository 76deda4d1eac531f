"""What the back-end does beside matching, told in the user's rows and columns; all of it on the device."""

from sparsematch._engines.cuda import strong_components
from sparsematch._engines.cuda.coarse_parts import coarse_parts
from sparsematch._engines.cuda.transpose import transpose
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import BlockLabels
from sparsematch._types.matching import Matching


def block_labels(graph: BipartiteCSR, matching: Matching, run: Run) -> BlockLabels:
    """Return the group of every row; the matching must be maximum. Time: O(n_rows + n_cols + nnz).

    A transpose that the engine has left in the run is used, else one is built.
    """
    by_row, by_col = graph.orient(graph, transpose(graph, run))
    labels = strong_components.block_labels(by_row, by_col, matching, coarse_parts(by_row, by_col, matching))
    namespace(graph.indptr).putmask(labels.row_group, matching.row_mate < 0, labels.n_square + 2)
    return labels


def order_by_label(labels: IndexArray, n_labels: int) -> tuple[IndexArray, IndexArray]:
    """Return the stable order that sorts labels in ``range(n_labels)``, and its boundaries.

    The boundaries are looked up in the sorted labels: where most rows have one label, counting would make them queue.
    Time: O((n + n_labels) log n) at most.
    """
    xp, dtype = namespace(labels), labels.dtype
    order = xp.argsort(labels, kind="stable")
    starts = xp.searchsorted(labels[order], xp.arange(n_labels + 1, dtype=dtype))
    return order.astype(dtype, copy=False), starts.astype(dtype, copy=False)
