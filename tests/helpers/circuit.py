"""A circuit's equations: reducible, with zeros on the diagonal, and values of many sizes.

Modified nodal analysis of networks of resistors and capacitors, driven by ideal voltage sources:
the unknowns are the node voltages and the currents of the sources, the equations are Kirchhoff's
current law at each node and one equation for each source. A source's equation does not contain its
own current, so the diagonal has zeros; and an amplifier (a voltage-controlled source) draws nothing
from what it senses, so the system is reducible.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

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


def build_circuit(n_nodes: int = 3000, *, seed: int = 0) -> Circuit:
    """Build the equations of a cascade of resistor-capacitor networks with amplifiers between them.

    `n_nodes`: about how many; twelve square grids share them. `seed`: of the values of components
    and of the order of nodes.
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
