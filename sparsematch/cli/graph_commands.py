"""The commands for general graphs: coarsening of a matrix, and matching of a file of edges."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

import sparsematch
from sparsematch import GraphMatching
from sparsematch._io import UnreadableFile
from sparsematch.cli import ranks, summary
from sparsematch.cli.commands import read
from sparsematch.cli.outputs import CannotProduce, check_outputs, print_result, write
from sparsematch.cli.progress import Progress
from sparsematch.edge_files import match_edge_file


def coarsen(arguments: Namespace) -> int:
    """Coarsen a file's matrix, level by level."""
    progress = Progress(sys.stderr, arguments.quiet)
    matrix = read(arguments, progress)
    with progress.step("coarsen", f"coarsening {summary.size_words(matrix)}"):
        try:
            hierarchy = sparsematch.coarsening_hierarchy(
                matrix,
                method=arguments.method,
                weights=not arguments.unweighted,
                symmetrize=arguments.symmetrize,
                min_vertices=arguments.min_vertices,
                max_levels=arguments.max_levels,
                rng=arguments.seed,
                workers=arguments.workers,
            )
        except (ValueError, TypeError) as error:
            advice = str(error).replace("symmetrize=True", "--symmetrize")
            raise CannotProduce(f"{arguments.file} cannot be coarsened: {advice}") from None
    if arguments.save:  # for each level, the vertex that each vertex of the matrix is part of
        labels = np.array([hierarchy.aggregates(k) for k in range(len(hierarchy))])
        sizes = np.array(hierarchy.sizes)
        write(
            arguments.save,
            lambda stream: np.savez_compressed(stream, aggregates=labels, vertices=sizes),
        )
    fields = {
        "command": "coarsen",
        "file": arguments.file,
        "vertices": list(hierarchy.sizes),
        "entries": [int(level.matrix.nnz) for level in hierarchy.levels],
        "pairs": [level.matching.cardinality for level in hierarchy.levels if level.matching],
        "stopped_by": hierarchy.stopped_by,
        "seconds": progress.rounded(),
    }
    print_result(arguments, fields, _coarsening_text)
    return 0


def match_edges(arguments: Namespace) -> int:
    """Match the edges of a file: with memory for the vertices alone, or shared by all ranks."""
    progress = Progress(sys.stderr, arguments.quiet)
    comm = ranks.communicator()
    shared: dict[str, Any] = {}
    matching: Any
    if comm is None:
        check_outputs(arguments)
        with progress.step("match", f"matching {Path(arguments.file).name}"):
            matching = _match_file(arguments)
    else:
        matching, shared = ranks.match_edges(arguments, progress)
    if arguments.save and (comm is None or comm.Get_rank() == 0):
        write(arguments.save, lambda stream: np.save(stream, matching.mate))
    (step,) = matching.info.steps
    fields = {
        "command": "match-edges",
        "file": arguments.file,
        "n_vertices": int(matching.mate.size),
        "n_edges": step.live_edges[0] if step.live_edges else 0,
        "cardinality": step.cardinality,
        "weight": matching.weight,
        "rounds": step.phases,
        "edges_read": step.edges,
    }
    fields |= {**shared, "seconds": progress.rounded()}
    print_result(arguments, fields, _matching_text)
    return 0


def _match_file(arguments: Namespace) -> GraphMatching:
    if not Path(arguments.file).is_file():
        raise UnreadableFile(f"{arguments.file}: there is no such file")
    try:
        return match_edge_file(
            arguments.file,
            n_vertices=arguments.vertices,
            weights=not arguments.unweighted,
            rng=arguments.seed,
            scratch=arguments.scratch,
        )
    except ValueError as error:
        raise UnreadableFile(error) from None
    except OSError as error:
        raise CannotProduce(error) from None


def _coarsening_text(fields: dict[str, Any]) -> str:
    vertices, entries = fields["vertices"], fields["entries"]
    lines = [f"{fields['file']}: {vertices[0]:,} vertices, {entries[0]:,} entries"]
    for k, (n, nnz) in enumerate(zip(vertices[1:], entries[1:], strict=True), 1):
        lines.append(summary.line(f"level {k}", f"{n:>12,} vertices, {nnz:>14,} entries"))
    lines.append(summary.line("stopped by", fields["stopped_by"]))
    return "\n".join([*lines, summary.line("time", summary.times(fields["seconds"]))])


def _matching_text(fields: dict[str, Any]) -> str:
    n, pairs, edges = fields["n_vertices"], fields["cardinality"], fields["n_edges"]
    work = f"{fields['edges_read'] / max(edges, 1):.2f} times the edges read"
    if "ranks" in fields:
        work = summary.exchange_words(fields, f" between {fields['ranks']} ranks")
    lines = [
        f"{fields['file']}: {n:,} vertices, {edges:,} edges",
        summary.line("pairs", f"{pairs:,}, {200 * pairs / max(n, 1):.1f}% of the vertices"),
        summary.line("weight", f"{fields['weight']:g}"),
        summary.line("rounds", f"{fields['rounds']}, {work}"),
        summary.line("time", summary.times(fields["seconds"])),
    ]
    return "\n".join(lines)
