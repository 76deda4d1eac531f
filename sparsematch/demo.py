"""A worked example without a file: a circuit's equations, solved block by block.

Modified nodal analysis of networks of resistors and capacitors, driven by ideal voltage sources:
the unknowns are the node voltages and the currents of the sources, the equations are Kirchhoff's
current law at each node and one equation for each source. A source's equation does not contain its
own current, so the diagonal has zeros; and an amplifier (a voltage-controlled source) draws nothing
from what it senses, so the system is reducible. Only the public functions of sparsematch are used:
this file is meant to be read.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from sparsematch import (
    BlockForm,
    Matching,
    block_triangular_form,
    maximum_transversal,
    structural_rank,
)

__all__ = ["Circuit", "Result", "build_circuit", "run", "short_circuit", "solve_by_blocks"]

_Entry = tuple[int, int, float]  # row, column, value

STAGES = 12
# the amplifier of the first also senses the second: the stages between form a loop
_FEEDBACK = {4: 6, 9: 10}
_STEP = 1e-6  # seconds of the implicit Euler step that turns a capacitor into a conductance


@dataclass(frozen=True)
class Circuit:
    """The equations ``matrix @ x = rhs`` of a circuit, node voltages before source currents.

    `sources` lists, for each source, its node (the other end is ground or another node).
    """

    matrix: Any
    rhs: NDArray[np.float64]
    n_nodes: int
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Result:
    """What `run` finds out; times are in seconds, fill is the number of entries of the factors."""

    circuit: Circuit
    form: BlockForm
    transversal: Matching
    rank: int
    residual: float
    residual_whole: float
    difference: float
    fill: int
    fill_whole: int
    seconds_analyse: float
    seconds: float
    seconds_whole: float
    faulty: Circuit
    faulty_form: BlockForm

    @property
    def matrix(self) -> Any:
        """The circuit's matrix."""
        return self.circuit.matrix


def build_circuit(n_nodes: int = 3000, *, seed: int = 0) -> Circuit:
    """Build the equations of a cascade of resistor-capacitor networks with amplifiers between them.

    Parameters
    ----------
    n_nodes : int
        Number of nodes, about: twelve square grids share them.
    seed : int
        Seed of the component values and of the order of the nodes.

    Returns
    -------
    Circuit
        The matrix is square, structurally nonsingular and reducible, and has zeros on its
        diagonal.

    Examples
    --------
    >>> from sparsematch.demo import build_circuit
    >>> build_circuit(300).matrix.shape
    (324, 324)
    """
    rng = np.random.default_rng(seed)
    side = max(3, round((n_nodes / STAGES) ** 0.5))
    count = STAGES * side * side
    # a netlist names its nodes in no useful order
    nodes = rng.permutation(count).reshape(STAGES, side, side)
    entries = _conductances(nodes, rng)
    rhs = np.zeros(count + 2 * STAGES)
    sources = []
    for stage in range(STAGES):
        branch = count + stage
        sensed = [stage - 1] if stage else []
        if stage in _FEEDBACK:
            sensed.append(_FEEDBACK[stage])
        entries += _source(branch, nodes[stage, 0, 0], [(nodes[k, -1, -1], 2.0) for k in sensed])
        sources.append(int(nodes[stage, 0, 0]))
    rhs[count] = 1.0  # one volt drives the first stage, amplifiers with a gain of two the others
    for stage in range(STAGES):  # a battery of 0.1 V inside each stage, between two of its nodes
        branch = count + STAGES + stage
        plus, minus = nodes[stage, 1, 1], nodes[stage, 1, 2]
        entries += _source(branch, plus, [(minus, 1.0)])
        entries.append((minus, branch, -1.0))
        rhs[branch] = 0.1
        sources.append(int(plus))
    rows, cols, values = map(np.array, zip(*entries, strict=True))
    size = len(rhs)
    matrix = sp.csc_array(sp.coo_array((values, (rows, cols)), shape=(size, size)))
    return Circuit(matrix, rhs, count, tuple(sources))


def _conductances(nodes: NDArray[Any], rng: np.random.Generator) -> list[_Entry]:
    """Resistors between neighbours of each grid, a capacitor from each node to ground."""
    pairs = [
        np.stack([nodes[:, :, :-1].ravel(), nodes[:, :, 1:].ravel()]),
        np.stack([nodes[:, :-1, :].ravel(), nodes[:, 1:, :].ravel()]),
    ]
    a, b = np.concatenate(pairs, axis=1)
    g = 10 ** rng.uniform(-3, -2, len(a))  # 100 ohm to 1 kilohm
    c = rng.uniform(1e-12, 1e-11, nodes.size) / _STEP  # 1 to 10 pF
    every = nodes.ravel()
    rows, cols = np.concatenate([a, b, a, b, every]), np.concatenate([a, b, b, a, every])
    values = np.concatenate([g, g, -g, -g, c])
    return list(zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True))


