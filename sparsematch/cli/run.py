"""From the arguments to the exit status; errors are one sentence on standard error."""

import contextlib
import io
import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from sparsematch._io import UnreadableFile
from sparsematch.cli import ranks
from sparsematch.cli.arguments import build_parser
from sparsematch.cli.outputs import STREAM, CannotProduce, WrongUsage

_FOR_ONE_FILE = ("save", "plot", "row_names", "col_names")
_WRONG_USAGE, _UNREADABLE, _NO_RESULT, _BROKEN_PIPE = 2, 3, 4, 141


def run(argv: Sequence[str] | None) -> int:
    """Parse the arguments, run the command, and return the exit status."""
    try:
        comm = ranks.communicator()
    except CannotProduce as error:
        return _fail(error, _NO_RESULT)
    return _run(argv) if comm is None else ranks.common_status(comm, lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    arguments, unknown = build_parser().parse_known_args(argv)
    if unknown:
        arguments.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # for names that the terminal cannot show
                stream.reconfigure(errors="backslashreplace")
        _check_files(arguments)
        if ranks.communicator() is not None:
            ranks.check(arguments)
        status = max(_run_one(one) for one in _split(arguments))
        print(end="", flush=True)  # what cannot be written fails here rather than at exit
        return status
    except WrongUsage as error:
        return _fail(error, _WRONG_USAGE)
    # `sparsematch ... | head`: what is left to write goes nowhere, without a traceback
    except BrokenPipeError:
        _silence()
        return _BROKEN_PIPE
    except OSError as error:
        _silence()
        return _fail(f"cannot write the output: {error.strerror or error}", _NO_RESULT)


def _check_files(arguments: Namespace) -> None:
    """Refuse options that make sense for one file only."""
    files = getattr(arguments, "files", None) or []
    if files.count(STREAM) > 1:
        raise WrongUsage(f"{STREAM} is standard input, which can be read once only")
    for option in _FOR_ONE_FILE:
        if len(files) > 1 and getattr(arguments, option, None):
            name = option.replace("_", "-")
            raise WrongUsage(f"--{name} is for one file, but {len(files)} are given")


def _split(arguments: Namespace) -> list[Namespace]:
    """Return the arguments of the run of each file; `brief` says that it is one of several."""
    files = getattr(arguments, "files", None)
    if files is None:
        return [Namespace(**vars(arguments), brief=False)]
    return [Namespace(**vars(arguments), file=file, brief=len(files) > 1) for file in files]


def _run_one(arguments: Namespace) -> int:
    """Run a command on one file; what is wrong with it does not keep others from their turn."""
    try:
        return arguments.command(arguments)
    except UnreadableFile as error:
        return _fail(error, _UNREADABLE)
    except CannotProduce as error:
        return _fail(error, _NO_RESULT)
    except MemoryError:
        file = getattr(arguments, "file", None)
        return _fail(f"{file}: not enough memory" if file else "not enough memory", _NO_RESULT)


def _fail(message: object, status: int) -> int:
    print(f"sparsematch: {message}", file=sys.stderr)
    return status


def _silence() -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
