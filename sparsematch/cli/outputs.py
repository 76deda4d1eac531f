"""What a command writes: its answer, and files, checked before the work and whole or not at all."""

import json
import os
import stat
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import sparsematch
from sparsematch import plot
from sparsematch.cli.summary import Fields, line

STREAM = "-"  # the name of standard input and of standard output
_INPUTS, _OUTPUTS = ("file", "row_names", "col_names"), ("save", "plot")


class CannotProduce(Exception):
    """An output cannot be produced: a file cannot be written, or matplotlib is missing."""


class WrongUsage(Exception):
    """The arguments do not go together."""


def check_outputs(arguments: Namespace) -> None:
    """Refuse before the work what could only fail after it, or would overwrite what is read."""
    for name in _given(arguments, _OUTPUTS):
        if name == STREAM:
            if arguments.json or getattr(arguments, "arrays", False):
                raise WrongUsage("--save - and --json cannot both have the standard output")
            if sys.stdout.isatty():
                text = "--save - writes bytes: redirect the standard output, which is a terminal"
                raise WrongUsage(text)
            continue
        for source in _given(arguments, _INPUTS):
            if _is_same_file(name, source):
                what = "standard input" if source == STREAM else source
                raise WrongUsage(
                    f"{name} is the file that is read ({what}), and would be overwritten; choose "
                    "another name for the output"
                )
        if not Path(name).absolute().parent.is_dir():
            raise CannotProduce(f"cannot write {name}: the folder does not exist")
        if Path(name).is_dir():
            raise CannotProduce(f"cannot write {name}: Is a directory")
    if picture := getattr(arguments, "plot", None):
        try:
            plot.check_picture(picture)
        except (ImportError, ValueError) as error:
            raise CannotProduce(f"cannot write {picture}: {error}") from None


def write(name: str, save: Callable[[BinaryIO], object]) -> None:
    """Call `save` with a stream to a new file, which then takes the place of `name` at once."""
    # What was there under this name stays if `save` fails or is interrupted.
    try:
        if name == STREAM:
            save(sys.stdout.buffer)
        else:
            _replace(Path(os.path.realpath(name)), save)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotProduce(f"cannot write {name}: {error.strerror or error}") from None


def print_result(
    arguments: Namespace, fields: Fields, words: Callable[..., str], arrays: Fields | None = None
) -> None:
    """Print the fields as JSON, all in one line if there are several files, or in words."""
    # Nothing where standard output holds something else.
    lists = getattr(arguments, "arrays", False)
    if lists or arguments.json:
        fields = {"sparsematch": sparsematch.__version__, **fields}
        fields |= {name: array.tolist() for name, array in (arrays or {}).items() if lists}
        pairs = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()]
        brief = arguments.brief
        print("{" + ", ".join(pairs) + "}" if brief else "{\n  " + ",\n  ".join(pairs) + "\n}")
    elif not arguments.quiet and getattr(arguments, "save", None) != STREAM:
        print(words(fields))
        for name in _given(arguments, _OUTPUTS):
            print(line("written", name))


def _replace(target: Path, save: Callable[[BinaryIO], object]) -> None:
    if target.exists() and not target.is_file():  # a named pipe, a device
        with target.open("wb") as stream:
            save(stream)
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(0, "the file is read-only")
    part = target.with_name(f".sparsematch-{os.getpid()}{target.suffix}")
    try:
        with part.open("xb") as stream:
            save(stream)
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _given(arguments: Namespace, options: tuple[str, ...]) -> list[str]:
    return [name for option in options if (name := getattr(arguments, option, None))]


def _is_same_file(output: str, source: str) -> bool:
    try:
        there = os.stat(output)
        read = os.fstat(sys.stdin.fileno()) if source == STREAM else os.stat(source)
    except (AttributeError, OSError, ValueError):  # one of them does not exist, or is no file
        return False
    return os.path.samestat(there, read)
