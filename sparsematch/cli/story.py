"""What ``sparsematch demo`` prints about the circuit of `sparsematch.demo`."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsematch.cli.summary import line
from sparsematch.demo import STAGES, Result, run

__all__ = ["facts", "run", "text"]


def facts(result: Result) -> dict[str, Any]:
    """Collect the numbers of `result` in a flat dictionary."""
    form, diagonal = result.form, result.matrix.diagonal()
    permuted = sp.csr_array(result.matrix)[result.transversal.as_permutation()].diagonal()
    return {
        "n_rows": len(diagonal),
        "n_cols": len(diagonal),
        "n_entries": int(result.matrix.nnz),
        "n_nodes": result.circuit.n_nodes,
        "n_sources": len(result.circuit.sources),
        "zeros_on_diagonal": int(np.count_nonzero(diagonal == 0)),
        "zeros_on_diagonal_permuted": int(np.count_nonzero(permuted == 0)),
        "structural_rank": result.rank,
        "n_blocks": form.n_blocks,
        "largest_block": int(np.diff(form.row_blocks).max()),
        "residual": result.residual,
        "residual_whole": result.residual_whole,
        "difference": result.difference,
        "fill": result.fill,
        "fill_whole": result.fill_whole,
        "faulty_structural_rank": int(result.faulty_form.structural_rank),
        "seconds": {
            "analyse": result.seconds_analyse,
            "solve": result.seconds,
            "solve_whole": result.seconds_whole,
        },
    }


def text(result: Result) -> str:
    """Tell the story of `result`."""
    return "\n".join(
        [*_model(result), "", *_analysis(result), "", *_solution(result), "", *_mistake(result)]
    )


def _model(result: Result) -> list[str]:
    f = facts(result)
    return [
        f"A circuit of {f['n_nodes']:,} nodes: {STAGES} networks of resistors and capacitors, "
        "driven one by another",
        f"through amplifiers (two of them close feedback loops), with {f['n_sources']} ideal "
        "voltage sources in all.",
        f"Modified nodal analysis: {f['n_rows']:,} equations, {f['n_entries']:,} entries.",
    ]


def _analysis(result: Result) -> list[str]:
    f, sizes = facts(result), np.sort(np.diff(result.form.row_blocks))[::-1]
    before, after = f["zeros_on_diagonal"], f["zeros_on_diagonal_permuted"]
    ones = int(np.count_nonzero(sizes == 1))
    large = ", ".join(f"{size:,}" for size in sizes[sizes > 1])
    return [
        "Analysis",
        line(
            "zero diagonal",
            f"{before:,} equations (those of the sources), {after:,} after a maximum transversal",
        ),
        line(
            "structural rank",
            f"{f['structural_rank']:,} of {f['n_rows']:,}: structurally nonsingular",
        ),
        line("block form", f"{f['n_blocks']:,} blocks: {large}, and {ones:,} of size 1"),
        line("time", f"{result.seconds_analyse:.4f} s"),
    ]


def _solution(result: Result) -> list[str]:
    f = facts(result)
    return [
        _row("Solve A x = b", "largest system", "factor entries", "time", "residual"),
        _row("  block by block", f["largest_block"], f["fill"], result.seconds, f["residual"]),
        _row(
            "  whole, by splu",
            f["n_rows"],
            f["fill_whole"],
            result.seconds_whole,
            f["residual_whole"],
        ),
        line("difference", f"{f['difference']:.1e} of the largest unknown"),
    ]


def _row(
    label: str, size: int | str, fill: int | str, seconds: float | str, residual: float | str
) -> str:
    """Align one row of the table; the heads of the columns are strings."""
    size, fill = (cell if isinstance(cell, str) else f"{cell:,}" for cell in (size, fill))
    seconds = seconds if isinstance(seconds, str) else f"{seconds:.4f} s"
    residual = residual if isinstance(residual, str) else f"{residual:.1e}"
    return f"{label:<20}{size:>14}  {fill:>14}  {seconds:>9}  {residual:>8}"


def _mistake(result: Result) -> list[str]:
    """Read the mistake off the coarse parts, by name."""
    circuit, form = result.faulty, result.faulty_form
    equations = _names(form.row_perm[form.coarse_rows[2] :], circuit.n_nodes)
    currents = _names(form.col_perm[: form.coarse_cols[2]], circuit.n_nodes)
    return [
        "The same circuit with a mistake: a second voltage source across the first one",
        line(
            "structural rank",
            f"{form.structural_rank:,} of {form.shape[0]:,}: structurally SINGULAR",
        ),
        line(
            "over-determined",
            f"the equations of {equations} fix one voltage, of node {circuit.sources[0]}",
        ),
        line(
            "under-determined",
            f"the currents of {currents} enter one equation, of node {circuit.sources[0]}",
        ),
    ]


def _names(indices: Any, n_nodes: int) -> str:
    return " and ".join(
        f"source {k - n_nodes}" if k >= n_nodes else f"node {k}" for k in np.sort(indices).tolist()
    )
