"""The command line: ``sparsematch rank | match | btf | explain | coarsen | match-edges | demo``.

`main` is the only public name. `arguments` declares the options, `commands` and `graph_commands`
do it, `summary` words the answer for people and for programs, `progress` shows the running step.
Matrix files are read by `sparsematch._io`.

The exit status is part of the interface (see docs/howto/command_line.md): 0 done, 1 structurally
singular and ``--check`` was given, 2 wrong usage, 3 the matrix file cannot be read, 4 the result
cannot be produced (a file cannot be written, matplotlib is missing, no memory), 130 interrupted,
141 the reader of the output went away.
"""

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from sparsematch._io import UnreadableFile
from sparsematch.cli.arguments import build_parser
from sparsematch.cli.commands import CannotProduce

__all__ = ["main"]

_UNREADABLE, _NO_RESULT, _INTERRUPTED, _BROKEN_PIPE = 3, 4, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv : list of str, optional
        The arguments after the program's name; ``sys.argv[1:]`` if not given.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    SystemExit
        From argparse: status 2 on wrong usage, 0 after ``--help`` and ``--version``.

    Examples
    --------
    >>> from sparsematch.cli import main
    >>> main(["rank", "absent.mtx"])
    3
    """
    arguments = build_parser().parse_args(argv)
    try:
        _print_any_name(sys.stdout)
        status: int = arguments.command(arguments)
        print(end="", flush=True)  # what cannot be written fails here rather than at exit
        return status
    except UnreadableFile as error:
        return _fail(error, _UNREADABLE)
    except CannotProduce as error:
        return _fail(error, _NO_RESULT)
    except MemoryError:
        return _fail("not enough memory", _NO_RESULT)
    except KeyboardInterrupt:
        return _fail("interrupted", _INTERRUPTED)
    # `sparsematch ... | head`: what is left to write goes nowhere, without a traceback
    except BrokenPipeError:
        _silence(sys.stdout)
        return _BROKEN_PIPE
    except OSError as error:
        _silence(sys.stdout)
        return _fail(f"cannot write the output: {error.strerror or error}", _NO_RESULT)


def _fail(message: object, status: int) -> int:
    print(f"sparsematch: {message}", file=sys.stderr)
    return status


def _print_any_name(stream: TextIO) -> None:
    """Let file names be printed that the terminal has no letters for."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _silence(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
