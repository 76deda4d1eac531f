"""The command line, as one argparse parser."""

import argparse
import platform
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any

import sparsematch
from sparsematch._base.errors import pip_install
from sparsematch._io import FORMATS
from sparsematch.cli import commands, ranks
from sparsematch.cli.outputs import STREAM
from sparsematch.cli.summary import line

_EXIT_STATUS = (
    "exit status: 0 done; {}2 wrong usage; 3 the matrix file cannot be read; 4 the result cannot "
    "be produced; 130 interrupted"
)
#: Options that several commands have.
_FILES = "files --method --init --workers --seed --drop-zeros"
_NAMES = "--row-names --col-names"
_REPORT = "--json --quiet"
#: Further spellings.
_SHORTER = {"--row-names": ("--rows",), "--col-names": ("--cols",)}
#: Of each command: its function, what it does in a phrase, and its options; what some of them mean
#: for this command alone is in `_options` under both names.
_COMMANDS: dict[str, tuple[Callable[..., int], str, str]] = {
    "rank": (commands.rank, "structural rank of the matrix in FILE", f"{_FILES} {_REPORT} --check"),
    "match": (
        commands.match,
        "maximum transversal: a row permutation for the diagonal",
        f"{_FILES} {_REPORT} --arrays --check --save",
    ),
    "btf": (
        commands.btf,
        "block triangular form (Dulmage-Mendelsohn, coarse and fine)",
        f"{_FILES} {_REPORT} --arrays --check --save --plot",
    ),
    "explain": (
        commands.explain,
        "why a matrix is singular, in your own names",
        f"{_FILES} --numeric --tolerance {_NAMES} --pieces {_REPORT} --check --plot",
    ),
    "diagnose": (
        commands.diagnose,
        "what to expect of a linear system: rank, condition, digits of the solution",
        f"file --rhs {_NAMES} --check {_REPORT}",
    ),
    "warm-up": (commands.warm_up, "compile the kernels for the GPU ahead of the first call", ""),
}


class _Version(argparse.Action):
    """Print the versions, and how many workers there can be, found out when asked for only."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print and exit."""
        print(f"sparsematch {sparsematch.__version__}\n{line('python', platform.python_version())}")
        for name in ("numpy", "scipy", "matplotlib", "cupy", "networkx"):
            found = metadata.packages_distributions().get(name)
            print(line(name, metadata.version(found[0]) if found else "not installed"))
        with sparsematch.set_workers(-1):
            print(line("workers", f"1 by default, {sparsematch.get_workers()} at most"))
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Build the parser; ``--method`` and ``--init`` offer the registered engines."""
    parser = argparse.ArgumentParser(
        prog="sparsematch",
        description=(
            "Maximum transversals, structural rank and block triangular form of sparse matrices; "
            "why a matrix is singular, and what to expect of a linear system."
        ),
        epilog=_EXIT_STATUS.format("1 singular, with --check; "),
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="versions, and what there is")
    adders = parser.add_subparsers(metavar="COMMAND", required=True)
    known = _options()
    for name, (function, summary, options) in _COMMANDS.items():
        status = "1 singular, with --check; " if "--check" in options else ""
        about: Any = {"help": summary, "description": f"{summary[0].upper()}{summary[1:]}."}
        command = adders.add_parser(name, **about, epilog=_EXIT_STATUS.format(status))
        command.set_defaults(command=function, name=name, error=command.error)
        for option in options.split():
            how = known.get(f"{name} {option}", known[option])
            command.add_argument(option, *_SHORTER.get(option, ()), **how)
    return parser


def _options() -> dict[str, dict[str, Any]]:
    """Return the keyword arguments of each option."""
    names = "text file with the names of the {}, one per line"
    needs = pip_install("matplotlib")
    save = "write the arrays for numpy.load (-: to standard output)"
    vanishes = "of --numeric: what vanishes up to X, relative to its terms (default 1e-10)"
    threads = "threads, -1 for all the cores (default 1)"
    alone = "exact engine (default auto; none: the initialisation alone, only maximal)"
    backend = "numpy" if ranks.communicator() is None else "mpi"

    def flag(text: str) -> dict[str, Any]:
        return {"action": "store_true", "help": text}

    def given(metavar: str, text: str, **more: Any) -> dict[str, Any]:
        return {"metavar": metavar, "help": text, **more}

    def count(least: int, default: int | None, text: str) -> dict[str, Any]:
        return given("N", text, type=partial(_at_least, least), default=default)

    def engine(text: str, kind: str, *more: str) -> dict[str, Any]:
        offered = [engine.name for engine in sparsematch.engines(kind, backend=backend)]
        choices = list(dict.fromkeys(["auto", *more, *offered]))
        return {"choices": choices, "default": "auto", "help": text}

    return {
        "file": given("FILE", FORMATS),
        "files": given("FILE", f"{FORMATS}; of several, a line for each", nargs="+"),
        "--method": engine("exact engine (default auto)", "exact"),
        "match --method": engine(alone, "exact", "none"),
        "--init": engine("heuristic for the initialisation (default auto)", "heuristic", "none"),
        "--workers": given("N", threads, type=_workers, default=1),
        "--seed": count(0, None, "seed of random starts"),
        "--drop-zeros": flag("drop stored zeros, which count as entries otherwise"),
        "--json": flag("one JSON object on standard output, for programs"),
        "--arrays": flag("like --json, with the arrays of --save"),
        "--quiet": flag("no summary and no progress, only errors (and --json)"),
        "--check": flag("exit with status 1 if singular: structurally, or by the values looked at"),
        "--save": {"type": _archive, "metavar": "OUT.npz", "help": save},
        "--plot": given("OUT.png", f"picture of the result (needs matplotlib: {needs})"),
        "--numeric": flag("look at the values, too: which rows and columns depend on each other"),
        "--tolerance": given("X", vanishes, type=_tolerance, default=1e-10),
        "--rhs": given("FILE", "text file with the right-hand side b, one number per line"),
        "--row-names": given("NAMES", names.format("rows (equations)")),
        "--col-names": given("NAMES", names.format("columns (variables)")),
        "--pieces": count(1, 3, "conflicts or dependences of each kind to show (default 3)"),
    }


def _archive(name: str) -> str:
    if name != STREAM and not name.endswith(".npz"):
        raise argparse.ArgumentTypeError(f"{name}: the name must end in .npz, or be {STREAM}")
    return name


def _workers(text: str) -> int:
    count = int(_number(int, text))
    try:
        with sparsematch.set_workers(count):
            return count
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _tolerance(text: str) -> float:
    tolerance = _number(float, text)
    if not 0 < tolerance < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return tolerance


def _at_least(least: int, text: str) -> int:
    count = int(_number(int, text))
    if count < least:
        raise argparse.ArgumentTypeError(f"{count} is not {least} or more")
    return count


def _number(kind: type[float], text: str) -> float:
    try:
        return kind(text)
    except ValueError:
        what = "an integer" if kind is int else "a number"
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}") from None
