"""G-PR: push-relabel with all free majors at once, and exact labels at intervals."""

from typing import Any

import numpy as np

from sparsematch._base.arrays import namespace
from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.by_products import Before
from sparsematch._engines.cuda.core.compile import Kernels
from sparsematch._engines.cuda.core.device import index_bits, seed_of
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.matching.apfb import ALONE, HUB, MACROS, forest, list_shift
from sparsematch._engines.cuda.matching.features import with_symmetry
from sparsematch._engines.registry import Run
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching

SUMMARY = "Push-relabel from all free rows at once, with exact labels at intervals (G-PR)."
OPTIONS: dict[str, bool | float] = {"k": 0.7, "adaptive": True, "active_list": True, "shrink": True}

_load = compile.declare("matching/push_relabel", **MACROS)


def improve(graph: BipartiteCSR, matching: Matching, run: Run, before: Before = None) -> Before:
    """Make the matching maximum."""
    # Reads: the graph and its transpose. Writes: both mates. Time: O(n nnz), mostly a few passes.
    known = with_symmetry(graph, before)  # the transpose is then there already
    transposed = known.transposed = known.transposed or transpose(graph, run, known.symmetric)
    with run.step("push_relabel") as counts:
        given = matching.cardinality if run.detailed else 0
        kernels = _load(graph.dtype)
        control = push(kernels, graph, transposed, matching, run)
        if run.detailed:
            done, after = kernels.read("Control", control), matching.cardinality
            counts |= {key: int(done[key]) for key in ("phases", "levels")}
            counts |= {"augmentations": after - given, "cardinality": after}
    return known


def push(
    kernels: Kernels, graph: BipartiteCSR, transposed: BipartiteCSR, matching: Matching, run: Run
) -> Any:
    """Start the kernel; return its control, with relabellings as phases, and their levels."""
    xp, dtype, entries = namespace(graph.indptr), graph.dtype, graph.indices.size
    n_major, n_minor = graph.n_major, graph.n_minor
    given: dict[str, Any] = OPTIONS | dict(run.options)
    major_mate, minor_mate = graph.orient(matching.row_mate, matching.col_mate)
    push_shift, shift = list_shift(entries, n_major), list_shift(entries, n_minor)
    control = kernels.zeros(xp, "Control")
    limits = {"shift": shift, "alone": ALONE >> max(push_shift, shift)}
    search = forest(kernels, transposed, major_mate, run, control=control, **limits)
    label, (active, spare) = xp.empty(n_minor, dtype), xp.empty((2, n_major), dtype)
    fields: dict[str, Any] = {"forest": search, "majors": kernels.struct("Csr", graph)}
    fields |= {"infinite": min(n_major, n_minor) + 1, "major_mate": major_mate}
    fields |= {"minor_mate": minor_mate, "label": label, "active": active, "spare": spare}
    fields |= {"long_lists": xp.empty(entries // HUB + 1, dtype), "push_shift": push_shift}
    fields |= {"shuffle_bits": index_bits(n_major), "seed": seed_of(run)}
    fields |= {"use_list": given["active_list"], "complete": False}
    fields |= {key: given[key] for key in ("shrink", "adaptive", "k")}
    state = kernels.struct("PushRelabel", graph, **fields)
    kernels.launch_resident("push_relabel", state, xp.zeros(2, np.int32))
    return control
