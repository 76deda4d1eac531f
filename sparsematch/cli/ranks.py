"""The command line on several MPI ranks: ``mpiexec -n 4 sparsematch rank big.mtx``.

Every rank runs the same command on its part of the matrix, and ends with the same exit status. Rank
0 alone prints, shows progress and writes files: the others have no output but what MPI says of
them. mpi4py is imported only where the environment names more than one rank.
"""

import functools
import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import sparsematch
from sparsematch import (
    DistributedBlockForm,
    DistributedCSR,
    DistributedGraphMatching,
    DistributedMatching,
    GraphMatching,
)
from sparsematch._io import UnreadableFile
from sparsematch._types.over_ranks.agreement import agreeing, collect
from sparsematch.cli import summary
from sparsematch.cli.outputs import STREAM, CannotProduce, WrongUsage, check_outputs
from sparsematch.cli.progress import Progress

__all__ = [
    "block_fields",
    "check",
    "common_status",
    "communicator",
    "engine_names",
    "match_edges",
    "match_fields",
    "read",
    "speak_for_all",
]

#: Where launchers say how many ranks there are: MPICH and Intel MPI, Open MPI, MVAPICH, Slurm.
_SIZES = "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"

_COMMANDS = "rank", "match", "btf", "match-edges"


@functools.cache
def communicator() -> Any:
    """Return the communicator of all ranks, or None where this is the only process."""
    sizes = [os.environ.get(name, "") for name in _SIZES]
    if not any(size.isdigit() and int(size) > 1 for size in sizes):
        return None
    from sparsematch._engines.mpi.core.exchange import import_mpi

    try:
        world = import_mpi().COMM_WORLD
    except ImportError as error:
        raise CannotProduce(str(error)) from None
    return world if world.Get_size() > 1 else None


def engine_names(kind: str) -> list[str]:
    """Return which engines a command can name."""
    backend = "numpy" if communicator() is None else "mpi"
    return [engine.name for engine in sparsematch.engines(kind, backend=backend)]


def speak_for_all(comm: Any) -> None:
    """Let rank 0 alone print."""
    if comm.Get_rank() > 0:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def check(arguments: Namespace) -> None:
    """Refuse what several ranks cannot do."""
    name, size = arguments.name, communicator().Get_size()
    if name not in _COMMANDS:
        raise WrongUsage(
            f"{name} is done in one process, but there are {size} ranks; they can do "
            f"{', '.join(_COMMANDS)}"
        )
    if STREAM in getattr(arguments, "files", ()):
        raise WrongUsage(f"{STREAM} is standard input, which {size} ranks cannot share")
    if getattr(arguments, "plot", None):
        raise WrongUsage(f"--plot needs the whole matrix, which none of {size} ranks has")
    if getattr(arguments, "scratch", None):
        raise WrongUsage(f"--scratch is for one process: {size} ranks keep the edges in memory")


def common_status(comm: Any, run: Callable[[], int]) -> int:
    """Run a command on every rank; return the largest status on all of them."""
    from sparsematch._engines.mpi.core.exchange import abort_on_error

    with abort_on_error(comm):
        status = run()
    return max(collect(comm, "the end of a command", lambda: status))


def read(arguments: Namespace, progress: Progress, n_vertices: int | None = None) -> DistributedCSR:
    """Read a file with all ranks, after a check of the outputs that one of them will write."""
    comm = communicator()
    with agreeing(comm, "the check of outputs"):
        check_outputs(arguments)
    with progress.step("read", f"reading {arguments.file} on {comm.Get_size()} ranks"):
        return sparsematch.read_distributed(arguments.file, comm, n_vertices=n_vertices)


def match_edges(
    arguments: Namespace, progress: Progress
) -> tuple[GraphMatching | DistributedGraphMatching, dict[str, Any]]:
    """Match the edges of a file with all ranks; return the whole only if it is to be saved."""
    graph = read(arguments, progress, arguments.vertices)
    weighted = not arguments.unweighted and graph.values is not None
    with progress.step("match", f"matching {graph.nnz // 2:,} edges"):
        try:
            matching = sparsematch.approximate_matching(graph, weights=weighted, rng=arguments.seed)
        except ValueError as error:  # a weight is not finite
            raise UnreadableFile(f"{arguments.file}: {error}") from None
    (step,) = matching.info.steps
    fields = {
        "n_vertices": graph.n_rows,
        "n_edges": graph.nnz // 2,
        "ranks": graph.n_ranks,
        "exchanges": step.rounds,
        "bytes_sent": step.bytes_sent,
    }
    return matching.gather() if arguments.save else matching, fields


def match_fields(
    file: str, matrix: DistributedCSR, matching: DistributedMatching, maximum: bool = True
) -> dict[str, Any]:
    """Return the fields of `summary.match_fields`, counted over all ranks."""
    fields = summary.rank_fields(file, matrix, matching, maximum)
    rows, local = matrix.own_rows, matrix.to_local().tocoo()
    before = np.unique(local.row[local.row + rows.start == local.col]).size
    cols = np.arange(len(matrix.own_cols)) + matrix.first_col
    after = np.count_nonzero(matching.col_mate[cols < matrix.n_rows] >= 0)
    counts = collect(matrix.comm, "match_fields", lambda: (int(before), int(after)))
    return fields | {
        "unmatched_rows": matrix.n_rows - matching.cardinality,
        "unmatched_cols": matrix.n_cols - matching.cardinality,
        "diagonal_entries_before": sum(count for count, _ in counts),
        "diagonal_entries_after": sum(count for _, count in counts),
    }


def block_fields(file: str, matrix: DistributedCSR, form: DistributedBlockForm) -> dict[str, Any]:
    """Return the fields of `summary.block_fields`, counted over all ranks."""
    names = "horizontal", "square", "vertical"
    coarse = {name: list(size) for name, size in zip(names, form.coarse_sizes, strict=True)}
    has_horizontal, has_vertical = (sum(coarse[name]) > 0 for name in names[::2])
    last, own = form.n_blocks - 1, form.first_block + np.arange(len(form.block_sizes))
    is_square = (own >= int(has_horizontal)) & (own <= last - int(has_vertical))
    fine = Counter(form.block_sizes[is_square, 0].tolist())
    lists = [
        np.flatnonzero((form.col_block == 0) & has_horizontal) + matrix.first_col,
        np.flatnonzero((form.row_block == last) & has_vertical) + matrix.first_row,
    ]
    here = [summary.first(indices) for indices in lists], fine
    first, counts = zip(*collect(matrix.comm, "block_fields", lambda: here), strict=True)
    cols, rows = (summary.first(np.concatenate(side)) for side in zip(*first, strict=True))
    return (
        match_fields(file, matrix, form.matching)
        | summary.fine_fields(sum(counts, Counter()), coarse)
        | {"first_underdetermined_cols": cols, "first_overdetermined_rows": rows}
    )
