"""The table of engines, and the choice of the two that a call runs.

An engine is one function, ``improve(graph, matching, run, before)``: it writes the two mate arrays
of the matching and nothing else. A heuristic makes a matching maximal, an exact engine makes it
maximum; an approximate one matches a general graph, ``improve(graph, mate, run)``, where both sides
are the same vertices. A package of a back-end registers its engines, and the operations that it
offers beside matching (`operations.py`), when it is imported: on the first call that needs them.
"""

import enum
import functools
import importlib
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from sparsematch._base.arrays import advising
from sparsematch._base.errors import unknown_choice, wrong_type
from sparsematch._engines.operations import Operations
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.run_info import EngineInfo, StepInfo

_LOGGER = logging.getLogger("sparsematch")

_SHARED = "core", "matching", "decomposition", "weighted", "graph", "coarsening"

#: The folder of each back-end, and the packages in it that register what it offers.
_FOLDERS = {
    "numpy": ("cpu", (*_SHARED, "graph.part", "stream", "lu", "qr", ".reference")),
    "cupy": ("cuda", _SHARED),
    "mpi": ("mpi", _SHARED),
    "nccl": ("nccl", ("core", "matching", "graph")),
}

BACKENDS = tuple(_FOLDERS)
_ON_GPUS = "cupy", "nccl"

#: The package that registers the engines of each kind.
_PACKAGES = {"exact": "matching", "heuristic": "matching", "approximate": "graph"}

#: The heuristic that ``init="auto"`` means when no exact engine follows.
_DEFAULT_INIT = "cheap"

#: Options of engines, by name, and the least and the largest value of those that are numbers.
Options = Mapping[str, bool | float]
Ranges = Mapping[str, tuple[float, float]]

_Ops = TypeVar("_Ops", bound=Operations)
_Result = TypeVar("_Result")


class Matched(enum.IntEnum):
    """What may be matched when a step begins; a step of `auto` states the most that it takes."""

    NOTHING = 0
    #: What steps of the same call have matched: another may replace it.
    REPLACEABLE = 1
    #: A matching that the caller has given: no step replaces it.
    GIVEN = 2


def steps_are_logged() -> bool:
    """Tell whether the accounts of all runs are."""
    return _LOGGER.isEnabledFor(logging.DEBUG)


class Steps(list[StepInfo]):
    """The account of a run; each step is logged, too."""

    def append(self, step: StepInfo) -> None:
        """Add a step that has ended."""
        super().append(step)
        if steps_are_logged():
            took = step.engine, step.cardinality, 1e3 * step.seconds, step.reason or "chosen"
            _LOGGER.debug("%s: %d pairs, %.3f ms; %s", *took)

    def amend_last(self, **fields: Any) -> None:
        """Replace fields of the step that has ended last."""
        self[-1] = self[-1]._replace(**fields)


@dataclass(slots=True)
class Run:
    """One call's settings, and the account that engines write of it."""

    workers: int = 1  #: Threads that an engine may use.
    seed: int = 0  #: Where its random choices start.
    #: Options that differ from the defaults; an engine takes those that are its own.
    options: Options = field(default_factory=dict)
    detailed: bool = False  #: Whether time per kind of step and width per level are wanted.
    #: How many were built: none or one, but for engines that transpose for themselves.
    transposes_built: int = 0
    transpose_seconds: float = 0.0  #: Time they took to build.
    warm: bool = False  #: Whether a matching was given.
    handed_over: bool = False  #: Whether `MatchingOps.match_small` has left it to the engines.
    for_blocks: bool = False  #: Whether forced pairs are wanted, as a decomposition follows.
    steps: Steps = field(default_factory=Steps)  #: One entry for each engine that ran.

    @property
    def matched(self) -> Matched:
        """What may be matched by now."""
        if self.warm:
            return Matched.GIVEN
        return Matched.REPLACEABLE if self.steps else Matched.NOTHING

    @contextmanager
    def step(self, name: str, **counts: Any) -> Iterator[dict[str, Any]]:
        """Time a step and report it, with the fields of `StepInfo` that are left in the dict."""
        # Not counting transposing, and steps within it.
        begin, before = perf_counter() - self.transpose_seconds, len(self.steps)
        yield counts
        within = self.transpose_seconds + sum(step.seconds for step in self.steps[before:])
        self.steps.append(StepInfo(name, perf_counter() - begin - within, **counts))

    def stage(self, name: str, seconds: float) -> None:
        """Report a stage of which only the time is known; transposing is counted by itself."""
        if name == "transpose":
            self.transposes_built += 1
            self.transpose_seconds += seconds
        else:
            self.steps.append(StepInfo(name, seconds))

    def timed(self, name: str, call: Callable[..., _Result], *given: Any) -> _Result:
        """Return what a call returns, which is a step if details are wanted."""
        if not self.detailed:
            return call(*given)
        with self.step(name):
            return call(*given)

    def include(self, part: "Run") -> None:
        """Add the account of a run that was a part of this one."""
        self.steps += part.steps
        self.transposes_built += part.transposes_built
        self.transpose_seconds += part.transpose_seconds


