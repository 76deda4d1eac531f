"""Several files in one call: each is a run of its own, shown in one line."""

from argparse import Namespace
from collections.abc import Iterator

from sparsematch.cli.outputs import STREAM, WrongUsage

__all__ = ["check", "split"]

_FOR_ONE_FILE = ("save", "plot", "row_names", "col_names")


def check(arguments: Namespace) -> None:
    """Refuse options that make sense for one file only."""
    files = getattr(arguments, "files", None) or []
    if files.count(STREAM) > 1:
        raise WrongUsage(f"{STREAM} is standard input, which can be read once only")
    for option in _FOR_ONE_FILE:
        if len(files) > 1 and getattr(arguments, option, None):
            name = "--" + option.replace("_", "-")
            raise WrongUsage(f"{name} is for one file, but {len(files)} are given")


def split(arguments: Namespace) -> Iterator[Namespace]:
    """Yield the arguments of the run of each file; `brief` says that it is one of several."""
    files = getattr(arguments, "files", None)
    if files is None:
        yield Namespace(**vars(arguments), brief=False)
        return
    for file in files:
        yield Namespace(**vars(arguments), file=file, brief=len(files) > 1)
