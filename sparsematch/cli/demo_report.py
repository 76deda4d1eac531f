"""What ``sparsematch demo`` prints about the circuit of `sparsematch.demo`.

At the end it says how long `sparsematch.solvers` and SciPy take for a larger circuit.
"""

from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sparsematch import solvers
from sparsematch._types.errors import pip_install
from sparsematch.cli.summary import line, seconds
from sparsematch.demo import STAGES, Result, build_circuit

__all__ = ["compare_with_scipy", "fields", "text"]

_REPEATS = 3
_LARGEST = 30_000


class Comparison(NamedTuple):
    """Seconds to factorise and solve, the best of a few, and how far the solutions differ."""

    n_rows: int
    n_blocks: int
    scipy: float
    first: float
    again: float
    difference: float


def compare_with_scipy(n_nodes: int, *, seed: int = 0) -> Comparison:
    """Time both on a circuit of ten times `n_nodes`, at most 30,000."""
    circuit = build_circuit(min(10 * n_nodes, _LARGEST), seed=seed)
    A, b = circuit.matrix, circuit.rhs
    lu = solvers.splu(A)

    def again() -> Any:  # new values in the same pattern, as in the next step in time
        lu.refactorise(A)
        return lu.solve(b)

    scipy, expected = _best(lambda: splu(A).solve(b))
    first, _ = _best(lambda: solvers.splu(A).solve(b))
    later, found = _best(again)
    difference = float(np.abs(found - expected).max() / np.abs(expected).max())
    return Comparison(A.shape[0], lu.n_blocks, scipy, first, later, difference)


def _best(solve: Callable[[], Any]) -> tuple[float, Any]:
    seconds = []
    for _ in range(_REPEATS):
        begin = perf_counter()
        x = solve()
        seconds.append(perf_counter() - begin)
    return min(seconds), x


def fields(result: Result, times: Comparison) -> dict[str, Any]:
    """Collect the numbers of `result`, and the times of a larger circuit, in a dictionary."""
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
        "large_n_rows": times.n_rows,
        "large_n_blocks": times.n_blocks,
        "large_difference": times.difference,
        "seconds": {
            "analyse": result.seconds_analyse,
            "solve": result.seconds,
            "solve_whole": result.seconds_whole,
            "large_scipy": times.scipy,
            "large_solve": times.first,
            "large_solve_again": times.again,
        },
    }


def text(result: Result, times: Comparison) -> str:
    """Word `result` and the times of a larger circuit."""
    f = fields(result, times)
    paragraphs = [_model(f), _analysis(result, f), _solution(f), _mistake(result)]
    paragraphs += [_speed(times), _next()]
    return "\n\n".join("\n".join(lines) for lines in paragraphs)


def _model(f: dict[str, Any]) -> list[str]:
    return [
        f"A circuit of {f['n_nodes']:,} nodes: {STAGES} networks of resistors and capacitors, "
        "driven one by another",
        f"through amplifiers (two of them close feedback loops), with {f['n_sources']} ideal "
        "voltage sources in all.",
        f"Modified nodal analysis: {f['n_rows']:,} equations, {f['n_entries']:,} entries.",
    ]


def _analysis(result: Result, f: dict[str, Any]) -> list[str]:
    sizes = np.sort(np.diff(result.form.row_blocks))[::-1]
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
        line("time", seconds(result.seconds_analyse)),
    ]


def _solution(f: dict[str, Any]) -> list[str]:
    return [
        _row("Solve A x = b", "largest system", "factor entries", "residual"),
        _row("  block by block", f["largest_block"], f["fill"], f["residual"]),
        _row("  whole, by SciPy", f["n_rows"], f["fill_whole"], f["residual_whole"]),
        line("difference", f"{f['difference']:.1e} of the largest unknown"),
    ]


def _row(label: str, size: int | str, fill: int | str, residual: float | str) -> str:
    """Align one row of the table; the heads of the columns are strings."""
    size, fill = (cell if isinstance(cell, str) else f"{cell:,}" for cell in (size, fill))
    residual = residual if isinstance(residual, str) else f"{residual:.1e}"
    return f"{label:<20}{size:>14}  {fill:>14}  {residual:>9}"


def _speed(times: Comparison) -> list[str]:
    def words(value: float) -> str:
        ratio = f"{times.scipy / value:.1f} times as fast" if value < times.scipy else "no faster"
        return f"{seconds(value):>9}  {ratio}"

    return [
        f"Such a circuit of {times.n_rows:,} equations, {times.n_blocks:,} blocks: factorise and "
        "solve",
        line("SciPy's splu", f"{seconds(times.scipy):>9}"),
        line("solvers.splu", words(times.first)),
        line("  with new values", f"{words(times.again)} (refactorise)"),
    ]


def _next() -> list[str]:
    lines = [
        "Next",
        line("explain", "sparsematch explain your_matrix.mtx     why it is singular"),
        line("blocks", "sparsematch btf your_matrix.mtx         its block triangular form"),
        line("picture", "sparsematch demo --plot circuit.png     this circuit"),
        line(
            "in Python", "from sparsematch.solvers import splu    in place of scipy.sparse.linalg"
        ),
    ]
    if find_spec("matplotlib") is None:
        lines[3] += f" (needs matplotlib: {pip_install('matplotlib')})"
    return lines


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
