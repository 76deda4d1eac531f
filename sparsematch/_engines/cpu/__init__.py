"""The back-end for matrices in host memory: engines and operations of the C++ core, registered.

The core's table says which engines there are, what is told about them, and their options with
defaults; the start that suits each stands here.
"""

from collections.abc import Callable

from sparsematch._engines.cpu.coarsening import coarsen
from sparsematch._engines.cpu.core.run_engine import ROWS, step
from sparsematch._engines.cpu.decomposition import block_form as operations
from sparsematch._engines.cpu.graph import engines as general
from sparsematch._engines.cpu.lu import block_lu as solver
from sparsematch._engines.cpu.matching import auto
from sparsematch._engines.cpu.stream import edge_file
from sparsematch._engines.cpu.weighted import least_cost, optimality, transversals
from sparsematch._engines.registry import Engine, Operations, Run, register, register_operations
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching


def _improve(name: str) -> Callable[[BipartiteCSR, Matching, Run], None]:
    def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
        step(name, graph, matching, run)

    return improve


def _register_engines() -> None:
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
    for row in ROWS.values():
        register(
            Engine(
                name=row.name,
                kind="exact" if row.exact else "heuristic",
                backend="numpy",
                summary=row.summary,
                options=row.options,
                default_init="cheap" if row.exact else "none",
                transpose=row.transpose,
                multithreaded=row.threads,
                improve=_improve(row.name),
            )
        )
    for name, graph_row in {**general.ROWS, "auto": general.ROWS[general.DEFAULT]}.items():
        register(
            Engine(
                name=name,
                kind="approximate",
                backend="numpy",
                summary=graph_row.summary,
                options=graph_row.options,
                multithreaded=graph_row.threads,
                guarantee=graph_row.guarantee,
                improve=general.improve(graph_row.name),
            )
        )


def _register_operations() -> None:
    register_operations(
        "numpy",
        Operations(
            wrong_pair=operations.wrong_pair,
            free_pair=operations.free_pair,
            vertex_cover=operations.vertex_cover,
            block_labels=operations.block_labels,
            hall_violators=operations.hall_violators,
            connected_components=operations.connected_components,
            block_permutation=operations.block_permutation,
            order_by_label=operations.order_by_label,
            block_plan=solver.block_plan,
            survey=solver.survey,
            equal=solver.equal,
            is_canonical=solver.is_canonical,
            take=solver.take,
            steady_diagonal=solver.steady_diagonal,
            quick_analysis=solver.quick_analysis,
            block_lu=solver.block_lu,
            least_cost=least_cost.least_cost,
            maximum_product=transversals.maximum_product,
            maximum_sum=transversals.maximum_sum,
            bottleneck=transversals.bottleneck,
            is_optimal=optimality.is_optimal,
            validate_graph=general.validate_graph,
            matched_weight=general.matched_weight,
            wrong_mate=coarsen.wrong_mate,
            galerkin_product=coarsen.galerkin_product,
            match_edges=edge_file.match_edges,
            largest_vertex=edge_file.largest_vertex,
        ),
    )


_register_engines()
_register_operations()