def _source(branch: int, node: int, sensed: list[tuple[int, float]]) -> list[_Entry]:
    """Place a source between ground and `node`, fixing its voltage relative to `sensed`."""
    return [
        (node, branch, 1.0),
        (branch, node, 1.0),
        *((branch, other, -gain) for other, gain in sensed),
    ]


def short_circuit(circuit: Circuit) -> Circuit:
    """Add a second voltage source across the first one, a classic: the equations are singular."""
    n, node = circuit.matrix.shape[0], circuit.sources[0]
    new = sp.coo_array(([1.0], ([node], [0])), shape=(n, 1))
    matrix = sp.block_array([[circuit.matrix, new], [new.T, None]], format="csc")
    return Circuit(matrix, np.append(circuit.rhs, 2.0), circuit.n_nodes, (*circuit.sources, node))


def solve_by_blocks(
    A: Any, b: NDArray[np.float64], form: BlockForm
) -> tuple[NDArray[np.float64], int]:
    """Solve a square system by back substitution over the blocks of its block triangular form.

    Parameters
    ----------
    A : (n, n) sparse matrix or array
        Structurally nonsingular.
    b : (n,) ndarray
        The right-hand side.
    form : BlockForm
        ``block_triangular_form(A)``.

    Returns
    -------
    x : (n,) ndarray
        The solution.
    fill : int
        Number of entries of all the factors of the diagonal blocks.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sparsematch
    >>> from sparsematch.demo import solve_by_blocks
    >>> A = scipy.sparse.csr_array([[0.0, 2.0], [4.0, 1.0]])
    >>> x, fill = solve_by_blocks(A, np.array([2.0, 5.0]), sparsematch.block_triangular_form(A))
    >>> x
    array([1., 1.])
    """
    C = sp.csr_array(form.permute(A))
    d, y, fill = b[form.row_perm], np.zeros(len(b)), 0
    bounds = form.row_blocks
    for k in reversed(range(form.n_blocks)):  # block upper triangular: the last block stands alone
        here = slice(bounds[k], bounds[k + 1])
        # the unknowns of this block and of those above it are still zero in y
        d_here = d[here] - C[here] @ y
        if bounds[k + 1] - bounds[k] == 1:
            y[here] = d_here / C[bounds[k], bounds[k]]
            fill += 1
        else:
            factor = splu(C[here, here].tocsc())
            y[here] = factor.solve(d_here)
            fill += factor.L.nnz + factor.U.nnz
    x = np.empty(len(b))
    x[form.col_perm] = y
    return x, fill


def run(n_nodes: int = 3000, *, seed: int = 0) -> Result:
    """Build, analyse and solve the circuit, whole and by blocks; then analyse it with a mistake.

    Parameters
    ----------
    n_nodes, seed : int
        As for `build_circuit`.

    Returns
    -------
    Result
        The circuit, its block form, and how the two solutions compare.

    Examples
    --------
    >>> from sparsematch.demo import run
    >>> result = run(300)
    >>> result.form.is_reducible, result.residual < 1e-12
    (True, True)
    """
    circuit = build_circuit(n_nodes, seed=seed)
    A, b = circuit.matrix, circuit.rhs
    start = perf_counter()
    form = block_triangular_form(A)
    analysed = perf_counter()
    x, fill = solve_by_blocks(A, b, form)
    solved = perf_counter()
    factor = splu(A)
    whole = factor.solve(b)
    ended = perf_counter()
    faulty = short_circuit(circuit)
    return Result(
        circuit=circuit,
        form=form,
        transversal=maximum_transversal(A),
        rank=int(structural_rank(A)),
        residual=_relative_residual(A, x, b),
        residual_whole=_relative_residual(A, whole, b),
        difference=float(np.abs(x - whole).max() / np.abs(whole).max()),
        fill=int(fill),
        fill_whole=int(factor.L.nnz + factor.U.nnz),
        seconds_analyse=analysed - start,
        seconds=solved - analysed,
        seconds_whole=ended - solved,
        faulty=faulty,
        faulty_form=block_triangular_form(faulty.matrix),
    )


def _relative_residual(A: Any, x: NDArray[Any], b: NDArray[Any]) -> float:
    return float(np.linalg.norm(A @ x - b) / np.linalg.norm(b))
