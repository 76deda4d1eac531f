"""APFB and APsB: breadth-first search from all free majors at once, level by level, and flipping of the paths."""

from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.matching import ms_bfs
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import IndexArray, namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Breadth-first search from all free rows, in lockstep; all paths of a phase at once (APFB, APsB)."
OPTIONS: dict[str, bool | float] = {"stop_early": False, "roots": True, "constant_threads": True}

#: As in frontier.cuh: entries in a chunk of a long list, counts in a tally, where the account
#: begins.
HUB, TALLY, STATS = 128, 3, 25
NEXT, ENDS = 0, 1

#: Entries of a frontier, without roots threads' work, that are left to one block.
ALONE = 256
#: Entries per block up to which a frontier is narrow, and levels after which all blocks share it
#: anew.
NARROW, STAY = 256, 64
#: Of the kernel without roots that stays on the device: threads of a block, blocks of a processor.
THREADS, BLOCKS = 512, 1
_INT_MAX = 2**31 - 1

_PLANT, _ROOTS, _LEVEL, _SETTLE, _FLIP = range(5)


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum: in one launch with roots, as in ms_bfs.cu; else by ``Search``."""
    begin = perf_counter()
    constant_threads, roots, stop_early = (
        bool(run.options.get(key, OPTIONS[key]))
        for key in ("constant_threads", "roots", "stop_early")
    )
    if constant_threads and roots:
        limits = {
            "narrow": NARROW,
            "stay": STAY,
            "patience": int(not stop_early),
            "graft": _INT_MAX,
            "alone": ALONE,
        }
        report = ms_bfs.search(graph, matching, run, LOCKSTEP=1, **limits)
        cardinality = matching.cardinality if run.detailed else 0
        ms_bfs.account("apfb", report, begin, run, cardinality)
        return
    search = Search(graph, matching, run)
    if constant_threads:
        phases, levels, found = search.in_one_launch(run.detailed)
    else:
        phases, levels, found = search.by_launches()
    cardinality = matching.cardinality if run.detailed else 0
    run.steps.append(
        StepInfo(
            "apfb",
            perf_counter() - begin,
            phases,
            levels,
            augmentations=found,
            cardinality=cardinality,
        )
    )


def share(entries: int, vertices: int) -> int:
    """Return how many threads read a list, as a power of two: one for every four entries of the mean list."""
    mean = entries // max(vertices, 1)
    return min(max(-(-mean // 4) - 1, 0).bit_length(), 3)


class Search:
    """What the kernels work on, and the order of their launches."""

    def __init__(self, graph: BipartiteCSR, matching: Matching, run: Run) -> None:
        xp, index = namespace(graph.indptr), graph.dtype.type
        n_major, n_minor, entries = graph.n_major, graph.n_minor, graph.indices.size
        self._index, self._n_major = index, n_major
        self._kernels = compile.load("matching/apfb", graph.dtype, THREADS=THREADS, BLOCKS=BLOCKS)
        self._stop_early = bool(run.options.get("stop_early", OPTIONS["stop_early"]))
        self._roots = bool(run.options.get("roots", OPTIONS["roots"]))
        self._shift = share(entries, n_major)
        self._tallies: IndexArray = xp.zeros(STATS + 3, graph.dtype)
        self._barrier: Any = xp.zeros(2, np.int32)
        self._common = (
            index(n_major),
            index(n_minor),
            graph.indptr,
            graph.indices,
            *graph.orient(matching.row_mate, matching.col_mate),
            xp.empty(5 * n_major + 3 * n_minor + 4 * (entries // HUB + 1), graph.dtype),
            xp.empty((n_major >> 5) + (n_minor >> 5) + 2, np.uint32),
            self._tallies,
            np.bool_(self._roots),
            np.uint32(run.seed & 0xFFFFFFFF),
            np.int32(max(n_major - 1, 0).bit_length()),
        )

    def in_one_launch(self, detailed: bool) -> tuple[int, int, int]:
        """Run all phases, and return how many, their levels and their paths if they are wanted.

        CT in the paper.
        """
        self._kernels.launch_resident(
            "apfb",
            *self._common,
            np.bool_(self._stop_early),
            np.int32(self._shift),
            self._index(ALONE >> self._shift),
            self._barrier,
            threads=THREADS,
            blocks_per_processor=BLOCKS,
        )
        return tuple(self._tallies[STATS:].tolist()) if detailed else (0, 0, 0)

    def by_launches(self) -> tuple[int, int, int]:
        """Run level by level, the host reading three numbers after each. MT in the paper."""
        phase = levels = found = self._turn = roots = 0
        while True:
            roots = self._step(_PLANT, phase, roots, items=self._n_major)[NEXT]
            n, tail, ends = roots, 0, 0
            while n and not (ends and self._stop_early):
                reached = self._step(_LEVEL if tail else _ROOTS, phase, n, tail, ends)
                n, tail, ends, levels = (
                    reached[NEXT],
                    tail + reached[NEXT],
                    ends + reached[ENDS],
                    levels + 1,
                )
            phase += 1
            if not ends:
                return phase, levels, found
            if not self._roots:
                ends = self._step(_SETTLE, phase, ends)[NEXT]
            self._step(_FLIP, phase, ends)
            found += ends

    def _step(
        self, which: int, phase: int, n: int, tail: int = 0, ends: int = 0, *, items: int = 0
    ) -> list[int]:
        """Launch one step with a thread for each of n vertices, or of `items`, and read what it counted."""
        turn, index = self._turn, self._index
        state = (
            np.int32(which),
            index(phase),
            np.int32(turn % 3),
            index(n),
            index(tail),
            index(ends),
        )
        self._kernels.launch("step", max(n, items), *self._common, *state)
        self._turn += 1
        at = turn % 3 * TALLY
        return self._tallies[at : at + TALLY].tolist()
