"""The command line, as one argparse parser."""

import argparse
from collections.abc import Callable
from typing import Any

import sparsematch
from sparsematch._io import FORMATS
from sparsematch._types.errors import pip_install
from sparsematch.cli import commands, graph_commands, ranks, warm_up
from sparsematch.cli.outputs import STREAM

__all__ = ["build_parser"]

_EXIT_STATUS = (
    "exit status: 0 done; {}2 wrong usage; 3 the matrix file cannot be read; 4 the result cannot "
    "be produced; 130 interrupted"
)
_WITH_CHECK = "1 structurally singular, with --check; "


class _Version(argparse.Action):
    """Print the versions; what there is takes a moment to find out, so only when asked."""

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
            "Maximum transversals, structural rank and block triangular form of sparse matrices."
        ),
        epilog=_EXIT_STATUS.format(_WITH_CHECK),
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="versions, and what there is")
    adders = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_rank(adders)
    _add_match(adders)
    _add_btf(adders)
    _add_explain(adders)
    _add_coarsen(adders)
    _add_match_edges(adders)
    _add_demo(adders)
    warm_up.add(adders, _add_command)
    return parser


def _add_rank(adders: Any) -> None:
    command = _add_command(adders, "rank", commands.rank, "structural rank of the matrix in FILE")
    _add_files(command)
    _add_engine_options(command)
    _add_report_options(command)
    _add_check(command)


def _add_match(adders: Any) -> None:
    command = _add_command(
        adders, "match", commands.match, "maximum transversal: a row permutation for the diagonal"
    )
    _add_files(command)
    _add_engine_options(command, heuristic_alone=True)
    _add_report_options(command, arrays="row_mate, col_mate and permutation")
    _add_check(command)
    _add_save(command)


def _add_btf(adders: Any) -> None:
    command = _add_command(
        adders, "btf", commands.btf, "block triangular form (Dulmage-Mendelsohn, coarse and fine)"
    )
    _add_files(command)
    _add_engine_options(command)
    _add_report_options(command, arrays="permutations and block boundaries")
    _add_check(command)
    _add_save(command)
    _add_plot(command)


def _add_explain(adders: Any) -> None:
    command = _add_command(
        adders,
        "explain",
        commands.explain,
        "why a matrix is structurally singular, in your own names",
    )
    _add_files(command)
    for side, noun in (("row", "rows (equations)"), ("col", "columns (variables)")):
        command.add_argument(
            f"--{side}-names",
            metavar="NAMES",
            help=f"text file with the names of the {noun}, one per line",
        )
    command.add_argument(
        "--pieces",
        type=_at_least(1),
        default=3,
        metavar="N",
        help="conflicts of each kind to show (default 3)",
    )
    _add_engine_options(command)
    _add_report_options(command)
    _add_check(command)
    _add_plot(command, "the matrix and its shortest conflicts")


def _add_coarsen(adders: Any) -> None:
    command = _add_command(
        adders, "coarsen", graph_commands.coarsen, "coarsen a graph by matching, level by level"
    )
    _add_file(command)
    command.add_argument(
        "--method",
        choices=_choices("approximate", "auto"),
        default="auto",
        help="engine of the matching (default auto)",
    )
    _add_unweighted(command)
    command.add_argument(
        "--symmetrize",
        action="store_true",
        help="accept a matrix that is not symmetric: the larger of two entries counts",
    )
    command.add_argument(
        "--min-vertices",
        type=_at_least(0),
        default=100,
        metavar="N",
        help="stop at so many vertices (default 100)",
    )
    command.add_argument(
        "--max-levels",
        type=_at_least(1),
        default=50,
        metavar="N",
        help="stop at so many levels (default 50)",
    )
    command.add_argument(
        "--workers",
        type=_workers,
        default=1,
        metavar="N",
        help="threads, -1 for all the cores (default 1)",
    )
    command.add_argument(
        "--seed", type=_seed, default=None, metavar="N", help="seed of the order of equal weights"
    )
    _add_report_options(command)
    _add_save(command)


