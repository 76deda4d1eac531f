"""The table of engines, and the choice of the two that a call runs.

An engine is one function, ``improve(graph, matching, run)``: it writes the two mate arrays of the
matching and nothing else. A heuristic makes a matching maximal, an exact engine makes it maximum;
an approximate one matches a general graph, ``improve(graph, mate, run)``, where both sides are the
same vertices. A back-end registers its engines, and the operations that it offers beside matching,
when its modules are imported: on the first graph that lives there.
"""

import functools
import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsematch._types.arrays import BoolArray, FloatArray, IndexArray
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.edge_file import EdgeFile, EdgeReport
from sparsematch._types.errors import unknown_choice, wrong_type
from sparsematch._types.factors import BlockLU, BlockPlan
from sparsematch._types.graph import Graph, GraphProperties
from sparsematch._types.labels import (
    BlockLabels,
    BlockPermutation,
    Components,
    HallViolators,
    VertexCover,
)
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import EngineInfo, StepInfo
from sparsematch._types.weighted import LeastCost, WeightedCSR, WeightedTransversal

#: The modules that register the engines of each back-end.
_MODULES = {
    "numpy": ("sparsematch._engines.cpu", "sparsematch._engines.reference"),
    "cupy": ("sparsematch._engines.cuda",),
}

BACKENDS = tuple(_MODULES)

#: The heuristic that ``init="auto"`` means when no exact engine follows.
_DEFAULT_INIT = "cheap"

#: Options that may not be just any positive number.
_RANGES = {"p": (0.01, 0.99)}


@dataclass(slots=True)
class Run:
    """One call's settings, and the account that engines write of it.

    Attributes
    ----------
    workers : int
        Threads that an engine may use.
    seed : int
        Where its random choices start.
    options : mapping
        Options that differ from the defaults; an engine takes those that are its own.
    detailed : bool
        Whether time per kind of step and width per level are wanted.
    transposed : BipartiteCSR or None
        The transpose of the graph, once an engine has needed it.
    transposes_built : int
        How many there were, of the graph or of a renumbered copy of it.
    transpose_seconds : float
        Time they took to build.
    forced : object or None
        Pairs that are the same in every maximum matching of the square part; the back-end knows the
        type.
    renumbered : object or None
        The graph and its matching in a better numbering, if the engine made one; its back-end knows
        the type.
    warm : bool
        Whether the matching was not empty at the start.
    steps : list of StepInfo
        One entry for each engine that ran.
    """

    workers: int = 1
    seed: int = 0
    options: Mapping[str, bool | float] = field(default_factory=dict)
    detailed: bool = False
    transposed: BipartiteCSR | None = None
    transposes_built: int = 0
    transpose_seconds: float = 0.0
    forced: object | None = None
    renumbered: object | None = None
    warm: bool = False
    steps: list[StepInfo] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Engine(EngineInfo):
    """An engine that can be run: what is known about it, and its one function."""

    #: Of a matrix and a matching of it; of an approximate engine: of a `Graph`, an array of mates,
    #: all -1, and the run.
    improve: Callable[[Any, Any, Run], None] = field(repr=False, compare=False)


def _in_host_memory_only(*_: Any) -> Any:
    raise TypeError(
        "the matrix is on a GPU, but this is done in host memory only; A.get() copies it there"
    )


