"""A circuit, large enough to have what circuits have: zeros on the diagonal, blocks, conflicts."""

import numpy as np
import pytest
import scipy.sparse as sp

from circuit import STAGES, build_circuit, short_circuit
from sparsematch import block_triangular_form, solvers, structural_rank


@pytest.fixture(scope="module", params=[0, 1])
def circuit(request):
    return build_circuit(600, seed=request.param)


def test_circuit_has_zeros_on_the_diagonal_and_is_reducible(circuit):
    A, n = circuit.matrix, circuit.matrix.shape[0]
    assert n == circuit.n_nodes + 2 * STAGES == len(circuit.rhs)
    assert np.count_nonzero(A.diagonal() == 0) == 2 * STAGES
    assert structural_rank(A) == n
    sizes = np.diff(block_triangular_form(A).row_blocks)
    # three networks are in one feedback loop, two in another
    assert np.count_nonzero(sizes > 1) == STAGES - 3
    assert sizes.max() > 3 * (circuit.n_nodes // STAGES - 1)


def test_circuit_is_physical(circuit):
    """Kirchhoff: without sources and capacitors nothing flows when all the voltages are equal."""
    n = circuit.n_nodes
    G = circuit.matrix[:n, :n].tocsr()
    assert abs(G - G.T).max() < 1e-12
    to_ground = G @ np.ones(n)
    assert to_ground.min() > 0
    assert to_ground.max() < 1.1e-5  # the capacitors: 10 pF in a step of 1 microsecond


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_solution_by_blocks(circuit, convert):
    A, b = convert(circuit.matrix), circuit.rhs
    x = solvers.spsolve(A, b)
    np.testing.assert_allclose(A @ x, b, atol=1e-12)
    first = circuit.sources[0]
    assert x[first] == pytest.approx(1.0)  # the one volt that drives it all


def test_short_circuit_is_found_by_name(circuit):
    faulty = short_circuit(circuit)
    form = block_triangular_form(faulty.matrix)
    n = circuit.matrix.shape[0]
    assert form.structural_rank == n
    assert set(form.row_perm[form.coarse_rows[2] :]) == {circuit.n_nodes, n}
    assert set(form.col_perm[: form.coarse_cols[2]]) == {circuit.n_nodes, n}
