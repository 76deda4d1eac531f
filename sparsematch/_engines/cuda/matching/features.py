"""What the choice of a start depends on, in two launches over the lists, and starts of a launch."""

import os
from typing import Any

import numpy as np

from sparsematch._base.arrays import IndexPair, namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import Before, DeviceByProducts
from sparsematch._engines.cuda.core.device import bit_set, lanes_of
from sparsematch._engines.cuda.matching.choice import POLICY, ListFeatures
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

#: Rows of slots that a list may have beside its first.
LINKED = 15

#: Passes over the rows for row singletons.
PASSES = 3

load = compile.declare("matching/features")


def features(graph: BipartiteCSR, width: int) -> ListFeatures:
    """Return the features of the lists, and what rows of `width` slots need. Time: O(nnz)."""
    n, square = graph.n_major, graph.n_major == graph.n_minor
    xp, index, kernels = namespace(graph.indptr), graph.dtype.type, load(graph.dtype)
    found = kernels.zeros(xp, "Features")
    firsts, lasts = xp.zeros((2, graph.n_minor // 32 + 1), np.uint32)
    arrays = graph.indptr, graph.indices, found, firsts, lasts
    sizes = index(n), index(square), np.int32(width), np.int32(LINKED), np.int32(POLICY.max_shared)
    kernels.launch("features", min(n, compile.FILLING // 2), *sizes, *arrays, threads=512)
    too_uneven = min(-(-POLICY.hubs * graph.nnz**2 // max(n, 1)), 2**63)
    few = int(POLICY.leaves * n)
    if square:
        _compare_sides(graph, found, np.uint64(too_uneven), index(few), unless_diagonal=True)
    seen = kernels.read("Features", found)
    skew = float(seen["squares"]) * n / max(graph.nnz, 1) ** 2
    single = int(seen["single"]) / max(n, 1)
    shared = int(seen["first_shared"]), int(seen["last_shared"])
    has_diagonal = square and not seen["off_diagonal"]
    asymmetric = seen["one_sided"] or seen["imbalance"]
    # the same comparisons as on the device: nothing may count as symmetric untested
    hubs_with_leaves = int(seen["squares"]) >= too_uneven and int(seen["single"]) > few
    symmetric = square and not (has_diagonal or asymmetric or hubs_with_leaves)
    flags = has_diagonal, symmetric, hubs_with_leaves
    order = *shared, min(shared) <= POLICY.max_shared
    return ListFeatures(n, single, skew, int(seen["linked"]), *flags, *order)


def with_symmetry(graph: BipartiteCSR, before: Before) -> DeviceByProducts:
    """Return by-products that tell whether the pattern is symmetric. Time: O(nnz)."""
    known = before or DeviceByProducts()
    if known.symmetric is None and graph.n_major != graph.n_minor:
        known.symmetric = False
    elif known.symmetric is None:
        found = load(graph.dtype).zeros(namespace(graph.indptr), "Features")
        never = np.uint64(2**63), graph.dtype.type(graph.n_major)
        _compare_sides(graph, found, *never, unless_diagonal=False)
        known.symmetric = not load(graph.dtype).read("Features", found)["imbalance"]
    return known


def _compare_sides(
    graph: BipartiteCSR, found: Any, too_uneven: np.uint64, few: Any, *, unless_diagonal: bool
) -> None:
    """Launch the test for a symmetric pattern."""
    # None is symmetric if `squares` reach `too_uneven` and more than `few` lists have one entry.
    n, shift, kernels = graph.n_major, lanes_of(graph), load(graph.dtype)
    # not that of the call: nobody can make a matrix for which the numbers drawn are known
    seed = np.uint64(int.from_bytes(os.urandom(8), "little"))
    given = graph.dtype.type(n), graph.indptr, graph.indices, found, seed
    threads = min(n << int(shift), compile.FILLING)
    unless = too_uneven, few, np.bool_(unless_diagonal)
    kernels.launch("compare_sides", threads, *given, shift, *unless, threads=512)
    kernels.launch("compare_long", min(n, compile.FILLING), *given, threads=512)


def match_diagonal(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Match each row with the column of its own number."""
    n, mates = graph.n_major, (matching.row_mate, matching.col_mate)
    with run.step("diagonal", cardinality=n, reason="the diagonal has no zero"):
        load(graph.dtype).launch("match_diagonal", n, graph.dtype.type(n), *mates)


def match_ends(graph: BipartiteCSR, matching: Matching, run: Run, *, last: bool) -> None:
    """Match each major with the first entry of its list, or the last, as no two have the same."""
    # No vertex may be matched before: minors beside these keep their mates.
    n, mates = graph.n_major, graph.orient(matching.row_mate, matching.col_mate)
    major, _ = graph.orient("row", "column")
    why = f"no {major} shares its {'last' if last else 'first'} entry's place with another"
    with run.step("ends", reason=why):
        given = graph.dtype.type(n), np.bool_(last), graph.indptr, graph.indices
        load(graph.dtype).launch("match_ends", n, *given, *mates)


def match_row_singletons(graph: BipartiteCSR, matching: Matching, run: Run) -> IndexPair:
    """Match majors that have one free minor; return which rows and columns are finished."""
    # Where hubs have many leaves, most of these can never be matched, and each phase of a search
    # would begin from all. No vertex may be matched before. Workspace: a bit for each vertex.
    with run.step("row_singletons"):
        xp, n, kernels = namespace(graph.indptr), graph.n_major, load(graph.dtype)
        matched, finished = bit_set(xp, graph.n_minor), bit_set(xp, n)
        arrays = graph.indptr, graph.indices, *graph.orient(matching.row_mate, matching.col_mate)
        for _ in range(PASSES):
            kernels.launch("row_singletons", n, graph.dtype.type(n), *arrays, matched, finished)
        return finished, matched