@dataclass(kw_only=True, slots=True)
class ByProducts:
    """What a step knows when it is done, beside the matching: each back-end adds its own.

    The next step takes them over: it may write to them, and returns them.
    """

    #: The transpose of the graph, once a step has needed it.
    transposed: BipartiteCSR | None = None
    #: Finished rows and columns, of the compressed dimension first: no search for augmenting paths
    #: needs to enter them, as some maximum matching that contains the one at hand has no other
    #: pairs there. Flags in host memory, bit sets on a GPU.
    finished: tuple[Any, Any] | None = None
    #: Upper bound of the pairs of any matching, where a heuristic has found one.
    most_pairs: int | None = None


@dataclass(frozen=True, kw_only=True)
class Engine(EngineInfo):
    """An engine that can be run: what is known about it, and its one function.

    Every run of an engine appends a `StepInfo` to ``run.steps``, if that is read, with ``engine``,
    ``seconds`` and ``cardinality``. In host memory an engine also reports ``edges`` (more than 0
    unless there was nothing to do); an exact one ``phases`` and ``augmentations``, one for each
    pair that it adds, and, if it follows paths, ``path_edges``; ``levels`` if it searches breadth
    first. A C++ engine writes phases, levels, augmentations and path_edges to ``run.stats`` and
    counts edges by a `WorkCounter`; the rest is added for it. ``"auto"`` has no step of its own.
    """

    #: Of options that are numbers, the least and the largest value; of others, any positive one.
    ranges: Ranges = field(default_factory=dict, repr=False)
    #: Of a matrix, a matching of it, the run, and the last step's by-products, or None; it returns
    #: those for the next step, the last's are for the block form. Of an approximate engine: of a
    #: `Graph`, an array of mates, all -1, and the run. If ``transpose`` is ``"required"`` every run
    #: reads the transpose, and ``info.transposes_built`` is 1; ``"optional"``: only on some
    #: matrices; ``"unused"``: never. It is built when first needed, and is then a by-product.
    improve: Callable[..., ByProducts | None] = field(repr=False, compare=False)


#: The heuristic and the exact engine of a call; None stands for ``"none"``.
Chosen = tuple[Engine | None, Engine | None]

_engines: dict[tuple[str, str, str], Engine] = {}
_operations: dict[tuple[type, str], Any] = {}


def register(engine: Engine) -> None:
    """Add an engine to the table."""
    key = engine.backend, engine.kind, engine.name
    if key in _engines:
        raise ValueError(
            f"an engine {engine.name!r} ({engine.kind}, {engine.backend!r}) is registered already"
        )
    _engines[key] = engine


def register_module(name: str, kind: str, backend: str, module: ModuleType, **others: Any) -> None:
    """Register the engine of a module with SUMMARY, `improve` and perhaps OPTIONS."""
    # `others` are the other fields of `Engine`. On GPUs it says more where memory does not suffice.
    improve = advising(module.improve) if backend in _ON_GPUS else module.improve
    others |= {"options": getattr(module, "OPTIONS", {}), "summary": module.SUMMARY}
    register(Engine(name=name, kind=kind, backend=backend, improve=improve, **others))


