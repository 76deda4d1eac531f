"""Measure sparsematch against SciPy on matrices that are made here, and print a markdown table.

    python benchmarks/compare.py                             # 2**17 rows each, stopped after 20 s
    python benchmarks/compare.py --scale 20 mesh mesh_scrambled
    python benchmarks/compare.py --write README.md           # the table goes where the last one is

Times are medians of calls as a user makes them, warm, in milliseconds of processor time (of wall
clock with more than one worker) and, in brackets, in units of one product of the same matrix with a
vector in single precision (SpMV), measured in the same process. Every result is checked outside the
timed part: the matching by a vertex cover of its size, the blocks entry by entry, the cardinality
against SciPy's where it finished. Each of the three is measured in a process of its own, which is
stopped at the limit. benchmarks/README.md says what is fair.
"""

import argparse
import os
import pathlib
import platform
import sys
import tempfile

import numpy as np
import scipy
import scipy.sparse as sp

import matrices
import sparsematch
from measure import measure

TABLE = (
    ("matrix", "---"),
    ("rows x columns", "---:"),
    ("entries", "---:"),
    ("rank", "---:"),
    ("transversal, ms (SpMV)", "---:"),
    ("block form, ms (SpMV)", "---:"),
    ("SciPy, ms (SpMV)", "---:"),
    ("SciPy / transversal", "---:"),
)
BEGIN, END = (
    "<!-- speed table: written by benchmarks/compare.py -->",
    "<!-- end of the speed table -->",
)


def row(name, A, path, args):
    """Measure one matrix; return the cells of its line."""
    ours = measure(
        "transversal", path, workers=args.workers, repeats=args.repeats, limit=args.limit
    )
    blocks = measure("blocks", path, workers=args.workers, repeats=args.repeats, limit=args.limit)
    peer = measure("scipy", path, repeats=args.repeats, limit=args.limit)
    ranks = {figures["cardinality"] for figures in (ours, blocks, peer) if figures}
    if len(ranks) > 1:
        raise AssertionError(f"{name}: cardinalities differ: {ranks}")
    shape = f"{A.shape[0]:,} x {A.shape[1]:,}"
    rank = f"{ranks.pop():,}" if ranks else "not found"
    times = [time(figures, args.limit) for figures in (ours, blocks, peer)]
    return [f"`{name}`", shape, f"{A.nnz:,}", rank, *times, ratio(ours, peer, args.limit)]


def time(figures, limit):
    """Milliseconds and, in brackets, SpMV; or what is known when the limit was reached."""
    if figures is None:
        return f"> {limit * 1e3:,.0f}"
    return f"{three(figures['seconds'] * 1e3)} ({three(figures['seconds'] / figures['unit'])})"


def ratio(ours, peer, limit):
    """How many times as long SciPy takes; a lower bound when it was stopped."""
    if ours is None:
        return ""
    return (
        three(peer["seconds"] / ours["seconds"]) if peer else f"> {three(limit / ours['seconds'])}"
    )


def three(value):
    """Three significant digits, and thousands in full."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def line(cells):
    """One line of a markdown table."""
    return "| " + " | ".join(cells) + " |"


def conditions(args):
    """What was measured, where and how, in one line."""
    versions = (
        f"sparsematch {sparsematch.__version__}, SciPy {scipy.__version__}, NumPy {np.__version__}"
    )
    settings = (
        f"`--scale {args.scale} --workers {args.workers} --limit {args.limit:g} --seed {args.seed}`"
    )
    return f"{versions}, Python {platform.python_version()}, {processor()}; {settings}."


def processor():
    """What the machine calls its processor."""
    try:
        with open("/proc/cpuinfo") as info:
            return next(
                text.split(":", 1)[1].strip() for text in info if text.startswith("model name")
            )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def write(path, text, begin=BEGIN, end=END):
    """Replace what a file has between two marks."""
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(begin, 1)
    after = rest.split(end, 1)[1]
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def parse():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="MATRIX", help=f"default all: {', '.join(matrices.NAMES)}"
    )
    parser.add_argument("--scale", type=int, default=17, help="about 2**SCALE rows (default 17)")
    parser.add_argument(
        "--limit",
        type=float,
        default=20.0,
        help="seconds until a measurement is stopped (default 20)",
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="timed calls after one that warms up (default 3)"
    )
    parser.add_argument(
        "--workers", type=int, default=1, help="threads for sparsematch (default 1)"
    )
    parser.add_argument(
        "--seed", type=int, default=2011, help="draws other matrices of the same kinds"
    )
    parser.add_argument(
        "--write", type=pathlib.Path, metavar="FILE", help="put the table between the marks of FILE"
    )
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in matrices.NAMES]
    if unknown:
        parser.error(
            f"no matrix is called {', '.join(unknown)}; choose from {', '.join(matrices.NAMES)}"
        )
    if args.write and BEGIN not in args.write.read_text(encoding="utf-8"):
        parser.error(f"{args.write} has no line {BEGIN}")
    return args


def table(args):
    """Yield the lines of the table, each as soon as it is measured."""
    yield from (line(column) for column in zip(*TABLE, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or matrices.NAMES:
            A = matrices.build(name, args.scale, args.seed)
            path = os.path.join(folder, f"{name}.npz")
            sp.save_npz(path, A, compressed=False)
            yield line(row(name, A, path, args))
            os.remove(path)


def main():
    """Print the table, and write it to the file that is given."""
    args = parse()
    lines = [conditions(args), ""]
    print(*lines, sep="\n", flush=True)
    for text in table(args):
        print(text, flush=True)
        lines.append(text)
    if args.write:
        write(args.write, "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
