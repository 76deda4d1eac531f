"""What the CUDA back-end does beside matching; as threaded C++ where there is no GPU."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import coupled_pieces
import oracle
import sparsematch as sm
from calls import grid, random_matrix, scrambled
from gpu_calls import host, on_device, to_gpu
from sparsematch._engines.cuda.core.transpose import transpose
from sparsematch._engines.cuda.decomposition import block_form as operations
from sparsematch._engines.cuda.decomposition import (
    connected_components,
    multi_pivot,
    strong_components,
)
from sparsematch._engines.registry import Run
from strategies import larger, matrices

pytestmark = [pytest.mark.asan, pytest.mark.kernels]


def prepared(A, mates=None):
    """The view of A and a matching of it on the device: a maximum one unless mates are given."""
    if mates is None:
        m = sm.maximum_transversal(A)
        mates = m.row_mate, m.col_mate
    return on_device(A, mates)


def check_labels(A):
    """The groups are the parts by their definition, the blocks the strong components, in order."""
    graph, matching = prepared(A)
    labels = operations.block_labels(graph, matching, Run())
    group, n = host(labels.row_group), labels.n_square
    assert group.dtype == graph.dtype
    row_mate, col_mate = host(matching.row_mate), host(matching.col_mate)
    part, _ = oracle.coarse_parts(A, row_mate, col_mate)
    assert np.array_equal(np.where(group == 0, "h", np.where(group > n, "v", "s")), part)
    assert np.array_equal(group == n + 2, row_mate < 0)
    square = np.flatnonzero(part == "s")
    assert np.array_equal(np.unique(group[square]), np.arange(1, n + 1))
    if not square.size:
        return
    arcs = sp.coo_array(oracle.as_csr(A)[square][:, row_mate[square]])
    own = group[square]
    assert np.all(own[arcs.row] <= own[arcs.col])
    expected, of_row = sp.csgraph.connected_components(sp.csr_array(arcs), connection="strong")
    assert n == expected == len(set(zip(own.tolist(), of_row.tolist(), strict=True)))


def many_components(n_blocks, seed):
    """Irreducible blocks of a few rows each, with entries above them that make an order."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=n_blocks)
    cycles = [sp.eye_array(n) + sp.csr_array(np.eye(n)[np.r_[1:n, 0]]) for n in sizes]
    A = sp.block_diag(cycles, format="csr")
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    i, j = rng.integers(A.shape[0], size=(2, 4 * A.shape[0]))
    above = j >= start[i]
    A = A + sp.csr_array((np.ones(above.sum()), (i[above], j[above])), shape=A.shape)
    return scrambled(A, seed)


def chain_of_cycles(n):
    """Pairs of rows, each leading to the next: nothing is trimmed, and all are reached."""
    i = np.arange(2 * n)
    arcs = np.r_[i, i, i[:-2:2]], np.r_[i, i ^ 1, i[2::2]]
    return sp.csr_array((np.ones(arcs[0].size), arcs))


def pieces(seed):
    """Blocks that nothing joins: small and sparse, larger, too full for the memory of a block."""
    rng = np.random.default_rng(seed)
    sizes = [*rng.integers(1, 40, size=60).tolist(), 150, 400, 700]
    sparse = [random_matrix(n, n, 2, seed + k) + sp.eye_array(n) for k, n in enumerate(sizes)]
    full = [sp.csr_array(np.ones((n, n))) for n in (60, 90, 200, 200)]
    return scrambled(sp.block_diag(sparse + full, format="csr"), seed)


def fans(n):
    """Two cycles of two rows, the first of each with entries in n columns that lead nowhere."""
    A = sp.lil_array(sp.eye_array(n + 4))
    A[0, 1:], A[2, 3:], A[1, 0], A[3, 2] = 1, 1, 1, 1
    A[0, 2:4] = 0
    return sp.csr_array(A)


LARGER = {
    "blocks": lambda: many_components(300, 31),
    "chain": lambda: chain_of_cycles(500),
    "long_chain": lambda: chain_of_cycles(2000),
    "pieces": lambda: pieces(61),
    "fans": lambda: fans(5000),
    "scrambled_chain": lambda: scrambled(chain_of_cycles(500), 33),
    "grid": lambda: scrambled(grid(40), 35),
    "long_grid": lambda: scrambled(grid(120) + sp.eye_array(120 * 120), 55),
    "random": lambda: random_matrix(2000, 2000, 3, 37),
    "dense": lambda: random_matrix(600, 600, 20, 39),
    "tall": lambda: random_matrix(2000, 700, 2, 41),
    "hub": lambda: sp.vstack([np.ones((1, 9000)), random_matrix(8999, 9000, 2, 43)], "csr"),
    "triangular": lambda: scrambled(sp.triu(random_matrix(400, 400, 5, 45)) + np.eye(400), 47),
}


@pytest.fixture(params=[False, True], ids=["as they are", "as if large"])
def as_if_large(request, monkeypatch):
    """Once as matrices are; once as if every search were long and every core large."""
    if request.param:
        monkeypatch.setattr(multi_pivot, "PIVOT_LEVELS", 1)
        monkeypatch.setattr(strong_components, "LARGE", 0)


@pytest.mark.parametrize("case", LARGER)
def test_block_labels_of_larger_matrices(case, as_if_large):
    check_labels(LARGER[case]())


@pytest.mark.parametrize("order", range(5))
def test_block_labels_of_every_digraph(order, as_if_large):
    """Of four vertices, and with entries between them, so that their order counts."""
    check_labels(coupled_pieces.every_digraph(np.random.default_rng(order), 4, order)[0])


@pytest.mark.parametrize("seed", range(8))
def test_block_labels_of_coupled_pieces(seed, as_if_large):
    check_labels(coupled_pieces.coupled(np.random.default_rng(seed), (4, 10, 30))[0])


@pytest.mark.parametrize("case", LARGER)
def test_connected_components_of_larger_matrices(case):
    check_components(LARGER[case]())


@given(matrices() | larger())
def test_connected_components(A):
    check_components(A)


def check_components(A):
    """The labels are those that the host gives to the same matrix by rows, one by one."""
    expected = sm.connected_components(sp.csr_array(A))
    found = connected_components.connected_components(on_device(A)[0])
    assert found.n_components == expected.n_components
    assert np.array_equal(host(found.row_labels), expected.row_labels)
    assert np.array_equal(host(found.col_labels), expected.col_labels)


@given(matrices() | larger())
def test_transpose(A):
    graph, run = on_device(A)[0], Run()
    back = transpose(graph, run, None)
    assert back.flipped is not graph.flipped
    assert (back.shape, back.nnz, back.dtype) == (graph.shape, graph.nnz, graph.dtype)
    assert run.transposes_built == 1
    majors, minors = (np.repeat(np.r_[: g.n_major], np.diff(host(g.indptr))) for g in (graph, back))
    entries = sorted(zip(majors, host(graph.indices)[: graph.nnz], strict=True))
    assert entries == sorted(zip(host(back.indices), minors, strict=True))


def test_stages_of_a_form_on_the_device():
    A = random_matrix(90, 80, 2, seed=4)
    form, info = sm.block_triangular_form(to_gpu(A), options={"host": False}, return_info=True)
    stages = [step.engine for step in info.steps]
    assert info.cardinality == form.structural_rank
    assert stages[0] == "reading"
    assert {"coarse parts", "trimming", "block labels", "block permutation"} <= set(stages)
    assert all(step.seconds >= 0 for step in info.steps)
