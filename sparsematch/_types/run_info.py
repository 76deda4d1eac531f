"""What is known about an engine, and what a run reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class EngineInfo:
    """One engine, as it is registered.

    Attributes
    ----------
    name : str
        What `method` (of an exact or approximate engine) or `init` (of a heuristic) is set to.
    kind : {"exact", "heuristic", "approximate"}
        An exact engine makes any matching maximum, a heuristic makes it maximal. An approximate one
        makes a maximal matching of a general graph.
    backend : str
        Where its matrices live: ``"numpy"`` for host memory, ``"cupy"`` for a GPU, ``"mpi"`` for
        the ranks of a communicator, ``"nccl"`` for the GPUs of such ranks.
    summary : str
        What it does, in one line.
    options : dict
        Its options and their defaults.
    default_init : str
        The heuristic that goes first when `init` is ``"auto"``, or ``"none"``.
    transpose : {"unused", "optional", "required"}
        Whether it reads the matrix by columns as well as by rows; ``"optional"``: on some matrices.
    multithreaded : bool
        Whether more than one worker makes a difference.
    guarantee : float or None
        The share of the greatest weight that an approximate engine's matchings have at least; 0.0:
        none is promised. None for exact engines and heuristics, which know no weights.
    """

    name: str
    kind: str
    backend: str
    summary: str
    options: Mapping[str, bool | float] = field(default_factory=dict)
    default_init: str = "none"
    transpose: str = "unused"
    multithreaded: bool = False
    guarantee: float | None = 0.0

    def __post_init__(self) -> None:
        if self.kind != "approximate":
            object.__setattr__(self, "guarantee", None)


class EngineList(tuple[EngineInfo, ...]):
    """A tuple of engines that is shown as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        many = {True: "many", False: "1"}
        rows = [[e.name, e.kind, e.backend, many[e.multithreaded], e.summary] for e in self]
        return table(["name", "kind", "backend", "workers", "summary"], rows)


class StepInfo(NamedTuple):
    """What one engine did within a run.

    Attributes
    ----------
    engine : str
        Its name, or that of a stage, of which the time is all that is known.
    seconds : float
        Time it took, transposing excluded. On a GPU that of the host, which waits where it must.
    phases : int
        Rounds of searching and augmenting; for an engine that searches from one vertex at a time,
        the searches.
    levels : int
        Breadth-first levels in all phases.
    edges : int
        Entries scanned; 0 from an engine on a GPU that does not count them.
    augmentations, path_edges : int
        Augmenting paths applied, and their total length, in entries.
    cardinality : int
        Pairs in the matching afterwards.
    exhausted : bool
        Whether it stopped early, having used up its allowance of edges.
    seconds_by_step : dict
        Time per kind of step, as the engine names them; empty unless details were asked for,
        and on a GPU.
    frontier : tuple of int
        Vertices per level; empty unless details were asked for.
    matched, live_edges : tuple of int
        Of an approximate engine that works in rounds: vertices matched by the end of each, edges
        with both ends free at its beginning; empty unless details were asked for.
    failed_edges : int
        Of an engine that searches from one vertex at a time: how many of the entries were scanned
        by searches that found no path.
    copied_bytes : int
        Bytes copied between a GPU and the host, both ways, by the step ``"host_fallback"``; else 0.
    reason : str
        Why it was chosen, if ``"auto"`` chose it; else empty.
    rounds, bytes_sent : int
        Of an engine on several ranks: exchanges of arrays between all of them, and the bytes that
        ranks have sent to others, all together.
    carrier : str
        Of an engine on several GPUs, what has carried them: ``"NCCL"``, or ``"MPI"``, through host
        memory; else empty.
    """

    engine: str
    seconds: float
    phases: int = 0
    levels: int = 0
    edges: int = 0
    augmentations: int = 0
    path_edges: int = 0
    cardinality: int = 0
    exhausted: bool = False
    seconds_by_step: Mapping[str, float] = {}
    frontier: tuple[int, ...] = ()
    matched: tuple[int, ...] = ()
    live_edges: tuple[int, ...] = ()
    failed_edges: int = 0
    copied_bytes: int = 0
    reason: str = ""
    rounds: int = 0
    bytes_sent: int = 0
    carrier: str = ""


class RunInfo(NamedTuple):
    """How a result was found; shown as a table of its steps.

    Attributes
    ----------
    method : str
        The exact or approximate engine, or ``"none"``; of weights, what is optimised.
    init : str
        The heuristic that went first, or ``"none"``.
    steps : tuple of StepInfo
        What ran, in order. An engine that runs others, as ``"auto"`` does, has one entry for each.
    cardinality : int
        Pairs in the matching.
    workers : int
        Threads that were allowed.
    transposes_built : int
        How often the matrix was transposed.
    transpose_seconds : float
        Time that took.
    """

    method: str
    init: str
    steps: tuple[StepInfo, ...]
    cardinality: int
    workers: int
    transposes_built: int
    transpose_seconds: float

    @property
    def seconds(self) -> float:
        """Time of all steps, without that of transposing."""
        return sum(step.seconds for step in self.steps)

    def __repr__(self) -> str:
        workers = "1 worker" if self.workers == 1 else f"{self.workers} workers"
        digits = 1 if self.seconds > 0.01 else 3
        head = (
            f"RunInfo: {self.cardinality:,} pairs by method {self.method!r}, init {self.init!r}, "
            f"{workers}, {self.seconds * 1e3:,.{digits}f} ms"
        )
        if self.transposes_built:
            head += f" and {self.transpose_seconds * 1e3:,.{digits}f} ms for transposing"
        rows = []
        for step in self.steps:
            ms, counts = step.seconds * 1e3, (step.phases, step.edges, step.cardinality)
            numbers = (f"{n:,}" if n else "" for n in (*counts, step.rounds))
            sent = f"{step.bytes_sent / 1e6:,.1f}" if step.rounds else ""
            rows.append([f"  {step.engine}", f"{ms:,.{digits}f}", *numbers, sent, step.reason])
        heads = "  engine", "ms", "phases", "edges", "pairs", "exchanges", "MB sent", "reason"
        columns = [(h, *column) for h, *column in zip(heads, *rows, strict=True) if any(column)]
        if not columns:
            return head
        (first, *rest), right = zip(*columns, strict=True), [h != "reason" for h, *_ in columns]
        return f"{head}\n{table(first, rest, [k for k in range(1, len(right)) if right[k]])}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Align cells in columns, those numbered in `right` at their right."""
    columns = enumerate(zip(heads, *rows, strict=True))
    cells = [f"{'>' if k in right else '<'}{max(map(len, column))}" for k, column in columns]
    return "\n".join("  ".join(map(format, row, cells)).rstrip() for row in (heads, *rows))
