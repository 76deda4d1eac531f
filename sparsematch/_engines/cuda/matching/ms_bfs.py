"""Breadth-first search from all free rows at once, in one kernel, until no path is left.

The blocks of `search` are all resident and wait for each other by themselves, so that a level costs
no launch and no transfer.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import Before, DeviceByProducts
from sparsematch._engines.cuda.core.device import INT_MAX, bit_set, seed_of, start_copy
from sparsematch._engines.cuda.matching.features import LINKED, features
from sparsematch._engines.cuda.matching.start_common import STRETCH, stretch_bits
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "Multi-source breadth-first search with disjoint trees; one resident kernel."

#: Entries of a long list that make an entry of the frontier; entries of its own frontier that are
#: not too many for a block. No figures were kept.
PART, ROOM = 128, 128

#: Defaults of the fields of Limits in ms_bfs.cuh, which defines them and their units.
LIMITS = {"narrow": 640, "stay": 32, "depth_eighths": 16, "graft": 100, "alone": 0}
LIMITS |= {"wide": INT_MAX, "allowance": INT_MAX, "own_levels": 0, "left": 0}

Given: TypeAlias = tuple[BipartiteCSR, Matching, Run, Before]  #: What engines get.

#: Levels of a first phase in which trees look for the columns of their roots, where both are free
#: together: most of these are as near as a triangle.
OWN_LEVELS = 4


def improve(graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None) -> Before:
    """Make the matching maximum."""
    # Reads: the graph. Writes: both mates. Workspace: 2 indices for each column, 3 and its slots
    # for each row, 2 more for each free row.
    with run.step("ms_bfs") as counts:
        counts |= account(search((graph, matching, run, before)), run)
    return before


def account(report: Callable[[], Any], run: Run) -> dict[str, int]:
    """Return what the kernels did, if details are wanted."""
    if not run.detailed:
        return {}
    done = report()  # waits
    counts = {key: int(done[key]) for key in ("phases", "levels")}
    return counts | {"augmentations": int(done["found"])}


def load(dtype: np.dtype[Any], macros: dict[str, int]) -> tuple[compile.Kernels, compile.Kernels]:
    """Return the kernels of the search of lists of a `shape`, and those of its setup."""
    search = compile.load("matching/ms_bfs", dtype, **macros)
    return search, compile.load("matching/ms_bfs_setup", dtype, **_of_slots(macros))


def _of_slots(macros: dict[str, int]) -> dict[str, int]:
    """Return the macros of the setup."""
    return {key: macros[key] for key in ("WIDTH", "LANES", "LINKED")} | {"STRETCH": STRETCH}


def shape(graph: BipartiteCSR) -> dict[str, int]:
    """Return the macros that suit lists of this length."""
    # Short lists stand in slots, where a row is found without its bounds.
    mean = graph.indices.size / max(graph.n_major, 1)
    width = 4 if mean <= 3 else 8 if mean <= 8 else 16 if mean <= 15 else 0
    if width and graph.n_major + graph.indices.size // (width - 2) >= np.iinfo(graph.dtype).max - 8:
        width = 0  # no numbers left for the rows of slots
    return _macros(graph.dtype, width, width or (32 if mean >= 32 else 8))


def in_place(dtype: np.dtype[Any]) -> dict[str, int]:
    """Return the macros of lists that do not stand in slots."""
    return _macros(dtype, 0, 8)


def shapes(dtype: np.dtype[Any]) -> list[dict[str, int]]:
    """Return the macros of all lists."""
    return [_macros(dtype, *pair) for pair in ((8, 8), (4, 4), (16, 16), (0, 8), (0, 32))]


def _macros(dtype: np.dtype[Any], width: int, lanes: int) -> dict[str, int]:
    """Return the macros for rows of `width` slots, and `lanes` threads for a list."""
    # Two small blocks on a processor hide each other's waits; a long list needs a large one.
    small = width in (4, 8) or dtype.itemsize == 8
    macros = {"LOCKSTEP": 0, "WIDTH": width, "LANES": lanes, "UNROLL": 2}
    macros |= {"PART": PART, "ROOM": ROOM, "LINKED": LINKED, "THREADS": 512 if small else 1024}
    return macros | {"BLOCKS": 2 if small and dtype.itemsize == 4 else 1}


compile.declared["matching/ms_bfs"] = lambda dtype: [
    macros | {"LOCKSTEP": lockstep} for macros in shapes(dtype) for lockstep in (0, 1)
]
compile.declared["matching/ms_bfs_setup"] = lambda dtype: map(_of_slots, shapes(dtype))


def search(
    given: Given, limits: dict[str, int] | None = None, linked: int | None = None, **macros: int
) -> Callable[[], Any]:
    """Run the kernels; return what reads their control."""
    # `linked` is what `features` counts, if known. If slots do not fit, lists are read in place.
    graph, lockstep = given[0], macros
    macros = shape(graph) | macros
    try:
        if linked is None:
            linked = features(graph, macros["WIDTH"]).linked if macros["WIDTH"] else 0
        return Search(given, macros, linked).start(limits or {})
    except MemoryError:
        if not macros["WIDTH"]:
            raise
    macros = in_place(graph.dtype) | lockstep  # slower, in half the memory
    return Search(given, macros, 0).start(limits or {})


class Search:
    """What the kernels work on, and their launches."""

    # The host learns how many rows are free while the slots are written; without these there is
    # room for all. Workspace: 2 indices for each column, 3 for each row and linked row and a few
    # for long lists, 2 for each root, and the slots.
    def __init__(self, given: Given, macros: dict[str, int], linked: int) -> None:
        self._graph, matching, self._run, before = given
        self._before, self._macros, graph = before or DeviceByProducts(), macros, self._graph
        self._mates = graph.orient(matching.row_mate, matching.col_mate)
        self._kernels, self._setup = load(graph.dtype, macros)
        xp, dtype, index = namespace(graph.indptr), graph.dtype, graph.dtype.type
        n_rows, n_cols = graph.n_major, graph.n_minor
        self._control = self._kernels.zeros(xp, "Control")
        rows, columns = self._before.finished or (None, None)
        self._finished = self._setup.struct("Finished", rows=rows, columns=columns)
        sizes = index(n_rows), index(n_cols), self._finished
        arrays = graph.indptr, *self._mates, self._control
        self._setup.launch("count_free", -(-max(n_rows, n_cols) // 8), *sizes, *arrays)
        self._free = start_copy(self._control) if macros["WIDTH"] else None
        entries = n_rows + linked + graph.indices.size // macros["PART"] + 1
        self._lists: dict[str, Any] = {
            "slots": self._slots(linked) if macros["WIDTH"] else None,
            "finished": columns,
            "visited": bit_set(xp, n_cols),
            "link": xp.empty(2 * n_cols, dtype),
            "queue": xp.empty(3 * entries, dtype),
        }
        self._barrier = xp.zeros(2, np.int32)

    def start(self, limits: dict[str, int]) -> Callable[[], Any]:
        """Launch the search, with room for the free rows; return what reads its control."""
        graph, macros, kernels, control = self._graph, self._macros, self._kernels, self._control
        n_roots, run, before = graph.n_major, self._run, self._before
        if self._free:
            free = kernels.record("Control", self._free())  # waits
            n_roots = int(free["free_rows"])
            if not min(n_roots, free["free_columns"]):
                return lambda: free
        if before.most_pairs is not None and not before.finished:  # all free columns are counted
            limits = limits | {"left": graph.n_minor - before.most_pairs}
        xp, dtype, index = namespace(graph.indptr), graph.dtype, graph.dtype.type
        # a little more than needed: what one call has given back then fits the next
        step = (graph.n_major >> 6) + 1
        roots, leaf = xp.empty((2, -(-n_roots // step) * step), dtype)
        order = index(graph.n_major), stretch_bits(graph.n_major), seed_of(run), self._finished
        arrays = graph.indptr, self._mates[0], roots, leaf, control
        self._setup.launch("collect", -(-graph.n_major // 8), *order, *arrays)
        fields = self._lists | {"roots": roots, "leaf": leaf, "control": control}
        state = kernels.struct("MsBfs", graph, Matching(*self._mates), **fields)
        own = before.free_together and not macros["LOCKSTEP"]
        if own:
            limits = limits | {"own_levels": OWN_LEVELS}
        if own or before.finished:
            visited = self._lists["visited"]
            given = self._finished, np.bool_(own), *self._mates, visited
            self._setup.launch("close_columns", visited.size, index(graph.n_minor), *given)
        how = {"threads": macros["THREADS"], "blocks_per_processor": macros["BLOCKS"]}
        fixed = state, kernels.struct("Limits", **(LIMITS | limits)), seed_of(run), self._barrier
        kernels.launch_resident("search", index(graph.n_minor), *fixed, **how)
        return functools.cache(lambda: kernels.read("Control", control))

    def _slots(self, linked: int) -> IndexArray:
        """Return the lists in rows of slots."""
        graph, width, index = self._graph, self._macros["WIDTH"], self._graph.dtype.type
        n_rows = graph.n_major
        slots = namespace(graph.indptr).empty((n_rows + linked) * width, graph.dtype)
        if linked:
            arrays = graph.indptr, slots, self._control
            self._setup.launch("link_rows", n_rows, index(n_rows), *arrays)
        arrays = graph.indptr, graph.indices, slots
        self._setup.launch("spread", n_rows * width // 4 + 1, index(n_rows), *arrays)
        return slots
