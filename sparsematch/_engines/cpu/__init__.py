"""The back-end for matrices in host memory: engines and operations of the C++ core, registered.

The core's table says which engines there are; what is told about them and the start that suits each stand here, their
options' defaults in `step`.
"""

from collections.abc import Callable

from sparsematch._engines.cpu import auto, operations
from sparsematch._engines.cpu.step import ROWS, step
from sparsematch._engines.registry import Engine, Operations, Run, register, register_operations
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

#: One line about each engine.
_SUMMARIES = {
    "cheap": "Each row takes its first free column.",
    "min_degree": "Rows by ascending degree, each takes its free column of smallest degree.",
    "karp_sipser": "Vertices of degree one first, degrees kept exact as vertices are matched.",
    "hopcroft_karp": "Shortest augmenting paths, a maximal set of disjoint ones in each phase.",
    "pothen_fan": "Depth-first searches with lookahead, disjoint in each phase; the direction of scanning alternates.",
    "push_relabel": "Free rows push themselves onto their nearest column, first in, first out; global relabelling.",
    "single_source_bfs": "One breadth-first search per free row; what failed searches saw is never looked at again.",
    "ms_bfs_graft": "Breadth-first from all free rows at once; trees are grafted from phase to phase.",
}


def _improve(name: str) -> Callable[[BipartiteCSR, Matching, Run], None]:
    def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
        step(name, graph, matching, run)

    return improve


def _register_all() -> None:
    register(
        Engine(
            name="auto",
            kind="exact",
            backend="numpy",
            summary=auto.SUMMARY,
            improve=auto.improve,
            transpose="optional",
            multithreaded=True,
        )
    )
    for name, row in ROWS.items():
        register(
            Engine(
                name=name,
                kind="exact" if row.exact else "heuristic",
                backend="numpy",
                summary=_SUMMARIES[name],
                options=row.options,
                default_init="cheap" if row.exact else "none",
                transpose=row.transpose,
                multithreaded=row.threads,
                improve=_improve(name),
            )
        )
    register_operations(
        "numpy",
        Operations(
            wrong_pair=operations.wrong_pair,
            free_pair=operations.free_pair,
            vertex_cover=operations.vertex_cover,
            block_labels=operations.block_labels,
            connected_components=operations.connected_components,
            order_by_label=operations.order_by_label,
        ),
    )


_register_all()