@dataclass(frozen=True, kw_only=True)
class Operations:
    """What a back-end does beside matching, each function in terms of the user's rows and columns.

    Those with a default are not done by every back-end.

    Attributes
    ----------
    wrong_pair
        The first thing wrong with a matching: (key of ``FLAWS``, row, column), or None.
    free_pair
        An entry whose row and column are both unmatched, or None: the matching is maximal.
    vertex_cover
        A cover as large as the matching, or None: there is an augmenting path.
    block_labels
        The group of every row; the matching must be maximum, and the run be the one that found it,
        or an empty one.
    hall_violators
        Pieces and violators of the vertical part, or of the horizontal one if the last argument is
        set; the matching must be maximum, and the run be the one that found it, or an empty one.
    connected_components
        Components of the graph.
    block_permutation
        The permutations of the block form, given the groups of the rows.
    order_by_label
        The stable order that sorts labels in ``range(n_labels)``, where each begins, and at last
        where all end.
    least_cost
        A maximum matching of least cost, given a finite cost for each entry, and its duals. No
        entry may be repeated.
    maximum_product
        The weighted transversal with the largest product; whether factors are wanted, and whether
        magnitudes are rounded.
    maximum_sum
        The weighted transversal with the largest sum.
    bottleneck
        The weighted transversal whose smallest magnitude is largest.
    is_optimal
        Whether the duals prove a weighted transversal optimal, given its tolerance; its matching
        must be maximum.
    block_plan
        What to factorise, given the columns of a square matrix, its block form, and flags of blocks
        not to be touched.
    survey
        The largest modulus and the 1-norm of a matrix by columns, given its values; not finite if
        one of them is not.
    equal
        Whether two arrays of indices are equal.
    is_canonical
        Whether index arrays are those of the columns of a square matrix, ascending without repeats.
    take
        The values at places that a plan has named.
    steady_diagonal
        Whether the pivots of a matrix, by columns and its values, are expected to stay on the
        diagonal.
    quick_analysis
        The block form of a matrix by columns, what its values are like and a plan, in one go. The
        third argument is what is known: a perfect matching, or the form. None if it is neither, and
        no matching is near at hand. No plan if the diagonal is poorer than the last argument
        allows.
    block_lu
        Room for a factorisation by a plan, of numbers like the ones given.
    validate_graph
        What one pass over a general graph tells.
    matched_weight
        The sum of the moduli of the edges of a matching of a general graph, each once; on a GPU, an
        array of shape ().
    wrong_mate
        The first vertex of a general graph whose mate is not matched with it, or -1.
    galerkin_product
        The aggregate of each vertex, and indptr, indices and values of the coarse matrix, given a
        square matrix by rows or by columns, its values, a matching of a general graph, and whether
        unmatched vertices join others.
    match_edges
        What `EdgeReport` has, given a file of edges, mates to be written, whether weights count,
        the folder of scratch files, the run, and a function that is told of progress.
    largest_vertex
        The largest number of a vertex in a file of edges, or -1.
    """

    wrong_pair: Callable[[BipartiteCSR, Matching], tuple[int, int, int] | None]
    free_pair: Callable[[BipartiteCSR, Matching], tuple[int, int] | None]
    vertex_cover: Callable[[BipartiteCSR, Matching], VertexCover | None]
    block_labels: Callable[[BipartiteCSR, Matching, Run], BlockLabels]
    connected_components: Callable[[BipartiteCSR], Components]
    block_permutation: Callable[[Matching, BlockLabels], BlockPermutation]
    order_by_label: Callable[[IndexArray, int], tuple[IndexArray, IndexArray]] = (
        _in_host_memory_only
    )
    hall_violators: Callable[[BipartiteCSR, Matching, Run, bool], HallViolators] = (
        _in_host_memory_only
    )
    least_cost: Callable[[BipartiteCSR, FloatArray], LeastCost] = _in_host_memory_only
    maximum_product: Callable[[WeightedCSR, bool, bool], WeightedTransversal] = _in_host_memory_only
    maximum_sum: Callable[[WeightedCSR], WeightedTransversal] = _in_host_memory_only
    bottleneck: Callable[[WeightedCSR], WeightedTransversal] = _in_host_memory_only
    is_optimal: Callable[[WeightedCSR, WeightedTransversal, float | None], bool] = (
        _in_host_memory_only
    )
    block_plan: Callable[
        [BipartiteCSR, IndexArray, IndexArray, IndexArray, BoolArray], BlockPlan
    ] = _in_host_memory_only
    survey: Callable[[BipartiteCSR, NDArray[Any]], tuple[float, float]] = _in_host_memory_only
    equal: Callable[[IndexArray, IndexArray], bool] = _in_host_memory_only
    is_canonical: Callable[[IndexArray, IndexArray], bool] = _in_host_memory_only
    take: Callable[[NDArray[Any], IndexArray], NDArray[Any]] = _in_host_memory_only
    steady_diagonal: Callable[[IndexArray, IndexArray, NDArray[Any]], bool] = _in_host_memory_only
    quick_analysis: Callable[..., Any] = _in_host_memory_only
    block_lu: Callable[[BlockPlan, NDArray[Any]], BlockLU] = _in_host_memory_only
    validate_graph: Callable[[Graph, Run], GraphProperties] = _in_host_memory_only
    matched_weight: Callable[[Graph, IndexArray], Any] = _in_host_memory_only
    wrong_mate: Callable[[IndexArray], int] = _in_host_memory_only
    galerkin_product: Callable[
        [BipartiteCSR, NDArray[Any], IndexArray, bool, Run], tuple[Any, Any, Any, Any]
    ] = _in_host_memory_only
    match_edges: Callable[[EdgeFile, IndexArray, bool, str, Run, Any], EdgeReport] = (
        _in_host_memory_only
    )
    largest_vertex: Callable[[EdgeFile, Any], int] = _in_host_memory_only


