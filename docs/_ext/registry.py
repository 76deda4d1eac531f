"""Parts of pages that are read from the package itself: the engines, the help of the commands."""

import sparsematch
from sparsematch.cli.arguments import build_parser

KINDS = {
    "heuristic": "Initialisation heuristics",
    "exact": "Exact engines",
    "approximate": "General graphs",
}


def engine_table(*kinds, backends=("numpy", "cupy", "mpi", "nccl")):
    """Return what is registered, a table for each kind; names are linked to the engines' pages."""
    engines = sparsematch.engines(backend=None)
    tables = []
    for kind in kinds or KINDS:
        last = "at least" if kind == "approximate" else "transpose"
        heading = f"| engine | what it does | options | workers | {last} |"
        lines = [f"**{KINDS[kind]}**", "", heading, "|---|---|---|---|---|"]
        lines += [row(e) for e in engines if e.kind == kind and e.backend in backends]
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def row(engine):
    """Return the line of an engine."""
    options = " ".join(f"`{name}={default!r}`" for name, default in engine.options.items())
    link = f"[`{engine.name}`](/algorithms/{engine.name}.md)"
    if engine.backend == "cupy":
        link += ", GPU"
        workers = "device"
    elif engine.backend == "nccl":
        link += ", several GPUs"
        workers = "devices"
    else:
        link += ", MPI" if engine.backend == "mpi" else ""
        workers = "any" if engine.multithreaded else "one"
    last = engine.transpose
    if engine.kind == "approximate":
        last = f"{engine.guarantee:g} of the best" if engine.guarantee else "no guarantee"
    cells = link, engine.summary, options or "none", workers, last
    return f"| {' | '.join(cells)} |"


def command_line_help():
    """Return the help of the program and of each of its commands."""
    parser = build_parser()
    (commands,) = (action for action in parser._actions if action.choices)
    parsers = {parser.prog: parser, **{p.prog: p for p in commands.choices.values()}}
    return "\n".join(f"## {name}\n\n```text\n{p.format_help()}```\n" for name, p in parsers.items())