def _add_match_edges(adders: Any) -> None:
    summary = "heavy matching of a file of edges that need not fit in memory"
    command = _add_command(adders, "match-edges", graph_commands.match_edges, summary)
    command.add_argument(
        "file",
        metavar="FILE.npy",
        help="a NumPy array of records with the fields u, v and perhaps weight",
    )
    command.add_argument(
        "--vertices",
        type=_at_least(0),
        metavar="N",
        help="number of vertices (default: one more than the largest)",
    )
    _add_unweighted(command)
    command.add_argument(
        "--seed", type=_seed, default=None, metavar="N", help="seed of the order of equal weights"
    )
    command.add_argument(
        "--scratch",
        metavar="FOLDER",
        help="where scratch files go (default: where the system has them)",
    )
    _add_report_options(command)
    command.add_argument(
        "--save",
        type=_npy_name,
        metavar="OUT.npy",
        help="write the mates for numpy.load (-: to standard output)",
    )


def _add_unweighted(command: argparse.ArgumentParser) -> None:
    command.add_argument("--unweighted", action="store_true", help="all edges weigh the same")


def _add_demo(adders: Any) -> None:
    command = _add_command(
        adders, "demo", commands.demo, "analyse and solve a circuit made here: needs no file"
    )
    command.add_argument(
        "--nodes",
        type=_node_count,
        default=3000,
        metavar="N",
        help="circuit nodes, about (default 3000)",
    )
    command.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="which random circuit (default 0)"
    )
    _add_report_options(command)
    _add_plot(command)


def _add_command(
    adders: Any, name: str, function: Callable[..., int], summary: str
) -> argparse.ArgumentParser:
    command = adders.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=_EXIT_STATUS.format(""),
    )
    command.set_defaults(command=function, name=name)
    return command


def _add_file(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help=FORMATS)


def _add_files(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "files", nargs="+", metavar="FILE", help=f"{FORMATS}; of several, a line for each"
    )


def _add_engine_options(command: argparse.ArgumentParser, heuristic_alone: bool = False) -> None:
    methods = _choices("exact", "auto", *(["none"] if heuristic_alone else []))
    inits = _choices("heuristic", "auto", "none")
    note = "; none: the initialisation alone, only maximal" if heuristic_alone else ""
    command.add_argument(
        "--method", choices=methods, default="auto", help=f"exact engine (default auto{note})"
    )
    command.add_argument(
        "--init",
        choices=inits,
        default="auto",
        help="heuristic for the initialisation (default auto)",
    )
    command.add_argument(
        "--workers",
        type=_workers,
        default=1,
        metavar="N",
        help="threads, -1 for all the cores (default 1)",
    )
    command.add_argument(
        "--seed", type=_seed, default=None, metavar="N", help="seed of random starts"
    )


def _choices(kind: str, *first: str) -> list[str]:
    return list(dict.fromkeys([*first, *ranks.engine_names(kind)]))


def _add_report_options(command: argparse.ArgumentParser, arrays: str | None = None) -> None:
    command.add_argument(
        "--json", action="store_true", help="one JSON object on standard output, for programs"
    )
    if arrays:
        command.add_argument(
            "--arrays", action="store_true", help=f"like --json, with the arrays ({arrays})"
        )
    command.add_argument(
        "--quiet", action="store_true", help="no summary and no progress, only errors (and --json)"
    )


def _add_check(command: argparse.ArgumentParser) -> None:
    command.epilog = _EXIT_STATUS.format(_WITH_CHECK)
    command.add_argument(
        "--check", action="store_true", help="exit with status 1 if structurally singular"
    )


def _add_save(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--save",
        type=_npz_name,
        metavar="OUT.npz",
        help="write the arrays for numpy.load (-: to standard output)",
    )


def _add_plot(command: argparse.ArgumentParser, what: str = "before and after") -> None:
    command.add_argument(
        "--plot",
        metavar="OUT.png",
        help=f"picture of {what} (needs matplotlib: {pip_install('matplotlib')})",
    )


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


def _node_count(text: str) -> int:
    count = _integer(text)
    if not 100 <= count <= 10**6:
        raise argparse.ArgumentTypeError(f"{count} is not between 100 and 1000000")
    return count


def _at_least(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        count = _integer(text)
        if count < least:
            raise argparse.ArgumentTypeError(f"{count} is not {least} or more")
        return count

    return read


def _npy_name(text: str) -> str:
    if text != STREAM and not text.endswith(".npy"):
        raise argparse.ArgumentTypeError(f"{text}: the name must end in .npy, or be {STREAM}")
    return text


def _npz_name(text: str) -> str:
    if text != STREAM and not text.endswith(".npz"):
        raise argparse.ArgumentTypeError(f"{text}: the name must end in .npz, or be {STREAM}")
    return text


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
