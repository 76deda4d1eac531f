"""The command line, as one argparse parser."""

import argparse
from collections.abc import Callable
from typing import Any

import sparsematch
from sparsematch._base.errors import pip_install
from sparsematch._io import FORMATS
from sparsematch.cli import commands, diagnose_command, graph_commands, ranks
from sparsematch.cli.outputs import STREAM

__all__ = ["build_parser"]

#: Keyword arguments of `add_argument`.
Keywords = dict[str, Any]
#: The function of a command, what it does in a phrase, and its options: each as in `_options`, with
#: what differs for this command.
Command = tuple[Callable[..., int], str, dict[str, Keywords]]

_EXIT_STATUS = (
    "exit status: 0 done; {}2 wrong usage; 3 the matrix file cannot be read; 4 the result cannot "
    "be produced; 130 interrupted"
)
_WITH_CHECK = "1 {}, with --check; "
#: Further spellings.
_SHORTER = {"--row-names": ("--rows",), "--col-names": ("--cols",)}


class _Version(argparse.Action):
    """Print the versions, found out when asked for only."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print and exit."""
        from sparsematch.cli.versions import text

        print(text())
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Build the parser; ``--method`` and ``--init`` offer the registered engines."""
    parser = argparse.ArgumentParser(
        prog="sparsematch",
        description=(
            "Maximum transversals, structural rank and block triangular form of sparse matrices; "
            "why a matrix is singular, and what to expect of a linear system."
        ),
        epilog=_EXIT_STATUS.format(_WITH_CHECK.format("singular")),
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="versions, and what there is")
    adders = parser.add_subparsers(metavar="COMMAND", required=True)
    known = _options()
    for name, (function, summary, options) in (_matrix_commands() | _other_commands()).items():
        how = "singular" if name == "diagnose" else "structurally singular"
        how += ", or numerically" if "--numeric" in options else ""
        status = _WITH_CHECK.format(how) if "--check" in options else ""
        command = adders.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=_EXIT_STATUS.format(status),
        )
        command.set_defaults(command=function, name=name)
        for option, changes in options.items():
            command.add_argument(option, *_SHORTER.get(option, ()), **known[option] | changes)
    return parser


def _matrix_commands() -> dict[str, Command]:
    """Return the commands for any matrix."""
    files = _plain("files", "--method", "--init", "--workers", "--seed", "--drop-zeros")
    report = _plain("--json", "--quiet")
    check, save = _plain("--check"), _plain("--save")
    note = "exact engine (default auto; none: the initialisation alone, only maximal)"
    alone = {"--method": {"choices": _choices("exact", "auto", "none"), "help": note}}
    mates, form = "row_mate, col_mate and permutation", "permutations and block boundaries"
    named = _plain("files", "--numeric", "--tolerance", "--row-names", "--col-names", "--pieces")
    either = {"--check": {"help": "exit with status 1 if singular, with --numeric by values too"}}
    singular: dict[str, Keywords] = {"--check": {"help": "exit with status 1 if singular"}}
    pictures = _picture("before and after"), _picture("the matrix and its shortest conflicts")
    return {
        "rank": (commands.rank, "structural rank of the matrix in FILE", files | report | check),
        "match": (
            commands.match,
            "maximum transversal: a row permutation for the diagonal",
            files | alone | _with_arrays(mates) | check | save,
        ),
        "btf": (
            commands.btf,
            "block triangular form (Dulmage-Mendelsohn, coarse and fine)",
            files | _with_arrays(form) | check | save | pictures[0],
        ),
        "explain": (
            commands.explain,
            "why a matrix is singular, in your own names",
            named | files | report | either | pictures[1],
        ),
        "diagnose": (
            diagnose_command.diagnose,
            "what to expect of a linear system: rank, condition, digits of the solution",
            _plain("file", "--row-names", "--col-names") | singular | report,
        ),
    }


def _other_commands() -> dict[str, Command]:
    """Return the commands for graphs, and those without a file."""
    report = _plain("--json", "--quiet")
    engines = _choices("approximate", "auto")
    engine: Keywords = {"choices": engines, "help": "engine of the matching (default auto)"}
    ties = {"--seed": {"help": "seed of the order of equal weights"}}
    sizes = _plain("--unweighted", "--symmetrize", "--min-vertices", "--max-levels")
    records = "a NumPy array of records with the fields u, v and perhaps weight"
    edges: dict[str, Keywords] = {"file": {"metavar": "FILE.npy", "help": records}}
    edges |= _plain("--vertices", "--unweighted") | ties | _plain("--scratch")
    save = _plain("--save")
    return {
        "coarsen": (
            graph_commands.coarsen,
            "coarsen a graph by matching, level by level",
            {"file": {}, "--method": engine} | sizes | _plain("--workers") | ties | report | save,
        ),
        "match-edges": (
            graph_commands.match_edges,
            "heavy matching of a file of edges that need not fit in memory",
            edges | report | {"--save": _output(".npy", "mates")},
        ),
        "warm-up": (
            commands.warm_up,
            "compile the kernels for the GPU ahead of the first call",
            {},
        ),
    }


def _options() -> dict[str, Keywords]:
    """Return the keyword arguments of each option."""
    methods, inits = _choices("exact", "auto"), _choices("heuristic", "auto", "none")
    lines = "text file with the names of the {}, one per line"

    def flag(text: str) -> Keywords:
        return {"action": "store_true", "help": text}

    def count(read: Callable[[str], int], default: int | None, text: str) -> Keywords:
        return {"type": read, "default": default, "metavar": "N", "help": text}

    def text(metavar: str, text: str, **more: Any) -> Keywords:
        return {"metavar": metavar, "help": text, **more}

    def engine(names: list[str], text: str) -> Keywords:
        return {"choices": names, "default": "auto", "help": text}

    return {
        "file": text("FILE", FORMATS),
        "files": text("FILE", f"{FORMATS}; of several, a line for each", nargs="+"),
        "--method": engine(methods, "exact engine (default auto)"),
        "--init": engine(inits, "heuristic for the initialisation (default auto)"),
        "--workers": count(_workers, 1, "threads, -1 for all the cores (default 1)"),
        "--seed": count(_seed, None, "seed of random starts"),
        "--drop-zeros": flag("drop stored zeros, which count as entries otherwise"),
        "--json": flag("one JSON object on standard output, for programs"),
        "--arrays": flag("like --json, with the arrays"),
        "--quiet": flag("no summary and no progress, only errors (and --json)"),
        "--check": flag("exit with status 1 if structurally singular"),
        "--save": _output(".npz", "arrays"),
        "--plot": text("OUT.png", "picture"),
        "--numeric": flag("look at the values, too: which rows and columns depend on each other"),
        "--tolerance": {
            "type": _tolerance,
            "default": 1e-10,
            "metavar": "X",
            "help": "of --numeric: what vanishes up to X, relative to its terms (default 1e-10)",
        },
        "--row-names": text("NAMES", lines.format("rows (equations)")),
        "--col-names": text("NAMES", lines.format("columns (variables)")),
        "--pieces": count(
            _at_least(1), 3, "conflicts or dependences of each kind to show (default 3)"
        ),
        "--unweighted": flag("all edges weigh the same"),
        "--symmetrize": flag(
            "accept a matrix that is not symmetric: the larger of two entries counts"
        ),
        "--min-vertices": count(_at_least(0), 100, "stop at N vertices (default 100)"),
        "--max-levels": count(_at_least(1), 50, "stop at N levels (default 50)"),
        "--vertices": count(
            _at_least(0), None, "number of vertices (default: one more than the largest)"
        ),
        "--scratch": text("FOLDER", "where scratch files go (default: where the system has them)"),
    }


def _plain(*options: str) -> dict[str, Keywords]:
    """Return options as `_options` has them."""
    return {option: {} for option in options}


def _choices(kind: str, *first: str) -> list[str]:
    return list(dict.fromkeys([*first, *ranks.engine_names(kind)]))


def _with_arrays(which: str) -> dict[str, Keywords]:
    arrays: Keywords = {"help": f"like --json, with the arrays ({which})"}
    return {"--json": {}, "--arrays": arrays, "--quiet": {}}


def _picture(what: str) -> dict[str, Keywords]:
    needs = pip_install("matplotlib")
    return {"--plot": {"help": f"picture of {what} (needs matplotlib: {needs})"}}


def _output(extension: str, what: str) -> Keywords:
    def name(text: str) -> str:
        if text != STREAM and not text.endswith(extension):
            message = f"{text}: the name must end in {extension}, or be {STREAM}"
            raise argparse.ArgumentTypeError(message)
        return text

    wanted = f"write the {what} for numpy.load (-: to standard output)"
    return {"type": name, "metavar": f"OUT{extension}", "help": wanted}


def _workers(text: str) -> int:
    count = _integer(text)
    try:
        with sparsematch.set_workers(count):
            return count
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seed(text: str) -> int:
    seed = _integer(text)
    if seed < 0:
        raise argparse.ArgumentTypeError(f"{seed} is negative: a seed is 0 or more")
    return seed


def _tolerance(text: str) -> float:
    try:
        tolerance = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 < tolerance < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return tolerance


def _at_least(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        count = _integer(text)
        if count < least:
            raise argparse.ArgumentTypeError(f"{count} is not {least} or more")
        return count

    return read


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
