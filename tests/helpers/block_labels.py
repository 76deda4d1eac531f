"""Labels of the block triangular form from the definitions: quadratic, the oracle of the tests.

Dulmage, Mendelsohn, Coverings of bipartite graphs (Canadian J. Math. 10, 1958); Pothen, Fan,
Computing the block triangular form of a sparse matrix (ACM TOMS 16, 1990). Given a maximum
matching: the horizontal part is what alternating paths reach from the free columns, the vertical
part what they reach from the free rows; the rest is square, and its blocks are the strong
components of the graph in which a row leads to the rows that are matched to the columns of its
entries.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from sparsematch._base.arrays import UNMATCHED
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.labels import BlockLabels
from sparsematch._types.matching import Matching


def block_labels(graph: BipartiteCSR, matching: Matching) -> BlockLabels:
    """Label every row; the matching must be maximum.

    Reads: the graph, both mates. Workspace: sets of neighbours, the sets of reachable rows. Time:
    O(n nnz).
    """
    rows_of, cols_of = neighbours(graph)
    row_mate, col_mate = matching.row_mate.tolist(), matching.col_mate.tolist()

    # From a free column to all rows that meet it, from each to its mate, and so on; the same from
    # the free rows.
    to_cols = {j: [row_mate[i] for i in rows_of[j]] for j in rows_of}
    to_rows = {i: [col_mate[j] for j in cols_of[i]] for i in cols_of}
    horizontal = reach(to_cols, [j for j in to_cols if col_mate[j] == UNMATCHED])
    vertical = reach(to_rows, [i for i in to_rows if row_mate[i] == UNMATCHED])

    square = {i for i in cols_of if i not in vertical and row_mate[i] not in horizontal}
    blocks = strong_components({i: [k for k in to_rows[i] if k in square] for i in sorted(square)})
    row_group = np.zeros(graph.n_rows, graph.dtype)
    for number, block in enumerate(blocks, start=1):
        row_group[block] = number
    row_group[sorted(vertical)] = len(blocks) + 1
    return BlockLabels(row_group, len(blocks))


def neighbours(graph: BipartiteCSR) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    """Return the rows of each column and the columns of each row."""
    rows_of: dict[int, set[int]] = {j: set() for j in range(graph.n_cols)}
    cols_of: dict[int, set[int]] = {i: set() for i in range(graph.n_rows)}
    majors, minors = (
        np.repeat(np.arange(graph.n_major), np.diff(graph.indptr)),
        graph.indices[: graph.nnz],
    )
    rows, cols = graph.orient(majors, minors)
    for i, j in zip(rows.tolist(), cols.tolist(), strict=True):
        rows_of[j].add(i)
        cols_of[i].add(j)
    return rows_of, cols_of


def reach(leads_to: Mapping[int, Iterable[int]], starts: Iterable[int]) -> set[int]:
    """Return the vertices that can be reached, the starts included."""
    seen = set(starts)
    stack = list(seen)
    while stack:
        for k in leads_to[stack.pop()]:
            if k not in seen:
                seen.add(k)
                stack.append(k)
    return seen


def strong_components(leads_to: Mapping[int, Iterable[int]]) -> list[list[int]]:
    """Return the strong components, each before those that it leads to.

    Two vertices are in one component if and only if they reach the same set, and a component that
    leads to another reaches strictly more than that one does.
    """
    members: dict[frozenset[int], list[int]] = {}
    for i in leads_to:
        members.setdefault(frozenset(reach(leads_to, [i])), []).append(i)
    return [members[reached] for reached in sorted(members, key=len, reverse=True)]
