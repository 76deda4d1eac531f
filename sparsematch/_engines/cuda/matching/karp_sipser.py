"""Karp-Sipser start: vertices of degree one first, then picks. See karp_sipser.cu."""

from time import perf_counter
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import bit_set, index_bits, seed_of
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching import cheap
from sparsematch._engines.cuda.matching.features import is_symmetric
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import namespace
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Vertices of degree one first, then the free neighbour of least degree for each vertex."
OPTIONS: dict[str, bool | float] = {"degree_one_only": False}

#: As in karp_sipser.cu: entries above which a list is left to a whole block.
LONG = 1024

#: Passes over the vertices: those with up to so many free neighbours; the last one is for all.
ONE, FEW, ALL = (1, 1), (2,), (2**31 - 1,)


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximal.

    With `degree_one_only`, add only pairs that some maximum matching contains. Reads: the graph;
    its transpose, unless the pattern is symmetric. Writes: both mates. Workspace: 4 bytes for each
    vertex. Time: O(nnz).
    """
    begin = perf_counter()
    one_only = run.options.get("degree_one_only", OPTIONS["degree_one_only"])
    if graph.n_major + graph.n_minor <= np.iinfo(graph.dtype).max:  # else they have no numbers
        warm = run.warm or bool(run.steps)
        passes = Passes(graph, matching, run, warm)
        for most in ONE:
            passes.match(most)
        if not warm:
            run.settled = passes.settled(graph)
        for most in () if one_only else (*FEW, *ALL):
            passes.match(most)
        passes.finish(run)
    if not one_only:  # what threads that held a vertex for a moment have kept others from
        cheap.complete(graph, matching)
    run.steps.append(StepInfo("karp_sipser", perf_counter() - begin))


class Passes:
    """What the kernels work on, and their launches."""

    def __init__(self, graph: BipartiteCSR, matching: Matching, run: Run, warm: bool) -> None:
        xp, dtype = namespace(graph.indptr), graph.dtype
        self._kernels = compile.load("matching/karp_sipser", dtype)
        row_mate, col_mate = graph.orient(matching.row_mate, matching.col_mate)
        symmetric = is_symmetric(graph, run)
        columns = graph if symmetric else transpose(graph, run)
        # where some are matched, rows and columns are vertices of their own
        self._mirrored = symmetric and not warm
        self._n = graph.n_major + (0 if self._mirrored else graph.n_minor)
        self._long = xp.empty(2 * (graph.nnz // LONG + 1), dtype)
        self._counts = xp.zeros(len(ONE) + len(FEW) + len(ALL) + 1, dtype)
        self._passes, self._seed = 0, seed_of(run)
        self._state: dict[str, Any] = {
            "rows": self._kernels.csr(graph),
            "columns": self._kernels.csr(columns),
            "n_rows": graph.n_major,
            "row_mate": row_mate,
            "col_mate": col_mate,
            "word": xp.empty(self._n, np.uint32),
            "seed": self._seed,
            "symmetric": self._mirrored,
        }
        self._launch("count")
        if warm:
            self._launch("settle")
            self._lower_long()

    def match(self, most: int) -> None:
        """Match vertices of up to so many free neighbours, and what then has one."""
        bits = np.int32(0) if most == 1 else index_bits(self._n)
        self._launch("match", np.uint32(most), bits)
        if most < ALL[0]:
            self._lower_long()

    def settled(self, graph: BipartiteCSR) -> tuple[Any, Any]:
        """Return what degrees of one have settled: majors and minors, one bit each."""
        sides = [(0, graph.n_major), (graph.n_major, graph.n_minor)]
        sets = []
        for first, n in sides[: 1 if self._mirrored else 2]:
            bits = bit_set(namespace(graph.indptr), n)
            given = graph.dtype.type(first), graph.dtype.type(n), self._work(), bits
            self._kernels.launch("list_settled", bits.size, *given)
            sets.append(bits)
        return sets[0], sets[-1]

    def finish(self, run: Run) -> None:
        """Write the mates of the other side where a pair is two entries."""
        if self._mirrored:
            self._launch("mirror")
            run.free_together = True

    def _launch(self, kernel: str, *arguments: Any) -> None:
        """Start a kernel with a thread for each vertex."""
        n = self._kernels.dtype.type(self._n)
        self._kernels.launch(kernel, self._n, n, self._work(), *arguments)

    def _lower_long(self) -> None:
        """Do what the last launch has left to whole blocks."""
        self._kernels.launch("lower_long", 1 << 16, self._work())
        self._passes += 1

    def _work(self) -> Any:
        queue = {"long_lists": self._long, "n_long": self._counts[self._passes :]}
        return self._kernels.struct("KarpSipser", **self._state, **queue)
