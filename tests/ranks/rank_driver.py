"""Checks that run on several ranks: a test for each, one mpiexec for all of a module.

A check is a function `check_*` that all ranks call with the communicator and a folder for files. A
start has a limit of time, so that ranks that wait for each other for ever are a failure.
"""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from sparsematch._engines.mpi.core.exchange import abort_on_error, import_mpi

HERE = Path(__file__).parent
LIMIT = 240  # seconds, on a busy machine


def find_mpiexec():
    """That of the environment of this Python first: the wheel of an MPI library brings it."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


MPIEXEC = find_mpiexec()
MISSING = (
    "mpi4py is not installed"
    if importlib.util.find_spec("mpi4py") is None
    else "there is no mpiexec"
    if MPIEXEC is None
    else ""
)
needs_mpi = pytest.mark.skipif(bool(MISSING), reason=f"{MISSING}: pip install mpi4py mpich")
#: A rank that waits polls: let it yield at once, and only to ranks, all on one core.
WAIT = {
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
#: What a check changes in the package, until it ends.
PATCH = pytest.MonkeyPatch()


class Check(NamedTuple):
    """A check of a module, on some ranks."""

    module: str
    n_ranks: int
    name: str


def stay_on_one_core():
    """Before a launcher starts: others than ranks would wait while one of them polls."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


def start(n_ranks, *command):
    """Run a Python program on some ranks."""
    return subprocess.run(
        [MPIEXEC, "-n", str(n_ranks), sys.executable, *map(str, command)],
        preexec_fn=stay_on_one_core,
        env={**os.environ, **WAIT},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def command_line(n_ranks, *arguments):
    return start(n_ranks, "-m", "sparsematch", *arguments)


def checks_of(module):
    """The names of the checks that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if name.startswith("check_") and value.__module__ == module.__name__
    ]


def over_ranks(*groups):
    """Parametrise a test by checks, of groups of a module, numbers of ranks, and perhaps names."""
    cases = []
    for module, ranks, *names in groups:
        for n in ranks:
            group = f"{module.__name__}-{n}"
            for name in names or checks_of(module):
                check = Check(module.__name__, n, name)
                cases.append(pytest.param(check, id=f"{group}-{name}"))
    return pytest.mark.parametrize("check", cases)


def failures(module, n_ranks, names, folder):
    """Return the output of each check that fails; as that ends all ranks, start again behind it."""
    failed = {}
    while names:
        try:
            done = start(n_ranks, HERE / f"{module}.py", folder, *names)
        except subprocess.TimeoutExpired as error:
            passed = (error.stdout or b"").count(b"passed ")
            return failed | dict.fromkeys(names[passed:], str(error))
        if done.returncode == 0:
            assert done.stdout.splitlines() == [f"passed {name}" for name in names]
            break
        first = min(done.stdout.count("passed "), len(names) - 1)
        failed[names[first]] = done.stdout + done.stderr[-4000:]
        names = names[first + 1 :]
    return failed


def run_script(functions, before=None):
    """Call the functions that the command line names after a folder, without names all checks."""
    comm, folder = import_mpi().COMM_WORLD, Path(sys.argv[1])
    for name in sys.argv[2:] or [name for name in functions if name.startswith("check_")]:
        # others test how the library itself ends all ranks
        is_check = name.startswith("check_")
        with abort_on_error(comm) if is_check else contextlib.nullcontext():
            if before:
                before(comm)
            functions[name](comm, folder)
            comm.barrier()
            PATCH.undo()
        if comm.rank == 0:
            sys.stdout.write(f"passed {name}\n")
            sys.stdout.flush()
