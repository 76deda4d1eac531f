"""The transpose on the device: what engines that read a matrix both ways need."""

from time import perf_counter

from sparsematch._base.arrays import IndexArray, IndexPair, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.device import lanes_of
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR

#: Entries above which a list is left to a whole block.
LONG = 2048

load = compile.declare("core/transpose", LONG=LONG)


def transpose(graph: BipartiteCSR, run: Run, symmetric: bool | None) -> BipartiteCSR:
    """Build the transpose of the graph, and count that. No list of it is in order."""
    # That of a symmetric pattern has the same lists. Seconds are the host's, which does not wait.
    begin = perf_counter()
    built = graph._replace(flipped=not graph.flipped) if symmetric else _build(graph)
    run.stage("transpose", perf_counter() - begin)
    return built


def count_entries(minors: IndexArray, n_minor: int) -> IndexPair:
    """Return the place of each entry among those of its minor, and where each of these begins."""
    xp, dtype, nnz = namespace(minors), minors.dtype, minors.size
    # the first stays zero, so that their running sum is where lists begin
    counts, place = xp.zeros(n_minor + 1, dtype), xp.empty(nnz, dtype)
    if nnz:
        load(dtype).launch("count", nnz, dtype.type(nnz), minors, counts[1:], place)
    return place, xp.cumsum(counts, dtype=dtype, out=counts)


def _build(graph: BipartiteCSR) -> BipartiteCSR:
    xp, dtype, nnz = namespace(graph.indptr), graph.dtype, graph.nnz
    launch = load(dtype).launch
    place, begin = count_entries(graph.indices[:nnz], graph.n_minor)
    indices = xp.empty(nnz, dtype)
    if nnz:
        shift, n = lanes_of(graph), dtype.type(graph.n_major)
        long = xp.empty(nnz // LONG + 1, dtype), xp.zeros(1, dtype)
        arrays = graph.indptr, graph.indices, place, begin, indices, *long
        launch("fill", graph.n_major << int(shift), n, *arrays, shift)
        launch("fill_long", compile.FILLING, *arrays, threads=1024)
    return graph._replace(indptr=begin, indices=indices, flipped=not graph.flipped, known_nnz=nnz)
