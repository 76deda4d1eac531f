"""The command line on several MPI ranks: ``mpiexec -n 4 sparsematch rank big.mtx``.

Every rank runs the same command on its part of the matrix, and ends with the same exit status. Rank
0 alone prints, shows progress and writes files: the others have no output but what MPI says of
them. mpi4py is imported only where the environment names more than one rank.
"""

import functools
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import sparsematch
from sparsematch import DistributedCSR
from sparsematch._types.over_ranks.agreement import agreeing, collect
from sparsematch.cli.outputs import STREAM, CannotProduce, WrongUsage, check_outputs
from sparsematch.cli.progress import Progress

#: Where launchers say how many ranks there are: MPICH and Intel MPI, Open MPI, MVAPICH, Slurm.
_SIZES = "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"

_COMMANDS = "rank", "match", "btf"


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


def common_status(comm: Any, run: Callable[[], int]) -> int:
    """Run a command on every rank, of which 0 prints; return the largest status on all of them."""
    if comm.Get_rank() > 0:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    from sparsematch._engines.mpi.core.exchange import abort_on_error

    with abort_on_error(comm):
        status = run()
    return max(collect(comm, "the end of a command", lambda: status))


def read(arguments: Namespace, progress: Progress) -> DistributedCSR:
    """Read a file with all ranks, after a check of the outputs that one of them will write."""
    comm = communicator()
    with agreeing(comm, "the check of outputs"):
        check_outputs(arguments)
    with progress.step("read", f"reading {arguments.file} on {comm.Get_size()} ranks"):
        return sparsematch.read_distributed(arguments.file, comm)
