"""The circuit of the demonstration has the promised zeros, and the solution by blocks solves it."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch import block_triangular_form, structural_rank
from sparsematch.demo import STAGES, build_circuit, run, short_circuit, solve_by_blocks


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
    x, fill = solve_by_blocks(A, b, block_triangular_form(A))
    np.testing.assert_allclose(A @ x, b, atol=1e-12)
    first = circuit.sources[0]
    assert x[first] == pytest.approx(1.0)  # the one volt that drives it all
    assert fill > A.shape[0]


def test_solution_by_blocks_of_random_systems():
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(1, 40))
        A = sp.csr_array((rng.random((n, n)) < 0.08) + 10 * np.eye(n)[rng.permutation(n)])
        b = rng.standard_normal(n)
        x, _ = solve_by_blocks(A, b, block_triangular_form(A))
        np.testing.assert_allclose(A @ x, b, atol=1e-9)


def test_short_circuit_is_found_by_name(circuit):
    faulty = short_circuit(circuit)
    form = block_triangular_form(faulty.matrix)
    n = circuit.matrix.shape[0]
    assert form.structural_rank == n
    assert set(form.row_perm[form.coarse_rows[2] :]) == {circuit.n_nodes, n}
    assert set(form.col_perm[: form.coarse_cols[2]]) == {circuit.n_nodes, n}


def test_run_compares_with_scipy():
    result = run(600)
    assert result.rank == result.matrix.shape[0] == result.transversal.cardinality
    assert result.residual < 1e-12
    assert result.residual_whole < 1e-12
    assert result.difference < 1e-9
    assert result.form.n_blocks > STAGES
