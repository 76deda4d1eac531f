"""What a call does with the engines that it has chosen, in one process and over ranks alike."""

from collections.abc import Callable
from typing import Any, TypeVar

from sparsematch._base.arrays import UNMATCHED, IndexArray, advising, namespace
from sparsematch._engines.edges import add_up_duplicates
from sparsematch._engines.operations import GraphOps
from sparsematch._engines.registry import ByProducts, Chosen, Engine, Run, operations
from sparsematch._types.graph import GUARANTEE, Graph
from sparsematch._types.mates import Mates
from sparsematch._types.run_info import RunInfo

_Lists = TypeVar("_Lists", bound=Graph)


def improve(graph: Any, matching: Mates, chosen: Chosen, run: Run) -> ByProducts | None:
    """Run the heuristic and the exact engine, where there are, and freeze the matching."""
    by_products = None
    for engine in filter(None, chosen):
        by_products = engine.improve(graph, matching, run, by_products)
    matching.freeze()
    return by_products


def report(chosen: Chosen | str, run: Run, cardinality: int) -> RunInfo:
    """Return the account of a run of engines, or of a method that is not chosen."""
    if isinstance(chosen, str):
        first, last = "none", chosen
    else:
        first, last = (engine.name if engine else "none" for engine in chosen)
    transposed = run.transposes_built, run.transpose_seconds
    return RunInfo(last, first, tuple(run.steps), cardinality, run.workers, *transposed)


def run_weighted(method: str, find: Callable[..., Any], run: Run, *given: Any) -> Any:
    """Return what an operation on weights finds, and the account of the run if that is wanted."""
    found = run.timed("costs and duals", find, *given)
    return (found, report(method, run, found.matching.cardinality)) if run.detailed else found


@advising
def checked(graph: _Lists, run: Run, symmetrize: bool) -> _Lists:
    """Return the graph without duplicates, checked: symmetric, weights finite."""
    ops = operations(GraphOps, graph.backend)
    survey = ops.validate_graph(graph, run)
    if not survey.ascending:
        graph = add_up_duplicates(graph)
        survey = ops.validate_graph(graph, run)
    if not survey.finite:
        i, j, value = ops.first_infinite(graph)
        raise ValueError(f"G[{i}, {j}] is {value}, but weights must be finite")
    if survey.symmetric:
        return graph
    if symmetrize:
        return ops.take_larger(graph)
    if (place := ops.one_sided_entry(graph)) is not None:
        i, j = place
        what = "no entry" if graph.weight is None else "not of the same absolute value"
        raise ValueError(
            f"G must be symmetric: G[{i}, {j}] is an entry, but G[{j}, {i}] is {what}; "
            "symmetrize=True takes the larger of the two"
        )
    return graph


def matched(
    graph: Graph, engine: Engine, method: str, run: Run
) -> tuple[IndexArray, tuple[Any, float, RunInfo]]:
    """Run an engine; return the mates, and weight, guarantee and account of the matching."""
    mate = advising(namespace(graph.indptr).full)(graph.indptr.size - 1, UNMATCHED, graph.dtype)
    engine.improve(graph, mate, run)
    weight = operations(GraphOps, graph.backend).matched_weight(graph, mate)
    guarantee = GUARANTEE if graph.weight is None else engine.guarantee or 0.0
    (step,) = run.steps
    return mate, (weight, guarantee, report(method, run, step.cardinality))