_engines: dict[tuple[str, str, str], Engine] = {}
_operations: dict[str, Operations] = {}


def register(engine: Engine) -> None:
    """Add an engine to the table."""
    key = engine.backend, engine.kind, engine.name
    if key in _engines:
        raise ValueError(
            f"an engine {engine.name!r} ({engine.kind}, {engine.backend!r}) is registered already"
        )
    _engines[key] = engine


def register_operations(backend: str, operations: Operations) -> None:
    """Say what a back-end offers beside matching."""
    _operations[backend] = operations


def engines(backend: str | None = None, kind: str | None = None) -> tuple[Engine, ...]:
    """Return the registered engines, back-end by back-end, of one back-end and of one kind if these are given."""
    backends = tuple(_MODULES) if backend is None else (backend,)
    for name in backends:
        _load(name)
    return tuple(
        e for b in backends for e in _engines.values() if e.backend == b and kind in (None, e.kind)
    )


def operations(backend: str) -> Operations:
    """Return what a back-end offers beside matching."""
    _load(backend)
    return _operations[backend]


def select(
    name: str, backend: str, kind: str, *, argument: str, also: tuple[str, ...] = ()
) -> Engine:
    """Look up an engine.

    Raises
    ------
    TypeError, ValueError
        If there is none, naming the `argument` and the choices: those of this kind, and what `also`
        is understood.
    """
    _load(backend)
    engine = _engines.get((backend, kind, name)) if isinstance(name, str) else None
    if engine is None:
        raise unknown_choice(argument, name, (*also, *(e.name for e in engines(backend, kind))))
    return engine


def plan(
    backend: str, method: str = "auto", init: str = "auto"
) -> tuple[Engine | None, Engine | None]:
    """Choose the heuristic and the exact engine of a call; None stands for ``"none"``."""
    exact = None
    if method != "none":
        exact = select(method, backend, "exact", argument="method", also=("auto", "none"))
    if init == "auto":
        init = exact.default_init if exact else _DEFAULT_INIT
    if init == "none":
        return None, exact
    return select(init, backend, "heuristic", argument="init", also=("auto", "none")), exact


def read_options(
    options: Mapping[str, Any] | None, *chosen: Engine | None
) -> Mapping[str, bool | float]:
    """Check the user's options against those of the engines that were chosen.

    Raises
    ------
    TypeError, ValueError
        If none of them has an option of this name, or its value is of another kind than the
        default.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise wrong_type("options", options, "a dict")
    known: dict[str, bool | float] = {}
    for engine in chosen:
        known.update(engine.options if engine else {})
    return {name: _read_option(name, value, known) for name, value in options.items()}


def _read_option(name: str, value: Any, known: Mapping[str, bool | float]) -> bool | float:
    label = f"options[{name!r}]"
    if not known:
        raise ValueError(f"{label} is given, but the engines of this call have no options")
    if not isinstance(name, str) or name not in known:
        raise unknown_choice("a key of options", name, known)
    if isinstance(known[name], bool):
        if not isinstance(value, bool | np.bool_):
            raise wrong_type(label, value, "True or False")
        return bool(value)
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise wrong_type(label, value, "a number")
    if not (number := float(value)) > 0 or math.isinf(number):
        raise ValueError(f"{label} is {value}, but must be positive and finite")
    if name in _RANGES and not _RANGES[name][0] <= number <= _RANGES[name][1]:
        low, high = _RANGES[name]
        raise ValueError(f"{label} is {value}, but must be between {low} and {high}")
    return number


@functools.cache
def _load(backend: str) -> None:
    for module in _MODULES[backend]:
        importlib.import_module(module)
