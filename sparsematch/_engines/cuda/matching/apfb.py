"""APFB and APsB: search from all free majors, all paths of a phase flipped. See apfb.cu."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import Before
from sparsematch._engines.cuda.core.device import INT_MAX, bit_set, index_bits, lane_shift, seed_of
from sparsematch._engines.cuda.core.layout import Struct
from sparsematch._engines.cuda.matching import ms_bfs
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = (
    "Breadth-first search from all free rows, in lockstep; all paths of a phase at once "
    "(APFB, APsB)."
)
OPTIONS: dict[str, bool | float] = {"stop_early": False, "roots": True, "constant_threads": True}

#: Entries in a chunk of a long list.
HUB = 128

#: Entries of a frontier up to which it is left to one block.
ALONE = 256
#: Entries per block up to which a frontier is narrow, and levels after which all share it again.
NARROW, STAY = 256, 64
#: Of the kernels that stay on the device, those of `push_relabel` included.
MACROS = {"HUB": HUB, "THREADS": compile.THREADS, "BLOCKS": 1}

_load = compile.declare("matching/apfb", **MACROS)

_PLANT, _ROOTS, _LEVEL, _SETTLE, _FLIP = range(5)


def improve(graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None) -> Before:
    """Make the matching maximum: in one launch with roots, as in ms_bfs.cu; else by ``Phases``."""
    given: dict[str, Any] = OPTIONS | dict(run.options)
    with run.step("apfb") as counts:
        if given["constant_threads"] and given["roots"]:
            limits = {"narrow": NARROW, "stay": STAY, "graft": INT_MAX, "alone": ALONE}
            limits["depth_eighths"] = int(not given["stop_early"])
            report = ms_bfs.search((graph, matching, run, before), limits, LOCKSTEP=1)
            counts |= ms_bfs.account(report, run)
        else:
            phases = Phases(graph, matching, run, given)
            one_launch = given["constant_threads"]
            done = phases.in_one_launch(run.detailed) if one_launch else phases.by_launches()
            counts |= zip(("phases", "levels", "augmentations"), done, strict=True)
        if run.detailed:
            counts["cardinality"] = matching.cardinality
    return before


def list_shift(entries: int, vertices: int) -> int:
    """Return how many threads read a list, as a power of two: one for every four entries."""
    return lane_shift(entries - vertices, vertices, each=4, most=3)


def forest(
    kernels: compile.Kernels, lists: BipartiteCSR, mates: IndexArray, run: Run, **fields: Any
) -> Struct:
    """Return the search of resident_bfs.cuh with its workspace; `mates` are those of minors."""
    xp, dtype = namespace(lists.indptr), lists.dtype
    fields |= {"lists": kernels.struct("Csr", lists), "mates": mates, "salt": seed_of(run)}
    fields |= {"seen": bit_set(xp, lists.n_minor), "queue": xp.empty(lists.n_major, dtype)}
    hubs = xp.empty(4 * (lists.indices.size // HUB + 1), dtype)
    return kernels.struct("Forest", hubs=hubs, **fields)


class Phases:
    """What the kernels work on, and the order of their launches."""

    def __init__(
        self, graph: BipartiteCSR, matching: Matching, run: Run, given: dict[str, Any]
    ) -> None:
        xp, dtype = namespace(graph.indptr), graph.dtype
        n_major, n_minor = graph.n_major, graph.n_minor
        self._n_major, self._turn, self._kernels = n_major, 0, _load(dtype)
        self._stop_early, self._roots = given["stop_early"], given["roots"]
        shift = list_shift(graph.indices.size, n_major)
        major_mate, minor_mate = graph.orient(matching.row_mate, matching.col_mate)
        self._control = self._kernels.zeros(xp, "Control")
        limits = {"shift": shift if given["constant_threads"] else 0, "alone": ALONE >> shift}
        search = forest(self._kernels, graph, minor_mate, run, control=self._control, **limits)
        root, leaf = xp.empty((2, n_major), dtype)
        fields: dict[str, Any] = {"forest": search, "major_mate": major_mate}
        fields |= {"minor_mate": minor_mate, "links": xp.empty(2 * n_minor, dtype), "root": root}
        fields |= {"leaf": leaf, "roots": xp.empty(2 * n_major, dtype)}
        fields |= {"ends": xp.empty(n_minor, dtype), "passed": bit_set(xp, n_major)}
        fields |= {"seed": seed_of(run), "shuffle_bits": index_bits(n_major)}
        fields |= {"with_roots": self._roots, "stop_early": self._stop_early}
        self._state = self._kernels.struct("Apfb", graph, **fields)

    def in_one_launch(self, detailed: bool) -> tuple[int, int, int]:
        """Run all phases (CT in the paper); return how many, their levels and paths if wanted."""
        barrier = namespace(self._control).zeros(2, np.int32)
        self._kernels.launch_resident("apfb", self._state, barrier)
        if not detailed:
            return 0, 0, 0
        done = self._kernels.read("Control", self._control)
        return int(done["phases"]), int(done["levels"]), int(done["found"])

    def by_launches(self) -> tuple[int, int, int]:
        """Run level by level, the host reading a tally after each. MT in the paper."""
        phase = levels = found = roots = 0
        while True:
            roots, _ = self._step(_PLANT, phase, roots, items=self._n_major)
            n, tail, ends = roots, 0, 0
            while n and not (ends and self._stop_early):
                n, met = self._step(_LEVEL if tail else _ROOTS, phase, n, tail, ends)
                tail, ends, levels = tail + n, ends + met, levels + 1
            phase += 1
            if not ends:
                return phase, levels, found
            if not self._roots:
                ends, _ = self._step(_SETTLE, phase, ends)
            self._step(_FLIP, phase, ends)
            found += ends

    def _step(
        self, kind: int, phase: int, n: int, tail: int = 0, ends: int = 0, *, items: int = 0
    ) -> tuple[int, int]:
        """Launch a step with a thread for each of n vertices, or of `items`; return its counts."""
        # They are the vertices of the next level, or on a list, and the ends met.
        turn, kernels = self._turn % 3, self._kernels
        step = kernels.struct("Step", kind=kind, turn=turn, phase=phase, n=n, tail=tail, ends=ends)
        kernels.launch("step", max(n, items), self._state, step)
        self._turn += 1
        tally = kernels.read("Control", self._control)["of_grid"][turn]
        return int(tally["next"]), int(tally["ends"])