def register_operations(
    backend: str, concept: type[Operations], *places: Mapping[str, Any]
) -> None:
    """Say what a back-end offers of a concept: functions that have the names of operations."""
    # `places` are namespaces of modules, of which those count that are defined there, or dicts. On
    # GPUs functions say more where memory does not suffice.
    offered = {}
    for place in places:
        for name in concept.__annotations__.keys() & place.keys():
            function = place[name]
            if function.__module__ == place.get("__name__", function.__module__):
                offered[name] = advising(function) if backend in _ON_GPUS else function
    _operations[concept, backend] = concept(**offered)


def engines(backend: str | None = None, kind: str | None = None) -> tuple[Engine, ...]:
    """Return the registered engines by back-end; only those of the given back-end and kind."""
    backends = BACKENDS if backend is None else (backend,)
    for name in backends:
        _load(name)
    return tuple(
        e for b in backends for e in _engines.values() if e.backend == b and kind in (None, e.kind)
    )


def operations(concept: type[_Ops], backend: str) -> _Ops:
    """Return what a back-end offers of a concept: one of the classes of the module `operations`."""
    if (offered := _operations.get((concept, backend))) is None:
        _load(backend, concept.package)
        if (concept, backend) not in _operations:
            _load(backend)
        offered = _operations.get((concept, backend)) or concept()
    return offered


def select(name: str, backend: str, kind: str, *, also: tuple[str, ...] = ()) -> Engine:
    """Look up an engine; errors name the choices, and what `also` is understood."""
    place = backend, kind, name if isinstance(name, str) else ""
    if place not in _engines:
        _load(backend, _PACKAGES[kind])
    if place not in _engines:
        known = [e.name for e in engines(backend, kind)]
        if place not in _engines:
            argument = "init" if kind == "heuristic" else "method"
            raise unknown_choice(argument, name, (*also, *known))
    return _engines[place]


def match_alone(graph: Any, matching: Any, run: Run, **settings: Any) -> Run:
    """Make a matching maximum by `auto` of where it is; return the run, which has its account."""
    alone = Run(run.workers, run.seed, **settings)
    select("auto", graph.backend, "exact").improve(graph, matching, alone)
    return alone


def plan(backend: str, method: str = "auto", init: str = "auto") -> Chosen:
    """Choose the engines of a call."""
    exact = _select_or_none(method, backend, "exact")
    if init == "auto":
        init = exact.default_init if exact else _DEFAULT_INIT
    return _select_or_none(init, backend, "heuristic"), exact


def plan_exact(backend: str, method: str) -> tuple[Engine | None, Engine]:
    """Choose the engines of a call that needs a maximum matching."""
    exact = select(method, backend, "exact")
    return _select_or_none(exact.default_init, backend, "heuristic"), exact


def _select_or_none(name: str, backend: str, kind: str) -> Engine | None:
    return None if name == "none" else select(name, backend, kind, also=("auto", "none"))


def read_options(options: Mapping[str, Any] | None, *chosen: Engine | None) -> Options:
    """Check the user's options against those of the chosen engines; TypeError or ValueError."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise wrong_type("options", options, "a dict")
    used = [engine for engine in chosen if engine]
    known = {name: default for engine in used for name, default in engine.options.items()}
    ranges = {name: both for engine in used for name, both in engine.ranges.items()}
    return {name: _read_option(name, value, known, ranges) for name, value in options.items()}


def _read_option(name: str, value: Any, known: Options, ranges: Ranges) -> bool | float:
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
    low, high = ranges.get(name, (0, math.inf))
    if not low <= number <= high:
        raise ValueError(f"{label} is {value}, but must be between {low} and {high}")
    return number


@functools.cache
def _load(backend: str, package: str = "") -> None:
    """Import a package of a back-end; all of them if it has none of this name."""
    folder, packages = _FOLDERS[backend]
    for each in (package,) if package in packages else packages:
        importlib.import_module(f".{each}", f"sparsematch._engines.{folder}")
