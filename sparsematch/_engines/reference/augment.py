"""Maximum matching by augmenting paths, the shortest program that is plainly right.

Berge, Two theorems in graph theory (PNAS 43, 1957): a matching is maximum if and only if no
augmenting path exists, and a vertex from which none starts now will never start one. So: one
breadth-first search from each free row, and done. Rows here are what `indptr` runs over, the
columns of the user's matrix if the graph is flipped. Invariant: the matching is valid.
"""

from collections import deque

from sparsematch._base.arrays import UNMATCHED, IndexArray
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "Readable Python, one breadth-first search per row; the oracle of the tests."


def improve(graph: BipartiteCSR, matching: Matching, run: Run, _: object = None) -> None:
    """Search from every free row once."""
    # Reads: the graph. Writes: both mates. Workspace: two dicts. Time: O(n nnz).
    with run.step("reference") as counts:
        row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
        counts |= dict.fromkeys(("phases", "edges", "augmentations", "path_edges"), 0)
        for start in range(graph.n_major):
            if row_mate[start] != UNMATCHED:
                continue
            parent, leaf, scanned = search(graph, col_mate, start)
            counts["phases"] += 1
            counts["edges"] += scanned
            if leaf is not None:
                counts["augmentations"] += 1
                counts["path_edges"] += augment(row_mate, col_mate, parent, leaf)
        counts["cardinality"] = matching.cardinality


def search(
    graph: BipartiteCSR, col_mate: IndexArray, start: int
) -> tuple[dict[int, int], int | None, int]:
    """Grow an alternating tree from a free row until it meets a free column."""
    # Returns the row from which each column was reached, that column or None, and the entries read.
    parent: dict[int, int] = {}
    queue = deque([start])
    scanned = 0
    while queue:
        i = queue.popleft()
        for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]].tolist():
            scanned += 1
            if j in parent:
                continue
            parent[j] = i
            if col_mate[j] == UNMATCHED:
                return parent, j, scanned
            queue.append(int(col_mate[j]))
    return parent, None, scanned


def augment(row_mate: IndexArray, col_mate: IndexArray, parent: dict[int, int], leaf: int) -> int:
    """Augment along the path that ends at the leaf; return its length."""
    length, j = 0, leaf
    while True:
        i = parent[j]
        before = int(row_mate[i])
        row_mate[i], col_mate[j] = j, i
        if before == UNMATCHED:
            return length + 1
        length, j = length + 2, before
